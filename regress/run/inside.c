/*
 * A payload that tells what the kernel shows it: for each path of standard
 * input (with a NUL behind it) what is there and what opening it for reading,
 * writing and executing comes to, then its environment, its mounts and who
 * listens. "inside --there" is what it executes to find out, since what can
 * be executed there are copies of it.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THERE 42

extern char **environ;

/* "OK", or the name of errno. */
static const char *
came(int good)
{
	return good ? "OK" : strerrorname_np(errno);
}

static const char *
type(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return strerrorname_np(errno);
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return "d";
	case S_IFREG:
		return (st.st_mode & 0100) != 0 ? "x" : "f";
	case S_IFLNK:
		return "l";
	case S_IFSOCK:
		return "s";
	case S_IFCHR:
		return "c";
	default:
		return "?";
	}
}

static const char *
reads(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);

	if (fd != -1)
		close(fd);
	return came(fd != -1);
}

/* A file is opened, in a directory one is made, what is not there as well. */
static const char *
writes(const char *path, const char *what)
{
	char name[4096 + 8];
	int fd;

	if (what[0] == 'f' || what[0] == 'x') {
		fd = open(path, O_WRONLY | O_NOFOLLOW);
		if (fd != -1)
			close(fd);
		return came(fd != -1);
	}
	if (what[0] != 'd' && strcmp(what, "ENOENT") != 0)
		return "-";
	snprintf(
	    name, sizeof(name), "%s%s", path, what[0] == 'd' ? "/.new" : "");
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd == -1)
		return came(0);
	close(fd);
	return unlink(name) == -1 ? "stays" : "OK";
}

static const char *
executes(char *path, const char *what)
{
	char there[] = "--there";
	char *argv[] = {path, there, NULL};
	int status, *err;
	pid_t pid;

	if (what[0] != 'x')
		return "-";
	err = mmap(NULL, sizeof(*err), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (err == MAP_FAILED)
		return "?";
	if ((pid = fork()) == 0) {
		execv(path, argv);
		*err = errno;
		_exit(1);
	}
	if (pid == -1 || waitpid(pid, &status, 0) == -1)
		return "?";
	errno = *err;
	munmap(err, sizeof(*err));
	return errno != 0 ? came(0)
	       : WIFEXITED(status) && WEXITSTATUS(status) == THERE
		   ? "OK"
		   : "something else";
}

static void
show(const char *title, const char *path)
{
	char buf[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	printf("== %s\n", title);
	fflush(stdout);
	if (fd == -1)
		return;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (write(STDOUT_FILENO, buf, (size_t)n) != n)
			exit(1);
	close(fd);
}

int
main(int argc, char **argv)
{
	char *path = NULL;
	const char *what;
	size_t cap = 0;
	char **e, *p;

	if (argc == 2 && strcmp(argv[1], "--there") == 0)
		return THERE;
	puts("MARK-7f3a\n== paths");
	while (getdelim(&path, &cap, '\0', stdin) > 0) {
		what = type(path);
		printf("%s\t%s\t%s", path, what, reads(path));
		printf("\t%s", writes(path, what));
		printf("\t%s\n", executes(path, what));
		fflush(stdout);
	}
	free(path);
	puts("== env");
	for (e = environ; *e != NULL; e++) {
		for (p = *e; *p != '\0'; p++)
			if ((unsigned char)*p <= ' ' || *p == '\\' ||
			    *p == 0x7f)
				printf("\\x%02x", (unsigned char)*p);
			else
				putchar(*p);
		putchar('\n');
	}
	show("mounts", "/proc/self/mountinfo");
	show("tcp", "/proc/net/tcp");
	show("tcp6", "/proc/net/tcp6");
	show("udp", "/proc/net/udp");
	show("udp6", "/proc/net/udp6");
	show("interfaces", "/proc/net/dev");
	return 0;
}
