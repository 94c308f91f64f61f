#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "bpf.h"

#include "filter_exec.h"
#include "filter_exec_both.h"
#include "filter_exec_spawn.h"
#include "filter_exec_unix.h"
#include "filter_learn.h"
#include "filter_lock.h"
#include "filter_payload.h"
#include "filter_payload_ptrace.h"
#include "filter_spawn.h"
#include "filter_unix.h"
#include "filter_watch.h"

/* The payload's filter as it was built, judged call by call. */

#ifdef __x86_64__
#define HERE	AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define HERE	AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

#define ALLOW SECCOMP_RET_ALLOW
#define E(n)  (SECCOMP_RET_ERRNO | (n))
#define HIGH  (1ULL << 32)
#define CALLS 601

static uint32_t
judge(uint32_t arch, long nr, const uint64_t args[6])
{
	struct seccomp_data d = {.nr = (int)nr, .arch = arch};

	if (args != NULL)
		memcpy(d.args, args, sizeof(d.args));
	return bpf_run(filter_payload, filter_payload_len, &d, NULL);
}

#define NUL_ARGS ARGS(0)
#define ARGS(...)                                                              \
	(const uint64_t[6])                                                    \
	{                                                                      \
		__VA_ARGS__                                                    \
	}
#define IS(verdict, nr, ...)                                                   \
	ck_assert_uint_eq(judge(HERE, nr, ARGS(__VA_ARGS__)), verdict)

/* Refused whatever the arguments are. */
static const int eperm[] = {SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_tree,
    SYS_move_mount, SYS_mount_setattr, SYS_swapon, SYS_swapoff, SYS_quotactl,
    SYS_quotactl_fd, SYS_acct, SYS_reboot, SYS_kexec_load, SYS_kexec_file_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_settimeofday,
    SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
    SYS_syslog, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_add_key,
    SYS_keyctl, SYS_request_key, SYS_open_by_handle_at, SYS_fanotify_init,
    SYS_fanotify_mark, SYS_lookup_dcookie, SYS_nfsservctl, SYS_move_pages,
    SYS_migrate_pages, SYS_setns, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_process_madvise, SYS_kcmp, SYS_pidfd_getfd,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm,
#endif
    467 /* open_tree_attr */};

static const int enosys[] = {
    SYS_clone3,
    SYS_openat2,
#ifdef __x86_64__
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS_modify_ldt,
    SYS__sysctl,
    SYS_create_module,
    SYS_get_kernel_syms,
    SYS_query_module,
    SYS_getpmsg,
    SYS_putpmsg,
    SYS_afs_syscall,
    SYS_tuxcall,
    SYS_security,
    SYS_epoll_ctl_old,
    SYS_epoll_wait_old,
    SYS_vserver,
#endif
};

/* Calls that only exist so far up, and gaps in the numbers. */
static int
unknown(int nr)
{
#ifdef __x86_64__
	if (nr == 335)
		return 0;
	if (nr > 334 && nr < 424)
		return 1;
#else
	if (nr > 294 && nr < 424)
		return 1;
	if (nr >= 244 && nr < 260)
		return 1;
#endif
	return (nr > 456 && nr < 462) || nr > 467;
}

static void
expect_all(const uint64_t args[6])
{
	uint32_t want[CALLS];
	size_t i;

	for (i = 0; i < CALLS; i++)
		want[i] = unknown((int)i) ? E(ENOSYS) : ALLOW;
	for (i = 0; i < sizeof(eperm) / sizeof(eperm[0]); i++)
		want[eperm[i]] = E(EPERM);
	for (i = 0; i < sizeof(enosys) / sizeof(enosys[0]); i++)
		want[enosys[i]] = E(ENOSYS);
	/* these look at their arguments; 0 is AF_UNSPEC */
	want[SYS_socket] = want[SYS_socketpair] = E(EAFNOSUPPORT);
	for (i = 0; i < CALLS; i++)
		ck_assert_msg(judge(HERE, (long)i, args) == want[i],
		    "call %zu: 0x%x, not 0x%x", i, judge(HERE, (long)i, args),
		    want[i]);
}

START_TEST(every_call)
{
	expect_all(NUL_ARGS);
	expect_all(ARGS(HIGH, HIGH, HIGH, HIGH, HIGH, HIGH));
}
END_TEST

