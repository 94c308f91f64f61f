#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps.h"
#include "failure.h"
#include "hosted.h"
#include "ipc/log.h"
#include "record.h"
#include "start.h"

#define LAST_MS 2000 /* for what the monitor has to say of the end */

struct recorder {
	int launcher; /* the monitor by now; -1: it is gone */
	pid_t inside; /* pid 1 of the sandbox */
	struct record log;
};

/* Bars the run: the launcher says why. */
static void __attribute__((noreturn)) refuse(int launcher, int err)
{
	struct born b = {.err = err};

	(void)pass_send(launcher, &b, sizeof(b), NULL, 0);
	_exit(EXIT_CARREL);
}

/* Nothing of the user's is open any more, and no terminal is near. */
static void
retire(const struct start *st)
{
	struct failure f;
	int fd;

	for (fd = 0; fd <= 2; fd++)
		close(fd);
	if (caps_raise(CAPS_BIT(CAP_SETPCAP)) == -1 || caps_drop(&f) == -1)
		_exit(EXIT_CARREL);
	(void)setsid();
	start_scrub(st); /* the caller's environment is the payload's affair */
}

/* The run is over: what the monitor says to that comes first, if it is soon. */
static void __attribute__((noreturn))
end(struct recorder *r, const struct over *o)
{
	struct pollfd p = {.fd = r->launcher, .events = POLLIN};
	int told = 0;

	if (r->launcher != -1 &&
	    pass_send(r->launcher, o, sizeof(*o), NULL, 0) == -1)
		p.fd = r->launcher = -1;
	while (r->launcher != -1) {
		if (poll(&p, 1, told ? -1 : LAST_MS) == 0) {
			record_end(&r->log, o->status, &o->used);
			told = 1;
		}
		if (record_from(&r->log, r->launcher) == 0)
			r->launcher = -1;
	}
	if (!told)
		record_end(&r->log, o->status, &o->used);
	_exit(0);
}

/* The server, or what it left: of all but the set-up nothing is told. */
static void
children(struct recorder *r)
{
	struct over o;
	pid_t pid;

	while ((pid = wait4(-1, &o.status, WNOHANG, &o.used)) > 0)
		if (pid == r->inside)
			end(r, &o);
	if (pid == -1)
		_exit(EXIT_CARREL); /* it never lived */
}

static void __attribute__((noreturn)) watch(struct recorder *r)
{
	struct pollfd p[2] = {
	    {.fd = r->launcher, .events = POLLIN}, {.events = POLLIN}};
	char buf[sizeof(struct signalfd_siginfo)];
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	p[1].fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p[1].fd == -1)
		_exit(EXIT_CARREL);
	for (;;) {
		children(r);
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			_exit(EXIT_CARREL);
		while (read(p[1].fd, buf, sizeof(buf)) > 0)
			;
		if (p[0].revents != 0 && record_from(&r->log, r->launcher) == 0)
			p[0].fd = r->launcher = -1;
	}
}

void
recorder(int launcher, const struct served *served)
{
	static struct birth b;
	static struct recorder r;
	struct born born;
	int pair[2], fds[PASS_FDS], no_log = 0;
	size_t n;
	ssize_t len;
	pid_t pid;

	if (record_open(&r.log, served->uid) == -1)
		no_log = 1;
	/* OP_START has descriptors; a record, that there was no run, has none
	 */
	while ((len = pass_receive(
		    launcher, b.told, sizeof(b.told), b.fds, &b.nfds)) > 0 &&
	       b.nfds == 0)
		record_take(&r.log, b.told, (size_t)len);
	if (len <= 0)
		_exit(0); /* it needs no privilege for what it does */
	b.len = (size_t)len;
	if (no_log)
		refuse(launcher, ENOTCONN);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1 ||
	    (pid = fork()) == -1)
		refuse(launcher, errno);
	if (pid == 0) {
		close(pair[0]);
		record_close(&r.log);
		serve(served, &b, launcher, pair[1]);
	}
	close(pair[1]);
	while (b.nfds > 0)
		close(b.fds[--b.nfds]);
	retire(served->start);
	len = pass_receive(pair[0], &born, sizeof(born), fds, &n);
	close(pair[0]);
	if (len != sizeof(born) || born.err != 0)
		_exit(EXIT_CARREL); /* the launcher knows, or sees the end */
	r.launcher = launcher;
	r.inside = born.pid;
	watch(&r);
}
