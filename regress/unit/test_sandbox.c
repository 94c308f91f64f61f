#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "child/parser/layers.h"
#include "child/parser/sandbox.h"
#include "parse_help.h"

/*
 * What the process can still do after sandbox_enter(). Each probe runs in a
 * child that enters (or not: the control) and answers with its exit code.
 */

#define DIED 1000 /* killed by the filter */

static struct layout l;

static int
probe(int enter, int (*fn)(const struct layers *))
{
	struct policy po;
	struct place at = {&po, "", ""};
	struct layers ls;
	int status;
	pid_t pid = fork();

	ck_assert(pid != -1);
	if (pid == 0) {
		memset(&po, 0, sizeof(po));
		layers_open(&ls, &l.q);
		if (enter && sandbox_enter(&ls, 0, &at) == -1)
			_exit(98);
		_exit(fn(&ls));
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? DIED : -1;
	return WEXITSTATUS(status);
}

static int
open_passwd(const struct layers *ls)
{
	(void)ls;
	return openat(AT_FDCWD, "/etc/passwd", O_RDONLY) == -1 ? errno : 0;
}

static int
open_above(const struct layers *ls)
{
	return openat(ls->dir[LAYER_USER].fd, "../secret", O_RDONLY) == -1
		   ? errno
		   : 0;
}

static int
open_profile(const struct layers *ls)
{
	return openat(ls->dir[LAYER_USER].fd, "a.profile", O_RDONLY) == -1
		   ? errno
		   : 0;
}

static int
open_for_writing(const struct layers *ls)
{
	return openat(ls->dir[LAYER_USER].fd, "a.profile", O_RDWR) == -1 ? errno
									 : 0;
}

static int
create(const struct layers *ls)
{
	return openat(ls->dir[LAYER_USER].fd, "new",
		   O_RDONLY | O_CREAT | O_CLOEXEC, 0644) == -1
		   ? errno
		   : 0;
}

static int
stat_path(const struct layers *ls)
{
	struct stat st;

	(void)ls;
	return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0) == -1
		   ? errno
		   : 0;
}

static int
fork_one(const struct layers *ls)
{
	pid_t pid;

	(void)ls;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return pid == -1 ? errno : 0;
}

static int
make_socket(const struct layers *ls)
{
	(void)ls;
	return socket(AF_UNIX, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
write_out(const struct layers *ls)
{
	(void)ls;
	return write(3, "", 0) == -1 && errno != EBADF ? errno : 0;
}

static int
send_elsewhere(const struct layers *ls)
{
	return send(ls->dir[LAYER_USER].fd, "", 0, 0) == -1 && errno != EBADF
		   ? errno
		   : 0;
}

static int
map_code(const struct layers *ls)
{
	(void)ls;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		   ? errno
		   : 0;
}

static int
map_data(const struct layers *ls)
{
	(void)ls;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		   ? errno
		   : 0;
}

static int
much_memory(const struct layers *ls)
{
	volatile char *p = malloc(300 << 20);

	(void)ls;
	if (p == NULL)
		return errno;
	p[0] = 'x';
	free((void *)(uintptr_t)p);
	return 0;
}

static int
standard_open(const struct layers *ls)
{
	struct stat st;

	(void)ls;
	return syscall(SYS_fstat, 2, &st) == -1 ? errno : 0;
}

START_TEST(probes)
{
	/* what the probe answers outside, in it, and with no filter in it */
	static const struct {
		int (*fn)(const struct layers *);
		int outside, inside, sanitized;
	} p[] = {
	    {open_profile, 0, 0, 0},
	    {open_passwd, 0, EACCES, EACCES},
	    {open_above, 0, EACCES, EACCES},
	    {open_for_writing, 0, DIED, EACCES},
	    {create, 0, DIED, EACCES},
	    {stat_path, 0, DIED, 0},
	    {fork_one, 0, DIED, 0},
	    {make_socket, 0, DIED, 0},
	    {write_out, 0, DIED, 0},
	    {send_elsewhere, 0, DIED, 0},
	    {map_code, 0, DIED, 0},
	    {map_data, 0, 0, 0},
	    {much_memory, 0, ENOMEM, 0},
	    {standard_open, 0, EBADF, 0},
	};
	char path[256];
	size_t i;
	int got;

	layout_init(&l);
	put_file(l.user, "a", "");
	snprintf(path, sizeof(path), "%s/secret", l.root);
	put_bytes(path, "x", 1);
	for (i = 0; i < NITEMS(p); i++) {
		got = probe(0, p[i].fn);
		ck_assert_msg(got == p[i].outside, "%zu outside: %d", i, got);
		snprintf(path, sizeof(path), "%s/new", l.user);
		unlink(path);
		got = probe(1, p[i].fn);
		ck_assert_msg(
		    got == (SANDBOX_SANITIZED ? p[i].sanitized : p[i].inside),
		    "%zu inside: %d", i, got);
	}
	layout_free(&l);
}
END_TEST

/* 0 if it enters under this hard limit; 1 after a refusal with this text. */
static int
enter_under(int what, rlim_t hard, const char *text)
{
	struct rlimit r = {hard, hard};
	struct policy po;
	struct place at = {&po, "", ""};
	struct layers ls;
	int status;
	pid_t pid = fork();

	ck_assert(pid != -1);
	if (pid == 0) {
		memset(&po, 0, sizeof(po));
		layers_open(&ls, &l.q);
		if (setrlimit(what, &r) == -1)
			_exit(97);
		if (sandbox_enter(&ls, 0, &at) == 0)
			_exit(0);
		_exit(po.nrefusals == 1 &&
			      strstr(po.refusals[0].fix, text) != NULL &&
			      strstr(po.refusals[0].what, text + 7) != NULL
			  ? 1
			  : 95);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A caller with less than the reader would give itself. */
START_TEST(hard_limits)
{
	static const struct {
		int what;
		rlim_t enough, little;
		const char *text;
	} cases[] = {
	    {RLIMIT_AS, 64 << 20, 8 << 20, "ulimit -v"},
	    {RLIMIT_NOFILE, 12, 9, "ulimit -n"},
	    {RLIMIT_CPU, 2, 0, "ulimit -t"},
	};
	size_t i;

	if (SANDBOX_SANITIZED)
		return; /* which has no limits */
	layout_init(&l);
	for (i = 0; i < NITEMS(cases); i++) {
		ck_assert_int_eq(
		    enter_under(cases[i].what, cases[i].enough, cases[i].text),
		    0);
		ck_assert_int_eq(
		    enter_under(cases[i].what, cases[i].little, cases[i].text),
		    1);
	}
	layout_free(&l);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {probes, hard_limits};

	return run_suite("sandbox", tests, NITEMS(tests));
}
