#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child/shared/broker.h"
#include "filter_broker.h"
#include "ipc/landlock_abi.h"
#include "sandbox.h"

#define FILES_MAX  16384 /* every quota of this program at its bound */
#define MEMORY_MAX (512UL << 20)

#define GET_VERSION   1U
#define RULE_NET_PORT 2
#define NET_CONNECT   (1ULL << 1)
#define DNS_PORT      53

struct port_attr {
	uint64_t access, port;
};

static int
limit(int what, rlim_t max)
{
	struct rlimit r;

	if (getrlimit(what, &r) == -1)
		return -1;
	if (r.rlim_max > max)
		r.rlim_max = max;
	r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r);
}

long
broker_limits(void)
{
	struct rlimit r;

	if (!SANDBOX_SANITIZED &&
	    (limit(RLIMIT_FSIZE, 0) == -1 || limit(RLIMIT_CORE, 0) == -1 ||
		limit(RLIMIT_NPROC, 0) == -1 ||
		limit(RLIMIT_AS, MEMORY_MAX) == -1))
		return -1;
	if (limit(RLIMIT_NOFILE, FILES_MAX) == -1 ||
	    getrlimit(RLIMIT_NOFILE, &r) == -1)
		return -1;
	return (long)r.rlim_cur;
}

static int
allow_port(int rules, uint64_t port)
{
	struct port_attr a = {NET_CONNECT, port};

	return (int)syscall(SYS_landlock_add_rule, rules, RULE_NET_PORT, &a, 0);
}

/* Of the rules and of name servers. 0 or -1. */
static int
allow_ports(int rules, const struct broker_setup *s)
{
	size_t i;
	int bad = allow_port(rules, DNS_PORT);

	for (i = 0; i < s->nrules; i++)
		if (!egress_udp(&s->rules[i].egress))
			bad |= allow_port(rules, s->rules[i].egress.port);
	return bad;
}

static int
is_all(const struct broker_setup *s)
{
	size_t i;

	for (i = 0; i < s->nrules; i++)
		if (s->rules[i].egress.scheme == EGRESS_ALL)
			return 1;
	return 0;
}

static int
enter_landlock(const struct broker_setup *s)
{
	struct ruleset_attr attr;
	int rules, bad = 0;
	long abi;

	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);
	if (abi < 1)
		return -1;
	attr = landlock_abi_all(abi);
	if (is_all(s))
		attr.net &= ~NET_CONNECT;
	/* what an older kernel does not know is zero there, and then legal */
	rules =
	    (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules == -1)
		return -1;
	if ((attr.net & NET_CONNECT) != 0)
		bad = allow_ports(rules, s);
	if (bad == 0)
		bad = (int)syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return bad;
}

static int
enter_filter(void)
{
	struct sock_fprog prog;

	prog.len = filter_broker_len;
	prog.filter = (struct sock_filter *)(uintptr_t)filter_broker;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

const char *
broker_confine(const struct broker_setup *s, int without_landlock)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return "PR_SET_NO_NEW_PRIVS";
	if (!without_landlock && enter_landlock(s) == -1)
		return "Landlock";
	if (!SANDBOX_SANITIZED && enter_filter() == -1)
		return "seccomp";
	return NULL;
}
