/*
 * A payload that tries every system call, and then those combinations of
 * arguments that a filter must tell apart, and prints "NAME VERDICT" lines:
 * EPERM, ENOSYS, an error of a socket that cannot be, or "ok" for any other
 * result. Every call is made in a process of its own, with arguments that no
 * kernel takes.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_CALL 480
#define SECONDS	  2	     /* a call that blocks was let through */
#define BAD	  (-1L)	     /* no pointer, descriptor, process or flags */
#define HIGH	  (1L << 32) /* above what is an int in the kernel */

struct probe {
	const char *name;
	long nr, args[6];
};

/* Ends the process that makes it, or shares its stack. */
static const int skipped[] = {
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
#ifdef SYS_vfork
    SYS_vfork,
#endif
};

/* Calls whose arguments decide: arguments that the filter lets through. */
static const struct probe harmless[] = {
    {"openat", SYS_openat, {BAD, BAD, 0, 0}},
    {"fchmod", SYS_fchmod, {BAD, 0}},
    {"fchmodat", SYS_fchmodat, {BAD, BAD, 0}},
    {"fchmodat2", 452, {BAD, BAD, 0, 0}},
    {"mknodat", SYS_mknodat, {BAD, BAD, 0, 0}},
    {"fcntl", SYS_fcntl, {BAD, F_GETFD}},
    {"ioctl", SYS_ioctl, {BAD, 0x8901}},
    {"clone", SYS_clone, {CLONE_SIGHAND}},
    {"unshare", SYS_unshare, {0}},
    {"prlimit64", SYS_prlimit64, {0, BAD}},
    {"socket", SYS_socket, {AF_UNIX, BAD, BAD}},
    {"socketpair", SYS_socketpair, {AF_UNIX, BAD, BAD, BAD}},
#ifdef __x86_64__
    {"open", SYS_open, {BAD, 0, 0}},
    {"creat", SYS_creat, {BAD, 0}},
    {"chmod", SYS_chmod, {BAD, 0}},
    {"mknod", SYS_mknod, {BAD, 0, 0}},
#endif
};

