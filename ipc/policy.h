#ifndef CARREL_POLICY_H
#define CARREL_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "sha256.h"

struct caller;
struct rcur;
struct receiver;
struct sender;
struct text_list;
struct wbuf;

/*
 * What a run may see: the one thing that crosses from the parser to the
 * parent. It is canonical: profiles sorted by name, grants by path_cmp() of
 * their guest path, claims on variables by environ_cmp(), rules by rule_cmp(),
 * origins by profile, verb and line, so that the same selection in any order
 * gives the same bytes.
 */

#define POLICY_VERSION 1

enum layer {
	LAYER_SHIPPED = 1,
	LAYER_HOST,
	LAYER_USER,
	LAYER_PACK, /* one file, named with -f: pack.h */
	LAYER_LAST = LAYER_PACK
};

#define PROFILE_ASKED	0x01 /* with -p or -f */
#define PROFILE_DEFAULT 0x02 /* a default */
#define PROFILE_IMPLIED 0x04 /* included by another one */
#define PROFILE_FLAGS	0x07 /* what a policy may say */
/*
 * No profile, but what sets limits where none does: see ceiling_impose(). The
 * last one, and never sent, as its rules.
 */
#define PROFILE_CEILING 0x08

struct profile {
	char *name; /* with the '@' of a shipped one, the '+' of a pack */
	char *file; /* where it was read */
	char *description, *abuse;
	char digest[SHA256_HEX + 1]; /* of the file's bytes; 0s: not known */
	uint8_t layer, flags;
	uint16_t *includes; /* indices, ascending; what it names itself */
	size_t nincludes;
};

enum verb { /* the key of [fs] that a profile used */
	VERB_READ = 1,
	VERB_WRITE,
	VERB_TRY_READ,
	VERB_TRY_WRITE,
	VERB_TMPFS,
	VERB_SYMLINK,
	VERB_COMMAND,
	VERB_SOCKET,
	VERB_DEVICE,
	VERB_LAST = VERB_DEVICE
};

/* Who asked for a grant. */
struct origin {
	uint16_t profile; /* index */
	uint8_t verb;
	uint32_t line;
};

enum grant_kind {
	GRANT_BIND = 1,
	GRANT_TMPFS,
	GRANT_SYMLINK,
	GRANT_COMMAND, /* a program, staged below OWNED_STAGING */
	GRANT_SOCKET,  /* a unix socket */
	GRANT_DEVICE,  /* a character device, at its own path below /dev */
	GRANT_LAST = GRANT_DEVICE
};

#define GRANT_WRITE  0x01 /* a bind that may be written through */
#define GRANT_TRY    0x02 /* a bind that is left out when absent */
#define GRANT_OUTPUT 0x08 /* a tool declares what it writes there: tier.h */
#define GRANT_FLAGS  0x0b /* what a policy may say */
/*
 * A read bind of carrel's own, without a claim: see policy_protect(). Never
 * sent, and refused where it is received.
 */
#define GRANT_OWN 0x04

struct grant {
	uint8_t kind, flags;
	char *guest;
	char *source;		/* host path; symlink: its text; tmpfs: "" */
	uint64_t size;		/* tmpfs: bytes, else 0 */
	struct origin *origins; /* at least one; GRANT_OWN: none */
	size_t norigins;
};

/* 1 if the grant brings something of the host that must be opened for it. */
static inline int
grant_opens(const struct grant *g)
{
	return g->kind != GRANT_TMPFS && g->kind != GRANT_SYMLINK;
}

/* "shipped", "host", "user", "pack"; "?" for a layer that there is not. */
const char *policy_layer(unsigned layer);

/* The key of [fs], "read"; "?" for a verb that there is not. */
const char *policy_verb(unsigned verb);

/* Why there will be no run. Raw text: it is escaped where it is printed. */
struct refusal {
	char *profile; /* "" if none is to blame */
	char *file;    /* "" likewise */
	uint32_t line; /* 0 likewise */
	char *what;
	char *fix; /* an imperative without a full stop; "" if there is none */
};

