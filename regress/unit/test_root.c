/*
 * Builds roots in namespaces of their own and looks at them from inside.
 * Started by root it becomes an ordinary user first.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/setup/look.h"
#include "child/setup/look_exec.h"
#include "child/setup/plan.h"
#include "child/setup/root.h"
#include "child/shared/survey.h"
#include "ipc/rule.h"
#include "parent/failure.h"
#include "world.h"

#define SOMEBODY 12345 /* who root becomes */
#define NEW_ALL                                                                \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |           \
	    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static struct {
	char dir[64]; /* on the host, emptied after each test */
	struct policy po;
	struct caller ca;
	const char *expect;    /* root_build() fails with this text */
	int old_kernel;	       /* neither openat2 nor open_tree_attr */
	rlim_t files;	       /* RLIMIT_NOFILE inside, 0: as it is */
	void (*between)(void); /* after the plan, before the root */
} t;

/* Inside, where Check's own assertions would not be heard. */
#define WANT(e)                                                                \
	do {                                                                   \
		if (!(e)) {                                                    \
			fprintf(stderr, "%s:%d: %s (errno %s)\n", __func__,    \
			    __LINE__, #e, strerror(errno));                    \
			_exit(2);                                              \
		}                                                              \
	} while (0)

static const char *in(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

static const char *
in(const char *fmt, ...)
{
	static char buf[8][4096];
	static unsigned next;
	char *s = buf[next++ % 8];
	size_t n;
	va_list ap;

	n = (size_t)snprintf(s, sizeof(buf[0]), "%s/", t.dir);
	va_start(ap, fmt);
	vsnprintf(s + n, sizeof(buf[0]) - n, fmt, ap);
	va_end(ap);
	return s;
}

static void
put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF) {
		perror(path);
		abort();
	}
}

static void
make_dir(const char *path)
{
	if (mkdir(path, 0755) == -1 && errno != EEXIST) {
		perror(path);
		abort();
	}
}

static int
holds(const char *path, const char *text)
{
	char buf[8192];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n < 0)
		return 0;
	buf[n] = '\0';
	return strstr(buf, text) != NULL;
}

static int
fails(int r, int err)
{
	return r == -1 && errno == err;
}

static int
opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	if (fd != -1)
		close(fd);
	return fd == -1 ? -1 : 0;
}

/* The line of mountinfo (proc(5)) for a mount point; the topmost. */
static const char *
mount_line(const char *at)
{
	static char line[8192], found[8192];
	char point[4096];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	found[0] = '\0';
	if (f == NULL)
		return found;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
		    strcmp(point, at) == 0)
			strcpy(found, line);
	fclose(f);
	return found;
}