static const struct probe combinations[] = {
    {"clone:newuser", SYS_clone, {CLONE_NEWUSER | SIGCHLD}},
    {"clone:newns", SYS_clone, {CLONE_NEWNS | SIGCHLD}},
    {"unshare:newuser", SYS_unshare, {CLONE_NEWUSER}},
    {"unshare:newuser-high", SYS_unshare, {CLONE_NEWUSER | HIGH}},
    {"unshare:newtime", SYS_unshare, {CLONE_NEWTIME}},
    {"unshare:files", SYS_unshare, {CLONE_FILES}},
    {"ioctl:TIOCSTI-0", SYS_ioctl, {0, TIOCSTI, BAD}},
    {"ioctl:TIOCSTI-1", SYS_ioctl, {1, TIOCSTI, BAD}},
    {"ioctl:TIOCSTI-2", SYS_ioctl, {2, TIOCSTI, BAD}},
    {"ioctl:TIOCSTI-high", SYS_ioctl, {0, TIOCSTI | HIGH, BAD}},
    {"ioctl:TIOCLINUX", SYS_ioctl, {0, TIOCLINUX, BAD}},
    {"ioctl:TIOCLINUX-high", SYS_ioctl, {0, TIOCLINUX | HIGH, BAD}},
    {"ioctl:TIOCCONS", SYS_ioctl, {0, TIOCCONS, BAD}},
    {"ioctl:TIOCSETD", SYS_ioctl, {0, TIOCSETD, BAD}},
    {"ioctl:TIOCEXCL", SYS_ioctl, {BAD, TIOCEXCL, BAD}},
    {"ioctl:KDSKBENT", SYS_ioctl, {0, 0x4b47, BAD}},
    {"ioctl:VT_ACTIVATE", SYS_ioctl, {0, 0x5606, BAD}},
    {"ioctl:TUNSETIFF", SYS_ioctl, {0, 0x400454ca, BAD}},
    {"ioctl:TCGETS", SYS_ioctl, {BAD, TCGETS, BAD}},
    {"ioctl:TIOCGWINSZ", SYS_ioctl, {BAD, TIOCGWINSZ, BAD}},
    {"ioctl:FIONREAD", SYS_ioctl, {BAD, FIONREAD, BAD}},
    {"socket:inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
    {"socket:inet6", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}},
    {"socket:route", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
    {"socket:netfilter", SYS_socket, {AF_NETLINK, SOCK_RAW, 12}},
    {"socket:audit", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}},
    {"socket:packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
    {"socket:sock_packet", SYS_socket, {AF_INET, SOCK_PACKET, 0}},
    {"socket:smc", SYS_socket, {AF_INET, SOCK_STREAM, 256}},
    {"socket:mptcp", SYS_socket, {AF_INET, SOCK_STREAM, 262}},
    {"socket:sctp", SYS_socket, {AF_INET, SOCK_STREAM, 132}},
    {"socket:sctp-seqpacket", SYS_socket, {AF_INET6, SOCK_SEQPACKET, 132}},
    {"socket:dccp", SYS_socket, {AF_INET, SOCK_DCCP, 33}},
    {"socket:l2tp", SYS_socket, {AF_INET, SOCK_DGRAM, 115}},
    {"socket:udplite", SYS_socket, {AF_INET6, SOCK_DGRAM, 136}},
    {"socket:sctp-high", SYS_socket, {AF_INET, SOCK_STREAM, 132 | HIGH}},
    {"socket:vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}},
    {"socket:vsock-high", SYS_socket, {AF_VSOCK | HIGH, SOCK_STREAM, 0}},
    {"socket:alg", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}},
    {"socket:bluetooth", SYS_socket, {AF_BLUETOOTH, SOCK_RAW, 0}},
    {"socket:tipc", SYS_socket, {AF_TIPC, SOCK_STREAM, 0}},
    {"socketpair:tipc", SYS_socketpair, {AF_TIPC, SOCK_STREAM, 0, BAD}},
    {"fchmod:setuid", SYS_fchmod, {BAD, S_ISUID | 0755}},
    {"fchmod:setgid", SYS_fchmod, {BAD, S_ISGID | 0755}},
    {"fchmod:sticky", SYS_fchmod, {BAD, S_ISVTX | 0755}},
    {"fchmodat:setuid", SYS_fchmodat, {BAD, BAD, S_ISUID}},
    {"fchmodat2:setuid", 452, {BAD, BAD, S_ISUID, 0}},
    {"mknodat:setuid", SYS_mknodat, {BAD, BAD, S_IFREG | S_ISUID, 0}},
    {"openat:setuid", SYS_openat, {BAD, BAD, O_CREAT, S_ISUID}},
    {"openat:setgid", SYS_openat, {BAD, BAD, O_CREAT, S_ISGID}},
    {"openat:tmpfile", SYS_openat, {BAD, BAD, O_TMPFILE, S_ISUID}},
    {"openat:garbage", SYS_openat, {BAD, BAD, O_RDONLY, S_ISUID}},
    {"openat:create", SYS_openat, {BAD, BAD, O_CREAT, 0644}},
    {"fcntl:setlease", SYS_fcntl, {BAD, F_SETLEASE, 0}},
    {"fcntl:setlease-high", SYS_fcntl, {BAD, F_SETLEASE | HIGH, 0}},
    {"fcntl:notify", SYS_fcntl, {BAD, F_NOTIFY, 0}},
    {"fcntl:setlk", SYS_fcntl, {BAD, F_SETLK, BAD}},
    {"prlimit64:other", SYS_prlimit64, {1, RLIMIT_CORE, BAD, BAD}},
    {"prlimit64:self", SYS_prlimit64, {0, RLIMIT_CORE, BAD, BAD}},
    {"personality:query", SYS_personality, {0xffffffff}},
    {"personality:linux", SYS_personality, {0}},
    {"personality:no-random", SYS_personality, {0x0040000}},
    {"personality:read-exec", SYS_personality, {0x0400000}},
    {"personality:linux32", SYS_personality, {8}},
#ifdef __x86_64__
    {"chmod:setuid", SYS_chmod, {BAD, S_ISUID}},
    {"creat:setuid", SYS_creat, {BAD, S_ISUID}},
    {"mknod:setgid", SYS_mknod, {BAD, S_IFREG | S_ISGID, 0}},
    {"open:setuid", SYS_open, {BAD, O_CREAT, S_ISUID}},
    {"open:tmpfile", SYS_open, {BAD, O_TMPFILE, S_ISGID}},
    {"open:garbage", SYS_open, {BAD, O_RDWR, S_ISUID}},
#endif
};

#ifdef __x86_64__
/* A call of i386 by its own gate: -errno, or what it returned. */
static long
call_i386(long nr)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(nr), "b"(BAD), "c"(BAD), "d"(BAD)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)r;
}
#endif

