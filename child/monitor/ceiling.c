#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "config.h"
#include "ceiling.h"
#include "child/shared/ceiling.h"
#include "helper.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "child/shared/request.h"
#include "options.h"

#define PARSER	   "carrel-parse"
#define FUSE_MAGIC 0x65735546 /* of fuse(4), statfs(2) */
#define DIR_FLAGS  (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define NOTHING	   "nothing runs here without the ceiling of this host: "

static void __attribute__((noreturn)) refuse_open(const char *path, int err)
{
	if (err == ELOOP || err == ENOTDIR)
		fatal("%s is a symbolic link or no directory; " NOTHING
		      "have root put what it should be in its place",
		    path);
	fatal("%s: %s; " NOTHING
	      "have root make it readable, or remove " CEILING_FILE,
	    path, strerror(err));
}

/* Everything on the way is root's alone, so nobody else chose the file. */
static void
judge(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		refuse_open(path, errno);
	if (st.st_uid != 0)
		fatal("%s does not belong to root; " NOTHING
		      "have root run \"chown root\" on it",
		    path);
	if ((st.st_mode & 022) != 0)
		fatal("%s can be written by a group or by others; " NOTHING
		      "have root run \"chmod go-w\" on it",
		    path);
}

static void
judge_file(int fd)
{
	struct statfs fs;
	struct stat st;

	judge(fd, CEILING_FILE);
	if (fstat(fd, &st) == -1 || fstatfs(fd, &fs) == -1)
		refuse_open(CEILING_FILE, errno);
	if (!S_ISREG(st.st_mode))
		fatal(CEILING_FILE " is no regular file; " NOTHING
				   "have root put one in its place");
	if (fs.f_type == FUSE_MAGIC)
		fatal(CEILING_FILE " lies on FUSE, whose server can say of it "
				   "what it likes; " NOTHING
				   "have root put it on a file system of this "
				   "host");
}

int
ceiling_open(void)
{
	char path[] = CEILING_FILE, *end = path;
	int fd, up;

	/* where there is none, this is all that it costs */
	fd = open(CEILING_FILE, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT)
		return -1;
	if (fd == -1)
		refuse_open(CEILING_FILE, errno);
	close(fd);
	if ((up = open("/", DIR_FLAGS)) == -1)
		refuse_open("/", errno);
	judge(up, "/");
	while ((end = strchr(end + 1, '/')) != NULL) {
		*end = '\0';
		fd = openat(up, strrchr(path, '/') + 1, DIR_FLAGS);
		if (fd == -1)
			refuse_open(path, errno);
		judge(fd, path);
		*end = '/';
		close(up);
		up = fd;
	}
	fd = openat(up, strrchr(path, '/') + 1, FILE_FLAGS);
	if (fd == -1)
		refuse_open(CEILING_FILE, errno);
	judge_file(fd);
	close(up);
	return fd;
}

/*
 * A program that its caller cannot read is not dumpable from the first
 * instruction on (ptrace(2)); others only after they have said so.
 */
static void
judge_parser(const struct install *in)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/" PARSER, in->libexec) >=
		(int)sizeof(path) ||
	    stat(path, &st) == -1)
		fatal("%s/" PARSER ": %s", in->libexec, strerror(errno));
	if (st.st_uid != 0 || (st.st_mode & 066) != 0)
		fatal("%s can be read by others than root, so who calls could "
		      "trace it; " NOTHING "have root run \"chmod 711\" on it",
		    path);
}

void
ceiling_ask(struct asked *a, const struct install *in, const struct options *o,
    const struct caller *c, int file)
{
	char *argv[] = {(char[]){PARSER}, NULL};
	char root[] = "/", none[] = "", *home = account_home(c);
	char real[PATH_MAX];
	struct request q;

	if (o->hosted)
		judge_parser(in);
	memset(&q, 0, sizeof(q));
	q.flags = REQUEST_CEILING |
		  (o->without_landlock ? REQUEST_WITHOUT_LANDLOCK : 0);
	q.host_config = (char[]){CEILING_FILE};
	q.caller = *c;
	q.caller.home = home != NULL ? home : root;
	q.caller.home_real = q.caller.home;
	if (home != NULL && realpath(home, real) != NULL)
		q.caller.home_real = real;
	q.caller.home_other = q.caller.target = none;
	q.caller.guest_home = q.caller.cwd = root;
	ask_tell(a, &q);
	a->pid = helper_start(in, PARSER, argv, a->peer, file);
	close(a->peer);
	close(file);
	a->peer = -1;
	free(home);
}

const char *
ceiling_ended(int status, char *buf, size_t len)
{
	if (WIFSIGNALED(status))
		snprintf(buf, len,
		    PARSER " was ended by signal %d while it read " CEILING_FILE
			   "; " NOTHING "have root look at it",
		    WTERMSIG(status));
	else
		snprintf(buf, len,
		    PARSER " gave up on " CEILING_FILE " (exit %d); " NOTHING
			   "see carrel doctor",
		    WEXITSTATUS(status));
	return buf;
}

const char *
ceiling_broken(int err, char *buf, size_t len)
{
	if (err == ETIMEDOUT)
		snprintf(buf, len,
		    PARSER " has not read " CEILING_FILE " after %d s; " NOTHING
			   "is it on a file system that does not answer?",
		    PARSER_SECONDS);
	else
		snprintf(buf, len,
		    PARSER " did not say all of " CEILING_FILE ", or not as it "
			   "has to (%s); " NOTHING "have root install carrel "
			   "again",
		    strerror(err));
	return buf;
}

int
ceiling_take(int fd, int64_t deadline, struct ceiling *out)
{
	struct receiver r;
	int err = 0;

	if (receiver_init(&r, fd, deadline, record_ceiling) == -1)
		return errno;
	if (ceiling_receive(&r, out) == -1)
		err = errno;
	receiver_free(&r);
	close(fd);
	return err;
}

void
ceiling_hear(const struct asked *a, struct ceiling *out)
{
	char why[TEXT_MAX_LEN];
	int status = 0, ended, err = ceiling_take(a->fd, a->deadline, out);

	ended = (err == 0 || err == EPIPE) && ask_wait(a, &status) == 0;
	if (ended && status != 0)
		fatal("%s", ceiling_ended(status, why, sizeof(why)));
	if (ended && err == 0)
		return;
	if (!ended)
		(void)kill(a->pid, SIGKILL);
	fatal(
	    "%s", ceiling_broken(err != 0 ? err : ETIMEDOUT, why, sizeof(why)));
}
