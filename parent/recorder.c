#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/*
 * What the caller may set for his own processes came along by fork(2) and
 * execve(2): no limit of processor time kills this one, no priority starves it,
 * and it is not the first that the kernel ends for memory. A container's root
 * may not raise a limit: there is no run under such a one.
 */
static int
unbind(void)
{
	static const int limits[] = {
	    RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK};
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	const struct sched_param other = {.sched_priority = 0};
	unsigned char all[128];
	char bad[8] = "";
	size_t i;
	int fd, r;

	if (caps_raise_recorder() == -1)
		return -1;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (setrlimit(limits[i], &none) == -1)
			return -1;
	memset(all, 0xff, sizeof(all));
	if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &other) == -1 ||
	    setpriority(PRIO_PROCESS, 0, 0) == -1 ||
	    syscall(SYS_sched_setaffinity, 0, sizeof(all), all) == -1)
		return -1;
	if ((fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC)) == -1)
		return -1;
	r = read(fd, bad, sizeof(bad) - 1) > 0 ? 0 : -1;
	if (r == 0 && bad[0] != '-' && pwrite(fd, "0", 1, 0) != 1)
		r = -1;
	close(fd);
	return r;
}

/* Nothing of the user's is open any more, and no terminal is near. */
static void
retire(const struct start *st, int launcher)
{
	struct failure f;
	int fd;

	for (fd = 0; fd <= 2; fd++)
		close(fd);
	if (chdir("/") == -1 || unbind() == -1 ||
	    caps_raise(CAPS_BIT(CAP_SETPCAP)) == -1 || caps_drop(&f) == -1)
		refuse(launcher, errno);
	(void)setsid();
	start_scrub(st); /* the caller's environment is the payload's affair */
}

/* The run is over: what the monitor says to that comes first, if it is soon. */
static void __attribute__((noreturn))
end(struct recorder *r, const struct over *o)
{
	struct pollfd p = {.fd = r->launcher, .events = POLLIN};
	int64_t by = record_now() + LAST_MS, left;
	int told = 0;

	if (r->launcher != -1 &&
	    pass_send(r->launcher, o, sizeof(*o), NULL, 0) == -1)
		p.fd = r->launcher = -1;
	while (r->launcher != -1) {
		left = by - record_now();
		if (!told && (left <= 0 || poll(&p, 1, (int)left) == 0)) {
			record_end(&r->log, o->status, &o->used);
			told = 1;
		}
		if (told)
			(void)poll(&p, 1, -1);
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

static int
hear_children(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void __attribute__((noreturn)) watch(struct recorder *r, int ended)
{
	struct pollfd p[2] = {{.fd = r->launcher, .events = POLLIN},
	    {.fd = ended, .events = POLLIN}};
	char buf[sizeof(struct signalfd_siginfo)];

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
	int pair[2], fds[PASS_FDS], ended, no_log = 0;
	size_t n = 0;
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
		close(launcher);
		record_close(&r.log);
		serve(served, &b, pair[1]);
	}
	close(pair[1]);
	while (b.nfds > 0)
		close(b.fds[--b.nfds]);
	retire(served->start, launcher);
	if ((ended = hear_children()) == -1)
		refuse(launcher, errno);
	len = pass_receive(pair[0], &born, sizeof(born), fds, &n);
	close(pair[0]);
	if (len != sizeof(born) || (born.err == 0 && n != 1))
		refuse(launcher, EPIPE);
	if (pass_send(launcher, &born, sizeof(born), fds, n) == -1 ||
	    born.err != 0)
		_exit(EXIT_CARREL); /* the launcher knows, or is gone */
	close(fds[0]);
	r.launcher = launcher;
	r.inside = born.pid;
	watch(&r, ended);
}
