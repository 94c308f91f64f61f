#include <sys/stat.h>
#include <sys/utsname.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/cause.h"
#include "child/shared/cgroup.h"
#include "doctor.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/rule.h"
#include "out.h"
#include "probe.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define KERNEL_MAJOR 5 /* mount_setattr(2) */
#define KERNEL_MINOR 12
#define CAUSE_LEN    1024

struct visit {
	struct out o;
	struct cause_host host;
	unsigned bad; /* what stops a run */
	int works;    /* there can be a sandbox at all */
};

static const struct {
	const char *what;
	enum cause_step step;
} probes[PROBES] = {
    [PROBE_USERNS] = {"new user, mount, pid, net, ipc, uts and cgroup "
		      "namespaces",
	CAUSE_USERNS},
    [PROBE_IDMAP] = {"own user and group id in the user namespace",
	CAUSE_IDMAP},
    [PROBE_MOUNT] = {"mount API: tmpfs, cloned trees, mount_setattr",
	CAUSE_MOUNT},
    [PROBE_OPENAT2] = {"openat2 without links", CAUSE_OPENAT2},
    [PROBE_PROC] = {"a new /proc for the pid namespace", CAUSE_PROC},
    [PROBE_NETNS] = {"loopback in the network namespace", CAUSE_NETNS},
    [PROBE_EGRESS] = {"[egress]: local routes and raw sockets there",
	CAUSE_NETNS},
    [PROBE_EVERYTHING] = {"allow = *: nf_tables with tproxy there",
	CAUSE_NFTABLES},
    [PROBE_LANDLOCK] = {"Landlock", CAUSE_LANDLOCK},
    [PROBE_SECCOMP] = {"system-call filters", CAUSE_SECCOMP},
};

/* One line: what was looked at, and if it is missing the fix. */
static void
say(struct visit *v, const char *word, struct cell *c)
{
	int no = strcmp(word, "no") == 0;

	v->bad += no;
	out_verdict(&v->o, word, c, !no);
}

static void
check_kernel(struct visit *v)
{
	struct cell c = {0};
	struct utsname u;
	int ok;

	if (uname(&u) == -1)
		fatal("uname: %s", strerror(errno));
	ok = v->host.major > KERNEL_MAJOR ||
	     (v->host.major == KERNEL_MAJOR && v->host.minor >= KERNEL_MINOR);
	cell_addf(&c, "kernel: %s %s", u.sysname, u.release);
	if (!ok)
		cell_addf(&c, ": too old, use %d.%d or newer", KERNEL_MAJOR,
		    KERNEL_MINOR);
	say(v, ok ? "ok" : "no", &c);
}

/* Settings that can forbid user namespaces, whatever came of the trial. */
static void
check_settings(struct visit *v, int works)
{
	struct cell c = {0};

	if (v->host.apparmor == 1) {
		cell_add(&c, "kernel.apparmor_restrict_unprivileged_userns = "
			     "1: ");
		cell_add(&c, works ? "a profile lifts it for carrel"
				   : "carrel is not exempt, see above");
		out_verdict(&v->o, works ? "ok" : "--", &c, works);
	}
	if (v->host.userns_clone == 0 && works) {
		cell_add(&c, "kernel.unprivileged_userns_clone = 0: only root "
			     "can run carrel");
		out_verdict(&v->o, "--", &c, 1);
	}
	if (v->host.selinux) {
		cell_add(&c, "SELinux is enforcing: if a run is refused, look "
			     "for an AVC denial with ausearch -m avc -ts "
			     "recent");
		out_verdict(&v->o, "--", &c, 1);
	}
}

static void
check_probes(struct visit *v)
{
	char why[CAUSE_LEN];
	struct cell c = {0};
	int results[PROBES], abi, i, works = 1;

	probe_all(results, &abi);
	for (i = 0; i < PROBES; i++) {
		cell_add(&c, probes[i].what);
		if (i == PROBE_LANDLOCK && results[i] == 0)
			cell_addf(&c, ": ABI %d%s", abi,
			    abi < 6
				? ", which cannot scope abstract sockets and "
				  "signals (6 and newer can)"
				: "");
		if (results[i] > 0) {
			cell_addf(&c, ": %s", strerror(results[i]));
			cause_judge(&v->host, probes[i].step, results[i], why,
			    sizeof(why));
			if (why[0] != '\0') {
				cell_add(&c, "; ");
				cell_add(&c, why);
			}
		} else if (results[i] == PROBE_UNTRIED) {
			cell_add(&c, ": not tried, what it needs is missing");
		}
		works &= i > PROBE_NETNS || results[i] == 0;
		say(v,
		    results[i] == 0 ? "ok"
		    /* what a run can do without is no reason to say no */
		    : results[i] == PROBE_UNTRIED || i == PROBE_EGRESS ||
			    i == PROBE_EVERYTHING
			? "--"
			: "no",
		    &c);
	}
	v->works = works;
	check_settings(v, works);
}

