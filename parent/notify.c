#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/event.h"
#include "ipc/policy.h"
#include "notify.h"
#include "places.h"
#include "watch.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64) /* Linux 6.6 */
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define FINISH_MS    400 /* for what could not be told, in the end */
#define NOTICE_BYTES 512 /* the kernel's may be longer than our headers' */

union notice {
	struct seccomp_notif in;
	struct seccomp_notif_resp out;
	char room[NOTICE_BYTES];
};

struct serving {
	const struct notify *n;
	int used;	 /* once = yes: the one attempt was let through */
	uint32_t untold; /* refusals for which the socket had no room */
	struct notify_view view;
};

static int
tell_untold(struct serving *s)
{
	const struct event lost = {.surface = EVENT_EXEC,
	    .flags = EVENT_LOST,
	    .profile = EVENT_NO_PROFILE,
	    .count = s->untold,
	    .action = "",
	    .resource = "",
	    .rule = ""};

	if (s->untold > 0 && event_send(s->n->events, &lost) == -1)
		return -1;
	s->untold = 0;
	return 0;
}

/* Nobody is left inside whom it could keep waiting. */
static void
finish(struct serving *s)
{
	struct pollfd p = {.fd = s->n->events, .events = POLLOUT};

	if (tell_untold(s) == -1 && errno == EAGAIN &&
	    poll(&p, 1, FINISH_MS) == 1)
		(void)tell_untold(s);
}

/* Never waits: a payload that tries without end does not stop itself. */
static void
report(struct serving *s, const struct event *e)
{
	(void)tell_untold(s);
	if (event_send(s->n->events, e) == -1 && s->untold < UINT32_MAX)
		s->untold++;
}

static void
report_exec(struct serving *s, int err, const char *path)
{
	struct event e = {.surface = EVENT_EXEC,
	    .profile = EVENT_NO_PROFILE,
	    .err = (uint32_t)err,
	    .count = 1,
	    .action = "exec",
	    .resource = path,
	    .rule = ""};

	report(s, &e);
}

static void
report_fs(struct serving *s, const struct watched *w)
{
	char rule[EVENT_RULE_MAX + 1] = "";
	struct event e = {.surface = EVENT_FS,
	    .profile = EVENT_NO_PROFILE,
	    .err = (uint32_t)w->err,
	    .count = 1,
	    .action = w->action,
	    .resource = w->resource,
	    .rule = rule};

	if (w->place != NULL && w->place->verb != 0) {
		e.profile = w->place->profile;
		e.line = w->place->line;
		snprintf(rule, sizeof(rule), "%s = %s",
		    policy_verb(w->place->verb), w->place->guest);
	}
	report(s, &e);
}

/* What the payload gets for executing: 0 lets it through. */
static int
judge(struct serving *s, const struct seccomp_notif *in, char *path)
{
	int known;

	path[0] = '\0';
	known = (s->n->flags & (NOTIFY_REPORT | NOTIFY_LOCKED)) != 0 &&
		notify_path((pid_t)in->pid, &in->data, path) == 0;
	if (s->used)
		return EPERM;
	/* the first is carrel's own, which has nothing to hide */
	if (!(s->n->flags & NOTIFY_LOCKED) || !known)
		return 0;
	return notify_judge(&s->view, (pid_t)in->pid, &in->data, path);
}

/*
 * Between reading the notice and here the process may have been killed, and
 * its number given to another one: what was read is worth nothing then. 1, 0,
 * or -1 when nobody knows.
 */