/* In a child: the call, and its errno into the pipe. Never returns. */
static void
attempt(const struct probe *p, int out)
{
	pid_t self = getpid();
	long r;
	int e;

	alarm(SECONDS);
#ifdef __x86_64__
	if (p->nr == -1) {
		r = call_i386(p->args[0]);
		errno = r < 0 ? (int)-r : 0;
		r = r < 0 ? -1 : r;
	} else
#endif
		r = syscall(p->nr, p->args[0], p->args[1], p->args[2],
		    p->args[3], p->args[4], p->args[5]);
	e = r == -1 ? errno : 0;
	if (getpid() == self && write(out, &e, sizeof(e)) != sizeof(e))
		_exit(1);
	_exit(0);
}

static const char *
verdict(const struct probe *p)
{
	int fd[2], e = 0, status;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) == -1 || (pid = fork()) == -1)
		err(1, "%s", p->name);
	if (pid == 0)
		attempt(p, fd[1]);
	close(fd[1]);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	n = read(fd[0], &e, sizeof(e));
	close(fd[0]);
	if (n != sizeof(e) && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return "SIGSYS";
	return e == EPERM	      ? "EPERM"
	       : e == ENOSYS	      ? "ENOSYS"
	       : e == EAFNOSUPPORT    ? "EAFNOSUPPORT"
	       : e == EPROTONOSUPPORT ? "EPROTONOSUPPORT"
	       : e == ESOCKTNOSUPPORT ? "ESOCKTNOSUPPORT"
				      : "ok";
}

