#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/shared/patient.h"
#include "ipc/log.h"
#include "patience.h"

static struct {
	pid_t pid; /* 0: there is none */
	int fd;	   /* PATIENT_FD */
} patience;

const char *
patience_text(enum patience what)
{
	static const char *const texts[] = {"",
	    "still finding out who calls and where: the file system of the "
	    "home or of the working directory is slow to answer",
	    "still waiting for the profiles: the file system that they are on "
	    "is slow to answer, or this host is very busy",
	    "still looking at what the profiles grant: a file system among it "
	    "is slow to answer, or this host is very busy",
	    "still trying what a run needs of this host"};

	return texts[what];
}

/* Says it once for each thing that takes so long, and ends with its maker. */
static void __attribute__((noreturn)) serve(int fd, enum patience what)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n, timeout = PATIENT_MS;
	unsigned char c;

	for (;;) {
		n = poll(&p, 1, timeout);
		if (n == 0) {
			log_warn("%s", patience_text(what));
			timeout = -1;
		} else if (n == 1) {
			if (read(fd, &c, 1) != 1 || c < PATIENCE_CALLER ||
			    c > PATIENCE_LAST)
				_exit(0);
			what = (enum patience)c;
			timeout = PATIENT_MS;
		}
	}
}

static int
alone(int fd)
{
	sigset_t none;

	sigemptyset(&none);
	/* nobody who reads standard output waits for this one */
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
		       dup2(fd, 0) == -1 || close(1) == -1 ||
		       syscall(SYS_close_range, 3, ~0U, 0) == -1
		   ? -1
		   : sigprocmask(SIG_SETMASK, &none, NULL);
}

/* It is no failure if there is nobody who says it. */
void
patience_begin(enum patience what)
{
	int fd[2];

	if (!isatty(STDERR_FILENO) || pipe2(fd, O_CLOEXEC) == -1)
		return;
	patience.fd = fcntl(fd[1], F_DUPFD_CLOEXEC, PATIENT_FD);
	close(fd[1]);
	if (patience.fd == PATIENT_FD && (patience.pid = fork()) == 0) {
		close(patience.fd);
		if (alone(fd[0]) == -1)
			_exit(1);
		serve(0, what);
	}
	close(fd[0]);
	if (patience.pid > 0)
		return;
	patience.pid = 0;
	if (patience.fd != -1)
		close(patience.fd);
}

void
patience_next(enum patience what)
{
	unsigned char c = (unsigned char)what;

	/* if it is gone nothing is said */
	if (patience.pid != 0 && write(patience.fd, &c, 1) != 1)
		patience_end();
}

void
patience_end(void)
{
	if (patience.pid == 0)
		return;
	close(patience.fd);
	/* somebody may have stopped it */
	(void)kill(patience.pid, SIGKILL);
	while (waitpid(patience.pid, NULL, 0) == -1 && errno == EINTR)
		;
	patience.pid = 0;
}

void
patience_keep(void)
{
	if (patience.pid != 0)
		(void)fcntl(patience.fd, F_SETFD, 0);
}