static void
write_proc(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	WANT(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void
map_ids(uid_t uid, gid_t gid)
{
	char line[64];

	write_proc("/proc/self/setgroups", "deny");
	snprintf(line, sizeof(line), "%u %u 1\n", uid, uid);
	write_proc("/proc/self/uid_map", line);
	snprintf(line, sizeof(line), "%u %u 1\n", gid, gid);
	write_proc("/proc/self/gid_map", line);
}

/* Effective capabilities without those that override file modes, or none. */
static void
drop(int all)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct c[2];
	unsigned no = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
		      1u << CAP_FOWNER;

	WANT(syscall(SYS_capget, &h, c) == 0);
	if (all)
		memset(c, 0, sizeof(c));
	c[0].effective &= ~no;
	c[0].permitted &= ~no;
	WANT(syscall(SYS_capset, &h, c) == 0);
}

/* As if the kernel were older than Linux 5.6. */
static void
forget_calls(void)
{
	struct sock_filter f[] = {
	    BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 467, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	WANT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	WANT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0);
}

static void
inside(uid_t uid, gid_t gid, void (*look)(void))
{
	struct failure f = {0};
	struct survey sv;
	struct plan pl, fixed;
	struct root root;
	struct rlimit lim = {t.files, t.files};

	map_ids(uid, gid);
	drop(0);
	if (t.old_kernel)
		forget_calls();
	if (t.files != 0)
		WANT(setrlimit(RLIMIT_NOFILE, &lim) == 0);
	WANT(plan_make_fixed(&fixed) == 0);
	if (root_begin(&fixed, &root, &f) == -1) {
		fprintf(
		    stderr, "root_begin: %s: %s\n", f.what, strerror(f.err));
		_exit(1);
	}
	plan_free(&fixed);
	if (look_survey(&t.po, &sv, &f) == -1) {
		fprintf(stderr, "look_survey: %s\n", f.what);
		_exit(1);
	}
	if (look_exec(&t.po, &sv, &f) == -1) {
		fprintf(stderr, "look_exec: %s\n", f.what);
		_exit(1);
	}
	if (plan_make(&t.po, &sv, &t.ca, NULL, &pl) == -1) {
		fprintf(stderr, "plan_make: %s\n",
		    t.po.nrefusals > 0 ? t.po.refusals[0].what : "?");
		_exit(1);
	}
	if (t.between != NULL)
		t.between();
	if (root_build(&root, &pl, &sv, &f) == -1) {
		if (t.expect != NULL && strstr(f.what, t.expect) != NULL)
			_exit(0);
		fprintf(
		    stderr, "root_build: %s: %s\n", f.what, strerror(f.err));
		_exit(1);
	}
	if (t.expect != NULL) {
		fprintf(stderr, "root_build: did not fail\n");
		_exit(1);
	}
	survey_free(&sv);
	WANT(root_chdir(&pl, &f) == 0);
	drop(1);
	if (look != NULL)
		look();
	plan_free(&pl);
	_exit(0);
}

/* Judges the policy, builds its root and looks from inside. 0: all well. */
static int
run(void (*look)(void))
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status;
	pid_t pid;

	world_check(&t.po);
	t.ca.uid = uid;
	t.ca.gid = gid;
	pid = (pid_t)syscall(SYS_clone, NEW_ALL | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid == 0)
		inside(uid, gid, look);
	if (pid == -1 || waitpid(pid, &status, 0) == -1) {
		perror("clone");
		return -1;
	}
	return status;
}

static void
setup(void)
{
	memset(&t, 0, sizeof(t));
	strcpy(t.dir, "/tmp/carrel-root-XXXXXX");
	if (mkdtemp(t.dir) == NULL)
		abort();
	world_policy(&t.po);
	world_caller(&t.ca);
	world_replace(&t.ca.cwd, t.dir);
	world_replace(&t.ca.target, t.dir);
}

static void
teardown(void)
{
	char cmd[256];

	policy_free(&t.po);
	caller_free(&t.ca);
	snprintf(
	    cmd, sizeof(cmd), "chmod -R u+rwx %s; rm -rf %s", t.dir, t.dir);
	if (system(cmd) != 0)
		abort();
}

/* The base */

static void
look_base(void)
{
	struct stat st;
	char buf[256];
	int a, b;

	WANT(fails(opens("/usr", O_RDONLY), ENOENT));
	WANT(fails(opens("/home", O_RDONLY), ENOENT));
	WANT(fails(mkdir("/x", 0755), EROFS));
	WANT(fails(mkdir("/etc/x", 0755), EROFS));
	WANT(fails(opens("/dev/x", O_CREAT | O_WRONLY), EROFS));
	WANT(fails(unlink("/dev/null"), EROFS) || errno == EBUSY);
	WANT(fails(opens("/.carrel-mask", O_RDONLY), ENOENT));
	WANT(getcwd(buf, sizeof(buf)) != NULL && strcmp(buf, "/") == 0);
	/* devices work, and are what they are called */
	a = open("/dev/null", O_RDWR | O_CLOEXEC);
	WANT(a != -1 && write(a, "x", 1) == 1 && read(a, buf, 1) == 0);
	a = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	WANT(a != -1 && read(a, buf, 4) == 4 && buf[3] == 0);
	a = open("/dev/full", O_WRONLY | O_CLOEXEC);
	WANT(a != -1 && fails((int)write(a, "x", 1), ENOSPC));
	a = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	WANT(a != -1 && read(a, buf, 8) == 8);
	WANT(stat("/dev/tty", &st) == 0 && st.st_rdev == makedev(5, 0));
	WANT(stat("/dev/random", &st) == 0 && st.st_rdev == makedev(1, 8));
	a = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	WANT(a != -1 && unlockpt(a) == 0);
	b = open(ptsname(a), O_RDWR | O_NOCTTY | O_CLOEXEC);
	WANT(b != -1 && isatty(b));
	WANT(opens("/dev/shm/x", O_CREAT | O_RDWR) == 0);
	WANT(stat("/dev/shm", &st) == 0 && (st.st_mode & 07777) == 01777);
	WANT(opens("/dev/fd/2", O_RDONLY) == 0 || errno != ENOENT);
	/* /tmp is a private tmpfs */
	WANT(stat("/tmp", &st) == 0 && (st.st_mode & 07777) == 01777);
	WANT(opens("/tmp/x", O_CREAT | O_RDWR) == 0);
	WANT(fails(opens(t.dir, O_RDONLY), ENOENT));
}

