#ifndef CARREL_VARIABLES_H
#define CARREL_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * What carrel knows about the names of variables, as data: which are lists
 * and how they are cut, which hold paths, and which are read as code by what
 * finds them. One place for parser, check and plan; the names that carrel
 * owns are the table of ipc/owned.h.
 */

enum env_verb { /* the section [environ.*] that a profile used */
	ENV_SET = 1,
	ENV_MERGE,
	ENV_PREPEND,
	ENV_INHERIT,
	ENV_SANITISE,
	ENV_LAST = ENV_SANITISE
};

#define ENV_BIT(verb) (1U << (verb))

/* "set"; "?" for a number that is no verb. */
const char *variable_verb(unsigned verb);

enum variable_kind {
	VARIABLE_SCALAR = 1,
	VARIABLE_LIST
};

#define VARIABLE_PATH	   0x01 /* the value, or each element, is a path */
#define VARIABLE_UNCOUPLED 0x02 /* that need not be granted */
#define VARIABLE_RUN	   0x04 /* programs run it as a command: marked */

/* A row of the type table. */
struct variable {
	const char *name; /* ends in '*': every name that begins so */
	uint8_t kind;
	uint8_t verbs; /* ENV_BIT() of those that it takes */
	uint8_t flags;
	char sep, alt;	   /* of a list; alt is 0 if there is no other */
	const char *empty; /* a list: what an empty element is to a program */
};

extern const struct variable variables[]; /* ends with a NULL name */

/* The row of this name, or NULL: then only set and inherit are possible. */
const struct variable *variable_find(const char *name);

/* The verbs that this name takes, as ENV_BIT(). */
unsigned variable_verbs(const char *name);

/* A row of the names whose value is code. */
struct code_name {
	const char *name; /* as above */
	uint8_t fold;	  /* capitals and small letters are the same */
	uint8_t verbs;	  /* those at which it is refused */
	const char *except[2];
	const char *why; /* what happens with the value: "PROGRAM does X" */
};

extern const struct code_name code_names[]; /* ends with a NULL name */

/* The row that refuses this name at this verb, or NULL. */
const struct code_name *variable_code(const char *name, unsigned verb);

/*
 * NULL if the n bytes are the name of a variable: [A-Za-z_][A-Za-z0-9_]*, at
 * most VARIABLE_NAME_MAX of them; else what is wrong: "is ...", "holds ...".
 */
const char *variable_name_bad(const char *name, size_t n);

/* 1 if the name looks like that of a credential: it ends in _TOKEN, ... */
int variable_secret(const char *name);

#endif
