#ifndef CARREL_PARSER_PACK_H
#define CARREL_PARSER_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/limits.h"

struct claims;
struct key;
struct member;
struct place;
struct policy;
struct reader_line;
struct request;
struct selection;
struct value;

/*
 * What a pack may say (S13): it was written by a stranger, so nothing of the
 * host can be named in it. Each function is 0, or -1 after a refusal.
 */

/* "+NAME" of a file NAME.profile, for a policy. */
int pack_name(
    const struct place *, const char *file, char name[NAME_MAX_LEN + 2]);

/* A line of a pack, before its value is read. */
int pack_line(
    const struct place *, const struct key *, const struct reader_line *);

/* The value of read, write, try-read or try-write: a path at PACK_DIR. */
int pack_bind(const struct place *, const struct key *,
    const struct reader_line *, const struct value *);

/* What the pack of a selection includes says packs = yes. */
int pack_judge_includes(const struct selection *, struct policy *);

/* The target can be had at PACK_DIR: it is there, and no home is in it. */
int pack_judge_target(
    const struct request *, const struct selection *, struct policy *);

/* Its programs and libraries are granted by what it includes. */
int pack_judge_exec(
    const struct selection *, const struct claims *, struct policy *);

/* The rules that every pack has: unix = no, on-violation at least fail. */
int pack_rules(struct policy *, uint16_t profile);

/* The index of the pack; -1: there is none. */
int pack_member(const struct selection *);

#endif