START_TEST(other_numbers)
{
	const uint32_t beyond[] = {0x40000000, 0x80000000, (uint32_t)-CALLS};
	size_t b;
	int nr;

	for (b = 0; b < sizeof(beyond) / sizeof(beyond[0]); b++)
		for (nr = 0; nr < CALLS; nr++)
			ck_assert_uint_eq(
			    judge(HERE, (int)(beyond[b] + (uint32_t)nr), NULL),
			    E(ENOSYS));
}
END_TEST

START_TEST(other_machines)
{
	const uint32_t arch[] = {FOREIGN, 0, UINT32_MAX, HERE ^ 1};
	size_t a;
	int nr;

	for (a = 0; a < sizeof(arch) / sizeof(arch[0]); a++)
		for (nr = -1; nr < CALLS; nr++)
			ck_assert_uint_eq(judge(arch[a], nr, NULL), E(ENOSYS));
}
END_TEST

/* ioctl requests of the classes T, K and V that pass. */
static int
terminal_may(uint32_t r)
{
	static const uint32_t may[] = {0x5401, 0x5402, 0x5403, 0x5404, 0x5405,
	    0x5406, 0x5407, 0x5408, 0x5409, 0x540a, 0x540b, 0x540e, 0x540f,
	    0x5410, 0x5411, 0x5413, 0x5414, 0x541b, 0x5420, 0x5421, 0x5422,
	    0x5425, 0x5429, 0x5450, 0x5451, 0x5452, 0x5460, 0x5441, 0x802c542a,
	    0x402c542b, 0x402c542c, 0x402c542d, 0x80045430, 0x40045431,
	    0x80045438, 0x80045439};
	size_t i;

	for (i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		if (may[i] == r)
			return 1;
	return 0;
}

START_TEST(every_ioctl)
{
	const uint32_t top[] = {0, 1, 0x4000, 0x8000, 0x8004, 0x4004, 0x802c,
	    0x402c, 0xc000, 0xffff};
	const uint64_t high[] = {0, HIGH, 0xffffffffULL << 32};
	uint32_t low, r, class, want;
	size_t t, h;

	for (t = 0; t < sizeof(top) / sizeof(top[0]); t++)
		for (low = 0; low <= 0xffff; low++) {
			r = top[t] << 16 | low;
			class = low >> 8;
			want = ALLOW;
			if ((class == 'T' || class == 'K' || class == 'V') &&
			    !terminal_may(r))
				want = E(EPERM);
			for (h = 0; h < sizeof(high) / sizeof(high[0]); h++)
				ck_assert_uint_eq(judge(HERE, SYS_ioctl,
						      ARGS(0, high[h] | r)),
				    want);
		}
	IS(E(EPERM), SYS_ioctl, 0, 0x5412);	   /* TIOCSTI */
	IS(E(EPERM), SYS_ioctl, 0, 0x5412 | HIGH); /* and in disguise */
	IS(E(EPERM), SYS_ioctl, 0, 0x541c);	   /* TIOCLINUX */
	IS(E(EPERM), SYS_ioctl, 0, 0x541c | HIGH);
}
END_TEST

/* Of the internet families; the kernel loads a module for any other one. */
static uint32_t
internet(int type, int protocol)
{
	const int known[] = {0, 1, 6, 17, 58, 262};
	size_t i;

	if (type == SOCK_PACKET || protocol == 256)
		return E(EAFNOSUPPORT);
	if (type == SOCK_RAW)
		return ALLOW; /* it needs a capability first */
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return E(ESOCKTNOSUPPORT);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == protocol)
			return ALLOW;
	return E(EPROTONOSUPPORT);
}

