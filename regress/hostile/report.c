/*
 * report NS...: a payload that prints how it is confined, one fact a line,
 * the same in every run of the same policy (V026). NS: the host's namespaces
 * as readlink(1) shows them; those that are not the payload's own are named.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

extern char **environ;

static void
status(const char *pid, const char *const *keys)
{
	char line[512], path[64];
	const char *const *k;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	if ((f = fopen(path, "re")) == NULL) {
		printf("%s: %s\n", path, strerrorname_np(errno));
		return;
	}
	while (fgets(line, sizeof(line), f) != NULL)
		for (k = keys; *k != NULL; k++)
			if (strncmp(line, *k, strlen(*k)) == 0)
				printf("%s %s", pid, line);
	fclose(f);
}

static void
namespaces(char **hosts)
{
	static const char *const names[] = {
	    "user", "mnt", "pid", "ipc", "uts", "net", "cgroup"};
	char path[64], own[64];
	ssize_t n;
	size_t i;
	int k;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		n = readlink(path, own, sizeof(own) - 1);
		own[n > 0 ? n : 0] = '\0';
		for (k = 0; hosts[k] != NULL; k++)
			if (n <= 0 || strcmp(hosts[k], own) == 0)
				printf(
				    "namespace %s is the host's\n", names[i]);
	}
}

static void
mounts(void)
{
	char *line = NULL, root[4096], at[4096], how[256], *type;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f != NULL && getline(&line, &cap, f) != -1) {
		type = strstr(line, " - ");
		if (type != NULL && sscanf(line,
					"%*s %*s %*s %4095s %4095s "
					"%255s",
					root, at, how) == 3)
			printf("mount %s %s %s %.*s\n", at, root, how,
			    (int)strcspn(type + 3, " "), type + 3);
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

static void
descriptors(void)
{
	int fd;

	for (fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			printf("descriptor %d\n", fd);
}

/* Sixteen layers are the most: a process that has one gets fifteen more. */
static void
landlock(void)
{
	uint64_t attr = 1; /* LANDLOCK_ACCESS_FS_EXECUTE */
	int fd, n = 0, s;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		fd = (int)syscall(
		    SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
		while (
		    n < 32 && syscall(SYS_landlock_restrict_self, fd, 0) == 0)
			n++;
		_exit(fd == -1 ? 100 : n);
	}
	if (pid == -1 || waitpid(pid, &s, 0) == -1 || !WIFEXITED(s))
		printf("landlock: ?\n");
	else
		printf("landlock layers left: %d\n", WEXITSTATUS(s));
}

static void
verdict(const char *what, long r)
{
	printf("%s: %s\n", what, r == -1 ? strerrorname_np(errno) : "done");
}

static void
attempts(void)
{
	char buf[16];
	struct ifreq ifr;
	int fd, r;

	verdict("unshare", syscall(SYS_unshare, CLONE_NEWUSER));
	verdict("mount", syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, NULL));
	verdict("bpf", syscall(SYS_bpf, 0, NULL, 0));
	verdict("TIOCSTI", ioctl(0, 0x5412, "x"));
	verdict("write to /", open("/PROBE", O_WRONLY | O_CREAT, 0600));
	verdict("write to /dev", open("/dev/PROBE", O_WRONLY | O_CREAT, 0600));
	verdict(
	    "write to /proc/sys", open("/proc/sys/kernel/hostname", O_WRONLY));
	verdict("/proc/1/environ", open("/proc/1/environ", O_RDONLY));
	verdict("/proc/1/root", open("/proc/1/root", O_RDONLY));
	verdict("memfd_create", syscall(SYS_memfd_create, "x", 0));
	verdict("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
	verdict("execve", execve("/nowhere", environ, environ));
	verdict("ptrace of 1", syscall(SYS_ptrace, 16, 1, 0, 0));
	fflush(stdout);
	r = system("exit 3");
	printf("system(3): %d\n", WIFEXITED(r) ? WEXITSTATUS(r) : -1);
	fd = open("/proc/1/cmdline", O_RDONLY);
	printf("/proc/1/cmdline: %zd bytes, the first %d\n", read(fd, buf, 1),
	    buf[0]);
	memset(&ifr, 0, sizeof(ifr));
	strcpy(ifr.ifr_name, "lo");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	verdict("SIOCGIFFLAGS", ioctl(fd, SIOCGIFFLAGS, &ifr));
	printf("lo: %s\n", ifr.ifr_flags & IFF_UP ? "up" : "down");
	fflush(stdout);
}

static void
state(void)
{
	char buf[4096];
	struct rlimit r;
	mode_t mask;
	size_t i;

	gethostname(buf, sizeof(buf));
	printf("host %s\n", buf);
	printf("cwd %s\n", getcwd(buf, sizeof(buf)) != NULL ? buf : "?");
	mask = umask(0);
	printf("umask %o\n", mask);
	getrlimit(RLIMIT_CORE, &r);
	printf("core %llu %llu\n", (unsigned long long)r.rlim_cur,
	    (unsigned long long)r.rlim_max);
	getrlimit(RLIMIT_NOFILE, &r);
	printf("files %llu %llu\n", (unsigned long long)r.rlim_cur,
	    (unsigned long long)r.rlim_max);
	getrlimit(RLIMIT_FSIZE, &r);
	printf("file size %llu %llu\n", (unsigned long long)r.rlim_cur,
	    (unsigned long long)r.rlim_max);
	getrlimit(RLIMIT_CPU, &r);
	printf("cpu %llu %llu\n", (unsigned long long)r.rlim_cur,
	    (unsigned long long)r.rlim_max);
	printf("slack %d\n", prctl(PR_GET_TIMERSLACK));
	for (i = 0; environ[i] != NULL; i++)
		printf("env %.*s\n",
		    strncmp(environ[i], "CARREL_RUN=", 11) == 0 ? 11 : 4096,
		    environ[i]);
}

int
main(int argc, char **argv)
{
	static const char *const own[] = {"Uid:", "Gid:", "Groups:", "Cap",
	    "NoNewPrivs:", "Seccomp", "Sig", "Shd", NULL};
	static const char *const first[] = {
	    "Uid:", "Gid:", "Cap", "NoNewPrivs:", "Seccomp", NULL};

	(void)argc;
	printf("MARK-7f3a\n");
	fflush(stdout);
	descriptors();
	status("self", own);
	status("1", first);
	namespaces(argv + 1);
	mounts();
	state();
	landlock();
	attempts();
	return 0;
}