struct env_claim; /* environ.h */
struct rule;	  /* rule.h */
struct tool;	  /* tool.h */

struct policy {
	struct profile *profiles;
	size_t nprofiles;
	struct grant *grants;
	size_t ngrants;
	struct env_claim *env;
	size_t nenv;
	struct rule *rules;
	size_t nrules;
	struct tool *tools; /* where they are asked for; not of the stream */
	size_t ntools;
	char *prompt;		  /* the preference for PS1; NULL or "": none */
	struct refusal *refusals; /* if any, the policy can only be shown */
	size_t nrefusals;
	size_t unkept; /* further reasons, of which only the number is known */
};

/* What follows is complete or fails: -1 with errno, nothing was added. */

/* Appends; arguments are copied. The result belongs to the policy. */
struct profile *policy_add_profile(struct policy *, const char *name,
    const char *file, enum layer, uint8_t flags);
struct grant *policy_add_grant(struct policy *, enum grant_kind, uint8_t flags,
    const char *guest, const char *source, uint64_t size);
int grant_add_origin(struct grant *, const struct origin *);
/* At most REFUSALS_MAX are kept; the rest is counted. */
int policy_refuse(struct policy *, const char *profile, const char *file,
    uint32_t line, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * One claim for a list in a refusal: "VERB of NAME, FILE:LINE" between what
 * belongs before and behind it.
 */
void policy_tell(struct text_list *, const struct policy *, unsigned profile,
    uint32_t line, const char *verb, const char *before, const char *behind);
/* One reason as fields, as RECORD_REFUSAL has it. */
void refusal_put(struct wbuf *, const struct refusal *);

/* All claims of a grant, with "; " between, as a list in buf. */
void policy_tell_grant(
    const struct policy *, const struct grant *, char *buf, size_t len);

void policy_free(struct policy *); /* the contents, not the struct */

/* Sorts grants, claims, rules, origins and refusals into canonical order. */
void policy_sort(struct policy *);

/* The stream record_policy. send flushes. receive: a policy to be freed. */
int policy_send(struct sender *, const struct policy *);
int policy_receive(struct receiver *, struct policy *);
/* One record of the stream, for a stream that holds a policy inside. */
typedef int policy_getter(unsigned type, struct rcur *, struct policy *);
policy_getter policy_get;
/* The same of such a stream, whose last record is end: 0; -1 with errno. */
int policy_receive_until(
    struct receiver *, unsigned end, policy_getter *, struct policy *);

/*
 * Judges a policy: every field, the canonical order, and that the grants can
 * stand beside each other (one claim a guest path, nothing masked, nothing
 * reserved, the sum of the tmpfs; each variable by the tables; each rule, and
 * that something is left where rules narrow). Pure. Returns 0, or -1 and in why
 * one sentence in raw text. The parser calls it before it sends, the parent
 * after it received; a policy with refusals is judged for its fields only.
 */
int policy_check(const struct policy *, char *why, size_t len);

/*
 * What carrel trusts is never writable inside (S7): where a write grant of a
 * checked policy holds a path of caller->protect or the source of a command,
 * that path is granted once more, for reading (GRANT_OWN), unless something
 * does so already. A write grant of such a path itself, or of a part of it,
 * is refused. By name only: the plan judges again by what was opened. A pack
 * whose directory is not the target is an error (EBADMSG). Pure.
 * 0, or -1 with errno; refusals, if any, are added and nothing else then.
 */
int policy_protect(struct policy *, const struct caller *);
/* The refusal of more than PROTECT_LOOKS. 0, or -1 without memory. */
int policy_protect_many(struct policy *);

/* The grant at exactly this guest path; NULL if there is none. */
const struct grant *policy_find(const struct policy *, const char *guest);
/* The deepest grant strictly above this guest path; NULL if there is none. */
const struct grant *policy_above(const struct policy *, const char *guest);

#endif
