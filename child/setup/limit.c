#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/shared/cgroup.h"
#include "control.h"
#include "ipc/confine.h"
#include "ipc/policy.h"
#include "limit.h"
#include "network.h"
#include "parent/failure.h"
#include "parent/start.h"

/* 1 if a process can be made under this limit of processes. */
static int
can_fork(rlim_t n)
{
	struct rlimit r;
	pid_t pid;

	if (getrlimit(RLIMIT_NPROC, &r) == -1 || r.rlim_max < n)
		return 0;
	r.rlim_cur = n;
	if (setrlimit(RLIMIT_NPROC, &r) == -1 || (pid = fork()) == -1)
		return 0;
	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) == pid;
}

/*
 * Whether the kernel counts, for RLIMIT_NPROC, the processes of this user
 * namespace alone, in which there are at most so many: from Linux 5.14 on, and
 * not for root, whom it does not limit (setrlimit(2), user_namespaces(7)).
 * Tried, for that is what the limit will be worth.
 */
static int
counts_processes(unsigned own)
{
	struct rlimit r;
	int good;

	if (getrlimit(RLIMIT_NPROC, &r) == -1)
		return 0;
	good = can_fork(own + 1) && !can_fork(1);
	return setrlimit(RLIMIT_NPROC, &r) == 0 && good;
}

/*
 * The monitor puts this process into a group; a signal that came before its
 * answer is for the payload. A cgroup namespace made there has the group as
 * its root.
 */
static int
enter_group(struct limits *ls, int control, struct failure *f)
{
	struct control m;
	int n;

	if (control_send(control, CONTROL_GROUP, (int)ls->grouped, 0, NULL) ==
	    -1)
		return failure_set(f, CAUSE_OTHER, "ask for a control group");
	while ((n = control_wait(control, &m, -1)) == 1 &&
	       m.type == CONTROL_SIGNAL && m.a > 0 && m.a < 64) {
		ls->signals |= UINT64_C(1) << m.a;
		if (m.b)
			ls->group |= UINT64_C(1) << m.a;
	}
	if (n == 0)
		_exit(1); /* nobody is left to tell */
	if (n == -1 || m.type != CONTROL_GROUPED)
		return failure_set(f, CAUSE_OTHER, "wait for a control group");
	if (unshare(CLONE_NEWCGROUP) == -1)
		return failure_set(f, CAUSE_OTHER, "a cgroup namespace");
	return 0;
}

int
limit_take(
    const struct policy *po, int control, struct limits *ls, struct failure *f)
{
	const struct rule *r;
	char text[TEXT_MAX_LEN];
	int what;

	memset(ls, 0, sizeof(*ls));
	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++) {
		if ((r = confine_limit(po, (enum limit)what)) == NULL)
			continue;
		ls->set[what] = 1;
		ls->value[what] = r->number;
		snprintf(
		    text, sizeof(text), "%llu ", (unsigned long long)r->number);
		confine_tell(po, r, text, sizeof(text));
		if (control_send(control, CONTROL_LIMIT, what, 0, text) == -1)
			return failure_set(
			    f, CAUSE_OTHER, "tell of the limits");
		ls->grouped |= CGROUP_ONLY & CGROUP_BIT(what);
	}
	/* a socket factory comes into the user namespace, too */
	ls->own = LIMIT_PID_1 + (unsigned)network_factory(po);
	if (ls->set[LIMIT_PROCESSES] && !counts_processes(ls->own))
		ls->grouped |= CGROUP_BIT(LIMIT_PROCESSES);
	return ls->grouped == 0 ? 0 : enter_group(ls, control, f);
}

int
limit_core(const struct limits *ls, const struct start *st, struct failure *f)
{
	uint64_t n = ls->set[LIMIT_CORE_SIZE] ? ls->value[LIMIT_CORE_SIZE] : 1;
	struct rlimit r;

	r.rlim_cur = r.rlim_max = n < st->core ? (rlim_t)n : st->core;
	if (setrlimit(RLIMIT_CORE, &r) == -1)
		return failure_set(f, CAUSE_OTHER, "limit the core size");
	return 0;
}

/* The soft limit, and a hard one so much above it; what is less stays. */
static int
lower(const struct limits *ls, enum limit what, int resource, unsigned above)
{
	uint64_t n = ls->value[what];
	struct rlimit r;

	if (what == LIMIT_PROCESSES)
		n += ls->own;
	if (!ls->set[what])
		return 0;
	if (getrlimit(resource, &r) == -1)
		return -1;
	if (n < r.rlim_cur)
		r.rlim_cur = (rlim_t)n;
	if (n + above < r.rlim_max)
		r.rlim_max = (rlim_t)(n + above);
	return setrlimit(resource, &r);
}

int
limit_payload(const struct limits *ls, const struct start *st)
{
	if (setrlimit(RLIMIT_NOFILE, &st->nofile) == -1 ||
	    lower(ls, LIMIT_OPEN_FILES, RLIMIT_NOFILE, 0) == -1 ||
	    lower(ls, LIMIT_FILE_SIZE, RLIMIT_FSIZE, 0) == -1)
		return -1;
	if (!(ls->grouped & CGROUP_BIT(LIMIT_PROCESSES)) &&
	    lower(ls, LIMIT_PROCESSES, RLIMIT_NPROC, 0) == -1)
		return -1;
	/* SIGXCPU, and a second later SIGKILL: who ignores it ends too */
	return lower(ls, LIMIT_CPU_TIME, RLIMIT_CPU, 1);
}