/* V016: what masks is empty, whatever the host has. */
static void
look_proc(void)
{
	static const char *const masked[] = {"keys", "key-users", "config.gz",
	    "cmdline", "kallsyms", "interrupts", "swaps"};
	char path[64], line[64];
	struct stat st;
	size_t i;
	int fd, seen = 0;

	WANT(holds("/proc/self/status", "NSpid:\t1\n"));
	for (i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%s", masked[i]);
		if (stat(path, &st) == -1 && errno == ENOENT)
			continue;
		seen++;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		WANT(fd != -1 && read(fd, line, 1) == 0);
		close(fd);
		WANT(fails(opens(path, O_WRONLY), EROFS) || errno == EACCES);
		WANT(strstr(mount_line(path), " ro,nosuid,nodev,noexec") !=
		     NULL);
	}
	WANT(seen > 0);
	/* positive control: the rest of /proc is not masked */
	WANT(holds("/proc/meminfo", "MemTotal"));
	WANT(fails(opens("/proc/sys/kernel/domainname", O_WRONLY), EROFS) ||
	     errno == EACCES);
	WANT(strstr(mount_line("/proc/sys"), " ro,") != NULL);
	WANT(holds("/proc/sys/kernel/ostype", "Linux"));
}

static void
look_etc(void)
{
	struct stat st;

	WANT(holds("/etc/passwd", "u:x:"));
	WANT(holds("/etc/passwd", "root:x:0:0:"));
	WANT(holds("/etc/group", "nogroup:x:65534:"));
	WANT(holds("/etc/hosts", "127.0.0.1\tlocalhost carrel"));
	WANT(holds("/etc/hostname", "carrel"));
	WANT(holds("/etc/resolv.conf", "#"));
	WANT(!holds("/etc/resolv.conf", "nameserver"));
	WANT(stat("/etc/passwd", &st) == 0 && (st.st_mode & 0777) == 0444);
	WANT(fails(opens("/etc/passwd", O_WRONLY), EROFS) || errno == EACCES);
	WANT(fails(opens("/etc/shadow", O_RDONLY), ENOENT));
}

/* Every mount nosuid, every mount but the devices and devpts nodev. */
static void
look_flags(void)
{
	char line[8192], point[4096], opt[256];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int n = 0;

	WANT(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		WANT(sscanf(line, "%*s %*s %*s %*s %4095s %255s", point, opt) ==
		     2);
		n++;
		WANT(strstr(opt, "nosuid") != NULL);
		if (strncmp(point, "/dev/", 5) != 0)
			WANT(strstr(opt, "nodev") != NULL);
		WANT(strstr(line, "shared:") == NULL);
		WANT(strstr(line, "master:") == NULL);
	}
	fclose(f);
	WANT(n > 10);
}

static void
look_all_base(void)
{
	look_base();
	look_proc();
	look_etc();
	look_flags();
}

START_TEST(nothing_granted)
{
	ck_assert_int_eq(run(look_all_base), 0);
}
END_TEST

START_TEST(nothing_granted_old_kernel)
{
	t.old_kernel = 1;
	ck_assert_int_eq(run(look_all_base), 0);
}
END_TEST

START_TEST(umask_does_not_matter)
{
	umask(077);
	ck_assert_int_eq(run(look_all_base), 0);
	umask(022);
}
END_TEST

