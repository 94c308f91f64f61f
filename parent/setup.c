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

#include "announce.h"
#include "ask.h"
#include "confine.h"
#include "control.h"
#include "events.h"
#include "failure.h"
#include "init.h"
#include "ipc/caller.h"
#include "ipc/channel.h"
#include "ipc/hostenv.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/survey.h"
#include "limit.h"
#include "look.h"
#include "look_exec.h"
#include "network.h"
#include "options.h"
#include "pack.h"
#include "plan.h"
#include "protect.h"
#include "root.h"
#include "setup.h"
#include "start.h"

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

/* A failed step: the monitor tells the person, the namespaces end here. */
static void __attribute__((noreturn))
end(const struct setup *s, const struct failure *f)
{
	control_send(s->control, CONTROL_FAILED, (int)f->step, f->err, f->what);
	_exit(1);
}

static void __attribute__((noreturn))
end_refused(const struct setup *s, const struct policy *po)
{
	const struct refusal *r;
	char text[TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < po->nrefusals; i++) {
		r = &po->refusals[i];
		refusal_text(r, text, sizeof(text));
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
	if (po->unkept > 0) {
		snprintf(
		    text, sizeof(text), "and %zu reasons more", po->unkept);
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
	control_send(s->control, CONTROL_REFUSED, 0, 0, NULL);
	_exit(1);
}

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

static void
receive_caller(const struct setup *s, struct caller *out)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct receiver r;
	struct rcur c;
	unsigned type;

	if (receiver_init(&r, s->control, s->deadline, record_caller) == -1 ||
	    receiver_next(&r, &type, &c) != 1 || caller_get(&c, out) == -1) {
		if (errno == EPIPE)
			_exit(1); /* nobody is left to tell */
		failure_set(&f, CAUSE_OTHER, "learn who calls");
		end(s, &f);
	}
	receiver_free(&r);
}

/* 0 and the policy, or an errno. The digest is only made where it is read. */
static int
decode_policy(
    const struct setup *s, struct policy *po, char digest[SHA256_HEX + 1])
{
	struct sha256 sum;
	struct receiver r;
	int err = 0;

	sha256_init(&sum);
	digest[0] = '\0';
	if (receiver_init(&r, s->parser, s->deadline, record_policy) == -1)
		return errno;
	r.digest = s->audited ? &sum : NULL;
	if (policy_receive(&r, po) == -1)
		err = errno;
	if (s->audited)
		sha256_end(&sum, digest);
	receiver_free(&r);
	close(s->parser);
	return err;
}

/*
 * The policy, judged; and the monitor's word that its sender ended well. If
 * the sender ended too early, how it ended says more: the monitor then says
 * that, and ends this process.
 */
static void
receive_policy(const struct setup *s, struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};
	char digest[SHA256_HEX + 1];
	struct control m;
	int n = 1, err = decode_policy(s, po, digest);

	if (err == 0 && policy_check(po, f.what, sizeof(f.what)) == -1)
		end(s, &f);
	if ((err == 0 || err == EPIPE) &&
	    (announce_policy(s->control, err == 0 ? po : NULL, digest) == -1 ||
		(n = control_wait(s->control, &m, s->deadline)) == -1))
		err = errno;
	if (n == 0)
		_exit(1); /* nobody is left to tell */
	if (err != 0) {
		ask_broken(err, f.what, sizeof(f.what));
		end(s, &f);
	}
	if (m.type != CONTROL_GO) {
		failure_set(&f, CAUSE_OTHER, "unexpected word of the monitor");
		end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused(s, po);
}

static int
name_run(const struct setup *s, struct plan *plan, struct failure *f)
{
	if (plan_setenv(plan, "CARREL_RUN", s->run) == -1)
		return failure_set(f, CAUSE_OTHER, "name the run");
	return 0;
}

/* What every sandbox has and no policy changes, while the parser works. */
static int
begin(const struct setup *s, struct root *root, struct failure *f)
{
	struct plan fixed;

	if (unshare(NAMESPACES_REST) == -1)
		return failure_set(f, CAUSE_USERNS, "new namespaces");
	/* before anything is opened: files are opened as the caller */
	if (map_ids(s, f) == -1 || caps_no_dac(f) == -1 ||
	    name_and_loopback(f) == -1)
		return -1;
	if (plan_make_fixed(&fixed) == -1)
		return failure_set(f, CAUSE_OTHER, "make the plan");
	if (root_begin(&fixed, root, f) == -1)
		return -1;
	plan_free(&fixed);
	return 0;
}

/* -v: what sanitise left out, and why (S53). */
static void
say_drops(const struct setup *s, const struct plan *plan)
{
	const struct env_row *r;
	char text[TEXT_MAX_LEN];
	size_t i, k;

	for (i = 0; i < plan->nenv; i++) {
		r = &plan->env[i];
		for (k = 0; k < r->ndrops; k++) {
			snprintf(text, sizeof(text),
			    "%s: \"%.512s\" of the host is left out: %s",
			    r->name, r->drops[k].value, r->drops[k].mark);
			control_send(s->control, CONTROL_SAY, 0, 0, text);
		}
	}
}

/* -v: what is read-only by one name, and can be written by another. */
static void
say_elsewhere(
    const struct setup *s, const struct policy *po, const struct plan *plan)
{
	static const char *const how[] = {
	    [ELSEWHERE_WHOLE] = "also writable as ",
	    [ELSEWHERE_PART] = "in part also writable, as ",
	    [ELSEWHERE_UNKNOWN] = "perhaps also writable: too much to tell"};
	const struct elsewhere_row *e;
	char text[TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < plan->nelsewhere; i++) {
		e = &plan->elsewhere[i];
		if (e->kind == ELSEWHERE_NOT)
			continue;
		snprintf(text, sizeof(text),
		    "%.512s is read-only, but %s%.512s", po->grants[i].guest,
		    how[e->kind], e->guest != NULL ? e->guest : "");
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
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

/* From the policy to the new root; what was opened on the way is closed. */
static void
build(const struct setup *s, struct policy *po, struct root *root,
    struct plan *plan, struct limits *limits)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct survey survey;
	struct hostenv host;

	if (policy_protect(po, s->caller) == -1) {
		failure_set(&f, CAUSE_OTHER, "protect what carrel trusts");
		end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused(s, po);
	if (look_survey(po, &survey, &f) == -1 ||
	    protect_missing(po, &survey, s->caller, 1, &f) == -1 ||
	    pack_expect(po, &survey, &f) == -1 ||
	    look_exec(po, &survey, &f) == -1)
		end(s, &f);
	if (hostenv_pick(&host, po, s->start->env) == -1) {
		failure_set(&f, CAUSE_OTHER, "the caller's environment");
		end(s, &f);
	}
	if (plan_make(po, &survey, s->caller, &host, plan) == -1) {
		if (po->nrefusals > 0)
			end_refused(s, po);
		failure_set(&f, CAUSE_OTHER, "make the plan");
		end(s, &f);
	}
	if (plan->none_mounted[0] != '\0' &&
	    (s->options->verbose || isatty(STDERR_FILENO)))
		control_send(s->control, CONTROL_SAY, 0, 0, plan->none_mounted);
	if (s->options->verbose) {
		say_drops(s, plan);
		say_elsewhere(s, po, plan);
	}
	hostenv_free(&host);
	if (out_of_reach("--status-fd", s->options->status_file, po, &survey,
		&f) == -1 ||
	    out_of_reach("--events", events_path(0), po, &survey, &f) == -1 ||
	    out_of_reach("--events", events_path(1), po, &survey, &f) == -1 ||
	    name_run(s, plan, &f) == -1 ||
	    pack_make(po, &survey, s->start->umask, &f) == -1 ||
	    root_build(root, plan, &survey, &f) == -1 ||
	    limit_take(po, s->control, limits, &f) == -1) {
		if (po->nrefusals > 0)
			end_refused(s, po);
		end(s, &f);
	}
	survey_free(&survey);
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
		end(s, &f);
	}
	if (control_pass(s->control, what, 0, pair[1]) == -1)
		_exit(1); /* nobody is left to tell */
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

	if (!network_wanted(po))
		return NULL;
	if (network_factory(po))
		factory = pass_pair(s, CONTROL_FACTORY);
	broker = pass_pair(s, CONTROL_BROKER);
	if (network_make(&n, po, broker, factory,
		channel_deadline(BROKER_SECONDS), &f) == -1)
		end(s, &f);
	return n;
}

static void __attribute__((noreturn))
setup_main(const struct setup *s, struct caller *caller)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct limits limits;
	struct policy policy;
	struct plan plan;
	struct root root;
	struct network *network;
	size_t i;

	for (i = 0; i < sizeof(s->outside) / sizeof(s->outside[0]); i++)
		close(s->outside[i]);
	/* set once more when the last credential has changed */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1) {
		failure_set(&f, CAUSE_OTHER, "parent death signal");
		end(s, &f);
	}
	if (s->options->status_fd > 2)
		close(s->options->status_fd);
	events_forget();
	if (begin(s, &root, &f) == -1)
		end(s, &f);
	receive_caller(s, caller);
	receive_policy(s, &policy);
	network = open_network(s, &policy);
	build(s, &policy, &root, &plan, &limits);
	policy_free(&policy);
	if (give_up(s, &plan, &limits, &f) == -1)
		end(s, &f);
	/* last of all: whoever serves it has had all that time */
	if (network != NULL && network_finish(network, &f) == -1)
		end(s, &f);
	start_scrub(s->start);
	init_run(s, &plan, &limits);
}

pid_t
setup_start(const struct setup *s)
{
	struct setup mine = *s;
	struct caller caller;
	pid_t pid;

	mine.caller = &caller; /* receive_caller() fills it */

	/* fork(2) with namespaces: the child returns here, on a copied stack */
	pid = (pid_t)syscall(
	    SYS_clone, NAMESPACES_FIRST | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		setup_main(&mine, &caller);
	return pid;
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
