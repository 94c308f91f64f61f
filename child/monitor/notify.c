#include <errno.h>
#include <fcntl.h>
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

#include "child/setup/places.h"
#include "child/shared/event.h"
#include "ipc/channel.h"
#include "ipc/policy.h"
#include "notify.h"
#include "watch.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64) /* Linux 6.6 */
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define FINISH_MS    400 /* for what could not be told, in the end */
#define PATIENCE_MS  500 /* for room to tell it, of all of a run */
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
	int waited;	 /* ms, of PATIENCE_MS */
	struct notify_view view;
	struct watch_uses *uses; /* with NOTIFY_USES */
	int first;		 /* what carrel executed is still to be told */
};

static int
tell_untold(struct serving *s)
{
	const struct event lost = {
	    .surface = (s->n->flags & (NOTIFY_FS | NOTIFY_REPORT)) == NOTIFY_FS
			   ? EVENT_FS
			   : EVENT_EXEC,
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

/* What the payload tried, and what it gets for it. */
struct attempt {
	int err; /* 0: it is let through */
	enum notify_reason by;
	int unclear; /* what it names is for the kernel alone to read */
	const char *action, *resource;
	char path[NOTIFY_PATH_LEN];
};

/*
 * A burst is more than a socket holds: the payload, which made it, waits while
 * the monitor reads. But not long, for the monitor may be stopped.
 */
static int
send_patiently(struct serving *s, const struct event *e)
{
	struct pollfd p = {.fd = s->n->events, .events = POLLOUT};
	int64_t began;

	while (event_send(s->n->events, e) == -1) {
		if (errno != EAGAIN || s->waited >= PATIENCE_MS)
			return -1;
		began = channel_now();
		(void)poll(&p, 1, PATIENCE_MS - s->waited);
		s->waited += (int)(channel_now() - began) + 1;
	}
	return 0;
}

/* One more that is counted and cannot be told. */
static void
miss(struct serving *s)
{
	if (s->untold < UINT32_MAX)
		s->untold++;
	(void)tell_untold(s);
}

static void
tell(struct serving *s, const struct event *e)
{
	(void)tell_untold(s);
	if (send_patiently(s, e) == -1)
		miss(s);
}

static void
report(struct serving *s, const struct attempt *a)
{
	const struct notify_rule *r = &s->n->rules[a->by];
	struct event e = {.surface = EVENT_EXEC,
	    .profile = EVENT_NO_PROFILE,
	    .err = (uint32_t)a->err,
	    .count = 1,
	    .action = a->action,
	    .resource = a->resource,
	    .rule = ""};

	if (r->rule != NULL) {
		e.profile = r->profile;
		e.line = r->line;
		e.rule = r->rule;
	}
	tell(s, &e);
}

/* What is not there is no violation; rule is the name of the process then. */
static void
report_missing(struct serving *s, pid_t pid, const struct watched *w)
{
	char name[64], who[EVENT_RULE_MAX + 1] = "?";
	struct event e = {.surface = EVENT_FS,
	    .flags = EVENT_NOTE,
	    .profile = EVENT_NO_PROFILE,
	    .err = (uint32_t)w->err,
	    .count = 1,
	    .action = w->action,
	    .resource = w->resource,
	    .rule = who};
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) != -1) {
		n = read(fd, who, EVENT_RULE_MAX);
		close(fd);
	}
	if (n > 1)
		who[n - 1] = '\0'; /* its newline */
	tell(s, &e);
}

