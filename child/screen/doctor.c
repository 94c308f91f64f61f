#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/cgroup.h"
#include "doctor.h"
#include "doctor_parts.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/rule.h"
#include "probe.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define KERNEL_MAJOR 5 /* mount_setattr(2) */
#define KERNEL_MINOR 12
#define ABI_SCOPES   6 /* Landlock keeps sockets and signals in */

/* What a run can do without if its profile does not ask for it is no need. */
static const struct {
	const char *id, *what;
	enum cause_step step;
	int need;
} probes[PROBES] = {
    [PROBE_USERNS] = {"namespaces",
	"new user, mount, pid, net, ipc, uts and cgroup namespaces",
	CAUSE_USERNS, 1},
    [PROBE_IDMAP] = {"ids", "own user and group id in the user namespace",
	CAUSE_IDMAP, 1},
    [PROBE_MOUNT] = {"mount", "mount API: tmpfs, cloned trees, mount_setattr",
	CAUSE_MOUNT, 1},
    [PROBE_OPENAT2] = {"openat2", "openat2 without links", CAUSE_OPENAT2, 1},
    [PROBE_PROC] = {"proc", "a new /proc for the pid namespace", CAUSE_PROC, 1},
    [PROBE_NETNS] = {"loopback", "loopback in the network namespace",
	CAUSE_NETNS, 1},
    [PROBE_EGRESS] = {"egress", "[egress]: local routes and raw sockets there",
	CAUSE_NETNS, 0},
    [PROBE_EVERYTHING] = {"egress-all",
	"allow = *: nf_tables with tproxy there", CAUSE_NFTABLES, 0},
    [PROBE_PIVOT] = {"root", "a new root directory, by pivot_root", CAUSE_MOUNT,
	1},
    [PROBE_KEYRING] = {"keyring", "an empty session keyring", CAUSE_KEYRING, 1},
    [PROBE_LANDLOCK] = {"landlock", "Landlock", CAUSE_LANDLOCK, 1},
    [PROBE_SECCOMP] = {"seccomp", "system-call filters", CAUSE_SECCOMP, 1},
    [PROBE_NOTIFY] = {"notify",
	"report, once: a filter that asks outside before it answers",
	CAUSE_SECCOMP, 0},
};

void
doctor_say(struct visit *v, const char *id, enum judged as, struct cell *what,
    struct cell *fix)
{
	struct judgement *j;

	if ((j = grow_from(32, v->list, v->n, sizeof(*j))) == NULL)
		fatal("out of memory");
	v->list = j;
	j += v->n++;
	j->id = id;
	j->as = as;
	j->what = *what;
	j->fix = *fix;
	memset(what, 0, sizeof(*what));
	memset(fix, 0, sizeof(*fix));
	v->bad += as == JUDGED_NO;
}

static void
check_kernel(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	struct utsname u;
	int ok;

	if (uname(&u) == -1)
		fatal("uname: %s", strerror(errno));
	ok = v->host.major > KERNEL_MAJOR ||
	     (v->host.major == KERNEL_MAJOR && v->host.minor >= KERNEL_MINOR);
	cell_addf(&c, "kernel: %s %s%s", u.sysname, u.release,
	    ok ? "" : " is too old");
	if (!ok)
		cell_addf(
		    &fix, "use %d.%d or newer", KERNEL_MAJOR, KERNEL_MINOR);
	doctor_say(v, "kernel", ok ? JUDGED_OK : JUDGED_NO, &c, &fix);
}

/* Settings that can forbid user namespaces, whatever came of the trial. */
static void
check_settings(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	int works = v->works;

	if (v->host.apparmor == 1) {
		cell_add(&c, "kernel.apparmor_restrict_unprivileged_userns = "
			     "1: ");
		cell_add(&c, works ? "a profile lifts it for carrel"
				   : "carrel is not exempt, see above");
		doctor_say(
		    v, "apparmor", works ? JUDGED_OK : JUDGED_NOTE, &c, &fix);
	}
	if (v->host.userns_clone == 0 && works) {
		cell_add(&c, "kernel.unprivileged_userns_clone = 0: only root "
			     "can run carrel");
		cell_add(&fix,
		    "as root sysctl -w kernel.unprivileged_userns_clone=1");
		doctor_say(v, "userns-clone", JUDGED_NOTE, &c, &fix);
	}
	if (v->host.selinux) {
		cell_add(&c, "SELinux is enforcing");
		cell_add(&fix, "if a run is refused, look for an AVC denial "
			       "with ausearch -m avc -ts recent");
		doctor_say(v, "selinux", JUDGED_NOTE, &c, &fix);
	}
}

static void
explain_failure(
    struct visit *v, enum cause_step step, int err, struct cell *fix)
{
	char why[DOCTOR_WHY];

	/* whichever fork(2) it was that there was no room for */
	cause_judge(&v->host, err == EAGAIN ? CAUSE_USERNS : step, err, why,
	    sizeof(why));
	cell_add(fix, why);
}