/* Grants */

static void
look_grants(void)
{
	char buf[4096];

	WANT(getcwd(buf, sizeof(buf)) != NULL && strcmp(buf, in("w")) == 0);
	WANT(holds("r/f", "secret") == 0);
	WANT(holds(in("r/f"), "readme"));
	WANT(fails(opens(in("r/f"), O_WRONLY), EROFS));
	WANT(fails(opens(in("r/new"), O_CREAT | O_WRONLY), EROFS));
	WANT(fails(opens(in("not"), O_RDONLY), ENOENT));
	WANT(opens(in("w/new"), O_CREAT | O_WRONLY) == 0);
	WANT(holds("/moved/f", "readme"));
	WANT(holds("/one", "readme"));
	WANT(fails(opens("/one", O_WRONLY), EROFS));
	WANT(strstr(mount_line("/moved"), " ro,nosuid,nodev") != NULL);
	WANT(strstr(mount_line(in("w")), " rw,nosuid,nodev") != NULL);
	WANT(mkdir("/t/x", 0755) == 0);
	WANT(readlink("/l", buf, sizeof(buf)) == 7 &&
	     memcmp(buf, "moved/f", 7) == 0);
	WANT(holds("/l", "readme"));
	/* beside the grants is carrel's own tmpfs, not the host */
	WANT(mkdir(in("x"), 0755) == 0);
}

static void
grants(void)
{
	make_dir(in("r"));
	make_dir(in("w"));
	make_dir(in("not"));
	put(in("r/f"), "readme");
	put(in("w/f"), "writeme");
	world_replace(&t.ca.cwd, in("w"));
	world_replace(&t.ca.target, in("w"));
	world_add(&t.po, VERB_READ, in("r"), NULL);
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, "/moved", in("r"));
	world_add(&t.po, VERB_READ, "/one", in("r/f"));
	world_add(&t.po, VERB_TMPFS, "/t", NULL);
	world_add(&t.po, VERB_SYMLINK, "/l", "moved/f");
	world_add(&t.po, VERB_TRY_READ, "/absent", in("absent"));
	ck_assert_int_eq(run(look_grants), 0);
	ck_assert_int_eq(access(in("w/new"), F_OK), 0);
	/* nothing else appeared on the host */
	ck_assert_int_eq(access(in("absent"), F_OK), -1);
	ck_assert_int_eq(access(in("r/new"), F_OK), -1);
	ck_assert_int_eq(access(in("x"), F_OK), -1);
}

START_TEST(grants_of_each_kind)
{
	grants();
}
END_TEST

START_TEST(grants_of_each_kind_old_kernel)
{
	t.old_kernel = 1;
	grants();
}
END_TEST

/* With room for no descriptor at all every source is opened twice. */
START_TEST(grants_with_few_descriptors)
{
	t.files = 32;
	grants();
}
END_TEST

static void
swap_source(void)
{
	WANT(rename(in("r"), in("gone")) == 0);
	make_dir(in("r"));
	put(in("r/f"), "another");
}

