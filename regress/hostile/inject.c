/*
 * inject [all] trace FILE COMMAND [ARG...]
 * inject [all] fail PROCESS CALL WHEN ERROR COMMAND [ARG...]
 * inject as UID GID PAYLOAD trace|fail ...
 *
 * Follows COMMAND (a carrel) and what it forks, each process up to the exec
 * of the payload. trace: writes "PROCESS CALL NAME COUNT" lines. fail: the
 * WHEN-th system call CALL (a number or a name) of one process is not made, and
 * fails with ERROR.
 * Processes are numbered as they are made: carrel 0, the set-up 1, the parser
 * 2, the payload 3; with all, the parser of the ceiling is 3, and whatever runs
 * then is followed, too. Ends as COMMAND does; a signal is 128+N. as: of a
 * program with privilege, which only root may trace, started by another user;
 * PAYLOAD is the payload's number there.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>
#include <err.h>
#include <grp.h>
#include <errno.h>
#include <linux/ptrace.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACEES 64
#define CALLS	512
#define SYSCALL (SIGTRAP | 0x80)
#define OPTIONS                                                                \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |    \
	    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

struct tracee {
	pid_t pid;   /* 0: unused */
	int number;  /* -1: its parent's stop has not told yet */
	int counted; /* from its first exec on, or from its fork */
	int stopped; /* waits for its number */
	int failing; /* the error of the call that it is in */
};

struct state {
	struct tracee t[TRACEES];
	long count[TRACEES][CALLS];
	int made; /* processes */
	int all;
	int process, call, error; /* what fails; process -1: nothing */
	long when;
	int payload;
	uid_t uid; /* 0: who started this */
	gid_t gid;
};

static struct tracee *
find(struct state *s, pid_t pid)
{
	struct tracee *free = NULL;
	int i;

	for (i = 0; i < TRACEES; i++) {
		if (s->t[i].pid == pid)
			return &s->t[i];
		if (s->t[i].pid == 0 && free == NULL)
			free = &s->t[i];
	}
	if (free == NULL)
		errx(2, "too many processes");
	memset(free, 0, sizeof(*free));
	free->pid = pid;
	free->number = -1;
	return free;
}

/* The call is not made: its number becomes one that no kernel has. */
static void
forget_call(pid_t pid)
{
#if defined(__x86_64__)
	struct user_regs_struct r;
	struct iovec v = {&r, sizeof(r)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v) == -1)
		err(2, "PTRACE_GETREGSET");
	r.orig_rax = (unsigned long long)-1;
	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v) == -1)
		err(2, "PTRACE_SETREGSET");
#elif defined(__aarch64__)
	int nr = -1;
	struct iovec v = {&nr, sizeof(nr)};

	if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &v) == -1)
		err(2, "PTRACE_SETREGSET");
#else
	(void)pid;
	errx(2, "no way is known to change a call on this machine");
#endif
}

static void
set_result(pid_t pid, int error)
{
	struct user_regs_struct r;
	struct iovec v = {&r, sizeof(r)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v) == -1)
		err(2, "PTRACE_GETREGSET");
#if defined(__x86_64__)
	r.rax = (unsigned long long)-error;
#elif defined(__aarch64__)
	r.regs[0] = (unsigned long long)-error;
#else
	(void)error;
#endif
	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v) == -1)
		err(2, "PTRACE_SETREGSET");
}

static void
at_call(struct state *s, struct tracee *t)
{
	struct __ptrace_syscall_info info;
	long nr;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info) == -1)
		return; /* it is being killed */
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->failing != 0) {
		set_result(t->pid, t->failing);
		t->failing = 0;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !t->counted)
		return;
	nr = (long)info.entry.nr;
	if (nr < 0 || nr >= CALLS)
		return;
	s->count[t->number][nr]++;
	if (t->number != s->process || nr != s->call ||
	    s->count[t->number][nr] != s->when)
		return;
	forget_call(t->pid);
	t->failing = s->error;
}

static void
go_on(const struct tracee *t, int request, int sig)
{
	/* ESRCH: it was killed while it was stopped; its end is reported */
	if (ptrace(request, t->pid, 0, sig) == -1 && errno != ESRCH)
		err(2, "ptrace %d", request);
}