static void
every_call(void)
{
	const struct probe plain = {"", 0, {BAD, BAD, BAD, BAD, BAD, BAD}};
	struct probe p;
	char *name, number[16];
	size_t i;
	long nr;

	for (nr = 0; nr <= LAST_CALL; nr++) {
		p = plain;
		name = seccomp_syscall_resolve_num_arch(
		    seccomp_arch_native(), (int)nr);
		snprintf(number, sizeof(number), "%ld", nr);
		p.name = name != NULL ? name : number;
		p.nr = nr;
		for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
			if (harmless[i].nr == nr)
				p = harmless[i];
		for (i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
			if (skipped[i] == nr)
				p.nr = -2;
		if (p.nr != -2)
			printf("%s %s\n", p.name, verdict(&p));
		free(name);
	}
}

/* A call with a number in one argument, from first to last. */
static const struct sweep {
	struct probe p;
	int arg;
	long first, last;
} sweeps[] = {
    {{"socket:family", SYS_socket, {0, SOCK_STREAM, 0}}, 0, 0, 47},
    {{"socket:netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}}, 2, 0, 23},
    {{"socketpair:family", SYS_socketpair, {0, SOCK_STREAM, 0, BAD}}, 0, 0, 47},
    {{"ioctl:T", SYS_ioctl, {BAD, 0, BAD}}, 1, 0x5400, 0x5470},
    {{"ioctl:K", SYS_ioctl, {BAD, 0, BAD}}, 1, 0x4b2f, 0x4b4f},
    {{"ioctl:V", SYS_ioctl, {BAD, 0, BAD}}, 1, 0x5600, 0x5612},
    {{"fcntl:cmd", SYS_fcntl, {BAD, 0, BAD}}, 1, 0, 16},
    {{"fcntl:cmd", SYS_fcntl, {BAD, 0, BAD}}, 1, 1024, 1042},
    {{"prlimit64:own", SYS_prlimit64, {0, 0, BAD, BAD}}, 1, 0, 16},
    {{"prlimit64:other", SYS_prlimit64, {1, 0, 0, BAD}}, 1, 0, 16},
    {{"setpriority:which", SYS_setpriority, {0, 1, 0}}, 0, 0, 3},
    {{"ioprio_set:which", SYS_ioprio_set, {0, 1, 0}}, 0, 0, 4},
    {{"personality:bit", SYS_personality, {0}}, 0, 1, 16},
};

/* Each namespace, and each mode bit, by the calls that take them. */
static const struct {
	struct probe p;
	int arg;
	long always;
	int first, last; /* bits */
} shifts[] = {
    {{"clone:bit", SYS_clone, {0}}, 0, SIGCHLD, 25, 30},
    {{"unshare:bit", SYS_unshare, {0}}, 0, 0, 25, 30},
    {{"fchmod:bit", SYS_fchmod, {BAD, 0}}, 1, 0, 0, 15},
    {{"openat:mode", SYS_openat, {BAD, BAD, O_CREAT, 0}}, 3, 0, 0, 15},
    {{"mknodat:mode", SYS_mknodat, {BAD, BAD, 0, 0}}, 2, 0, 0, 15},
};

static void
every_argument(void)
{
	struct probe p;
	char name[64];
	long v;
	size_t i;

	for (i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++)
		for (v = sweeps[i].first; v <= sweeps[i].last; v++) {
			p = sweeps[i].p;
			p.args[sweeps[i].arg] = v;
			snprintf(name, sizeof(name), "%s-%lx", p.name, v);
			printf("%s %s\n", name, verdict(&p));
		}
	for (i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		for (v = shifts[i].first; v <= shifts[i].last; v++) {
			p = shifts[i].p;
			p.args[shifts[i].arg] = shifts[i].always | 1L << v;
			snprintf(name, sizeof(name), "%s-%ld", p.name, v);
			printf("%s %s\n", name, verdict(&p));
		}
}

/* One line for all of x32, unless it has surprises. */
static void
every_x32(void)
{
	struct probe p = {"x32", 0, {BAD, BAD, BAD, BAD, BAD, BAD}};
	int surprises = 0;
	long nr;

	for (nr = 0; nr <= LAST_CALL; nr++) {
		p.nr = 0x40000000 | nr;
		if (strcmp(verdict(&p), "ENOSYS") != 0) {
			printf("x32:%ld %s\n", nr, verdict(&p));
			surprises++;
		}
	}
	if (surprises == 0)
		printf("x32 ENOSYS\n");
}

int
main(void)
{
	/* what the filter refuses by other numbers, and one that it allows */
	const struct probe i386[] = {{"i386:getpid", -1, {20}},
	    {"i386:io_uring_setup", -1, {425}},
	    {"i386:io_uring_enter", -1, {426}},
	    {"i386:io_uring_register", -1, {427}}, {"i386:unshare", -1, {310}},
	    {"i386:keyctl", -1, {288}}, {"i386:ptrace", -1, {26}},
	    {"i386:mount", -1, {21}}, {"i386:bpf", -1, {357}},
	    {"i386:execve", -1, {11}}};
	size_t i;

	if (getuid() == 0 || geteuid() == 0)
		errx(1, "not as root");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("begin\n");
	every_call();
	for (i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++)
		printf(
		    "%s %s\n", combinations[i].name, verdict(&combinations[i]));
	every_argument();
	every_x32();
	for (i = 0; i < sizeof(i386) / sizeof(i386[0]) && SYS_getpid == 39; i++)
		printf("%s %s\n", i386[i].name, verdict(&i386[i]));
	printf("end\n");
	return 0;
}