START_TEST(reopened_source_must_be_the_same)
{
	make_dir(in("r"));
	world_add(&t.po, VERB_READ, "/r", in("r"));
	t.files = 32;
	t.between = swap_source;
	t.expect = "open again";
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

static void
swap_for_link(void)
{
	WANT(rename(in("r"), in("gone")) == 0);
	WANT(symlink(in("gone"), in("r")) == 0);
}

/* Even one that leads to the very same directory. */
START_TEST(reopened_source_must_not_be_a_link)
{
	make_dir(in("r"));
	world_add(&t.po, VERB_READ, "/r", in("r"));
	t.files = 32;
	t.between = swap_for_link;
	t.expect = "open again";
	ck_assert_int_eq(run(NULL), 0);
	ck_assert_int_eq(rename(in("gone"), in("r2")), 0);
	policy_free(&t.po);
	world_policy(&t.po);
	world_add(&t.po, VERB_READ, "/r", in("r2"));
	make_dir(in("gone"));
	t.old_kernel = 1;
	t.between = NULL;
	t.expect = NULL;
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

/* A kept descriptor is the object that was looked at, whatever its name. */
static void
look_swapped(void)
{
	WANT(holds("/r/f", "first"));
}

START_TEST(kept_source_is_what_was_seen)
{
	make_dir(in("r"));
	put(in("r/f"), "first");
	world_add(&t.po, VERB_READ, "/r", in("r"));
	t.between = swap_source;
	ck_assert_int_eq(run(look_swapped), 0);
}
END_TEST

/* Nesting and pins */

static void
look_pins(void)
{
	/* the read mount is read-only, what is around it is not */
	WANT(fails(opens(in("w/a/b/r/f"), O_WRONLY), EROFS));
	WANT(opens(in("w/a/b/f"), O_CREAT | O_WRONLY) == 0);
	WANT(opens(in("w/f"), O_CREAT | O_WRONLY) == 0);
	/* nothing on the way to it can be moved away */
	WANT(fails(rename(in("w/a/b/r"), in("w/a/b/x")), EBUSY));
	WANT(fails(rename(in("w/a/b"), in("w/a/x")), EBUSY));
	WANT(fails(rename(in("w/a"), in("w/x")), EBUSY));
	WANT(fails(rename(in("w"), in("x")), EBUSY) || errno == EROFS ||
	     errno == EACCES || errno == EXDEV);
	WANT(fails((int)syscall(SYS_renameat2, AT_FDCWD, in("w/a"), AT_FDCWD,
		       in("w/other"), 2),
	    EBUSY));
	/* positive control: another directory can */
	WANT(rename(in("w/other"), in("w/moved")) == 0);
}

static void
pins(void)
{
	make_dir(in("w"));
	make_dir(in("w/a"));
	make_dir(in("w/a/b"));
	make_dir(in("w/a/b/r"));
	make_dir(in("w/a/b/r/w"));
	make_dir(in("w/other"));
	put(in("w/a/b/r/f"), "kept");
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, in("w/a/b/r"), NULL);
	ck_assert_int_eq(run(look_pins), 0);
	ck_assert_int_eq(access(in("w/a/b/r/f"), F_OK), 0);
	ck_assert_int_eq(access(in("w/moved"), F_OK), 0);
}

START_TEST(read_in_write_is_pinned)
{
	pins();
}
END_TEST

START_TEST(read_in_write_is_pinned_old_kernel)
{
	t.old_kernel = 1;
	pins();
}
END_TEST

static void
look_deep(void)
{
	WANT(opens(in("w/a/w2/f"), O_CREAT | O_WRONLY) == 0);
	WANT(fails(opens(in("w/a/w2/b/r/f"), O_CREAT | O_WRONLY), EROFS));
	WANT(opens(in("w/a/w2/b/r/w3/f"), O_CREAT | O_WRONLY) == 0);
	WANT(fails(rename(in("w/a/w2/b"), in("w/a/w2/x")), EBUSY));
	/* above the inner write mount, in the outer one */
	WANT(fails(rename(in("w/a"), in("w/x")), EBUSY));
}

START_TEST(write_read_write_read)
{
	make_dir(in("w"));
	make_dir(in("w/a"));
	make_dir(in("w/a/w2"));
	make_dir(in("w/a/w2/b"));
	make_dir(in("w/a/w2/b/r"));
	make_dir(in("w/a/w2/b/r/w3"));
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_WRITE, in("w/a/w2"), NULL);
	world_add(&t.po, VERB_READ, in("w/a/w2/b/r"), NULL);
	world_add(&t.po, VERB_WRITE, in("w/a/w2/b/r/w3"), NULL);
	ck_assert_int_eq(run(look_deep), 0);
}
END_TEST

static void
swap_inner(void)
{
	WANT(rename(in("w/r"), in("w/old")) == 0);
	make_dir(in("w/r"));
}

START_TEST(mount_point_in_a_bind_must_be_the_source)
{
	make_dir(in("w"));
	make_dir(in("w/r"));
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, in("w/r"), NULL);
	t.between = swap_inner;
	t.expect = "changed while";
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

static void
plant_link(void)
{
	WANT(rename(in("w/a"), in("w/old")) == 0);
	WANT(symlink("old", in("w/a")) == 0);
}

