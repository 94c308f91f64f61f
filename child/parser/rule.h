#ifndef CARREL_PARSER_RULE_H
#define CARREL_PARSER_RULE_H

#include <stddef.h>

#include "ipc/rule.h"

struct place;
struct policy;
struct reader_line;
struct request;
struct selection;

/*
 * The sections that hold neither paths nor variables: [exec], [limits],
 * [audit], [egress], and tier. A line becomes a rule whose profile is not
 * known yet; placeholders in its text stay.
 *
 *	size	N | NK | NM | NG (bytes)
 *	time	Ns | Nm | Nh
 *	share	N% (of one processor)
 *	count	N
 */

/*
 * The value of a line whose key is this kind. 0 and a rule whose text is to be
 * freed, or -1 after a refusal (or none when memory is out).
 */
int rule_read(const struct place *, unsigned kind, const struct reader_line *,
    struct rule *);

/*
 * The rules of a selection, expanded, each line of a list once a profile, in
 * canonical order into the policy, whose profiles are the selection's; and
 * that something is left where they narrow. 0, or -1 after refusals: then the
 * rules that could be made are in it.
 */
int rules_resolve(
    const struct request *, const struct selection *, struct policy *);

#endif