static void
judge_probe(struct visit *v, int i, int result, int abi)
{
	struct cell c = {0}, fix = {0};
	enum judged as;

	cell_add(&c, probes[i].what);
	if (result == 0 && i == PROBE_LANDLOCK)
		cell_addf(&c, ": ABI %d%s", abi,
		    abi < ABI_SCOPES ? ", which cannot scope abstract sockets "
				       "and signals (6 and newer can)"
				     : "");
	if (result > 0) {
		cell_addf(&c, ": %s", strerror(result));
		explain_failure(v, probes[i].step, result, &fix);
	} else if (result == PROBE_UNTRIED) {
		cell_add(&c, ": not tried, what it needs is missing");
	}
	/* hosted mode makes the same without a user namespace: the trial */
	as = result == 0					  ? JUDGED_OK
	     : result == PROBE_UNTRIED || !probes[i].need	  ? JUDGED_NOTE
	     : v->hosted && i >= PROBE_USERNS && i <= PROBE_PIVOT ? JUDGED_NOTE
								  : JUDGED_NO;
	doctor_say(v, probes[i].id, as, &c, &fix);
}

static void
check_probes(struct visit *v)
{
	int results[PROBES], abi, i;

	probe_all(results, &abi);
	v->works = v->all = 1;
	for (i = 0; i < PROBES; i++) {
		v->all &= !probes[i].need || results[i] == 0;
		v->works &= i > PROBE_PIVOT || v->all;
		judge_probe(v, i, results[i], abi);
	}
	check_settings(v);
}

/* No obstacle: the payload's filter refuses the ioctl in any case. */
static void
check_terminal(struct visit *v)
{
	char digit = '\0';
	struct cell c = {0}, fix = {0};
	int fd;

	if ((fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) == -1) {
		cell_addf(&c,
		    "terminal: %s here, so a shell would have no job "
		    "control",
		    errno == ENXIO ? "there is none" : strerror(errno));
		doctor_say(v, "terminal", JUDGED_NOTE, &c, &fix);
	} else {
		close(fd);
	}
	fd = open("/proc/sys/dev/tty/legacy_tiocsti", O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		if (read(fd, &digit, 1) != 1)
			digit = '\0';
		close(fd);
	}
	if (digit == '0') {
		cell_add(&c, "terminal: this kernel lets no program push "
			     "input (dev.tty.legacy_tiocsti = 0)");
	} else {
		cell_add(&c, "terminal: programs outside carrel can push "
			     "input into it; inside the filter refuses it");
		cell_add(&fix, "as root sysctl -w dev.tty.legacy_tiocsti=0, "
			       "from Linux 6.2 on");
	}
	doctor_say(
	    v, "tiocsti", digit == '0' ? JUDGED_OK : JUDGED_NOTE, &c, &fix);
}

/* No obstacle either: it stops only a run whose profile asks for it. */
static void
check_limits(struct visit *v)
{
	static const unsigned limits[] = {LIMIT_MEMORY, LIMIT_CPU};
	struct rule r = {.kind = RULE_LIMIT};
	struct cgroup_host g;
	struct cell c = {0}, fix = {0};
	char why[DOCTOR_WHY + PATH_MAX_LEN];
	size_t i;

	for (i = 0; i < NITEMS(limits) && v->works; i++) {
		r.what = (uint8_t)limits[i];
		cgroup_find(&g, CGROUP_BIT(limits[i]), getpid());
		cell_addf(&c, "[limits] %s: ", rule_key(&r));
		if (g.state == CGROUP_READY) {
			cell_add(&c, "a control group can be made in ");
			cell_quote(&c, g.own);
		} else {
			cell_add(&c, "cannot be enforced from here");
			cell_add(&fix, cgroup_why(&g, why, sizeof(why)));
		}
		doctor_say(v, i == 0 ? "memory" : "cpu",
		    g.state == CGROUP_READY ? JUDGED_OK : JUDGED_NOTE, &c,
		    &fix);
	}
}

int
doctor_run(char *const argv[DOCTOR_WORDS])
{
	struct visit v = {.program = argv[0],
	    .libexec = argv[1],
	    .shipped = argv[2],
	    .gave_up = argv[6][0] != '\0',
	    .settings = argv + DOCTOR_WORDS - DOCTOR_SETTINGS};
	size_t i;

	cause_read(&v.host);
	check_kernel(&v);
	doctor_mode(&v);
	check_probes(&v);
	doctor_files(&v);
	check_terminal(&v);
	check_limits(&v);
	doctor_trial(&v);
	if (strcmp(argv[3], "json") == 0)
		doctor_json(&v);
	else
		doctor_text(&v, (unsigned)strtoul(argv[4], NULL, 10),
		    argv[5][0] != '\0');
	for (i = 0; i < v.n; i++) {
		cell_free(&v.list[i].what);
		cell_free(&v.list[i].fix);
	}
	free(v.list);
	return v.bad == 0 ? 0 : 1;
}