static void
check_file(struct visit *v, const char *dir, const char *name, int mode,
    const char *what)
{
	char path[PATH_MAX_LEN + 1];
	struct cell c = {0};
	struct stat st;
	int n, err = 0;

	n = snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		err = ENAMETOOLONG;
	else if (stat(path, &st) == -1 || access(path, mode) == -1)
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EINVAL;
	cell_addf(&c, "%s ", what);
	cell_quote(&c, path);
	if (err != 0)
		cell_addf(&c, ": %s; install carrel again (make install)",
		    strerror(err));
	say(v, err == 0 ? "ok" : "no", &c);
}

static void
check_install(struct visit *v, const char *libexec, const char *profiles)
{
	static const char *const helpers[] = {
	    "carrel-parse", "carrel-screen", "carrel-broker"};
	static const char *const shipped[] = {
	    "sys.profile", "home.profile", "target.profile"};
	size_t i;

	for (i = 0; i < NITEMS(helpers); i++)
		check_file(v, libexec, helpers[i], X_OK, "helper");
	for (i = 0; i < NITEMS(shipped); i++)
		check_file(v, profiles, shipped[i], R_OK, "shipped profile");
}

/* No obstacle: the payload's filter refuses the ioctl in any case. */
static void
check_terminal(struct visit *v)
{
	char digit = '\0';
	struct cell c = {0};
	int fd;

	fd = open("/proc/sys/dev/tty/legacy_tiocsti", O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		if (read(fd, &digit, 1) != 1)
			digit = '\0';
		close(fd);
	}
	if (digit == '0')
		cell_add(&c, "terminal: this kernel lets no program push "
			     "input (dev.tty.legacy_tiocsti = 0)");
	else
		cell_add(&c, "terminal: programs outside carrel can push "
			     "input into it; inside the filter refuses it (as "
			     "root sysctl -w dev.tty.legacy_tiocsti=0, from "
			     "Linux 6.2 on)");
	out_verdict(&v->o, digit == '0' ? "ok" : "--", &c, 1);
}

/* No obstacle either: it stops only a run whose profile asks for it. */
static void
check_limits(struct visit *v)
{
	static const unsigned limits[] = {LIMIT_MEMORY, LIMIT_CPU};
	struct rule r = {.kind = RULE_LIMIT};
	struct cgroup_host g;
	struct cell c = {0};
	char why[CAUSE_LEN + PATH_MAX_LEN];
	size_t i;

	for (i = 0; i < NITEMS(limits) && v->works; i++) {
		r.what = (uint8_t)limits[i];
		cgroup_find(&g, CGROUP_BIT(limits[i]), getpid());
		cell_addf(&c, "[limits] %s: ", rule_key(&r));
		if (g.state == CGROUP_READY) {
			cell_add(&c, "a control group can be made in ");
			cell_quote(&c, g.own);
		} else {
			cell_add(&c, "cannot be enforced from here: ");
			cell_add(&c, cgroup_why(&g, why, sizeof(why)));
		}
		out_verdict(
		    &v->o, g.state == CGROUP_READY ? "ok" : "--", &c, 1);
	}
}

static void
verdict(struct visit *v)
{
	struct cell c = {0};

	if (v->bad == 0)
		cell_add(&c, "user mode works on this host: carrel run");
	else
		cell_addf(&c,
		    "carrel run does not work here: %u of the lines "
		    "above say no",
		    v->bad);
	out_block(&v->o, v->bad == 0 ? "YES" : "NO", c.s);
	cell_free(&c);
}

int
doctor_run(const char *libexec, const char *profiles)
{
	struct visit v;
	size_t at;
	ssize_t n;

	memset(&v, 0, sizeof(v));
	cause_read(&v.host);
	out_open(&v.o, 0, 0);
	check_kernel(&v);
	check_probes(&v);
	check_install(&v, libexec, profiles);
	check_terminal(&v);
	check_limits(&v);
	verdict(&v);
	out_close(&v.o);
	for (at = 0; at < v.o.len; at += (size_t)n) {
		n = write(STDOUT_FILENO, v.o.text + at, v.o.len - at);
		if (n == -1 && errno == EINTR)
			n = 0;
		else if (n == -1)
			fatal("standard output: %s", strerror(errno));
	}
	out_free(&v.o);
	return v.bad == 0 ? 0 : 1;
}
