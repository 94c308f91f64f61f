#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "start.h"

#define TIMER_SLACK_NS 50000UL /* the kernel's default, prctl(2) */
#define QUERY	       0xffffffffUL
#define SIGNALS	       64 /* of the kernel, signal(7) */

extern char **environ;

/*
 * A socket belongs to the network in which it was made, so it would be a way
 * out of the payload's: of all kinds only a connected stream between local
 * processes can be sent nowhere else.
 */
static int
local_stream(int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(int), peer_len = sizeof(peer);
	int domain = -1, type = -1;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == -1 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == -1)
		return 0;
	return domain == AF_UNIX &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET) &&
	       getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0;
}

/* NULL, or what the payload may not be handed. */
static const char *
unfit(int fd, int flags)
{
	struct stat st;

	if ((flags & O_PATH) != 0)
		return "a path descriptor (O_PATH)";
	if (fstat(fd, &st) == -1)
		return "of no known kind";
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFIFO:
	case S_IFCHR:
		return NULL;
	case S_IFSOCK:
		return local_stream(fd) ? NULL : "a socket of the network";
	case S_IFDIR:
		return "a directory";
	default:
		return "no file, pipe or terminal";
	}
}

/*
 * A descriptor of 0-2 that is closed would be given to the next open(2), and
 * a message would land in it.
 */
static void
standard_descriptors(void)
{
	const char *what;
	int fd, flags, new;

	for (fd = 0; fd <= 2; fd++) {
		if ((flags = fcntl(fd, F_GETFL)) == -1) {
			new = open("/dev/null",
			    (fd == 0 ? O_RDONLY : O_WRONLY) | O_NOFOLLOW);
			if (new != fd)
				_exit(EXIT_CARREL);
		} else if ((what = unfit(fd, flags)) != NULL)
			fatal("descriptor %d is %s; redirect it to a file, a "
			      "pipe or /dev/null",
			    fd, what);
	}
	if (syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC) == -1)
		fatal("close_range: %s; carrel needs Linux 5.12 or later",
		    strerror(errno));
}

/* The kernel's own view: a C library hides the signals that it uses. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static int
get_action(int sig, struct action *out)
{
	return (int)syscall(
	    SYS_rt_sigaction, sig, NULL, out, sizeof(out->mask));
}

static int
set_action(int sig, void (*handler)(int))
{
	const struct action new = {.handler = handler};

	return (int)syscall(
	    SYS_rt_sigaction, sig, &new, NULL, sizeof(new.mask));
}

static void
signals(struct start *s)
{
	struct action old;
	uint64_t pending;
	sigset_t none;
	int sig, had;

	sigemptyset(&s->ignored);
	sigemptyset(&none);
	if (syscall(SYS_rt_sigpending, &pending, sizeof(pending)) == -1)
		fatal("sigpending: %s", strerror(errno));
	for (sig = 1; sig <= SIGNALS; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP)
			continue;
		had = (pending & 1ULL << (sig - 1)) != 0;
		/* ignoring a signal discards what is pending of it */
		if (get_action(sig, &old) == -1 ||
		    (had && set_action(sig, SIG_IGN) == -1) ||
		    ((had || old.handler != SIG_DFL) &&
			set_action(sig, SIG_DFL) == -1))
			fatal("sigaction %d: %s", sig, strerror(errno));
		if (old.handler == SIG_IGN &&
		    (sig == SIGHUP || sig == SIGINT || sig == SIGQUIT))
			sigaddset(&s->ignored, sig);
	}
	if (sigprocmask(SIG_SETMASK, &none, NULL) == -1)
		fatal("sigprocmask: %s", strerror(errno));
}

static void
timers(void)
{
	struct itimerval off;

	memset(&off, 0, sizeof(off));
	if (setitimer(ITIMER_REAL, &off, NULL) == -1 ||
	    setitimer(ITIMER_VIRTUAL, &off, NULL) == -1 ||
	    setitimer(ITIMER_PROF, &off, NULL) == -1)
		fatal("setitimer: %s", strerror(errno));
}