START_TEST(sockets)
{
	int family, protocol, type;
	uint32_t want;

	for (family = -1; family < 64; family++)
		for (protocol = -1; protocol < 300; protocol++)
			for (type = 0; type < 16; type++) {
				want = E(EAFNOSUPPORT);
				if (family == AF_INET || family == AF_INET6)
					want = internet(type, protocol);
				else if (type != SOCK_PACKET &&
					 (family == AF_UNIX ||
					     (family == AF_NETLINK &&
						 protocol == 0)))
					want = ALLOW;
				IS(want, SYS_socket, (uint64_t)family,
				    (uint64_t)type | SOCK_CLOEXEC,
				    (uint64_t)protocol | HIGH);
			}
	IS(E(EAFNOSUPPORT), SYS_socket, AF_INET, SOCK_PACKET, 0);
	IS(E(EAFNOSUPPORT), SYS_socket, AF_INET, SOCK_PACKET | SOCK_CLOEXEC, 0);
	IS(E(EAFNOSUPPORT), SYS_socket, AF_INET, SOCK_STREAM, 256);
	IS(E(EAFNOSUPPORT), SYS_socket, AF_INET6, SOCK_STREAM, 256);
	IS(ALLOW, SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6);
	/* what an int is in the kernel, not what is above it */
	IS(ALLOW, SYS_socket, AF_UNIX | HIGH, SOCK_STREAM, 0);
	IS(E(EAFNOSUPPORT), SYS_socket, 40 | HIGH, SOCK_STREAM, 0);
	/* what lo would drop in silence: routing headers, signed segments */
	IS(E(EPERM), SYS_setsockopt, 3, 41, 57);
	IS(E(EPERM), SYS_setsockopt, 3, 41 | HIGH, 57 | HIGH);
	IS(E(EPERM), SYS_setsockopt, 3, 6, 14);
	IS(E(EPERM), SYS_setsockopt, 3, 6, 32);
	IS(E(EPERM), SYS_setsockopt, 3, 6, 38);
	IS(ALLOW, SYS_setsockopt, 3, 6, 57);
	IS(ALLOW, SYS_setsockopt, 3, 41, 14);
	IS(ALLOW, SYS_setsockopt, 3, 6, 1);
	IS(ALLOW, SYS_setsockopt, 3, 1, 57);
	IS(ALLOW, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET, 0);
	IS(E(EAFNOSUPPORT), SYS_socketpair, 30, SOCK_STREAM, 0);
}
END_TEST

START_TEST(namespaces)
{
	const uint64_t ns[] = {0x00020000, 0x02000000, 0x04000000, 0x08000000,
	    0x10000000, 0x20000000, 0x40000000};
	const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES |
				CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				CLONE_SETTLS | CLONE_PARENT_SETTID |
				CLONE_CHILD_CLEARTID;
	size_t i;

	for (i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		IS(E(EPERM), SYS_clone, ns[i]);
		IS(E(EPERM), SYS_clone, ns[i] | 17 | HIGH);
		IS(E(EPERM), SYS_clone, ns[i] | thread);
		IS(E(EPERM), SYS_unshare, ns[i]);
		IS(E(EPERM), SYS_unshare, ns[i] | CLONE_FILES | HIGH);
	}
	IS(E(EPERM), SYS_unshare, 0x80); /* CLONE_NEWTIME */
	IS(ALLOW, SYS_clone, 17);
	IS(ALLOW, SYS_clone, thread);
	IS(ALLOW, SYS_clone, CLONE_VM | CLONE_VFORK | 17);
	IS(ALLOW, SYS_unshare, CLONE_FILES | CLONE_FS);
	IS(E(ENOSYS), SYS_clone3, 0x1000, 88);
}
END_TEST

START_TEST(set_id_bits)
{
	const uint64_t bad[] = {S_ISUID, S_ISGID, S_ISUID | S_ISGID | 0755,
	    S_ISGID | 0777, S_ISUID | HIGH};
	const uint64_t good[] = {0, 0777, S_ISVTX | 0777, HIGH, 0600 | HIGH};
	const uint64_t tmpfile = 020000000;
	uint32_t want;
	uint64_t m;
	size_t i;

	for (i = 0; i < 10; i++) {
		m = i < 5 ? bad[i] : good[i - 5];
		want = i < 5 ? E(EPERM) : ALLOW;
		IS(want, SYS_fchmod, 3, m);
		IS(want, SYS_fchmodat, 3, 0x1000, m);
		IS(want, 452 /* fchmodat2 */, 3, 0x1000, m, 0);
		IS(want, SYS_mknodat, 3, 0x1000, m | S_IFREG);
		IS(want, SYS_openat, 3, 0x1000, O_CREAT | O_WRONLY, m);
		IS(want, SYS_openat, 3, 0x1000, O_CREAT | HIGH, m);
		IS(want, SYS_openat, 3, 0x1000, tmpfile | O_RDWR, m);
		/* without the flags the fourth argument means nothing */
		IS(ALLOW, SYS_openat, 3, 0x1000, O_RDONLY | O_DIRECTORY, m);
#ifdef __x86_64__
		IS(want, SYS_chmod, 0x1000, m);
		IS(want, SYS_creat, 0x1000, m);
		IS(want, SYS_mknod, 0x1000, m | S_IFIFO);
		IS(want, SYS_open, 0x1000, O_CREAT | O_EXCL, m);
		IS(want, SYS_open, 0x1000, tmpfile, m);
		IS(ALLOW, SYS_open, 0x1000, O_RDWR | O_TRUNC, m);
#endif
	}
}
END_TEST

