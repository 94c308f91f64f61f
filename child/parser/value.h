#ifndef CARREL_PARSER_VALUE_H
#define CARREL_PARSER_VALUE_H

#include <stdint.h>

struct place;

/*
 * The values of [fs]: words between blanks, "->" among them. A word with a
 * space or an arrow in it is written in double quotes; there is no escape, so
 * a path that holds a double quote cannot be written.
 *
 *	bind	HOST | HOST -> GUEST
 *	symlink	GUEST -> TEXT
 *	tmpfs	GUEST | GUEST size=N | GUEST size=NK (M, G)
 *	command	HOST | HOST -> NAME
 *	device	HOST
 *	path	GUEST (of [exec])
 *	host	HOST (of a ceiling)
 */
struct value {
	char *left;    /* HOST, of tmpfs and symlink GUEST; not expanded */
	char *right;   /* GUEST of a bind, TEXT of a symlink, NAME; or NULL */
	uint64_t size; /* tmpfs: bytes */
};

void value_free(struct value *);

/*
 * 0 and a value to be freed, or -1 after a refusal that names the key (or
 * without one when memory is out).
 */
int value_bind(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_symlink(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_command(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_device(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_path(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_host(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);
int value_tmpfs(const struct place *, uint32_t line, const char *key,
    const char *text, struct value *);

#endif
