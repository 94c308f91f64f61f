#ifndef CARREL_RECORD_H
#define CARREL_RECORD_H

#include <stddef.h>
#include <stdint.h>

/*
 * What may be said, and when. A record is a header (16-bit type, 32-bit
 * length of what follows) and its fields; a datagram holds one or more whole
 * records. Each stream has a table of the records it consists of: in this
 * order, each as often as the table says. Anything else is an error.
 */

#define RECORD_HEADER 6

enum record_type {
	/* to the parser: what to resolve */
	RECORD_REQUEST = 1, /* struct request without its lists, once */
	RECORD_SELECT,	    /* a profile named with -p */
	RECORD_CALLER,	    /* struct caller, once */
	RECORD_REQUEST_END,
	/* from the parser, and on to the screen: the policy */
	RECORD_POLICY, /* version, once */
	RECORD_PROFILE,
	RECORD_GRANT,
	RECORD_REFUSAL,
	RECORD_POLICY_END, /* counts and verdict, once */
	/* to the screen: what is to be drawn, what the survey found */
	RECORD_SCREEN,
	RECORD_SURVEY,
	RECORD_SCREEN_END,
	/* claims on variables, in the policy, and what the host has of them */
	RECORD_ENVIRON,
	RECORD_VARIABLE,
	/* to the broker: what is allowed, and the sockets for it */
	RECORD_BROKER, /* version, once */
	RECORD_BROKER_RULE,
	RECORD_BROKER_HOST,
	RECORD_BROKER_SOCKET, /* with one descriptor */
	RECORD_BROKER_END,    /* counts, once */
	/* from the broker */
	RECORD_READY, /* or why it is not, once */
	/* to the monitor: a violation, each a datagram */
	RECORD_EVENT,
	RECORD_RULE, /* in the policy: neither a path nor a variable */
	RECORD_EXEC, /* to the screen: what the exec lock leaves executable */
	/* in a file of the user's state: a run, with its violations */
	RECORD_RUN, /* version, once */
	RECORD_KEPT_PROFILE,
	RECORD_RUN_END, /* once */
	/* behind a policy that is only looked at: its [tool] and [example] */
	RECORD_TOOL,
	RECORD_DESCRIBED_END, /* how many, once */
	/* from the parser, to a screen: what is installed */
	RECORD_CATALOGUE, /* version, once */
	RECORD_ITEM,
	RECORD_LINE,
	RECORD_FAULT,
	RECORD_CATALOGUE_END, /* counts, once */
	/* from the other parser, and on to the screen: the host's ceiling */
	RECORD_CEILING, /* version, once */
	RECORD_CEILING_LINE,
	RECORD_CEILING_FAULT,
	RECORD_CEILING_END, /* counts, once */
	/* from the parser, to the launcher: what login.conf says */
	RECORD_LOGIN,	  /* version, once */
	RECORD_LOGIN_END, /* how many, once */
	RECORD_TYPES
};

/* One line of a stream's table. */
struct record_rule {
	enum record_type type;
	uint32_t min, max;
};

extern const struct record_rule record_request[];
extern const struct record_rule record_policy[];
extern const struct record_rule record_screen[];
extern const struct record_rule record_caller[]; /* launcher to set-up */
extern const struct record_rule record_broker[];
extern const struct record_rule record_ready[];
extern const struct record_rule record_kept[];
extern const struct record_rule record_described[];
extern const struct record_rule record_catalogue[];
extern const struct record_rule record_ceiling[];
extern const struct record_rule record_login[];

/* Where in its table a stream is. */
struct record_state {
	const struct record_rule *rule;
	uint32_t seen; /* records of rule->type so far */
};

void record_start(struct record_state *, const struct record_rule *);

/* 0 if a record of this type is legal now, else -1. */
int record_step(struct record_state *, unsigned type);

/* How many descriptors come with each record of this type. */
size_t record_fds(unsigned type);

/* 1 when the table is used up. */
int record_done(const struct record_state *);

#endif