START_TEST(other_arguments)
{
	int cmd;

	for (cmd = 0; cmd < 1100; cmd++)
		IS(cmd == 1024 || cmd == 1026 || cmd == 1040 ? E(EPERM) : ALLOW,
		    SYS_fcntl, 3, (uint64_t)cmd | HIGH);
	IS(ALLOW, SYS_prlimit64, 0, 7);
	/* the core size stays: asking is allowed, setting is pretended */
	IS(E(0), SYS_setrlimit, RLIMIT_CORE, 1);
	IS(ALLOW, SYS_setrlimit, RLIMIT_NOFILE, 1);
	IS(ALLOW, SYS_prlimit64, 0, RLIMIT_CORE, 0, 1);
	IS(E(0), SYS_prlimit64, 0, RLIMIT_CORE, 1, 0);
	IS(E(0), SYS_prlimit64, 0, RLIMIT_CORE, UINT64_C(1) << 32, 0);
	IS(ALLOW, SYS_prlimit64, 0, RLIMIT_NOFILE, 1, 0);
	/* pid 1 is carrel's */
	IS(E(EPERM), SYS_setpriority, PRIO_PROCESS, 1);
	IS(ALLOW, SYS_setpriority, PRIO_PROCESS, 2);
	IS(ALLOW, SYS_setpriority, PRIO_PROCESS, 0);
	IS(E(EPERM), SYS_setpriority, PRIO_USER, 0);
	IS(E(EPERM), SYS_sched_setaffinity, 1);
	IS(ALLOW, SYS_sched_setaffinity, 0);
	IS(E(EPERM), SYS_sched_setscheduler, 1);
	IS(E(EPERM), SYS_ioprio_set, 1, 1);
	IS(ALLOW, SYS_ioprio_set, 1, 0);
	IS(E(EPERM), SYS_prlimit64, 1, 7);
	IS(E(EPERM), SYS_prlimit64, (uint64_t)-1, 7);
	IS(ALLOW, SYS_personality, 0);
	IS(ALLOW, SYS_personality, 0xffffffff);
	IS(E(EPERM), SYS_personality, 0x0040000);
	IS(E(EPERM), SYS_personality, 8);
	IS(E(EPERM), SYS_personality, 0x0400000 | HIGH);
}
END_TEST

/* --allow-ptrace changes five answers and nothing else. */
START_TEST(ptrace_variant)
{
	const int more[] = {SYS_ptrace, SYS_process_vm_readv,
	    SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd};
	const uint64_t arg[] = {0, 1, 0x10000000, 0x5412};
	struct seccomp_data d = {.arch = HERE};
	uint32_t v, w;
	size_t i, a;
	int want;

	for (a = 0; a < 4; a++)
		for (d.nr = 0; d.nr < CALLS; d.nr++) {
			d.args[0] = d.args[1] = d.args[2] = arg[a];
			v = bpf_run(
			    filter_payload, filter_payload_len, &d, NULL);
			w = bpf_run(filter_payload_ptrace,
			    filter_payload_ptrace_len, &d, NULL);
			for (want = 0, i = 0; i < 5; i++)
				want |= d.nr == more[i];
			ck_assert_uint_eq(w, want ? ALLOW : v);
			ck_assert(!want || v == E(EPERM));
		}
}
END_TEST

/* Of a filter that stands before the payload's, these answers and no others. */
struct other {
	int nr;
	uint64_t arg;
	uint32_t want;
};

static void
expect_narrow(const struct sock_filter *code, size_t len,
    const struct other *other, size_t n, const uint64_t *args, size_t nargs)
{
	struct seccomp_data d = {.arch = FOREIGN};
	uint32_t want;
	size_t i, a;

	for (d.nr = -1; d.nr < CALLS; d.nr++)
		ck_assert_uint_eq(bpf_run(code, len, &d, NULL), E(ENOSYS));
	d.arch = HERE;
	for (a = 0; a < nargs; a++)
		for (d.nr = 0; d.nr < CALLS; d.nr++) {
			d.args[0] = args[a];
			want = ALLOW;
			for (i = 0; i < n; i++)
				if (other[i].nr == d.nr &&
				    (other[i].arg == UINT64_MAX ||
					other[i].arg == args[a]))
					want = other[i].want;
			ck_assert_msg(bpf_run(code, len, &d, NULL) == want,
			    "call %d with 0x%llx", d.nr,
			    (unsigned long long)args[a]);
		}
}

