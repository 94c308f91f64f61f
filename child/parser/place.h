#ifndef CARREL_PARSER_PLACE_H
#define CARREL_PARSER_PLACE_H

#include <stdint.h>

struct policy;

/*
 * Whose text is at fault. Everything that the parser refuses goes through
 * place_refuse(), so a refusal always names its file. The strings belong to
 * the caller; profile and file are "" when there is none.
 */
struct place {
	struct policy *po; /* collects the refusals */
	const char *profile;
	const char *file;
};

/*
 * Always -1, so that a function can end with it. The policy then has one
 * refusal more, unless memory is out or it has REFUSALS_MAX of them.
 */
int place_refuse(const struct place *, uint32_t line, const char *fix,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