static int
valid(const struct serving *s, uint64_t id)
{
	if (ioctl(s->n->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/*
 * err: what the payload gets, 0: the kernel decides. 1; 0 if nobody got it; or
 * -1.
 */
static int
send_answer(const struct serving *s, uint64_t id, int err)
{
	union notice r;

	memset(&r, 0, sizeof(r));
	r.out.id = id;
	r.out.error = -err;
	if (err == 0)
		r.out.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (ioctl(s->n->listener, SECCOMP_IOCTL_NOTIF_SEND, &r) == -1)
		/* gone, or a signal came first and it will be made anew */
		return errno == ENOENT ? 0 : -1;
	return 1;
}

/*
 * "report = fs": what is found is told, and it goes on in any case. Whether the
 * process was still there matters only for what is kept or told. As valid().
 */
static int
watch(struct serving *s, const struct seccomp_notif *in)
{
	struct watched w;
	int seen, there;

	seen = watch_judge(s->n, &s->view, (pid_t)in->pid, &in->data, &w);
	if (seen || s->view.new) {
		there = valid(s, in->id);
		notify_known(&s->view, there == 1);
		if (there != 1)
			return there;
	}
	if (seen)
		report_fs(s, &w);
	return 1;
}

static int
is_exec(const struct seccomp_notif *in)
{
	return in->data.nr == SYS_execve || in->data.nr == SYS_execveat;
}

/* 0, or -1 when nothing more can be answered. */
static int
answer(struct serving *s, const struct seccomp_notif *in)
{
	const int refuses = NOTIFY_ONCE | NOTIFY_LOCKED;
	int err = 0, there = 1, flags = s->n->flags;
	char path[NOTIFY_PATH_LEN];

	if (is_exec(in) && (flags & refuses) != 0) {
		err = judge(s, in, path);
		there = valid(s, in->id);
		notify_known(&s->view, there == 1);
	}
	if (there != 1)
		return there;
	/* before the payload goes on: it could end the run by its own end */
	if (err != 0 && (flags & NOTIFY_REPORT) != 0)
		report_exec(s, err, path);
	else if (err == 0 && (flags & NOTIFY_FS) != 0)
		there = watch(s, in);
	if (there != 1)
		return there;
	there = send_answer(s, in->id, err);
	if (there == 1 && is_exec(in) && err == 0 && (flags & NOTIFY_ONCE) != 0)
		s->used = 1;
	return there == -1 ? -1 : 0;
}

/* One notice, or none after all. 0, or -1. */
static int
serve_one(struct serving *s)
{
	union notice q;

	memset(&q, 0, sizeof(q)); /* as the kernel insists */
	if (ioctl(s->n->listener, SECCOMP_IOCTL_NOTIF_RECV, &q) == -1)
		return errno == ENOENT || errno == EINTR ? 0 : -1;
	return answer(s, &q.in);
}

/* Nothing is missed in silence on a kernel that lacks what it needs. */
static int
fits(const struct notify *n)
{
	struct seccomp_notif_sizes sizes;

	if ((n->flags & NOTIFY_FS) != 0 && !watch_works())
		return 0;
	return syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0UL, &sizes) ==
		   0 &&
	       sizes.seccomp_notif <= sizeof(union notice) &&
	       sizes.seccomp_notif_resp <= sizeof(union notice);
}

int
notify_serve(const struct notify *n)
{
	struct serving s = {.n = n, .view = {-1, 0}};
	struct pollfd p = {.fd = n->listener, .events = POLLIN};

	if (!fits(n))
		return 1;
	/* a tenth of the cost where the kernel can, ignored where not */
	(void)ioctl(n->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
	    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	for (;;) {
		if (poll(&p, 1, -1) == -1) {
			if (errno == EINTR)
				continue;
			return 1;
		}
		if ((p.revents & POLLIN) != 0) {
			if (serve_one(&s) == -1)
				return 1;
		} else if (p.revents != 0) {
			finish(&s);
			return 0; /* nobody is left who could ask */
		}
	}
}

/* All but these two, which may be -1. */
static int
close_others(int a, int b)
{
	int lo = a < b ? a : b, hi = a < b ? b : a, from = 0;

	if (lo >= 0) {
		if (lo > 0 && syscall(SYS_close_range, 0, lo - 1, 0) == -1)
			return -1;
		from = lo + 1;
	}
	if (hi >= from) {
		if (hi > from &&
		    syscall(SYS_close_range, from, hi - 1, 0) == -1)
			return -1;
		from = hi + 1;
	}
	return (int)syscall(SYS_close_range, from, UINT_MAX, 0);
}

pid_t
notify_start(const struct notify *n)
{
	pid_t parent = getpid(), pid;
	sigset_t all;

	if ((pid = fork()) != 0) {
		close(n->listener);
		if (n->events != -1)
			close(n->events);
		return pid;
	}
	/* what a terminal sends to all of carrel's group is not for this one */
	sigfillset(&all);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    getppid() != parent || sigprocmask(SIG_BLOCK, &all, NULL) == -1 ||
	    close_others(n->listener, n->events) == -1)
		_exit(1);
	_exit(notify_serve(n));
}