#define ANY UINT64_MAX
#define NARROW(f, o, a)                                                        \
	expect_narrow(filter_##f, filter_##f##_len, o, sizeof(o) / sizeof(*o), \
	    a, sizeof(a) / sizeof(*a))

START_TEST(narrow_variants)
{
	const uint64_t thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	const uint64_t flags[] = {0, 17, CLONE_VM | CLONE_VFORK | 17,
	    CLONE_VM | CLONE_SIGHAND, HIGH, thread, thread | HIGH};
	const struct other spawn[] = {
#ifdef __x86_64__
	    {SYS_fork, ANY, E(EPERM)},
	    {SYS_vfork, ANY, E(EPERM)},
#endif
	    {SYS_clone3, ANY, E(ENOSYS)},
	    {SYS_clone, flags[0], E(EPERM)},
	    {SYS_clone, flags[1], E(EPERM)},
	    {SYS_clone, flags[2], E(EPERM)},
	    {SYS_clone, flags[3], E(EPERM)},
	    {SYS_clone, flags[4], E(EPERM)},
	};
	const uint64_t family[] = {0, AF_UNIX, AF_UNIX | HIGH, AF_INET,
	    AF_INET6, AF_NETLINK, AF_UNIX | HIGH << 1};
	const struct other local[] = {
	    {SYS_socket, family[1], E(EAFNOSUPPORT)},
	    {SYS_socket, family[2], E(EAFNOSUPPORT)},
	    {SYS_socket, family[6], E(EAFNOSUPPORT)},
	    {SYS_socketpair, family[1], E(EAFNOSUPPORT)},
	    {SYS_socketpair, family[2], E(EAFNOSUPPORT)},
	    {SYS_socketpair, family[6], E(EAFNOSUPPORT)},
	};
	const struct other lock[] = {{SYS_memfd_create, ANY, E(EPERM)},
	    {447 /* memfd_secret */, ANY, E(EPERM)}};
	const struct other exec[] = {{SYS_execve, ANY, SECCOMP_RET_USER_NOTIF},
	    {SYS_execveat, ANY, SECCOMP_RET_USER_NOTIF}};

	struct other both[16];
	size_t i, n, nspawn = sizeof(spawn) / sizeof(*spawn);

	NARROW(spawn, spawn, flags);
	NARROW(unix, local, family);
	/* where it is told the same calls are refused, but outside */
	for (i = n = 0; i < nspawn; i++) {
		both[n] = spawn[i];
		if (spawn[i].want == E(EPERM))
			both[n].want = SECCOMP_RET_USER_NOTIF;
		n++;
	}
	both[n++] = exec[0];
	both[n++] = exec[1];
	expect_narrow(filter_exec_spawn, filter_exec_spawn_len, both, n, flags,
	    sizeof(flags) / sizeof(*flags));
	/* the flags of clone(2) are no address family, and none is AF_UNIX */
	expect_narrow(filter_exec_both, filter_exec_both_len, both, n, flags,
	    sizeof(flags) / sizeof(*flags));
	for (i = n = 0; i < sizeof(local) / sizeof(*local); i++) {
		both[n] = local[i];
		both[n++].want = SECCOMP_RET_USER_NOTIF;
	}
	both[n++] = exec[0];
	both[n++] = exec[1];
	expect_narrow(filter_exec_unix, filter_exec_unix_len, both, n, family,
	    sizeof(family) / sizeof(*family));
	NARROW(lock, lock, flags);
	NARROW(exec, exec, flags);
}
END_TEST

static uint32_t
watch(long nr, uint64_t flags)
{
	struct seccomp_data d = {.nr = (int)nr,
	    .arch = HERE,
	    .args = {flags, flags, flags, flags, flags, flags}};

	/* of these the argument before the flags is a path */
	if (nr == SYS_openat)
		d.args[1] = d.args[3] = 0;
	return bpf_run(filter_watch, filter_watch_len, &d, NULL);
}

