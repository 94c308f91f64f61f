#ifndef CARREL_PLAN_PARTS_H
#define CARREL_PLAN_PARTS_H

/* What the files of the plan share; nobody else includes this. */

#include <stddef.h>
#include <stdint.h>

#include "ipc/policy.h"
#include "plan.h"

struct caller;
struct env_claim;
struct hostenv;
struct survey;
struct survey_row;

#define PLAN_ROOT_SIZE	(16ULL << 20) /* the tmpfs at "/" */
#define PLAN_SHM_SIZE	(64ULL << 20) /* at /dev/shm */
#define PLAN_STAGE	"/run/carrel" /* a tmpfs when something is staged */
#define PLAN_STAGE_SIZE (64ULL << 10)

/* What becomes of a grant. */
enum fate {
	FATE_NONE = 0, /* no step: absent, refused, or there without one */
	FATE_STEP,     /* its own kind of step */
	FATE_LINK      /* a symlink to where the same thing already is */
};

/* A path of the host that the policy grants for writing, and the grant. */
struct written {
	const char *path;
	size_t grant;
};

/* A plan in the making. */
struct draft {
	struct policy *po;
	const struct survey *sv;
	const struct caller *ca;
	const struct hostenv *he;
	struct plan *pl;
	uint8_t *fate;	  /* per grant: enum fate */
	uint8_t *refused; /* per grant: 1 if a refusal names it */
	int *above;	  /* per grant: the deepest one above it that has a step
			     of its own; -1: none */
	struct step *own; /* carrel's own and the pins, before the merge */
	size_t nown;
	uint8_t *exec_out; /* per row of survey->exec: 1 if it stays noexec */
	struct written *written; /* where write grants led, sorted */
	size_t nwritten;
	size_t looks;  /* bytes that plan_elsewhere() may still look at */
	size_t bytes;  /* of all steps so far */
	int full;      /* they were more than PLAN_BYTES_MAX */
	size_t trusts; /* looks of plan_trusted(): PROTECT_LOOKS at the most */
};

/* The row of grant i; one that says EINVAL if the survey has none. */
const struct survey_row *plan_row(const struct draft *, size_t i);

/*
 * Appends to draft->own a step of this shape, with copies of these strings
 * in the place of its own. 0 or -1.
 */
int plan_own(struct draft *, const struct step *shape, const char *guest,
    const char *text);
/* The same to plan->steps and plan->exec. */
int plan_add_step(struct draft *, const struct step *shape, const char *guest,
    const char *text);
int plan_add_exec(struct draft *, const struct step *shape, const char *guest);

/* The deepest step at or above this path; NULL only without any step. */
const struct step *plan_at(const struct plan *, const char *path);
/* Whether the path is granted, and not just a directory on the way. */
int plan_granted(const struct plan *, const char *path);
/*
 * The deepest mount, file or link that covers a path: what a directory of
 * carrel's lies in. NULL as above.
 */
const struct step *plan_mount(const struct plan *, const char *path);
/*
 * The same behind all symlinks of the plan; at, of PATH_MAX_LEN + 1 bytes, is
 * the path there. NULL if they lead nowhere.
 */
const struct step *plan_through(
    const struct plan *, const char *path, char *at);
/* Whether the payload may write there, through any symlinks of the plan. */
int plan_writable(const struct plan *, const char *path);

static inline int
plan_binds(const struct grant *g)
{
	return g->kind == GRANT_BIND;
}

static inline int
plan_writes(const struct grant *g)
{
	return g->kind == GRANT_BIND && (g->flags & GRANT_WRITE);
}

/* plan_judge.c: each 0, or -1 with errno ENOMEM; refusals are added. */
int plan_presence(struct draft *);	     /* fills fate and plan->absent */
int plan_sizes(struct draft *);		     /* S39, of the finished steps */
const char *plan_verb(const struct grant *); /* the key, as it joined */
const char *plan_reason(int err);	     /* of a look-up that failed */
int plan_refuse(struct draft *, size_t grant, const char *fix, const char *fmt,
    ...) __attribute__((format(printf, 4, 5)));

/* plan_shape.c: likewise. */
int plan_shape(struct draft *); /* corrects fate, fills above */
/* The deepest present grant at or above a path; -1: none. */
int plan_grant_at(const struct draft *, const char *path);

/* plan_pack.c: likewise. */
int plan_packed(struct draft *); /* S13; before all others */

/* plan_trust.c: likewise. */
int plan_own_presence(struct draft *, size_t grant); /* of a GRANT_OWN */
int plan_diverted(struct draft *);		     /* S36 */
int plan_trusted(struct draft *); /* S7, by what was opened */

/* plan_exec.c: what the policy narrows ([exec]). 0, or -1 with ENOMEM. */
int plan_exec(struct draft *); /* needs the fates; fills plan->exec */
int plan_exec_refuse(struct draft *, size_t row, const char *fix,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void plan_noexec(struct draft *); /* of the finished steps */

/* plan_elsewhere.c: fills plan->elsewhere, when all steps stand. 0 or -1. */
int plan_elsewhere(struct draft *);
/* Whether what is at a read-only place can be written at another one. */
int plan_writable_elsewhere(struct draft *, const char *path);
/* For qsort(3); and the first that is not before this path. */
int plan_written_cmp(const void *, const void *);
size_t plan_written_at(const struct written *, size_t n, const char *path);

/* plan_own.c: what is carrel's in every sandbox. 0 or -1. */
int plan_fixed(struct draft *);	  /* what no grant can replace */
int plan_base(struct draft *);	  /* that, and what one can */
int plan_staging(struct draft *); /* S55 */
int plan_pins(struct draft *);	  /* S33b */
int plan_homes(struct draft *);	  /* the other spelling of the home */

/* plan_merge.c: fills plan->steps from the grants and draft->own. 0 or -1. */
int plan_merge(struct draft *);

/* plan_etc.c: the generated files of /etc. 0 or -1. */
int plan_etc(struct draft *);

/* plan_env.c, of the finished steps. 0 or -1. */
int plan_environ(struct draft *);
/* A new row, unset, with copies of these; NULL without memory. */
struct env_row *plan_env_row(
    struct draft *, const char *name, const char *who, const char *mark);
/* Adds " mark", or ", set a:9, set b:3" of a claim, to such a text. 0 or -1. */
int plan_mark(char **text, const char *mark);
int plan_who(char **text, const struct draft *, const struct env_claim *);
/* "<- not granted (N grants inside)" to the mark, if it is so. 0 or -1. */
int plan_mark_granted(char **mark, const struct draft *, const char *path);
/* "set of NAME, FILE:LINE; ..." for a refusal. */
void plan_env_claims(
    const struct draft *, const struct env_claim *, char *buf, size_t len);

/* plan_list.c: the row of a list, from its n claims (PATH: also 0). 0 or -1. */
int plan_list(
    struct draft *, const char *name, const struct env_claim *, size_t n);

/* plan_start.c */
const char *plan_target(const struct draft *); /* inside; NULL: it is not */
int plan_start(struct draft *); /* plan->cwd, plan->none_mounted */
int plan_string(char ***list, size_t *n, const char *); /* appends a copy */

#endif
