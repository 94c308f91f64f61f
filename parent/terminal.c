#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal.h"

#define TTY STDIN_FILENO

static int
controlling(int fd)
{
	return isatty(fd) && tcgetsid(fd) == getsid(0);
}

void
terminal_find(struct terminal *t)
{
	int fd;

	memset(t, 0, sizeof(*t));
	if (controlling(STDIN_FILENO) && controlling(STDOUT_FILENO) &&
	    getpgrp() == getpid() && tcgetpgrp(TTY) == getpgrp()) {
		t->mode = TERMINAL_HANDED;
		t->inside = 1;
		t->known = tcgetattr(TTY, &t->saved) == 0;
		t->payload = t->saved;
		return;
	}
	fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	t->mode = fd == -1 ? TERMINAL_NONE : TERMINAL_SHARED;
	if (fd != -1)
		close(fd);
}

void
terminal_take(struct terminal *t)
{
	if (t->mode != TERMINAL_HANDED || !t->inside)
		return;
	t->inside = 0;
	/* a terminal that is gone (EIO, ENOTTY) needs nothing more */
	(void)tcgetattr(TTY, &t->payload);
	(void)tcsetpgrp(TTY, getpgrp());
	if (t->known)
		(void)tcsetattr(TTY, TCSANOW, &t->saved);
	if (t->used)
		(void)tcflush(TTY, TCIFLUSH);
}

int
terminal_resumed(struct terminal *t)
{
	if (t->mode != TERMINAL_HANDED || tcgetpgrp(TTY) != getpgrp())
		return 0;
	t->known = tcgetattr(TTY, &t->saved) == 0;
	(void)tcsetattr(TTY, TCSANOW, &t->payload);
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
terminal_give(pid_t pgrp)
{
	return tcsetpgrp(TTY, pgrp);
}
