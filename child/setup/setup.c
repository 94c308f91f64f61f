#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child/monitor/events.h"
#include "child/monitor/learn.h"
#include "child/monitor/options.h"
#include "child/monitor/status.h"
#include "child/shared/survey.h"
#include "confine.h"
#include "control.h"
#include "init.h"
#include "child/shared/caller.h"
#include "child/shared/ceiling.h"
#include "ipc/channel.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "limit.h"
#include "network.h"
#include "pack.h"
#include "parent/failure.h"
#include "parent/start.h"
#include "places.h"
#include "plan.h"
#include "root.h"
#include "server.h"
#include "setup.h"
#include "setup_parts.h"

/*
 * The two without which there is no pid 1, and the rest, of which the network
 * alone takes most of the time: that the new process makes for itself, while
 * its parent goes on.
 */
#define NAMESPACES_FIRST (CLONE_NEWUSER | CLONE_NEWPID)
#define NAMESPACES_REST                                                        \
	(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |            \
	    CLONE_NEWCGROUP)
#define HOSTNAME "carrel"

static int
write_file(const char *path, const char *text, struct failure *f)
{
	ssize_t n = -1;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd != -1)
		n = write(fd, text, strlen(text));
	if (n != (ssize_t)strlen(text))
		return failure_set(f, CAUSE_IDMAP, "write %s", path);
	close(fd);
	return 0;
}

/*
 * The caller's uid and gid map to themselves, nothing else does
 * (user_namespaces(7)). The files belong to root of the host unless the
 * process is dumpable; after this it never is again.
 */
static int
map_ids(const struct setup *s, struct failure *f)
{
	char map[64];

	if (write_file("/proc/self/setgroups", "deny", f) == -1)
		return -1;
	snprintf(
	    map, sizeof(map), "%u %u 1\n", (unsigned)s->uid, (unsigned)s->uid);
	if (write_file("/proc/self/uid_map", map, f) == -1)
		return -1;
	snprintf(
	    map, sizeof(map), "%u %u 1\n", (unsigned)s->gid, (unsigned)s->gid);
	if (write_file("/proc/self/gid_map", map, f) == -1)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		return failure_set(f, CAUSE_OTHER, "clear dumpable");
	return 0;
}

static int
name_and_loopback(struct failure *f)
{
	struct ifreq ifr;
	int fd;

	if (sethostname(HOSTNAME, strlen(HOSTNAME)) == -1)
		return failure_set(f, CAUSE_USERNS, "set the host name");
	memset(&ifr, 0, sizeof(ifr));
	strcpy(ifr.ifr_name, "lo");
	ifr.ifr_flags = IFF_UP;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1 || ioctl(fd, SIOCSIFFLAGS, &ifr) == -1)
		return failure_set(f, CAUSE_NETNS, "bring lo up");
	close(fd);
	return 0;
}

static int
name_run(const struct setup *s, struct plan *plan, struct failure *f)
{
	if (plan_setenv(plan, "CARREL_RUN", s->run) == -1)
		return failure_set(f, CAUSE_OTHER, "name the run");
	return 0;
}

static int
tell_places(const struct setup *s, const struct policy *po,
    const struct plan *plan, struct failure *f)
{
	if (places_tell(s->control, po, plan) == -1)
		return failure_set(f, CAUSE_OTHER, "tell what is granted");
	return 0;
}

/* In hosted mode the server has done all that, and this is the user. */
static int
own_namespaces(const struct setup *s, struct failure *f)
{
	if (unshare(NAMESPACES_REST) == -1)
		return failure_set(f, CAUSE_USERNS, "new namespaces");
	/* before anything is opened: files are opened as the caller */
	if (map_ids(s, f) == -1 || caps_no_dac(f) == -1)
		return -1;
	return name_and_loopback(f);
}

/* What every sandbox has and no policy changes, while the parser works. */
static int
begin(const struct setup *s, struct root *root, struct failure *f)
{
	struct plan fixed;

	if (!server_used() && own_namespaces(s, f) == -1)
		return -1;
	if (plan_make_fixed(&fixed) == -1)
		return failure_set(f, CAUSE_OTHER, "make the plan");
	if (root_begin(&fixed, root, f) == -1)
		return -1;
	plan_free(&fixed);
	return 0;
}

/* What the payload could write itself would be worth nothing. */
static int
out_of_reach(const char *option, const char *file, const struct policy *po,
    const struct survey *sv, struct failure *f)
{
	size_t i;

	for (i = 0; file != NULL && i < po->ngrants; i++) {
		if (sv->rows[i].type == SURVEY_NONE ||
		    !(po->grants[i].flags & GRANT_WRITE) ||
		    !path_covers(sv->rows[i].real, file))
			continue;
		errno = 0;
		return failure_set(f, CAUSE_OTHER,
		    "%s: %s lies in %s, which the payload may write; use a "
		    "file elsewhere",
		    option, file, sv->rows[i].real);
	}
	return 0;
}

/* From the plan to the new root; what was opened on the way is closed. */
static void
build(const struct setup *s, struct policy *po, struct root *root,
    struct survey *survey, struct plan *plan, struct limits *limits)
{
	struct failure f = {.step = CAUSE_OTHER};

