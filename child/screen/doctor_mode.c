#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "doctor_parts.h"
#include "ipc/limits.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

/*
 * The two modes, and all that only hosted mode needs. Privilege comes from how
 * the program is installed: it counts unless root calls, and unless the mount
 * or no_new_privs takes it away.
 */

#define CAPABILITIES "security.capability"
#define CEILING	     CARREL_SYSCONFDIR "/ceiling.conf"
#define OTHERS	     077
#define WRITERS	     022
#define LOG	     "/dev/log"
#define KERNEL_LOG   "/dev/kmsg"

/* How the program is installed; "" if it has no privilege. */
static const char *
privilege(const char *program, const struct stat *st)
{
	if (st->st_uid == 0 && (st->st_mode & S_ISUID) != 0)
		return "setuid root";
	if (getxattr(program, CAPABILITIES, NULL, 0) > 0)
		return "with file capabilities";
	return "";
}

/* Why it does not count; "" if it does. */
static const char *
without_effect(const struct visit *v)
{
	struct statvfs fs;

	/* it had it: what it then gave up for good is no sign */
	if (v->gave_up)
		return "";
	if (statvfs(v->program, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0)
		return "the file system it lies on is mounted nosuid";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return "no_new_privs is set around this shell (as in "
		       "containers and in systemd's NoNewPrivileges=)";
	return "";
}

static void
say_mode(struct visit *v, const struct stat *st)
{
	const char *how = privilege(v->program, st);
	const char *lost = without_effect(v);
	struct cell c = {0}, fix = {0};
	enum judged as = JUDGED_OK;

	v->hosted = how[0] != '\0' && lost[0] == '\0' && getuid() != 0;
	cell_addf(&c, "mode: %s, for uid %u: ", v->hosted ? "hosted" : "user",
	    (unsigned)getuid());
	cell_quote(&c, v->program);
	if (how[0] == '\0' && (st->st_mode & (S_ISUID | S_ISGID)) != 0) {
		cell_add(&c, " is set-id, and not to root");
		cell_add(&fix, "chmod ug-s ");
		cell_quote(&fix, v->program);
		as = JUDGED_NO;
	} else if (how[0] == '\0') {
		cell_add(&c, " is installed without privilege");
	} else {
		cell_addf(&c, " is installed %s", how);
		if (getuid() == 0) {
			cell_add(&c, ", which root does not need");
		} else if (lost[0] != '\0') {
			cell_addf(&c, ", without effect, for %s", lost);
			as = JUDGED_NOTE;
		}
	}
	doctor_say(v, "mode", as, &c, &fix);
}

/* What root executes for others belongs to root, and to nobody else. */
static void
check_owned(struct visit *v, const char *path, unsigned bits, const char *mode)
{
	struct cell c = {0}, fix = {0};
	struct stat st;
	int ok = 0;

	cell_add(&c, "hosted mode: ");
	cell_quote(&c, path);
	if (stat(path, &st) == -1) {
		cell_addf(&c, ": %s", strerror(errno));
		cell_add(&fix, "install carrel again (make install)");
	} else {
		ok = st.st_uid == 0 && (st.st_mode & bits) == 0;
		cell_addf(&c, ": uid %u, mode %04o", (unsigned)st.st_uid,
		    (unsigned)(st.st_mode & 07777));
	}
	if (!ok && fix.len == 0) {
		cell_add(&fix, "as root chown root ");
		cell_quote(&fix, path);
		cell_addf(&fix, " && chmod %s ", mode);
		cell_quote(&fix, path);
	}
	doctor_say(v, "hosted-files", ok ? JUDGED_OK : JUDGED_NO, &c, &fix);
}

/* A file that can be read shows what is in memory to whoever traces it. */
static void
check_installed(struct visit *v)
{
	static const char *const helpers[] = {"carrel-parse", "carrel-broker"};
	char path[PATH_MAX_LEN + 1];
	size_t i;
	int n;

	check_owned(v, v->program, WRITERS, "4755");
	check_owned(v, v->libexec, WRITERS, "755");
	for (i = 0; i < NITEMS(helpers); i++) {
		n = snprintf(
		    path, sizeof(path), "%s/%s", v->libexec, helpers[i]);
		if (n > 0 && (size_t)n < sizeof(path))
			check_owned(v, path, OTHERS & ~0011U, "0711");
	}
}

static void
check_dumpable(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	char digit = '?';
	int fd, ok;

	fd = open("/proc/sys/fs/suid_dumpable", O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		if (read(fd, &digit, 1) != 1)
			digit = '?';
		close(fd);
	}
	ok = digit == '0' || digit == '2';
	cell_addf(&c, "hosted mode: fs.suid_dumpable = %c", digit);
	if (!ok) {
		cell_add(&c, ", with which its memory can be read");
		cell_add(&fix, "as root sysctl -w fs.suid_dumpable=0");
	}
	doctor_say(v, "suid-dumpable", ok ? JUDGED_OK : JUDGED_NO, &c, &fix);
}

static void
check_ceiling(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	enum judged as = JUDGED_OK;
	struct stat st;

	cell_add(&c, "hosted mode: " CEILING);
	if (lstat(CEILING, &st) == -1) {
		cell_addf(&c, ": %s%s", strerror(errno),
		    errno == ENOENT ? ", so everybody may use carrel for what "
				      "he can reach anyway"
				    : "");
		as = errno == ENOENT ? JUDGED_NOTE : JUDGED_NO;
		if (as == JUDGED_NO)
			cell_add(&fix, "make /etc and what is in it readable "
				       "as it is everywhere: chmod 755");
	} else {
		cell_addf(&c, ": uid %u, mode %04o", (unsigned)st.st_uid,
		    (unsigned)(st.st_mode & 07777));
		if (!S_ISREG(st.st_mode) || st.st_uid != 0 ||
		    (st.st_mode & WRITERS) != 0) {
			as = JUDGED_NO;
			cell_add(&c, ", so whoever it is could lift it");
			cell_add(&fix,
			    "as root make it a regular file, chown "
			    "root " CEILING " && chmod 644 " CEILING);
		}
	}
	doctor_say(v, "ceiling", as, &c, &fix);
}

/* Runs are told there; in hosted mode there is none without it. */
static void
check_log(struct visit *v)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = LOG};
	struct cell c = {0}, fix = {0};
	struct stat st;
	int s, ok, kernel;

	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ok = s != -1 &&
	     connect(s, (const struct sockaddr *)&to, sizeof(to)) == 0;
	cell_addf(&c, "log: " LOG "%s%s", ok ? " takes records" : ": ",
	    ok ? "" : strerror(errno));
	if (s != -1)
		close(s);
	/* the recorder then writes to the kernel's own, parent/record.h */
	kernel = v->hosted && stat(KERNEL_LOG, &st) == 0 && S_ISCHR(st.st_mode);
	if (!ok) {
		cell_add(&c, kernel	 ? ", so records go to " KERNEL_LOG
			     : v->hosted ? ", and hosted mode runs nothing "
					   "without a log"
					 : ", so no run is recorded");
		cell_add(&fix, "as root install and start a log daemon, "
			       "rsyslog or systemd-journald");
	}
	doctor_say(v, "log",
	    ok			   ? JUDGED_OK
	    : v->hosted && !kernel ? JUDGED_NO
				   : JUDGED_NOTE,
	    &c, &fix);
}

void
doctor_mode(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	struct stat st;

	if (stat(v->program, &st) == -1) {
		cell_add(&c, "mode: ");
		cell_quote(&c, v->program);
		cell_addf(&c, ": %s", strerror(errno));
		cell_add(&fix, "install carrel again (make install)");
		doctor_say(v, "mode", JUDGED_NO, &c, &fix);
	} else
		say_mode(v, &st);
	if (v->hosted) {
		check_installed(v);
		check_dumpable(v);
		check_ceiling(v);
	}
	check_log(v);
}