/* Whether a crash is piped to a program on the host. */
static int
core_handler(void)
{
	char c = '|'; /* what cannot be read is taken for the worst */
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return 1;
	(void)!read(fd, &c, 1);
	close(fd);
	return c == '|';
}

static void
limits(struct start *s)
{
	struct rlimit core, nofile;

	/* 1 and not 0: 0 does not stop a core handler behind a pipe, core(5) */
	if (getrlimit(RLIMIT_CORE, &core) == -1)
		fatal("getrlimit: %s", strerror(errno));
	s->core = core.rlim_max;
	if (core.rlim_max >= 1)
		core.rlim_cur = 1; /* the hard one: limit_core() */
	else if (core_handler())
		fatal("the hard limit of the core size is 0, and this host "
		      "has a core handler, which 0 does not stop "
		      "(kernel.core_pattern): raise the limit to 1 or more, "
		      "e.g. LimitCORE=1 in the service");
	if (setrlimit(RLIMIT_CORE, &core) == -1)
		fatal("setrlimit: %s", strerror(errno));
	if (getrlimit(RLIMIT_NOFILE, &s->nofile) == -1)
		fatal("getrlimit: %s", strerror(errno));
	nofile = s->nofile;
	nofile.rlim_cur = nofile.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &nofile) == -1)
		fatal("setrlimit: %s", strerror(errno));
}

/* The strings of argv and envp lie one behind the other, execve(2). */
static void
area(int argc, char **argv, char **envp, struct start *s)
{
	char *end = argv[0] + strlen(argv[0]) + 1;
	size_t n;
	int i;

	s->area = argv[0];
	for (i = 1; i < argc; i++)
		if (argv[i] == end)
			end += strlen(end) + 1;
	for (n = 0; envp[n] != NULL; n++)
		if (envp[n] == end)
			end += strlen(end) + 1;
	s->area_len = (size_t)(end - s->area);
	s->env = calloc(n + 1, sizeof(*s->env));
	if (s->env == NULL)
		fatal("out of memory");
	for (n = 0; envp[n] != NULL; n++)
		if ((s->env[n] = strdup(envp[n])) == NULL)
			fatal("out of memory");
}

void
start_normalise(int argc, char **argv, char **envp, struct start *s)
{
	static char *nothing[] = {NULL};

	memset(s, 0, sizeof(*s));
	standard_descriptors();
	timers();
	signals(s);
	if (argc < 1 || argv[0] == NULL || argv[0][0] == '\0')
		fatal("started without a name (argc 0); run it as \"carrel\"");
	s->umask = umask(077);
	if (personality(QUERY) != PER_LINUX && personality(PER_LINUX) == -1)
		fatal("personality: %s", strerror(errno));
	/* of x86: where it is off a clock is a crash, also behind execve(2) */
	if ((prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == -1 &&
		errno != EINVAL) ||
	    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0) == -1)
		fatal("timer slack: %s", strerror(errno));
	limits(s);
	area(argc, argv, envp, s);
	environ = nothing;
}

void
start_scrub(const struct start *s)
{
	explicit_bzero(s->area, s->area_len);
}

static void
close_from(unsigned first, unsigned last)
{
	if (first <= last && syscall(SYS_close_range, first, last, 0) == -1)
		fatal("close_range: %s", strerror(errno));
}

void
start_close(int keep, int other)
{
	int first = keep < other ? keep : other;
	int last = keep < other ? other : keep;
	unsigned from = 3;

	if (first >= 3) {
		close_from(from, (unsigned)first - 1);
		from = (unsigned)first + 1;
	}
	if (last >= (int)from) {
		close_from(from, (unsigned)last - 1);
		from = (unsigned)last + 1;
	}
	close_from(from, UINT_MAX);
}

const char *
start_getenv(const struct start *s, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; s->env[i] != NULL; i++)
		if (strncmp(s->env[i], name, n) == 0 && s->env[i][n] == '=')
			return s->env[i] + n + 1;
	return NULL;
}