	setup_say_plan(s, po, plan);
	if (out_of_reach(
		"--status-fd", s->files[SETUP_STATUS], po, survey, &f) == -1 ||
	    out_of_reach("--events", s->files[SETUP_EVENTS], po, survey, &f) ==
		-1 ||
	    out_of_reach("--events", s->files[SETUP_EVENTS_NAMED], po, survey,
		&f) == -1 ||
	    name_run(s, plan, &f) == -1 ||
	    /* the last that can refuse the run */
	    limit_take(po, s->control, limits, &f) == -1 ||
	    pack_make(po, survey, s->start->umask, &f) == -1 ||
	    (plan->report_fs && tell_places(s, po, plan, &f) == -1) ||
	    root_build(root, plan, survey, &f) == -1) {
		if (po->nrefusals > 0)
			setup_end_refused(s, po);
		setup_end(s, &f);
	}
	survey_free(survey);
}

/*
 * No capability, no new privilege, no files but the plan's, no calls but the
 * filter's: from here on this process can do no more than the payload.
 */
static int
give_up(const struct setup *s, const struct plan *plan,
    const struct limits *limits, struct failure *f)
{
	const struct options *o = s->options;

	if (caps_drop(f) == -1)
		return -1;
	/* after the last change of credentials, which would clear it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		return failure_set(f, CAUSE_OTHER, "parent death signal");
	if (root_chdir(plan, f) == -1 || limit_core(limits, s->start, f) == -1)
		return -1;
	if (!o->without_landlock && landlock_enter(plan, f) == -1)
		return -1;
	return filter_enter(
	    (o->allow_ptrace ? FILTER_PTRACE : 0) |
		(s->terminal == TERMINAL_ASKED ? FILTER_BACKGROUND : 0) |
		(plan->locked ? FILTER_LOCK : 0) |
		(plan->no_unix ? FILTER_NO_UNIX & ~filter_told(plan) : 0),
	    f);
}

/* The monitor gets the other end of a new pair. This one, or ends. */
static int
pass_pair(const struct setup *s, enum control_type what)
{
	struct failure f = {.step = CAUSE_OTHER};
	int pair[2];

	if (channel_pair(pair) == -1) {
		failure_set(&f, CAUSE_OTHER, "socketpair");
		setup_end(s, &f);
	}
	if (control_pass(s->control, what, 0, pair[1]) == -1)
		_exit(1); /* nobody is left to tell */
	close(pair[1]);
	return pair[0];
}

/* A process that comes into this network: ours, or the server's. */
static int
open_factory(const struct setup *s, const struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};
	int pair[2];

	if (!server_used())
		return pass_pair(s, CONTROL_FACTORY);
	if (channel_pair(pair) == -1 ||
	    server_factory(pair[1], network_all(po)) == -1) {
		failure_set(&f, CAUSE_OTHER, "start the socket factory");
		setup_end(s, &f);
	}
	close(pair[1]);
	return pair[0];
}

/* Where anything is allowed: the broker starts while the root is built. */
static struct network *
open_network(const struct setup *s, const struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct network *n = NULL;
	int broker, factory = -1;

	/* where nothing is allowed it is still to be seen what was wanted */
	if (!network_wanted(po) && !s->options->learn)
		return NULL;
	if (network_factory(po))
		factory = open_factory(s, po);
	broker = pass_pair(s, CONTROL_BROKER);
	if (network_make(&n, po, broker, factory, s->options->nuses > 0,
		channel_deadline(BROKER_SECONDS), &f) == -1)
		setup_end(s, &f);
	return n;
}

void
setup_main(const struct setup *s, struct caller *caller)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct limits limits;
	struct ceiling ceiling;
	struct policy policy;
	struct survey survey;
	struct plan plan;
	struct root root;
	struct network *network;
	size_t i;

	for (i = 0; i < sizeof(s->outside) / sizeof(s->outside[0]); i++)
		if (s->outside[i] != -1)
			close(s->outside[i]);
	/* set once more when the last credential has changed */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1) {
		failure_set(&f, CAUSE_OTHER, "parent death signal");
		setup_end(s, &f);
	}
	status_forget();
	events_forget();
	learn_forget();
	if (begin(s, &root, &f) == -1)
		setup_end(s, &f);
	setup_hear_caller(s, caller);
	setup_hear_policy(s, &policy);
	setup_hear_ceiling(s, &policy, &ceiling);
	setup_draw(s, &ceiling, &policy, &survey, &plan);
	ceiling_free(&ceiling);
	if (s->options->learn)
		plan_learn(&plan);
	if (s->options->nuses > 0)
		plan_uses(&plan);
	setup_await_go(s);
	network = open_network(s, &policy);
	build(s, &policy, &root, &survey, &plan, &limits);
	policy_free(&policy);
	if (give_up(s, &plan, &limits, &f) == -1)
		setup_end(s, &f);
	/* last of all: whoever serves it has had all that time */
	if (network != NULL && network_finish(network, &f) == -1)
		setup_end(s, &f);
	start_scrub(s->start);
	init_run(s, &plan, &limits);
}

int
setup_start(const struct setup *s, struct setup_process *out)
{
	struct setup mine = *s;
	struct caller caller;
	pid_t pid;

	mine.caller = &caller; /* setup_hear_caller() fills it */
	/* fork(2) with namespaces: the child returns here, on a copied stack */
	pid = (pid_t)syscall(
	    SYS_clone, NAMESPACES_FIRST | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		setup_main(&mine, &caller);
	out->child = out->inside = pid;
	out->pidfd = out->server = -1;
	return pid == -1 ? -1 : 0;
}

int
setup_tell(int control, const struct caller *c, int64_t deadline)
{
	struct sender s;
	int n;

	if (sender_init(&s, control, deadline) == -1)
		return -1;
	caller_put(sender_begin(&s, RECORD_CALLER), c);
	n = sender_end(&s) == -1 ? -1 : sender_flush(&s);
	sender_free(&s);
	return n;
}