static void
at_fork(struct state *s, const struct tracee *t)
{
	unsigned long pid;
	struct tracee *new;

	if (ptrace(PTRACE_GETEVENTMSG, t->pid, 0, &pid) == -1)
		return;
	new = find(s, (pid_t)pid);
	if (s->made == TRACEES)
		errx(2, "too many processes");
	new->number = s->made++;
	new->counted = 1;
	if (new->stopped)
		go_on(new, PTRACE_SYSCALL, 0);
	new->stopped = 0;
}

static void
at_stop(struct state *s, struct tracee *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		at_fork(s, t);
		break;
	case PTRACE_EVENT_EXEC:
		t->counted = 1;
		if (t->number >= s->payload && !s->all) {
			go_on(t, PTRACE_DETACH, 0);
			t->pid = 0;
			return;
		}
		break;
	case PTRACE_EVENT_STOP:
		if (t->number == -1) {
			t->stopped = 1;
			return;
		}
		if (sig != SIGTRAP) {
			go_on(t, PTRACE_LISTEN, 0);
			return;
		}
		break;
	default:
		if (sig == SYSCALL)
			at_call(s, t);
		else {
			go_on(t, PTRACE_SYSCALL, sig);
			return;
		}
	}
	go_on(t, PTRACE_SYSCALL, 0);
}

static pid_t
begin(struct state *s, char **argv)
{
	struct tracee *t;
	int status;
	pid_t pid = fork();

	if (pid == -1)
		err(2, "fork");
	if (pid == 0) {
		if (s->uid != 0 &&
		    (setgroups(0, NULL) == -1 ||
			setresgid(s->gid, s->gid, s->gid) == -1 ||
			setresuid(s->uid, s->uid, s->uid) == -1))
			_exit(2);
		raise(SIGSTOP);
		execv(argv[0], argv);
		_exit(2);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 ||
	    ptrace(PTRACE_SEIZE, pid, 0, OPTIONS) == -1)
		err(2, "PTRACE_SEIZE");
	t = find(s, pid);
	t->number = s->made++;
	kill(pid, SIGCONT);
	return pid;
}

/* The exit code of the first process. */
static int
follow(struct state *s, char **argv)
{
	pid_t first = begin(s, argv), pid;
	int status, code = 2;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			at_stop(s, find(s, pid), status);
			continue;
		}
		find(s, pid)->pid = 0;
		if (pid == first)
			code = WIFEXITED(status) ? WEXITSTATUS(status)
						 : 128 + WTERMSIG(status);
	}
	return code;
}

/* A number, or a name. */
static int
call_number(const char *s)
{
	if (*s >= '0' && *s <= '9')
		return atoi(s);
	return seccomp_syscall_resolve_name(s);
}

static void
print(const struct state *s, const char *file)
{
	FILE *f = fopen(file, "we");
	char *name;
	int i, nr;

	if (f == NULL)
		err(2, "%s", file);
	for (i = 0; i < s->made; i++)
		for (nr = 0; nr < CALLS; nr++) {
			if (s->count[i][nr] == 0)
				continue;
			name = seccomp_syscall_resolve_num_arch(
			    SCMP_ARCH_NATIVE, nr);
			fprintf(f, "%d %d %s %ld\n", i, nr,
			    name != NULL ? name
			    : nr == 467	 ? "open_tree_attr"
					 : "?",
			    s->count[i][nr]);
			free(name);
		}
	if (fclose(f) == EOF)
		err(2, "%s", file);
}

int
main(int argc, char **argv)
{
	static struct state s = {.process = -1, .payload = 3};
	int code;

	if (argc > 5 && strcmp(argv[1], "as") == 0) {
		s.uid = (uid_t)atoi(argv[2]);
		s.gid = (gid_t)atoi(argv[3]);
		s.payload = atoi(argv[4]);
		argc -= 4;
		argv += 4;
	}

	if (argc > 1 && strcmp(argv[1], "all") == 0) {
		s.all = 1;
		argv++;
		argc--;
	}
	if (argc > 3 && strcmp(argv[1], "trace") == 0) {
		code = follow(&s, argv + 3);
		print(&s, argv[2]);
		return code;
	}
	if (argc > 6 && strcmp(argv[1], "fail") == 0) {
		s.process = atoi(argv[2]);
		s.call = call_number(argv[3]);
		s.when = atol(argv[4]);
		s.error = atoi(argv[5]);
		return follow(&s, argv + 6);
	}
	errx(2, "usage: inject [as UID GID PAYLOAD] trace FILE COMMAND "
		"[ARG...] | inject fail "
		"PROCESS CALL WHEN ERROR COMMAND [ARG...]");
}
