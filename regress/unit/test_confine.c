#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/confine.h"
#include "child/setup/plan.h"
#include "ipc/cause.h"
#include "parent/failure.h"

/*
 * The filter and Landlock on this kernel, each test in a process of its own.
 * landlock_enter() asks for no more than it finds, so the host's "/" does.
 */

/* The leak checker traces its process, which no longer lets itself be. */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
	return 1;
}

#ifdef __x86_64__
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static char base[] = "/tmp/test_confine.XXXXXX";

static void
no_new_privs(void)
{
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
}

START_TEST(filter_is_on)
{
	struct failure f;

	no_new_privs();
	ck_assert_int_ne(ptrace(PTRACE_TRACEME, 0, NULL, NULL), -1);
	ck_assert_msg(filter_enter(0, &f) == 0, "%s", f.what);
	ck_assert_int_eq(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 2);
	errno = 0;
	ck_assert_int_eq(syscall(SYS_keyctl, 0, -3, 1), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(syscall(SYS_process_vm_readv, 0, 0, 0, 0, 0, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(syscall(SYS_openat2, AT_FDCWD, "/", 0, 0), -1);
	ck_assert_int_eq(errno, ENOSYS);
	ck_assert_int_eq(socket(40, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(errno, EAFNOSUPPORT);
	ck_assert_int_gt(getppid(), 0);
}
END_TEST

START_TEST(filter_for_debuggers)
{
	struct failure f;

	no_new_privs();
	ck_assert_msg(filter_enter(FILTER_PTRACE, &f) == 0, "%s", f.what);
	ck_assert_int_ne(ptrace(PTRACE_TRACEME, 0, NULL, NULL), -1);
	ck_assert_int_eq(syscall(SYS_keyctl, 0, -3, 1), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(filter_refuses_flags)
{
	struct failure f;

	no_new_privs();
	ck_assert_int_eq(filter_enter(0x20, &f), -1);
	ck_assert_int_eq(filter_narrow(FILTER_PTRACE, &f), -1);
	ck_assert_int_eq(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 0);
}
END_TEST

START_TEST(filter_needs_no_new_privs)
{
	struct failure f;

	if (getuid() == 0)
		ck_assert(setresgid(1, 1, 1) == 0 && setresuid(1, 1, 1) == 0);
	ck_assert_int_eq(filter_enter(0, &f), -1);
	ck_assert_int_eq(f.step, CAUSE_SECCOMP);
	ck_assert_int_eq(f.err, EACCES);
}
END_TEST

/* The narrower ones, each on top of the others: S72, unix = no. */
START_TEST(filters_narrow)
{
	struct failure f;
	int pair[2];

	no_new_privs();
	ck_assert_msg(
	    filter_enter(FILTER_LOCK | FILTER_NO_UNIX, &f) == 0, "%s", f.what);
	ck_assert_int_eq(syscall(SYS_memfd_create, "x", 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(socket(AF_UNIX, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(errno, EAFNOSUPPORT);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), -1);
	ck_assert_int_eq(errno, EAFNOSUPPORT);
	ck_assert_int_ne(socket(AF_INET, SOCK_DGRAM, 0), -1);
	ck_assert_int_eq(syscall(SYS_keyctl, 0, -3, 1), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

static void *
nothing(void *arg)
{
	return arg;
}

START_TEST(filter_keeps_threads)
{
	struct failure f;
	pthread_t t;
	void *got;

	no_new_privs();
	ck_assert_msg(filter_enter(0, &f) == 0, "%s", f.what);
	ck_assert_msg(filter_narrow(FILTER_NO_SPAWN, &f) == 0, "%s", f.what);
	ck_assert_int_eq(fork(), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(pthread_create(&t, NULL, nothing, base), 0);
	ck_assert_int_eq(pthread_join(t, &got), 0);
	ck_assert_ptr_eq(got, base);
}
END_TEST

/* errno of opening base/name so; 0 if it could be opened */
static int
attempt(const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	if ((fd = open(path, flags | O_CLOEXEC, 0600)) == -1)
		return errno;
	close(fd);
	return 0;
}

static struct step
step(enum step_kind kind, uint8_t flags, const char *guest)
{
	return (struct step){.kind = (uint8_t)kind,
	    .flags = flags,
	    .grant = -1,
	    .guest = (char *)guest,
	    .text = (char *)""};
}

static int
enter(struct step *steps, size_t n, struct failure *f)
{
	struct plan p = {.steps = steps, .nsteps = n};

	no_new_privs();
	return landlock_enter(&p, f);
}

static char guest[4][128];

static const char *
below(int i, const char *name)
{
	snprintf(guest[i], sizeof(guest[i]), "%s/%s", base, name);
	return guest[i];
}

START_TEST(landlock_draws_the_plan)
{
	struct step s[] = {step(STEP_TMPFS, 0, "/"),
	    step(STEP_DIR, 0, below(0, "dir")),
	    step(STEP_BIND, STEP_RDONLY | STEP_ISDIR, below(1, "ro")),
	    step(STEP_BIND, STEP_ISDIR, below(2, "rw")),
	    step(STEP_BIND, 0, below(3, "file")), step(STEP_PROC, 0, "/proc")};
	struct failure f;
	int leaked;

	leaked = open(base, O_PATH | O_DIRECTORY);
	ck_assert_int_eq(attempt("dir/before", O_WRONLY | O_CREAT), 0);
	ck_assert_msg(enter(s, 6, &f) == 0, "%s: %s", f.what, strerror(f.err));
	ck_assert_int_eq(attempt("rw/new", O_WRONLY | O_CREAT), 0);
	ck_assert_int_eq(attempt("file", O_WRONLY), 0);
	ck_assert_int_eq(attempt("other", O_RDONLY), 0);
	ck_assert_int_eq(attempt("other", O_WRONLY), EACCES);
	ck_assert_int_eq(attempt("other", O_RDONLY | O_TRUNC), EACCES);
	ck_assert_int_eq(attempt("dir/new", O_WRONLY | O_CREAT), EACCES);
	ck_assert_int_eq(attempt("ro/new", O_WRONLY | O_CREAT), EACCES);
	ck_assert_int_eq(attempt("new", O_WRONLY | O_CREAT), EACCES);
	/* a directory descriptor from before meets the same wall */
	ck_assert_int_eq(mkdirat(leaked, "new", 0700), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(renameat(leaked, "rw/new", leaked, "ro/new"), -1);
	ck_assert_int_eq(renameat(leaked, "rw/new", leaked, "rw/newer"), 0);
	ck_assert_int_eq(open("/dev/null", O_WRONLY | O_TRUNC) == -1, 0);
	ck_assert_int_eq(open("/proc/self/comm", O_WRONLY) == -1, 0);
	ck_assert_int_eq(open("/dev/nothing", O_WRONLY | O_CREAT, 0600), -1);
}
END_TEST

START_TEST(landlock_scopes_signals)
{
	struct failure f;
	pid_t pid;
	int fd[2];
	char c;

	ck_assert(pipe(fd) == 0 && (pid = fork()) != -1);
	if (pid == 0) {
		close(fd[1]);
		_exit(read(fd[0], &c, 1) == 0 ? 0 : 1);
	}
	ck_assert_int_eq(kill(pid, 0), 0);
	ck_assert_int_eq(enter(NULL, 0, &f), 0);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0UL, 1U) >= 6) {
		ck_assert_int_eq(kill(pid, 0), -1);
		ck_assert_int_eq(errno, EPERM);
	}
	ck_assert_int_eq(kill(getpid(), 0), 0);
	close(fd[1]);
}
END_TEST

START_TEST(landlock_fails_closed)
{
	struct step s[] = {step(STEP_BIND, 0, below(0, "absent"))};
	struct failure f;

	ck_assert_int_eq(enter(s, 1, &f), -1);
	ck_assert_int_eq(f.err, ENOENT);
	ck_assert_ptr_nonnull(strstr(f.what, "absent"));
	s[0] = step(STEP_BIND, 0, below(0, "link"));
	ck_assert_int_eq(enter(s, 1, &f), -1);
	ck_assert_int_eq(f.err, ELOOP);
	s[0] = step(STEP_BIND, 0, below(0, "link/new"));
	ck_assert_int_eq(enter(s, 1, &f), -1);
	ck_assert_int_eq(f.err, ELOOP);
}
END_TEST

/* What lies in a write grant costs no rule: an absent one is not looked at. */
START_TEST(landlock_draws_little)
{
	struct step s[] = {step(STEP_BIND, STEP_ISDIR, below(0, "rw")),
	    step(STEP_BIND, STEP_ISDIR, below(1, "rw/absent")),
	    step(STEP_TMPFS, 0, below(2, "rw/absent/too"))};
	struct failure f;

	ck_assert_msg(enter(s, 3, &f) == 0, "%s", f.what);
	ck_assert_int_eq(attempt("rw/more", O_WRONLY | O_CREAT), 0);
	ck_assert_int_eq(attempt("more", O_WRONLY | O_CREAT), EACCES);
}
END_TEST

/* But a name that only begins alike is another place. */
START_TEST(landlock_knows_components)
{
	struct step s[] = {step(STEP_BIND, STEP_ISDIR, below(0, "rw")),
	    step(STEP_BIND, STEP_ISDIR, below(1, "rw-absent"))};
	struct failure f;

	ck_assert_int_eq(enter(s, 2, &f), -1);
	ck_assert_int_eq(f.err, ENOENT);
}
END_TEST

/* What became of executing base/name: its exit code, or 100 + errno. */
static int
execute(const char *name)
{
	char path[128], *argv[] = {(char[]){"true"}, NULL};
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	if ((pid = fork()) == 0) {
		execv(path, argv);
		_exit(100 + errno);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Only the files of plan->exec, and nothing in a writable place. */
START_TEST(landlock_locks)
{
	char loader[PATH_MAX];
	struct step s[] = {step(STEP_BIND, STEP_ISDIR, below(0, "rw"))};
	struct step e[] = {step(STEP_EXEC, STEP_RDONLY, below(1, "true")),
	    step(STEP_EXEC, STEP_RDONLY, loader),
	    step(STEP_EXEC, STEP_RDONLY | STEP_ISDIR, below(2, "ro"))};
	struct plan p = {
	    .steps = s, .nsteps = 1, .exec = e, .nexec = 3, .locked = 1};
	struct failure f;

	ck_assert_ptr_nonnull(realpath(LOADER, loader));
	ck_assert_int_eq(execute("false"), 0);
	no_new_privs();
	ck_assert_msg(landlock_enter(&p, &f) == 0, "%s", f.what);
	ck_assert_int_eq(execute("true"), 0);
	ck_assert_int_eq(execute("false"), 100 + EACCES);
	ck_assert_int_eq(execute("rw/true"), 100 + EACCES);
	/* a directory of shared objects is for loading only */
	ck_assert_int_eq(execute("ro/true"), 100 + EACCES);
	ck_assert_int_eq(attempt("rw/fresh", O_WRONLY | O_CREAT), 0);
	ck_assert_int_eq(attempt("false", O_RDONLY), 0);
}
END_TEST

static void
furnish(void)
{
	static const char *const dirs[] = {"dir", "ro", "rw"};
	size_t i;
	char path[256];

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", base, dirs[i]);
		if (mkdir(path, 0700) == -1)
			exit(1);
	}
	snprintf(path, sizeof(path),
	    "cd %s && for f in true false rw/true ro/true; do cp /bin/true $f; "
	    "done",
	    base);
	if (system(path) != 0)
		exit(1);
	snprintf(path, sizeof(path), "%s/link", base);
	if (symlink("rw", path) == -1 ||
	    attempt("file", O_CREAT | O_WRONLY) != 0 ||
	    attempt("other", O_CREAT | O_WRONLY) != 0)
		exit(1);
}

int
main(void)
{
	Suite *s = suite_create("confine");
	TCase *c = tcase_create("confine");
	SRunner *r = srunner_create(s);
	char remove[128];
	int failed;

	if (mkdtemp(base) == NULL)
		return 1;
	furnish();
	tcase_add_test(c, filter_is_on);
	tcase_add_test(c, filter_for_debuggers);
	tcase_add_test(c, filter_refuses_flags);
	tcase_add_test(c, filter_needs_no_new_privs);
	tcase_add_test(c, filters_narrow);
	tcase_add_test(c, filter_keeps_threads);
	tcase_add_test(c, landlock_locks);
	tcase_add_test(c, landlock_draws_the_plan);
	tcase_add_test(c, landlock_scopes_signals);
	tcase_add_test(c, landlock_fails_closed);
	tcase_add_test(c, landlock_draws_little);
	tcase_add_test(c, landlock_knows_components);
	suite_add_tcase(s, c);
	srunner_set_fork_status(r, CK_FORK);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	snprintf(remove, sizeof(remove), "rm -rf %s", base);
	return system(remove) != 0 || failed != 0;
}
