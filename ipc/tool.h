#ifndef CARREL_TOOL_H
#define CARREL_TOOL_H

#include <stddef.h>
#include <stdint.h>

struct policy;
struct rcur;
struct receiver;
struct sender;
struct wbuf;

/*
 * What a profile says of its use: sections [tool NAME] and [example NAME]. It
 * grants nothing. A tier is judged by it, and profile lint and test hold it
 * against the grants. A run is never told of it.
 */

enum tool_kind {
	TOOL_PROGRAM = 1,
	TOOL_EXAMPLE
};

enum tool_effect { /* what a program does outside */
	EFFECT_NONE = 1,
	EFFECT_WRITE,
	EFFECT_NETWORK
};

enum need_verb { /* a grant that is needed, by the place inside */
	NEED_READ = 1,
	NEED_WRITE,
	NEED_COMMAND, /* text: its bare name */
	NEED_SOCKET,
	NEED_DEVICE,
	NEED_ALLOW, /* text: as egress_text() has it */
	NEED_LAST = NEED_ALLOW
};

struct need {
	char *text;
	uint32_t line;
	uint8_t verb;
};

struct tool {
	char *name;
	char *text;	  /* program: description; example: run; or "" */
	char *input;	  /* example: a line for standard input, or "" */
	uint32_t line;	  /* of its section */
	uint16_t profile; /* index in the policy */
	uint8_t kind;
	uint8_t effect; /* program: enum tool_effect, 0: not said */
	uint8_t expect; /* example: the exit code */
	uint8_t said;	/* for the parser: keys that were there */
	struct need *needs;
	size_t nneeds;
};

void tool_free(struct tool *); /* the contents */

/* "read", "allow"; "?" for a verb that there is not. And of an effect. */
const char *tool_verb(unsigned verb);
const char *tool_effect(unsigned effect);
/* The number of such a word; 0 if it is none. n: its length. */
unsigned tool_verb_named(const char *, size_t n);
unsigned tool_effect_named(const char *);

/*
 * The words of an example's command: between blanks, or in double quotes. A
 * list that ends with NULL, all in one piece for free(3); NULL: the quotes are
 * odd, or there is no word or more than TOOL_WORDS_MAX.
 */
char **tool_words(const char *run);

/* Takes the contents over: 0, or -1 with errno and nothing was taken. */
int policy_add_tool(struct policy *, struct tool *);
void tools_release(struct policy *); /* part of policy_free() */

/* RECORD_TOOL. get: into the policy, whose profiles are there. 0 or -1. */
void tool_put(struct wbuf *, const struct tool *);
int tool_get(struct rcur *, struct policy *);

/*
 * The stream record_described: a policy and its tools, for whoever looks at a
 * profile and starts nothing. send flushes. receive: a policy to be freed.
 */
int described_send(struct sender *, const struct policy *);
int described_receive(struct receiver *, struct policy *);

#endif
