/* Who answers attempts to execute: child/monitor/notify.c with a real filter.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/monitor/notify.h"
#include "child/setup/confine.h"
#include "child/setup/control.h"
#include "child/setup/places.h"
#include "child/shared/event.h"
#include "ipc/channel.h"
#include "parent/failure.h"

/* The leak checker traces its process, which no longer lets itself be. */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
	return 1;
}

struct run {
	pid_t payload, notifier;
	int events; /* the monitor's end, or -1 */
};

/* Whose lines refuse. */
static struct notify_rule rules[NOTIFY_REASONS] = {
    [NOTIFY_BY_ONCE] = {3, 7, (char[]){"once = yes"}},
    [NOTIFY_BY_SPAWN] = {4, 8, (char[]){"spawn = no"}},
    [NOTIFY_BY_UNIX] = {5, 9, (char[]){"tier = read-only"}}};

static uint32_t told; /* FILTER_NO_SPAWN, FILTER_NO_UNIX */

/* In the payload's process; never returns. */
static void __attribute__((noreturn))
be_payload(int control, int fs, void (*body)(void))
{
	struct failure f;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (fd = filter_notify(told | (fs ? FILTER_WATCH : 0), &f)) == -1 ||
	    control_pass(control, CONTROL_LISTENER, 0, fd) == -1)
		_exit(99);
	close(fd);
	body();
	_exit(98);
}

static void
begin(struct run *r, int flags, void (*body)(void))
{
	static const struct places none;
	struct notify n = {
	    .flags = flags, .events = -1, .rules = rules, .places = &none};
	struct control m;
	int pair[2], events[2] = {-1, -1};

	ck_assert_int_eq(channel_pair(pair), 0);
	if (flags & (NOTIFY_REPORT | NOTIFY_FS))
		ck_assert_int_eq(channel_pair(events), 0);
	if ((r->payload = fork()) == 0)
		be_payload(pair[1], (flags & NOTIFY_FS) != 0, body);
	ck_assert_int_eq(control_wait(pair[0], &m, channel_deadline(5)), 1);
	n.listener = m.fd;
	n.events = events[1];
	r->events = events[0];
	r->notifier = notify_start(&n);
	ck_assert_int_gt(r->notifier, 0);
	close(pair[0]);
	close(pair[1]);
}

