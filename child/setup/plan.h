#ifndef CARREL_PLAN_H
#define CARREL_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct caller;
struct hostenv;
struct policy;
struct survey;

/*
 * The plan: what the set-up will do, in its order, and what the screen will
 * draw. Pure: from a checked policy, a survey of its sources, the caller and
 * what his environment has of the names that the policy wants.
 * No system call, no global; the same input gives the same plan.
 */

enum step_kind {
	STEP_DIR = 1, /* a directory of carrel's in a tmpfs */
	STEP_FILE,    /* a generated file: text holds its bytes */
	STEP_SYMLINK, /* text is where it leads */
	STEP_TMPFS,   /* size, mode; STEP_RDONLY when all in it stands */
	STEP_BIND,    /* the grant's source (survey row grant), also a command,
			 socket or device; inside another bind the mount point
			 is that same object */
	STEP_PIN,     /* a directory onto itself: one between a write bind and
			 a read mount in it, or /proc/sys (STEP_RDONLY) */
	STEP_PROC,    /* a new procfs */
	STEP_DEVPTS,
	STEP_DEVICE, /* a node of the minimal /dev: text is its host path */
	STEP_MASK,   /* an empty file over one of /proc, if it is there */
	STEP_EXEC    /* of plan->exec: a file or directory onto itself that is
			not noexec; grant is its row in survey->exec */
};

#define STEP_RDONLY 0x01 /* read-only, as a mount */
#define STEP_ISDIR  0x02 /* a bind of a directory */
#define STEP_NODEV  0x04
#define STEP_NOEXEC 0x08
#define STEP_FIXED  0x10 /* the same in every sandbox: plan_make_fixed() */
#define STEP_FLAT   0x20 /* EXEC: noexec again for each directory in it */

struct step {
	uint8_t kind, flags;
	uint16_t mode;	   /* DIR, FILE, TMPFS */
	int grant;	   /* index in the policy, or -1: carrel's own */
	const char *guest; /* clean path inside */
	const char *text;  /* see the kinds; "" otherwise */
	uint64_t size;	   /* TMPFS: bytes */
};

/* An element of a list, and why it is there; raw text as in struct env_row. */
struct env_entry {
	char *value, *who, *mark;
};

/* A variable of the payload's environment and why it is so. Raw text. */
struct env_row {
	char *name;
	char *value; /* NULL: unset, and the row says why */
	char *who;   /* "(carrel)", or "set a:9, inherit b:3" */
	char *mark;  /* "" or e.g. "<- unchecked" */
	int secret;  /* 1: a credential of the host, for no screen */
	/* of a list: its elements in order, and what sanitise left out */
	struct env_entry *entries, *drops;
	size_t nentries, ndrops;
};

/* Whether what a grant shows for reading can be written at another place. */
enum elsewhere {
	ELSEWHERE_NOT = 0,
	ELSEWHERE_WHOLE,  /* all of it, at guest */
	ELSEWHERE_PART,	  /* something in it, at guest */
	ELSEWHERE_UNKNOWN /* there are too many grants to tell */
};

struct elsewhere_row {
	uint8_t kind;
	char *guest; /* NULL if there is none */
};

struct plan {
	struct step *steps; /* a parent stands before what is in it */
	size_t nsteps;
	struct chunk *chunks; /* where the steps' strings are */
	struct env_row *env;  /* sorted by name */
	size_t nenv;
	char **path; /* the sandbox's PATH, in order */
	size_t npath;
	char **cwd; /* where the payload starts: the first that exists */
	size_t ncwd;
	uint8_t *absent; /* per grant: 1 if it is left out (try-) */
	struct elsewhere_row *elsewhere; /* per grant */
	size_t nelsewhere;
	char *none_mounted; /* "" or one line for a terminal: no target */

	/*
	 * With an interpreter list (locked) all steps are STEP_NOEXEC, and
	 * when they stand, these are laid over them: a directory before what
	 * is in it.
	 */
	struct step *exec;
	size_t nexec;
	uint8_t locked, no_spawn, no_unix, once; /* 1: so it is asked for */
	uint8_t report_exec, report_fs;
	uint8_t learn; /* plan_learn() */
	uint8_t uses;  /* plan_uses() */
};

/*
 * 0 and a plan to be freed with plan_free(), or -1 with errno ENOMEM, or -1
 * with errno EPERM when the survey or the environment shows that the policy
 * cannot be had: then
 * the reasons were added to the policy as refusals, in canonical order, and
 * the plan is complete as far as it can be shown (free it too).
 */
int plan_make(struct policy *, const struct survey *, const struct caller *,
    const struct hostenv *, struct plan *);
void plan_free(struct plan *);

/*
 * The steps that no policy changes, the STEP_FIXED ones of every plan: the
 * root's tmpfs, /proc and /dev. They grant nothing of the host, so they can
 * be taken before there is a policy. Only STEP_NOEXEC may come later: see
 * root_seal(). 0, or -1 with errno.
 */
int plan_make_fixed(struct plan *);

#define PLAN_RUN_UNKNOWN "(new for each run)" /* CARREL_RUN before a run */

/*
 * carrel learn: the same confinement, but all that is refused is told, and
 * where no network is granted the names that are asked for are seen, too.
 */
void plan_learn(struct plan *);
/* --uses: so is what is looked at, and no more is seen of the network. */
void plan_uses(struct plan *);

/* Sets the value of a row of plan->env, e.g. CARREL_RUN. 0 or -1. */
int plan_setenv(struct plan *, const char *name, const char *value);

#endif
