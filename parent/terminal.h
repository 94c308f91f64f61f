#ifndef CARREL_TERMINAL_H
#define CARREL_TERMINAL_H

#include <sys/types.h>
#include <termios.h>

/*
 * Who has the terminal (tty_ioctl(4), credentials(7)).
 *	NONE	there is none: the payload gets its own process group
 *	SHARED	there is one, but carrel is part of a pipeline or in the
 *		background: the payload stays in carrel's process group
 *	HANDED	stdin and stdout are the controlling terminal and carrel leads
 *		its foreground group: the payload gets its own group and the
 *		foreground, without a new session
 */
enum terminal_mode {
	TERMINAL_NONE = 1,
	TERMINAL_SHARED,
	TERMINAL_HANDED
};

/* The monitor's side; the terminal is descriptor 0. */
struct terminal {
	enum terminal_mode mode;
	int inside; /* the payload's side has the foreground */
	int used;   /* the payload ran: it may have typed ahead */
	int known;  /* saved holds the modes from before */
	struct termios saved, payload;
};

/* Looks, and keeps the modes. SIGTTOU must be blocked or ignored. */
void terminal_find(struct terminal *);

/* Takes the foreground back, restores the modes, flushes the input. */
void terminal_take(struct terminal *);

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
int terminal_give(pid_t pgrp);

#endif