/* How the payload ended; the notifier ends after it, without an error. */
static int
end(struct run *r)
{
	int status, its;

	ck_assert_int_eq(waitpid(r->payload, &status, 0), r->payload);
	ck_assert_int_eq(waitpid(r->notifier, &its, 0), r->notifier);
	ck_assert_int_eq(its, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
shell(const char *script)
{
	char *argv[] = {
	    (char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};

	execv("/bin/sh", argv);
	_exit(50);
}

static void
exec_again(void)
{
	shell("exec 2>/dev/null; exec /bin/true");
}

static void
fork_and_exec(void)
{
	shell("exec 2>/dev/null; /bin/true; test $? = 126 || exit 1; echo x "
	      ">/dev/null; "
	      "(exec /bin/true); test $? = 126 && exit 7");
}

START_TEST(once_is_once)
{
	struct run r;

	begin(&r, NOTIFY_ONCE, exec_again);
	ck_assert_int_eq(end(&r), 126);
	begin(&r, NOTIFY_ONCE, fork_and_exec);
	ck_assert_int_eq(end(&r), 7);
	/* the control */
	begin(&r, 0, exec_again);
	ck_assert_int_eq(end(&r), 0);
}
END_TEST

static void
fail_first(void)
{
	char *argv[] = {(char[]){"true"}, NULL};

	execv("/nowhere/true", argv);
	if (errno != ENOENT)
		_exit(1);
	execv("/bin/true", argv);
	if (errno != EPERM)
		_exit(2);
	if (syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0) != -1 ||
	    errno != EPERM)
		_exit(3);
	_exit(8);
}

START_TEST(a_failure_counts)
{
	struct run r;

	begin(&r, NOTIFY_ONCE, fail_first);
	ck_assert_int_eq(end(&r), 8);
}
END_TEST

static void
caught(int sig)
{
	(void)sig;
}

/* Signals come faster than an answer. */
static void
disturb(void)
{
	const struct itimerspec often = {{0, 20000}, {0, 20000}};
	struct sigevent e = {
	    .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigaction sa = {.sa_handler = caught};
	timer_t t;

	sa.sa_flags = SA_RESTART;
	if (sigaction(SIGUSR1, &sa, NULL) == -1 ||
	    timer_create(CLOCK_MONOTONIC, &e, &t) == -1 ||
	    timer_settime(t, 0, &often, NULL) == -1)
		_exit(1);
}

static void
interrupted(void)
{
	char *argv[] = {(char[]){"true"}, NULL};
	int i;

	disturb();
	for (i = 0; i < 500; i++)
		if (execv("/nowhere/true", argv) != -1 || errno != ENOENT)
			_exit(2);
	_exit(9);
}

static void
interrupted_once(void)
{
	char *argv[] = {(char[]){"true"}, NULL};

	disturb();
	execv("/nowhere/true", argv);
	if (errno != ENOENT)
		_exit(3);
	execv("/nowhere/true", argv);
	_exit(errno == EPERM ? 10 : 4);
}

/* A signal does not make one attempt two, nor lose one. */
START_TEST(signals_do_not_count)
{
	struct run r;
	int i;

	begin(&r, 0, interrupted);
	ck_assert_int_eq(end(&r), 9);
	for (i = 0; i < 100; i++) {
		begin(&r, NOTIFY_ONCE, interrupted_once);
		ck_assert_int_eq(end(&r), 10);
	}
}
END_TEST

static int
next_event(const struct run *r, struct event *e, uint8_t *buf)
{
	struct pollfd p = {.fd = r->events, .events = POLLIN};

	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	return event_receive(r->events, e, buf);
}

START_TEST(refusals_are_told)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	struct run r;

	begin(&r, NOTIFY_ONCE | NOTIFY_REPORT, exec_again);
	ck_assert_int_eq(next_event(&r, &e, buf), 1);
	ck_assert_int_eq(e.surface, EVENT_EXEC);
	ck_assert_str_eq(e.action, "exec");
	ck_assert_str_eq(e.resource, "/bin/true");
	ck_assert_uint_eq(e.err, EPERM);
	ck_assert_uint_eq(e.count, 1);
	ck_assert_str_eq(e.rule, "once = yes");
	ck_assert_uint_eq(e.profile, 3);
	ck_assert_uint_eq(e.line, 7);
	ck_assert_int_eq(end(&r), 126);
	/* and nothing else: the first was no refusal */
	ck_assert_int_eq(next_event(&r, &e, buf), 0);
	close(r.events);
}
END_TEST

/* Threads and other sockets are none of it, and nothing is let through. */
static void
make_others(void)
{
	char *argv[] = {(char[]){"true"}, NULL};
	int fd[2];

	errno = 0;
	if (fork() != -1 || errno != EPERM)
		_exit(1);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != -1 || errno != EPERM)
		_exit(2);
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		_exit(3);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != -1 ||
	    errno != EAFNOSUPPORT)
		_exit(4);
	if (socket(AF_UNIX, SOCK_DGRAM, 0) != -1 || errno != EAFNOSUPPORT)
		_exit(5);
	if (socket(AF_INET, SOCK_DGRAM, 0) == -1)
		_exit(6);
	execv("/nowhere", argv);
	_exit(errno == ENOENT ? 11 : 7);
}

START_TEST(others_are_told)
{
	static const struct {
		const char *action, *rule;
		uint32_t err;
		uint16_t profile;
	} want[] = {{"spawn", "spawn = no", EPERM, 4},
	    {"spawn", "spawn = no", EPERM, 4},
	    {"socket", "tier = read-only", EAFNOSUPPORT, 5},
	    {"socket", "tier = read-only", EAFNOSUPPORT, 5}};
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	struct run r;
	size_t i;

	told = FILTER_NO_SPAWN | FILTER_NO_UNIX;
	begin(&r, NOTIFY_REPORT, make_others);
	ck_assert_int_eq(end(&r), 11);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_int_eq(next_event(&r, &e, buf), 1);
		ck_assert_int_eq(e.surface, EVENT_EXEC);
		ck_assert_str_eq(e.action, want[i].action);
		ck_assert_str_eq(e.rule, want[i].rule);
		ck_assert_uint_eq(e.err, want[i].err);
		ck_assert_uint_eq(e.profile, want[i].profile);
		ck_assert_uint_eq(e.line, want[i].profile + 4);
	}
	ck_assert_int_eq(next_event(&r, &e, buf), 0);
	close(r.events);
	told = 0;
}
END_TEST

#define MANY 2000

static void
many(void)
{
	char *argv[] = {(char[]){"true"}, NULL};
	int i;

	execv("/nowhere", argv);
	for (i = 0; i < MANY; i++)
		execv("/bin/true", argv);
	raise(SIGSTOP);
	execv("/bin/true", argv);
	_exit(5);
}