static void
report_fs(struct serving *s, const struct watched *w)
{
	char rule[EVENT_RULE_MAX + 1] = "";
	struct event e = {.surface = EVENT_FS,
	    .flags = w->err == 0 ? EVENT_NOTE : 0,
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
	tell(s, &e);
}

static int
is_exec(const struct seccomp_notif *in)
{
	return in->data.nr == SYS_execve || in->data.nr == SYS_execveat;
}

/* What [exec] says of it. */
static void
judge(struct serving *s, const struct seccomp_notif *in, struct attempt *a)
{
	int known;

	a->path[0] = '\0';
	a->unclear = 0;
	a->err = notify_other(&in->data, &a->by, &a->action, &a->resource);
	if (a->err != 0 || !is_exec(in))
		return;
	a->action = "exec";
	a->resource = a->path;
	known = (s->n->flags & (NOTIFY_REPORT | NOTIFY_LOCKED)) != 0 &&
		notify_path((pid_t)in->pid, &in->data, a->path) == 0;
	a->unclear =
	    (s->n->flags & NOTIFY_LOCKED) != 0 && !known && errno == EACCES;
	a->by = s->used ? NOTIFY_BY_ONCE : NOTIFY_BY_LOCK;
	if (s->used)
		a->err = EPERM;
	/* the first is carrel's own, which has nothing to hide */
	else if ((s->n->flags & NOTIFY_LOCKED) != 0 && known)
		a->err =
		    notify_judge(&s->view, (pid_t)in->pid, &in->data, a->path);
}

/*
 * Between reading the notice and here the process may have been killed, and
 * its number given to another one: what was read is worth nothing then. 1, 0,
 * or -1 when nobody knows.
 */
static int
valid(struct serving *s, uint64_t id)
{
	int there = 1;

	if (ioctl(s->n->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == -1)
		there = errno == ENOENT ? 0 : -1;
	notify_known(&s->view, there == 1);
	return there;
}

/* As soon as the process can be looked at; at the latest when all is over. */
static void
tell_first(struct serving *s, pid_t pid)
{
	struct watched w;

	s->first = 0;
	if (!watch_use_first(s->n, &s->view, s->uses, pid, &w))
		return;
	watch_use_told(s->uses);
	report_fs(s, &w);
}

/* --uses: as watch(). A call that is refused is told as that, too. */
static int
watch_uses(struct serving *s, const struct seccomp_notif *in, int which)
{
	struct watched w;
	int there;

	if (!watch_use(
		s->n, &s->view, s->uses, (pid_t)in->pid, &in->data, which, &w))
		return 1;
	if ((there = valid(s, in->id)) == 1) {
		watch_use_told(s->uses);
		report_fs(s, &w);
	}
	return there;
}

/*
 * "report = fs": what is found is told, and it goes on in any case. As
 * valid(), which is asked only if something is kept or told: most of what
 * is looked at is in order.
 */
static int
watch(struct serving *s, const struct seccomp_notif *in)
{
	struct watched w;
	int seen, there, i;

	for (i = 0; s->uses != NULL && i < 2; i++)
		if ((there = watch_uses(s, in, i)) != 1)
			return there;
	if (s->first && s->view.root != -1 && !s->view.new)
		tell_first(s, (pid_t)in->pid);
	seen = watch_judge(s->n, &s->view, (pid_t)in->pid, &in->data, &w);
	if (!seen && !w.unclear && !s->view.new)
		return 1;
	if ((there = valid(s, in->id)) == 1 && seen)
		w.missing ? report_missing(s, (pid_t)in->pid, &w)
			  : report_fs(s, &w);
	else if (there == 1 && w.unclear)
		miss(s);
	return there;
}

/* 0, or -1 when nothing more can be answered. */
static int
answer(struct serving *s, const struct seccomp_notif *in)
{
	struct attempt a;
	union notice r;
	int there = 1;

	judge(s, in, &a);
	if (a.err != 0 || (is_exec(in) && (s->n->flags & NOTIFY_FS) == 0))
		there = valid(s, in->id);
	else if ((s->n->flags & NOTIFY_FS) != 0)
		there = watch(s, in);
	if (there != 1)
		return there;
	/* before the payload goes on: it could end the run by its own end */
	if (a.err != 0 && (s->n->flags & NOTIFY_REPORT) != 0)
		report(s, &a);
	else if (a.unclear)
		miss(s);
	memset(&r, 0, sizeof(r));
	r.out.id = in->id;
	r.out.error = -a.err;
	if (a.err == 0)
		r.out.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (ioctl(s->n->listener, SECCOMP_IOCTL_NOTIF_SEND, &r) == -1)
		/* gone, or a signal came first and it will be made anew */
		return errno == ENOENT ? 0 : -1;
	if (a.err == 0 && is_exec(in) && (s->n->flags & NOTIFY_ONCE) != 0)
		s->used = 1;
	return 0;
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
	if ((n->flags & NOTIFY_USES) != 0 &&
	    (s.uses = watch_uses_new(n)) == NULL)
		return 1;
	s.first = s.uses != NULL && n->first != NULL;
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
			if (s.first)
				tell_first(&s, 0);
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
	    close_others(n->listener, n->events) == -1 ||
	    notify_confine() == -1)
		_exit(1);
	_exit(notify_serve(n));
}
