#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"

static int
controlling(int fd)
{
	return isatty(fd) && tcgetsid(fd) == getsid(0);
}

/* The modes and what else of the terminal a payload can leave changed. */
static void
save(struct terminal *t)
{
	t->known = tcgetattr(t->fd, &t->saved) == 0;
}

static void
restore(const struct terminal *t)
{
	/* output that was stopped (TCOOFF) stays so whatever the modes say */
	(void)tcflow(t->fd, TCOON);
	if (t->known)
		(void)tcsetattr(t->fd, TCSANOW, &t->saved);
}

static void
blocking(const struct terminal *t)
{
	int i, now;

	for (i = 0; i < 3; i++) {
		now = fcntl(i, F_GETFL);
		if (now != -1 && t->flags[i] != -1 &&
		    ((now ^ t->flags[i]) & O_NONBLOCK) != 0)
			(void)fcntl(i, F_SETFL, t->flags[i]);
	}
}

void
terminal_find(struct terminal *t)
{
	int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < 3; i++)
		t->flags[i] = fcntl(i, F_GETFL);
	t->mode = TERMINAL_NONE;
	t->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->fd == -1)
		return;
	t->mode = TERMINAL_ASKED;
	if (!controlling(STDIN_FILENO) || !controlling(STDOUT_FILENO) ||
	    getpgrp() != getpid() || tcgetpgrp(t->fd) != getpgrp())
		return;
	t->mode = TERMINAL_HANDED;
	t->inside = 1;
	save(t);
	t->payload = t->saved;
}

void
terminal_take(struct terminal *t)
{
	if (!t->inside)
		return;
	t->inside = 0;
	/* a terminal that is gone (EIO, ENOTTY) needs nothing more */
	(void)tcgetattr(t->fd, &t->payload);
	(void)tcsetpgrp(t->fd, getpgrp());
	restore(t);
	blocking(t);
	if (t->used)
		(void)tcflush(t->fd, TCIFLUSH);
}

void
terminal_leave(struct terminal *t)
{
	terminal_take(t);
	blocking(t);
}

static int
foreground(const struct terminal *t)
{
	return t->fd != -1 && tcgetpgrp(t->fd) == getpgrp();
}

int
terminal_lend(struct terminal *t)
{
	if (!foreground(t))
		return 0;
	save(t);
	t->payload = t->saved;
	t->inside = t->lent = 1;
	return 1;
}

int
terminal_resumed(struct terminal *t)
{
	if ((t->mode != TERMINAL_HANDED && !t->lent) || !foreground(t))
		return 0;
	save(t);
	(void)tcsetattr(t->fd, TCSANOW, &t->payload);
	t->inside = 1;
	return 1;
}

int
terminal_job_control(void)
{
	pid_t parent = getppid();

	return parent > 0 && getsid(parent) == getsid(0) &&
	       getpgid(parent) != getpgrp();
}

int
terminal_give(int fd, pid_t pgrp)
{
	return tcsetpgrp(fd, pgrp);
}