/* Nobody reads: the payload goes on, and what was lost is counted. */
START_TEST(lost_ones_are_counted)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	struct run r;
	unsigned n = 0, lost = 0;
	int status;

	begin(&r, NOTIFY_ONCE | NOTIFY_REPORT, many);
	ck_assert_int_eq(waitpid(r.payload, &status, WUNTRACED), r.payload);
	ck_assert(WIFSTOPPED(status));
	while (event_receive(r.events, &e, buf) == 1)
		n += e.count;
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_lt(n, MANY);
	ck_assert_int_eq(kill(r.payload, SIGCONT), 0);
	while (next_event(&r, &e, buf) == 1)
		if (e.flags & EVENT_LOST)
			lost += e.count;
		else
			n += e.count;
	ck_assert_uint_eq(n + lost, MANY + 1);
	ck_assert_int_eq(end(&r), 5);
	close(r.events);
}
END_TEST

static void
locked_out(void)
{
	char *argv[] = {(char[]){"true"}, NULL};

	execv("/nowhere", argv); /* as carrel's own */
	if (errno != ENOENT)
		_exit(1);
	/* no mount of its own, as everything here */
	execv("/bin/true", argv);
	if (errno != EACCES)
		_exit(2);
	execv("/etc/passwd", argv);
	if (errno != EACCES)
		_exit(3);
	execv("/etc", argv);
	if (errno != EACCES)
		_exit(4);
	syscall(SYS_execve, 1L, argv, NULL);
	if (errno != EFAULT)
		_exit(5);
	_exit(6);
}

START_TEST(lock_is_judged)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	struct run r;

	begin(&r, NOTIFY_LOCKED | NOTIFY_REPORT, locked_out);
	ck_assert_int_eq(end(&r), 6);
	ck_assert_int_eq(next_event(&r, &e, buf), 1);
	ck_assert_str_eq(e.resource, "/bin/true");
	/* nobody's: as where the lock is of no profile */
	ck_assert_uint_eq(e.profile, EVENT_NO_PROFILE);
	ck_assert_str_eq(e.rule, "");
	ck_assert_uint_eq(e.err, EACCES);
	ck_assert_int_eq(next_event(&r, &e, buf), 1);
	ck_assert_str_eq(e.resource, "/etc/passwd");
	/* a directory and a bad pointer were never the lock's */
	ck_assert_int_eq(next_event(&r, &e, buf), 0);
	close(r.events);
}
END_TEST

static int
judge(long nr, int dir, const char *path, int flags)
{
	struct seccomp_data d = {.nr = (int)nr,
	    .args = {(uint64_t)(unsigned)dir, 0, 0, 0, (uint64_t)flags}};

	struct notify_view v = {-1, 0};
	int r = notify_judge(&v, getpid(), &d, path);

	if (v.root != -1)
		close(v.root);
	return r;
}