/* "report = fs": whatever writes is asked for, and nothing that reads. */
START_TEST(watched_calls)
{
	static const int asked[] = {SYS_execve, SYS_execveat, SYS_truncate,
	    SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_linkat, SYS_renameat2,
	    SYS_unlinkat, SYS_fchmod, SYS_fchmodat, 452, SYS_fchown,
	    SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr,
	    SYS_fsetxattr, 463, SYS_removexattr, SYS_lremovexattr,
	    SYS_fremovexattr, 466,
#ifdef SYS_renameat
	    SYS_renameat,
#endif
#ifdef __x86_64__
	    SYS_open, SYS_creat, SYS_mkdir, SYS_mknod, SYS_symlink, SYS_link,
	    SYS_rename, SYS_unlink, SYS_rmdir, SYS_chmod, SYS_chown, SYS_lchown,
	    SYS_utime, SYS_utimes, SYS_futimesat,
#endif
	    SYS_bind, SYS_openat};
	static const uint64_t reads[] = {O_RDONLY, O_RDONLY | O_CLOEXEC,
	    O_RDONLY | O_DIRECTORY, O_PATH, O_RDONLY | HIGH << 1, O_NONBLOCK,
	    O_NOFOLLOW | O_DIRECTORY | O_PATH};
	static const uint64_t writes[] = {O_WRONLY, O_RDWR, 3, O_CREAT, O_TRUNC,
	    O_TMPFILE, O_WRONLY | O_CREAT | O_EXCL, O_RDWR | O_CLOEXEC,
	    O_WRONLY | HIGH};
	size_t i, k;
	long nr;
	int is;

	for (nr = 0; nr < CALLS; nr++) {
		for (i = is = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
			is |= asked[i] == nr;
		ck_assert_msg(
		    watch(nr, O_RDWR) == (is ? SECCOMP_RET_USER_NOTIF : ALLOW),
		    "call %ld", nr);
	}
	for (i = 0; i < 2; i++) {
#ifdef __x86_64__
		nr = i == 0 ? SYS_openat : SYS_open;
#else
		nr = SYS_openat;
#endif
		for (k = 0; k < sizeof(reads) / sizeof(reads[0]); k++)
			ck_assert_uint_eq(watch(nr, reads[k]), ALLOW);
		for (k = 0; k < sizeof(writes) / sizeof(writes[0]); k++)
			ck_assert_uint_eq(
			    watch(nr, writes[k]), SECCOMP_RET_USER_NOTIF);
	}
}
END_TEST

/* learn: whatever names a file is asked for, too, and nothing is refused. */
START_TEST(learned_calls)
{
	static const int asked[] = {
	    SYS_openat,
	    SYS_newfstatat,
	    SYS_statx,
	    SYS_faccessat,
	    439,
	    SYS_readlinkat,
	    SYS_chdir,
	    SYS_connect,
	    SYS_execve,
	    SYS_unlinkat,
	    SYS_bind,
#ifdef __x86_64__
	    SYS_open,
	    SYS_stat,
	    SYS_lstat,
	    SYS_access,
	    SYS_readlink,
#endif
	};
	struct seccomp_data d = {.arch = HERE};
	uint32_t verdict;
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		d.nr = asked[i];
		ck_assert_uint_eq(
		    bpf_run(filter_learn, filter_learn_len, &d, NULL),
		    SECCOMP_RET_USER_NOTIF);
	}
	for (d.nr = 0; d.nr < CALLS; d.nr++) {
		verdict = bpf_run(filter_learn, filter_learn_len, &d, NULL);
		ck_assert(
		    verdict == ALLOW || verdict == SECCOMP_RET_USER_NOTIF);
		if (watch(d.nr, O_RDWR) == SECCOMP_RET_USER_NOTIF)
			ck_assert_uint_eq(verdict, SECCOMP_RET_USER_NOTIF);
	}
}
END_TEST

/* What is called most must not pay for the rest. */
START_TEST(short_paths)
{
	struct seccomp_data d = {.arch = HERE};
	unsigned steps, worst = 0;

	for (d.nr = 0; d.nr < CALLS; d.nr++) {
		steps = 0;
		bpf_run(filter_payload, filter_payload_len, &d, &steps);
		if (d.nr != SYS_ioctl && steps > worst)
			worst = steps;
	}
	ck_assert_uint_lt(worst, 32);
	ck_assert_uint_lt(filter_payload_len, 512);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("filter");
	TCase *c = tcase_create("payload");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_test(c, every_call);
	tcase_add_test(c, other_numbers);
	tcase_add_test(c, other_machines);
	tcase_add_test(c, every_ioctl);
	tcase_add_test(c, sockets);
	tcase_add_test(c, namespaces);
	tcase_add_test(c, set_id_bits);
	tcase_add_test(c, other_arguments);
	tcase_add_test(c, ptrace_variant);
	tcase_add_test(c, narrow_variants);
	tcase_add_test(c, watched_calls);
	tcase_add_test(c, learned_calls);
	tcase_add_test(c, short_paths);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