/* It leads to the very directory that is to be mounted, and is refused. */

START_TEST(link_in_the_way_of_a_mount_point)
{
	make_dir(in("w"));
	make_dir(in("w/a"));
	make_dir(in("w/a/b"));
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, in("w/a/b"), NULL);
	t.between = plant_link;
	t.expect = "resolve";
	ck_assert_int_eq(run(NULL), 0);
	t.old_kernel = 1;
	ck_assert_int_eq(unlink(in("w/a")), 0);
	ck_assert_int_eq(rename(in("w/old"), in("w/a")), 0);
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

/*
 * Somebody exchanges a directory on the way for a symlink, all the time:
 * each run is what was granted or fails.
 */
static void
exchange(void)
{
	for (;;)
		syscall(SYS_renameat2, AT_FDCWD, in("w/a"), AT_FDCWD, in("w/l"),
		    RENAME_EXCHANGE);
}

static void
look_exchanged(void)
{
	int i;

	WANT(fails(opens(in("evil"), O_RDONLY), ENOENT));
	for (i = 0; i < 100; i++)
		WANT(!holds(in("w/a/b/f"), "outside"));
	WANT(mount_line(in("evil/b"))[0] == '\0');
}

static int
run_quiet(void (*look)(void))
{
	int err = dup(2), null = open("/dev/null", O_WRONLY | O_CLOEXEC), r;

	ck_assert(err != -1 && null != -1 && dup2(null, 2) == 2);
	r = run(look);
	ck_assert_int_eq(dup2(err, 2), 2);
	close(err);
	close(null);
	return r;
}

/* V012 */
START_TEST(exchanged_all_the_time)
{
	int i, status;
	pid_t pid;

	make_dir(in("w"));
	make_dir(in("w/a"));
	make_dir(in("w/a/b"));
	put(in("w/a/b/f"), "granted");
	make_dir(in("evil"));
	make_dir(in("evil/b"));
	put(in("evil/b/f"), "outside");
	ck_assert_int_eq(symlink("../evil", in("w/l")), 0);
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, in("w/a/b"), NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exchange();
	}
	for (i = 0; i < 200; i++) {
		t.old_kernel = i % 2;
		status = run_quiet(look_exchanged);
		/* 1: it was refused; 2: something was wrong inside */
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(holds(in("evil/b/f"), "outside"), "the host changed");
	/* control: at rest the same policy runs */
	if (readlink(in("w/a"), (char[8]){0}, 8) != -1)
		ck_assert_int_eq(syscall(SYS_renameat2, AT_FDCWD, in("w/a"),
				     AT_FDCWD, in("w/l"), RENAME_EXCHANGE),
		    0);
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

/* The namespace */

static void
look_locked(void)
{
	char all[4096];
	const char *o;

	WANT(fails(
	    mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM));
	WANT(fails(umount2("/usr", MNT_DETACH), EPERM));
	/* nor with the capabilities of a namespace below */
	WANT(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
	WANT(fails(
	    mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM));
	WANT(fails(umount2("/usr", MNT_DETACH), EINVAL));
	WANT(fails(umount2("/proc/sys", MNT_DETACH), EINVAL));
	/* the old root is not below */
	WANT(fails(umount2("/", MNT_DETACH), EINVAL) || errno == EBUSY);
	o = getcwd(all, sizeof(all));
	WANT(o != NULL && strcmp(o, "/") == 0);
	WANT(fails(opens("/../../etc/shadow", O_RDONLY), ENOENT));
}

START_TEST(mounts_are_locked)
{
	world_add(&t.po, VERB_READ, "/usr", NULL);
	ck_assert_int_eq(run(look_locked), 0);
}
END_TEST

static void
look_descriptors(void)
{
	char path[64], to[4096];
	ssize_t n;
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n < 0)
			continue;
		to[n] = '\0';
		if (strncmp(to, "pipe:", 5) == 0 || to[0] != '/')
			continue;
		/* of Check itself: files it opened before */
		if (fcntl(fd, F_GETFL) & O_PATH) {
			fprintf(stderr, "descriptor %d: %s\n", fd, to);
			_exit(1);
		}
	}
}