START_TEST(what_is_found)
{
	int fd = open("/bin/true", O_PATH), bin = open("/bin", O_PATH);
	char name[64];

	ck_assert(fd != -1 && bin != -1);
	ck_assert_int_eq(judge(SYS_execve, 0, "/bin/true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execve, 0, "/bin/../bin/true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execve, 0, "/nowhere", 0), 0);
	ck_assert_int_eq(judge(SYS_execve, 0, "/etc", 0), 0);
	ck_assert_int_eq(judge(SYS_execve, 0, "", 0), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(judge(SYS_execve, 0, name, 0), EACCES);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	ck_assert_int_eq(judge(SYS_execve, 0, name, 0), EACCES);
	ck_assert_int_eq(judge(SYS_execve, 0, "/proc/self/exe", 0), EACCES);
	/* a link of procfs on the way: refused without being followed */
	ck_assert_int_eq(
	    judge(SYS_execve, 0, "/proc/self/root/bin/true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execve, 0, "/proc/99999999/exe", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execveat, bin, "true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execveat, bin, "nothing", 0), 0);
	ck_assert_int_eq(judge(SYS_execveat, 500, "true", 0), 0);
	ck_assert_int_eq(judge(SYS_execveat, fd, "", AT_EMPTY_PATH), EACCES);
	ck_assert_int_eq(judge(SYS_execveat, -1, "", AT_EMPTY_PATH), 0);
	ck_assert_int_eq(chdir("/bin"), 0);
	ck_assert_int_eq(judge(SYS_execve, 0, "true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execve, 0, "../bin/true", 0), EACCES);
	ck_assert_int_eq(judge(SYS_execveat, AT_FDCWD, "./true", 0), EACCES);
	close(fd);
	close(bin);
}
END_TEST

START_TEST(paths_are_read)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p, path[NOTIFY_PATH_LEN];
	struct seccomp_data d = {.nr = SYS_execve};

	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	ck_assert_int_eq(munmap(p + page, page), 0);
	/* up to the end of what is mapped */
	strcpy(p + page - 6, "/a/bc");
	d.args[0] = (uintptr_t)(p + page - 6);
	ck_assert_int_eq(notify_path(getpid(), &d, path), 0);
	ck_assert_str_eq(path, "/a/bc");
	/* without an end there */
	p[page - 1] = 'x';
	ck_assert_int_eq(notify_path(getpid(), &d, path), -1);
	ck_assert_str_eq(path, "");
	d.args[0] = (uintptr_t)(p + page);
	ck_assert_int_eq(notify_path(getpid(), &d, path), -1);
	/* longer than any path */
	ck_assert_ptr_eq(mmap(p + page, page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
	    p + page);
	memset(p, 'x', 2 * page);
	d.args[0] = (uintptr_t)p;
	ck_assert_int_eq(notify_path(getpid(), &d, path), -1);
	p[NOTIFY_PATH_LEN - 1] = '\0';
	ck_assert_int_eq(notify_path(getpid(), &d, path), 0);
	ck_assert_uint_eq(strlen(path), NOTIFY_PATH_LEN - 1);
	/* execveat has its path as the second argument */
	strcpy(p, "/y");
	d.nr = SYS_execveat;
	d.args[0] = 7;
	d.args[1] = (uintptr_t)p;
	ck_assert_int_eq(notify_path(getpid(), &d, path), 0);
	ck_assert_str_eq(path, "/y");
	munmap(p, 2 * page);
}
END_TEST

static void
sleep_long(void)
{
	shell("read x </dev/zero; sleep 60");
}

/* What is watched works as ever, in any process, whatever comes between. */
static void
write_files(void)
{
	char dir[] = "/tmp/carrel-notify.XXXXXX";
	int i, fd, status;

	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		_exit(1);
	disturb();
	for (i = 0; i < 200; i++) {
		fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd == -1 || write(fd, "x", 1) != 1 || fchmod(fd, 0644) ||
		    close(fd) == -1 || rename("a", "b") == -1 ||
		    link("b", "c") == -1 || mkdir("d", 0755) == -1 ||
		    open("/nowhere/x", O_WRONLY) != -1 || errno != ENOENT ||
		    unlink("b") == -1 || unlink("c") == -1 || rmdir("d") == -1)
			_exit(2);
		if (i % 50 == 0 && fork() == 0)
			shell("echo x >e && rm e");
		if (i % 50 == 0 && (wait(&status) == -1 || status != 0))
			_exit(3);
	}
	_exit(chdir("/") == -1 || rmdir(dir) == -1 ? 4 : 11);
}

START_TEST(files_are_watched)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	struct run r;

	begin(&r, NOTIFY_FS, write_files);
	ck_assert_int_eq(end(&r), 11);
	ck_assert_int_eq(event_receive(r.events, &e, buf), 0);
	close(r.events);
	/* beside what answers for programs */
	begin(&r, NOTIFY_FS | NOTIFY_ONCE, exec_again);
	ck_assert_int_eq(end(&r), 126);
	close(r.events);
	begin(&r, NOTIFY_FS | NOTIFY_LOCKED | NOTIFY_REPORT, locked_out);
	ck_assert_int_eq(end(&r), 6);
	ck_assert_int_eq(event_receive(r.events, &e, buf), 1);
	ck_assert_uint_eq(e.surface, EVENT_EXEC);
	ck_assert_int_eq(event_receive(r.events, &e, buf), 1);
	ck_assert_uint_eq(e.surface, EVENT_EXEC);
	ck_assert_int_eq(event_receive(r.events, &e, buf), 0);
	close(r.events);
}
END_TEST

static size_t
open_files(pid_t pid)
{
	struct dirent *e;
	char name[64];
	size_t n = 0;
	DIR *d;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	ck_assert_ptr_nonnull(d = opendir(name));
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* It holds nothing open that somebody could wait for. */
START_TEST(it_closes_the_rest)
{
	struct run r;

	begin(&r, NOTIFY_ONCE | NOTIFY_REPORT, exec_again);
	ck_assert_int_eq(end(&r), 126);
	close(r.events);
	begin(&r, NOTIFY_ONCE, sleep_long);
	usleep(100000);
	ck_assert_uint_eq(open_files(r.notifier), 1);
	ck_assert_int_eq(kill(r.payload, SIGKILL), 0);
	ck_assert_int_eq(end(&r), -1);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* see notify_confine.c */
/* What it may not do once it is confined; the number of the first it may. */
static int
try_all(void)
{
	const struct sockaddr to = {.sa_family = AF_UNIX};
	char here[4] = "abc", there[4] = "";
	struct iovec a = {there, 4}, b = {here, 4};
	int p[2], fd, null = open("/dev/null", O_RDWR);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p) == -1 || null == -1 ||
	    notify_confine() == -1)
		return 1;
	if (open("/tmp", O_TMPFILE | O_RDWR, 0600) != -1)
		return 2;
	if (open("/dev/null", O_WRONLY) != -1)
		return 3;
	if (write(null, "x", 1) != -1 || dup(null) != -1)
		return 4;
	if (socket(AF_INET, SOCK_STREAM, 0) != -1)
		return 5;
	if (fork() != -1)
		return 6;
	if (kill(getppid(), 0) != -1 || syscall(SYS_tgkill, 1, 1, 0) != -1)
		return 7;
	if (process_vm_writev(getpid(), &b, 1, &a, 1, 0) != -1)
		return 8;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, null, 0) != MAP_FAILED)
		return 9;
	if (sendto(p[0], "x", 1, 0, &to, sizeof(to)) != -1 || errno != EPERM)
		return 10;
	if (ioctl(null, 0x5412, here) != -1 || errno != EPERM) /* TIOCSTI */
		return 11;
	if (execl("/bin/true", "true", NULL) != -1 && errno != EPERM)
		return 12;
	if (unlink("/tmp/none") != -1 || errno != EPERM)
		return 13;
	/* and what it must */
	if ((fd = open("/proc/self", O_PATH | O_CLOEXEC)) == -1 ||
	    close(fd) == -1 ||
	    process_vm_readv(getpid(), &a, 1, &b, 1, 0) != 4 ||
	    strcmp(there, "abc") != 0 || send(p[0], "x", 1, 0) != 1)
		return 14;
	return 0;
}

