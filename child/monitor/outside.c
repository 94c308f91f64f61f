#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parent/factory.h"
#include "helper.h"
#include "ipc/channel.h"
#include "outside.h"

static const char broker[] = "carrel-broker";

void
outside_init(struct outside *o)
{
	memset(o, 0, sizeof(*o));
	o->events = o->factory = -1;
}

static int
start_broker(struct outside *o, const struct install *in, int landlock, int fd)
{
	char without[] = "--without-landlock", name[sizeof(broker)];
	char *argv[] = {name, landlock ? NULL : without, NULL};
	int pair[2];

	memcpy(name, broker, sizeof(name));
	if (channel_pair(pair) == -1)
		return -1;
	o->broker_pid = helper_serve(in, broker, argv, fd, pair[1]);
	o->events = pair[0];
	close(pair[1]);
	return 0;
}

static int
start_factory(struct outside *o)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setpgid(0, 0) == -1)
			_exit(1);
		factory_run(o->factory);
	}
	o->factory_pid = pid == -1 ? 0 : pid;
	return pid == -1 ? -1 : 0;
}

int
outside_start(struct outside *o, const struct install *in, int landlock, int fd)
{
	int bad = start_broker(o, in, landlock, fd) == -1 ||
		  (o->factory != -1 && start_factory(o) == -1);
	int err = errno;

	close(fd);
	if (o->factory != -1)
		close(o->factory);
	o->factory = -1;
	errno = err;
	return bad ? -1 : 0;
}

const char *
outside_ended(struct outside *o, pid_t pid, int status, char *buf, size_t len)
{
	const char *who = NULL;
	int n;

	if (pid == o->broker_pid) {
		o->broker_pid = 0;
		who = broker;
	} else if (pid == o->factory_pid) {
		o->factory_pid = 0;
		who = "the socket factory";
	}
	n = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	/* the factory ends well when the broker does, whose end counts */
	if (who == NULL || (who != broker && status == 0))
		return NULL;
	o->failed = 1;
	snprintf(buf, len,
	    "%s %s %d while it was needed: the network of the sandbox is "
	    "gone, and the run counts as failed",
	    who, WIFSIGNALED(status) ? "was ended by signal" : "ended with", n);
	return buf;
}

void
outside_finish(struct outside *o)
{
	if (o->events != -1)
		(void)shutdown(o->events, SHUT_WR);
}

/*
 * It was told to end, and has nothing to wait for. pidfd_open(2): readable
 * when it has ended. Returns its wait status.
 */
static int
reap(pid_t pid, int64_t deadline)
{
	struct pollfd p = {.events = POLLIN};
	int status = 0, n = 0;

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (p.fd != -1 && (n = poll(&p, 1, channel_left(deadline))) == -1 &&
	       errno == EINTR)
		;
	if (p.fd != -1)
		close(p.fd);
	if (n != 1)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return 0; /* somebody else waited for it */
	return status;
}

void
outside_end(struct outside *o, char *buf, size_t len)
{
	int64_t deadline = channel_deadline(1);
	int status;

	if (o->factory_pid > 0) {
		(void)kill(o->factory_pid, SIGKILL);
		(void)reap(o->factory_pid, deadline);
		o->factory_pid = 0;
	}
	if (o->broker_pid > 0 && (status = reap(o->broker_pid, deadline)) != 0)
		(void)outside_ended(o, o->broker_pid, status, buf, len);
	o->broker_pid = 0;
}
