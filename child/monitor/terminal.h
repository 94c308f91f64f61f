#ifndef CARREL_TERMINAL_H
#define CARREL_TERMINAL_H

#include <sys/types.h>
#include <termios.h>

/*
 * Who has the terminal (tty_ioctl(4), credentials(7)). The payload always has
 * a process group of its own: were it in carrel's, kill(0, ...) and its like
 * would reach processes outside, which no pid namespace prevents.
 *	NONE	there is no terminal
 *	ASKED	there is one, but carrel is part of a pipeline or in the
 *		background: the payload gets the foreground when it asks for
 *		it, by SIGTTIN or SIGTTOU, and carrel has it to give
 *	HANDED	stdin and stdout are the controlling terminal and carrel leads
 *		its foreground group: the payload gets the foreground at once
 */
enum terminal_mode {
	TERMINAL_NONE = 1,
	TERMINAL_ASKED,
	TERMINAL_HANDED
};

/* The monitor's side. */
struct terminal {
	enum terminal_mode mode;
	int fd;	    /* the controlling terminal, close-on-exec; -1: NONE */
	int lent;   /* ASKED: the payload was given the foreground */
	int inside; /* the payload's side has the foreground */
	int used;   /* the payload ran: input may have been meant for it */
	int known;  /* saved holds the modes from before */
	struct termios saved, payload;
	int flags[3]; /* of descriptors 0-2, F_GETFL: others share the files */
};

/* Looks, and keeps the modes. SIGTTOU must be blocked or ignored. */
void terminal_find(struct terminal *);

/* Takes the foreground back, restores the modes, flushes the input. */
void terminal_take(struct terminal *);

/*
 * At the end, terminal or not: descriptors 0-2 block again if they did. The
 * payload shares them with the caller's shell (F_SETFL, fcntl(2)).
 */
void terminal_leave(struct terminal *);

/*
 * The payload asked for the terminal: 1 if carrel is in the foreground, so
 * that it can have it (terminal_give()).
 */
int terminal_lend(struct terminal *);

/*
 * After carrel was continued: 1 if carrel is in the foreground and the modes
 * that the payload had are set again, so that it can have the terminal.
 */
int terminal_resumed(struct terminal *);

/*
 * 1 if somebody could continue this process after a stop: a parent of the
 * same session in another process group (a shell with job control).
 */
int terminal_job_control(void);

/* The payload's side, before its exec, and pid 1's after a stop. */
int terminal_give(int fd, pid_t pgrp);

#endif