START_TEST(it_is_confined)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_all());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST
#endif

/* Without it attempts fail, and do not hang. */
START_TEST(it_dies_closed)
{
	struct run r;
	int status;

	begin(&r, 0, interrupted);
	ck_assert_int_eq(kill(r.notifier, SIGKILL), 0);
	ck_assert_int_eq(waitpid(r.notifier, &status, 0), r.notifier);
	ck_assert_int_eq(waitpid(r.payload, &status, 0), r.payload);
	/* ENOSYS, unless it was through already */
	ck_assert(WIFEXITED(status) &&
		  (WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 9));
}
END_TEST

/* With the monitor it ends, too. */
START_TEST(it_dies_with_its_parent)
{
	struct run r;
	int p[2], status;
	pid_t monitor;

	/* so that it is seen to end whoever is pid 1, which may not care */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_int_eq(pipe(p), 0);
	if ((monitor = fork()) == 0) {
		begin(&r, 0, sleep_long);
		if (write(p[1], &r.notifier, sizeof(r.notifier)) == -1)
			_exit(1);
		pause();
	}
	close(p[1]);
	ck_assert_int_eq(
	    read(p[0], &r.notifier, sizeof(r.notifier)), sizeof(r.notifier));
	ck_assert_int_eq(kill(r.notifier, 0), 0);
	ck_assert_int_eq(kill(monitor, SIGKILL), 0);
	ck_assert_int_eq(waitpid(monitor, NULL, 0), monitor);
	ck_assert_int_eq(waitpid(r.notifier, &status, 0), r.notifier);
	/* or it began later than the other ended, and saw that */
	ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
				      : WEXITSTATUS(status) == 1);
	close(p[0]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("notify");
	TCase *t = tcase_create("notify");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, once_is_once);
	tcase_add_test(t, a_failure_counts);
	tcase_add_test(t, signals_do_not_count);
	tcase_add_test(t, refusals_are_told);
	tcase_add_test(t, others_are_told);
	tcase_add_test(t, lost_ones_are_counted);
	tcase_add_test(t, lock_is_judged);
	tcase_add_test(t, what_is_found);
	tcase_add_test(t, paths_are_read);
	tcase_add_test(t, files_are_watched);
	tcase_add_test(t, it_closes_the_rest);
#ifndef __SANITIZE_ADDRESS__
	tcase_add_test(t, it_is_confined);
#endif
	tcase_add_test(t, it_dies_closed);
	tcase_add_test(t, it_dies_with_its_parent);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
