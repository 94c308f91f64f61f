#ifndef CARREL_CONTROL_H
#define CARREL_CONTROL_H

#include <stdint.h>

#include "ipc/limits.h"

/*
 * Between the monitor (outside, no privilege) and the set-up, later pid 1
 * (inside): one message a datagram over a SOCK_SEQPACKET pair. When an end
 * closes, the other one's process ends too: that is how nothing outlives the
 * monitor (unix(7), pid_namespaces(7)).
 */

enum control_type {
	/* monitor to inside */
	CONTROL_GO = 1,	 /* the parser ended well */
	CONTROL_SIGNAL,	 /* a: signal for the payload */
	CONTROL_STOP,	 /* stop everything inside; answered by STOPPED_ALL */
	CONTROL_RESUME,	 /* a: 1 give the payload the terminal first */
	CONTROL_GROUPED, /* pid 1 is in the control group of the run */
	/* inside to monitor */
	CONTROL_SAY,	 /* text: a message for a person */
	CONTROL_FACTORY, /* with the socket factory's end; BROKER follows */
	CONTROL_BROKER,	 /* start what serves the network; the broker's end */
	CONTROL_FAILED,	 /* a: cause_step, b: errno, text: what */
	CONTROL_REFUSED, /* the run is refused; SAY told why */
	CONTROL_PROFILE, /* a: layer, b: charged, text: DIGEST NAME FILE */
	CONTROL_RULE,	/* a: reason of notify.h, b: profile, text: LINE RULE */
	CONTROL_POLICY, /* a: on-violation, b: reports, text: digest */
	CONTROL_STARTED, /* the payload was executed */
	CONTROL_NO_EXEC, /* a: stage, b: errno, text: path or interpreter */
	CONTROL_STOPPED, /* a: signal; the payload stopped itself */
	CONTROL_STOPPED_ALL,
	CONTROL_ENDED, /* a: wait status, b: processor seconds of the payload */
	CONTROL_LIMIT, /* a: enum limit; text: its number, and who set it */
	CONTROL_GROUP, /* a: limits (bits) to be held by a control group */
	CONTROL_OVER,  /* the wall time is; everything inside ends now */
	CONTROL_LISTENER, /* fd: for notify_start(); a: its flags */
	CONTROL_PLACE,	  /* a, b, text: of places_hear() */
	CONTROL_FIRST,	  /* text: what is about to be executed, --uses */
	CONTROL_LAST = CONTROL_FIRST
};

struct control {
	enum control_type type;
	int a, b;
	int fd; /* of LISTENER, FACTORY and BROKER, to be closed; else -1 */
	char text[TEXT_MAX_LEN + 1]; /* cut to fit by the sender */
};

/* 0, or -1 with errno (EPIPE: the other end is gone). Waits when full. */
int control_send(int fd, enum control_type, int a, int b, const char *text);

/* The same with a descriptor, which stays open here too, unix(7). */
int control_pass(int fd, enum control_type, int a, int descriptor);

/* The same without text, but never waits: -1 with EAGAIN when it is full. */
int control_try(int fd, enum control_type, int a, int b);

/*
 * 1 and a message; 0 when the other end is gone; -1 with errno: EAGAIN when
 * there is none now, EBADMSG when it was none, or when a descriptor came with
 * a type that has none, or did not come with one that has. Never waits.
 */
int control_receive(int fd, struct control *);

/* The same, but waits for one; deadline as in channel.h. */
int control_wait(int fd, struct control *, int64_t deadline);

#endif