START_TEST(no_descriptor_is_left)
{
	make_dir(in("w"));
	make_dir(in("w/r"));
	world_add(&t.po, VERB_WRITE, in("w"), NULL);
	world_add(&t.po, VERB_READ, in("w/r"), NULL);
	world_add(&t.po, VERB_READ, "/usr", NULL);
	ck_assert_int_eq(run(look_descriptors), 0);
}
END_TEST

static void
look_merged(void)
{
	struct stat st;

	WANT(lstat("/l", &st) == 0 && S_ISLNK(st.st_mode));
	WANT(holds("/l/f", "readme"));
	WANT(mount_line("/l")[0] == '\0');
}

START_TEST(link_to_what_is_there_stays_a_link)
{
	make_dir(in("real"));
	put(in("real/f"), "readme");
	ck_assert_int_eq(symlink("real", in("l")), 0);
	world_add(&t.po, VERB_READ, in("real"), NULL);
	world_add(&t.po, VERB_READ, "/l", in("l"));
	ck_assert_int_eq(run(look_merged), 0);
}
END_TEST

/* Many */

static double
seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The exec lock: /usr holds a program, so it opens only its own files. */

static void
exec_rule(enum rule_kind kind, const char *path)
{
	const struct rule r = {
	    .kind = (uint8_t)kind, .text = (char *)(uintptr_t)path, .line = 9};

	ck_assert_ptr_nonnull(policy_add_rule(&t.po, &r));
}

static void
exec_lock(void)
{
	static const char *const dirs[] = {"usr", "usr/bin", "usr/lib",
	    "usr/lib/tree", "usr/lib/tree/deep", "w"};
	static const char *const files[] = {"usr/bin/run", "usr/bin/other",
	    "usr/direct", "usr/lib/so", "usr/lib/tree/so",
	    "usr/lib/tree/deep/so"};
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		make_dir(in("%s", dirs[i]));
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		put(in("%s", files[i]), "#!/bin/sh\n");
		ck_assert_int_eq(chmod(in("%s", files[i]), 0755), 0);
	}
	world_add(&t.po, VERB_READ, "/usr", in("usr"));
	world_add(&t.po, VERB_WRITE, "/w", in("w"));
	world_add(&t.po, VERB_TMPFS, "/scratch", NULL);
	exec_rule(RULE_INTERPRETER, "/usr/bin/run");
	exec_rule(RULE_LIBRARY, "/usr");
	exec_rule(RULE_LIBRARY, "/usr/lib/tree");
}

/* 1 if what is there can be mapped executable. */
static int
maps(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = MAP_FAILED;

	WANT(fd != -1);
	p = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	WANT(p != MAP_FAILED || errno == EPERM);
	close(fd);
	return p != MAP_FAILED;
}

static void
look_exec_lock(void)
{
	static const char *const no[] = {"/", "/usr/bin", "/usr/lib", "/w",
	    "/tmp", "/scratch", "/dev/shm", "/dev/null", "/dev/zero"};
	char *argv[] = {(char[]){"x"}, NULL};
	size_t i;

	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		WANT(strstr(mount_line(no[i]), "noexec") != NULL);
	WANT(maps("/usr/direct") && maps("/usr/bin/run"));
	WANT(maps("/usr/lib/tree/so") && maps("/usr/lib/tree/deep/so"));
	WANT(!maps("/usr/bin/other") && !maps("/usr/lib/so"));
	WANT(!maps("/etc/passwd"));
	put("/w/x", "#!/bin/sh\n");
	WANT(!maps("/w/x"));
	put("/tmp/x", "#!/bin/sh\n");
	WANT(!maps("/tmp/x"));
	/* the script would run: its interpreter is what is not there */
	WANT(fails(execv("/usr/bin/run", argv), ENOENT));
	WANT(fails(execv("/usr/bin/other", argv), EACCES));
	/* still read-only */
	WANT(fails(opens("/usr/bin/run", O_WRONLY), EROFS));
	WANT(fails(opens("/usr/lib/tree/new", O_CREAT | O_WRONLY), EROFS));
	WANT(fails(opens("/usr/bin/new", O_CREAT | O_WRONLY), EROFS));
}

