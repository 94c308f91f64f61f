#ifndef CARREL_SCREEN_INSTALLED_H
#define CARREL_SCREEN_INSTALLED_H

#include <stddef.h>
#include <sys/types.h>

#include "child/shared/catalogue.h"
#include "ipc/limits.h"

struct out;

/*
 * profile list, show, tree and dot, and config: what is installed, drawn from
 * the lines that carrel-parse read (child/shared/catalogue.h). Nothing is
 * opened here.
 */
struct installed {
	struct catalogue c;
	size_t subject;			      /* show: the index of the item */
	const char *defaults[SELECT_MAX + 1]; /* in force */
	size_t ndefaults;
};

#define INSTALLED_JSON_MAX (256UL << 20)

/*
 * The arguments behind "catalogue": VERB, the pid of carrel-parse, which is
 * this process's child and answers on fd, "json" or "text", the columns (0:
 * not known), "colour" or "", and NAME or "". Returns the exit code: 1 if
 * something could not be read or is not legal.
 */
int installed_run(char *const argv[6], int fd);

/* The answer of carrel-parse, a child of this process; or ends the program. */
void installed_receive(int fd, pid_t parser, struct catalogue *);

/* The lines of an item: the first of them, and in n how many. */
const struct catalogue_line *installed_lines(
    const struct installed *, size_t item, size_t *n);
/* The first one at or behind from (NULL: of all) with this key; or NULL. */
const struct catalogue_line *installed_line(const struct installed *,
    size_t item, const char *section, const char *key,
    const struct catalogue_line *from);
/* The profile of this name, NULL if there is none that is good. */
const struct catalogue_item *installed_find(
    const struct installed *, const char *name);
/* 1 if the profile is a default that is in force. */
int installed_default(const struct installed *, const char *name);
/* What a person may have meant by a name; NULL: nothing is near. */
const char *installed_nearest(const struct installed *, const char *name);

void installed_list(struct out *, const struct installed *);
void installed_tree(struct out *, const struct installed *);
void installed_config(struct out *, const struct installed *);
void installed_show(struct out *, const struct installed *);
/* The block of what could not be read, or is not legal. */
void installed_faults(struct out *, const struct installed *);

/* Text to be freed. */
char *installed_dot(const struct installed *);
char *installed_json(const struct installed *, const char *verb);

#endif
