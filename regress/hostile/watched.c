/*
 * watched MODE ARGS...: a payload whose calls are looked at ("report = fs"),
 * and that does all it can to be looked at wrongly. Says "good" and some
 * numbers, or what went wrong.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 16

static volatile int stop;
static char shared[4096]; /* a path that changes while it is used */
static const char *one, *other;

static void *
rewrite(void *arg)
{
	size_t n = strlen(one);

	(void)arg;
	while (!stop) {
		memcpy(shared, one, n);
		memcpy(shared, other, n);
	}
	return NULL;
}

/* The same with a symlink at arg, by rename(2). */
static void *
relink(void *arg)
{
	const char *link = arg;
	char next[4096];
	int i;

	snprintf(next, sizeof(next), "%s.next", link);
	for (i = 0; !stop; i++)
		if (symlink(i & 1 ? one : other, next) == -1 ||
		    rename(next, link) == -1)
			err(1, "relink");
	return NULL;
}

/*
 * race FORBIDDEN ALLOWED ROUNDS [LINK]: opens one of two files of names as
 * long, and it must be the second whenever it is one.
 */
static void
race(char **argv)
{
	int i, fd, opened = 0, refused = 0, rounds = atoi(argv[2]);
	struct stat st, good;
	const char *path = argv[3] != NULL ? argv[3] : shared;
	pthread_t t;

	one = argv[0];
	other = argv[1];
	strcpy(shared, one);
	if (stat(other, &good) == -1)
		err(1, "%s", other);
	if (argv[3] != NULL && symlink(one, argv[3]) == -1)
		err(1, "symlink");
	if (pthread_create(
		&t, NULL, argv[3] != NULL ? relink : rewrite, argv[3]) != 0)
		errx(1, "pthread_create");
	for (i = 0; i < rounds; i++) {
		fd = open(path, O_WRONLY | O_APPEND);
		if (fd == -1) {
			refused += errno == EROFS || errno == EACCES;
			continue;
		}
		if (fstat(fd, &st) == -1 || st.st_ino != good.st_ino ||
		    st.st_dev != good.st_dev || write(fd, "x", 1) != 1)
			errx(1, "WRONG FILE");
		opened++;
		close(fd);
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("good %d %d\n", opened, refused);
}

static int
use_files(int who, int rounds)
{
	char a[64], b[64];
	int i, fd;

	snprintf(a, sizeof(a), "a%d", who);
	snprintf(b, sizeof(b), "b%d", who);
	for (i = 0; i < rounds; i++) {
		fd = open(a, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd == -1 || write(fd, "x", 1) != 1 || close(fd) == -1 ||
		    chmod(a, 0644) == -1 || rename(a, b) == -1 ||
		    mkdir(a, 0755) == -1 || rmdir(a) == -1 || unlink(b) == -1)
			return -1;
	}
	return 0;
}

static void *
use(void *arg)
{
	if (use_files((int)(intptr_t)arg, 100) == -1)
		err(1, "thread");
	return NULL;
}

/* threads: all of them at once, while others end and begin. */
static void
threads(void)
{
	pthread_t t[THREADS];
	int i, k;

	for (k = 0; k < 4; k++) {
		for (i = 0; i < THREADS; i++)
			if (pthread_create(
				&t[i], NULL, use, (void *)(intptr_t)i) != 0)
				errx(1, "pthread_create");
		for (i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	puts("good");
}

/* forks N: processes that use files, and half of which are killed at it. */
static void
forks(int n)
{
	int i, k, status, bad = 0;
	pid_t pid[8];

	for (i = 0; i < n; i += 8) {
		for (k = 0; k < 8; k++)
			if ((pid[k] = fork()) == 0)
				_exit(use_files(i + k, k & 1 ? 1000000 : 5) ==
				      -1);
		for (k = 1; k < 8; k += 2)
			kill(pid[k], SIGKILL);
		for (k = 0; k < 8; k++)
			bad |= waitpid(pid[k], &status, 0) != pid[k] ||
			       (k & 1 ? !WIFSIGNALED(status) : status != 0);
	}
	puts(bad ? "a child failed" : "good");
}

static volatile int signals;

static void
caught(int sig)
{
	(void)sig;
	signals++;
}

/* alarms FLAGS: a signal every 100 us. Prints how many calls it cut short. */
static void
alarms(int flags)
{
	const struct itimerval often = {{0, 100}, {0, 100}};
	struct sigaction sa = {.sa_handler = caught, .sa_flags = flags};
	int i, fd, cut = 0, tries = 0;

	if (sigaction(SIGALRM, &sa, NULL) == -1 ||
	    setitimer(ITIMER_REAL, &often, NULL) == -1)
		err(1, "setitimer");
	for (i = 0; i < 20000; tries++) {
		fd = open("alarm", O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (fd == -1 && errno != EINTR)
			err(1, "open");
		if (fd == -1)
			cut++;
		else
			i++;
		if (fd != -1)
			close(fd);
		if (tries > 100000)
			errx(1, "never through");
	}
	printf("good %d %d\n", cut, signals > 10);
}

static int
filter(uint32_t answer, unsigned long flags)
{
	struct sock_filter code[] = {
	    BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, answer),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, code};

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* filters: what a payload gets that has filters of its own. */
static void
filters(void)
{
	int fd;

	fd = filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	printf("listener %d ", fd == -1 ? errno : 0);
	if (fd != -1)
		close(fd); /* or it would wait for its own answer */
	if (filter(SECCOMP_RET_ALLOW, 0) == -1)
		err(1, "filter");
	printf("allow %d ", mkdirat(AT_FDCWD, "d1", 0755) == -1 ? errno : 0);
	printf("%d ", mkdirat(AT_FDCWD, "/usr/d1", 0755) == -1 ? errno : 0);
	if (filter(SECCOMP_RET_USER_NOTIF, 0) == -1)
		err(1, "filter");
	printf("ask %d ", mkdirat(AT_FDCWD, "d2", 0755) == -1 ? errno : 0);
	if (filter(SECCOMP_RET_ERRNO | EXDEV, 0) == -1)
		err(1, "filter");
	printf("errno %d\n", mkdirat(AT_FDCWD, "d3", 0755) == -1 ? errno : 0);
}

/* memory DIR: paths that are not there, or only in part. */
static void
memory(const char *dir)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;
	char *p, *at;

	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || munmap(p + page, page) == -1)
		err(1, "mmap");
	printf("%d ", open((char *)8, O_WRONLY) == -1 ? errno : 0);
	memset(p, 'x', page);
	printf("%d ", open(p + page - 3, O_WRONLY) == -1 ? errno : 0);
	printf("%d ", mkdir(p + page, 0755) == -1 ? errno : 0);
	printf("%d ", rename(p + page - 3, "y") == -1 ? errno : 0);
	/* with its end at the end of what is there */
	n = strlen(dir);
	at = p + page - n - 3;
	memcpy(at, dir, n);
	memcpy(at + n, "/m", 3);
	printf("%d ", open(at, O_WRONLY) == -1 ? errno : 0);
	/* memory that nobody may read */
	if (mprotect(p, page, PROT_NONE) == -1)
		err(1, "mprotect");
	printf("%d\n", open(at, O_WRONLY) == -1 ? errno : 0);
}

/* flood N PATH KINDS: attempts, on so many names that begin with PATH. */
static void
flood(int n, const char *path, int kinds)
{
	char name[4096];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%d", path, i % kinds);
		if (open(name, O_WRONLY | O_CREAT, 0644) != -1)
			errx(1, "opened %s", name);
	}
	puts("good");
}

int
main(int argc, char *argv[])
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("MARK-7f3a");
	if (argc > 4 && strcmp(argv[1], "race") == 0)
		race(argv + 2);
	else if (argc > 1 && strcmp(argv[1], "threads") == 0)
		threads();
	else if (argc > 2 && strcmp(argv[1], "forks") == 0)
		forks(atoi(argv[2]));
	else if (argc > 2 && strcmp(argv[1], "alarms") == 0)
		alarms(atoi(argv[2]) ? SA_RESTART : 0);
	else if (argc > 1 && strcmp(argv[1], "filters") == 0)
		filters();
	else if (argc > 2 && strcmp(argv[1], "memory") == 0)
		memory(argv[2]);
	else if (argc > 4 && strcmp(argv[1], "flood") == 0)
		flood(atoi(argv[2]), argv[3], atoi(argv[4]));
	else
		errx(2, "usage: watched MODE ARGS...");
	return 0;
}
