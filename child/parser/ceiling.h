#ifndef CARREL_PARSER_CEILING_H
#define CARREL_PARSER_CEILING_H

#include <stddef.h>

struct caller;
struct ceiling;
struct place;

/*
 * The text of the host's ceiling (carrel.conf(5)), in the words of a profile:
 * [ceiling] says who may use carrel, [everyone], [group NAME] and [user NAME]
 * what each may be granted. The caller fills in {home}, {user}, {uid} and
 * {tmp}: its home is the database's, or "/" if that has none, and then no
 * line with {home} counts; what is said of home_real counts as well.
 */

/*
 * See reader_parse() for data. 0 and a ceiling (with its file, to be freed),
 * or -1 after a refusal (or none when memory is out).
 */
int ceiling_parse(const struct place *, const struct caller *, char *data,
    size_t len, struct ceiling *);

#endif
