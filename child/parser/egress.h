#ifndef CARREL_PARSER_EGRESS_H
#define CARREL_PARSER_EGRESS_H

struct place;
struct policy;
struct reader_line;
struct rule;

/*
 * [egress]: SCHEME://HOST:PORT, behind it perhaps the word "private"; or "*".
 * HOST is a name, "*." and a name, or an address, in brackets that of IPv6.
 * Upper case and one dot at the end of a name are taken as what they mean. A
 * name in another script is refused: what is looked up and what a certificate
 * holds is its A-label, and which one that is depends on tables that change.
 */

/* The value of a line: 0 and a rule whose text is to be freed, or -1. */
int egress_read(
    const struct place *, const struct reader_line *, struct rule *);

/*
 * The same of a ceiling, where SCHEME, HOST and PORT can each be "*": scheme
 * 0, the text "*" and port 0 (child/shared/ceiling.h).
 */
int egress_read_most(
    const struct place *, const struct reader_line *, struct rule *);

/* What the rules of all profiles come to. 0, or -1 after refusals. */
int egress_judge(struct policy *);

#endif