START_TEST(only_what_is_listed_is_executable)
{
	exec_lock();
	ck_assert_int_eq(run(look_exec_lock), 0);
}
END_TEST

START_TEST(only_what_is_listed_old_kernel)
{
	t.old_kernel = 1;
	exec_lock();
	ck_assert_int_eq(run(look_exec_lock), 0);
}
END_TEST

static void
swap_program(void)
{
	WANT(rename(in("usr/bin/other"), in("usr/bin/run")) == 0);
}

/* What is executable is the very file that was looked at. */
START_TEST(an_interpreter_must_be_the_same)
{
	exec_lock();
	t.between = swap_program;
	t.expect = "open again";
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

static void
link_tree(void)
{
	WANT(rename(in("usr/lib/tree"), in("usr/lib/was")) == 0);
	WANT(symlink("/", in("usr/lib/tree")) == 0);
}

START_TEST(a_library_must_be_no_link)
{
	exec_lock();
	t.between = link_tree;
	t.expect = "open again";
	ck_assert_int_eq(run(NULL), 0);
}
END_TEST

static void
many(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (i < 4096)
			make_dir(in("m%d", i));
		world_add(&t.po, VERB_READ, in("g%d", i), in("m%d", i % 4096));
	}
}

static void
look_many(void)
{
	WANT(fails(mkdir(in("g0/x"), 0755), EROFS));
	WANT(fails(mkdir(in("g1999/x"), 0755), EROFS));
	WANT(opens(in("g1000"), O_RDONLY) == 0);
}

/* Twice eight times the work may not take longer than that. */
/* What that costs is printed: a busy machine is no defect. */
START_TEST(many_binds)
{
	double few, all;

	many(250);
	few = seconds();
	ck_assert_int_eq(run(NULL), 0);
	few = seconds() - few;
	policy_free(&t.po);
	world_policy(&t.po);
	many(2000);
	all = seconds();
	ck_assert_int_eq(run(look_many), 0);
	all = seconds() - all;
	printf("250 binds: %.1f ms, 2,000: %.1f ms\n", few * 1e3, all * 1e3);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("root");
	TCase *c = tcase_create("root");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, nothing_granted);
	tcase_add_test(c, nothing_granted_old_kernel);
	tcase_add_test(c, umask_does_not_matter);
	tcase_add_test(c, grants_of_each_kind);
	tcase_add_test(c, grants_of_each_kind_old_kernel);
	tcase_add_test(c, grants_with_few_descriptors);
	tcase_add_test(c, reopened_source_must_be_the_same);
	tcase_add_test(c, reopened_source_must_not_be_a_link);
	tcase_add_test(c, kept_source_is_what_was_seen);
	tcase_add_test(c, read_in_write_is_pinned);
	tcase_add_test(c, read_in_write_is_pinned_old_kernel);
	tcase_add_test(c, write_read_write_read);
	tcase_add_test(c, mount_point_in_a_bind_must_be_the_source);
	tcase_add_test(c, link_in_the_way_of_a_mount_point);
	tcase_add_test(c, exchanged_all_the_time);
	tcase_add_test(c, mounts_are_locked);
	tcase_add_test(c, no_descriptor_is_left);
	tcase_add_test(c, link_to_what_is_there_stays_a_link);
	tcase_add_test(c, only_what_is_listed_is_executable);
	tcase_add_test(c, only_what_is_listed_old_kernel);
	tcase_add_test(c, an_interpreter_must_be_the_same);
	tcase_add_test(c, a_library_must_be_no_link);
	tcase_add_test(c, many_binds);
	suite_add_tcase(s, c);
	return s;
}

static void
become_somebody(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) == -1 ||
	    setresgid(SOMEBODY, SOMEBODY, SOMEBODY) == -1 ||
	    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) == -1 ||
	    prctl(PR_SET_DUMPABLE, 1) == -1) {
		perror("become an ordinary user");
		exit(1);
	}
}

int
main(void)
{
	SRunner *sr;
	int failed;

	become_somebody();
	sr = srunner_create(suite());
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
