#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "helper.h"
#include "child/shared/caller.h"
#include "ipc/log.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "learn.h"
#include "monitor.h"
#include "options.h"
#include "seen.h"

#define SCREEN	  "carrel-screen"
#define FILE_MODE 0644

static struct {
	int dir;	  /* where the file will be, or -1 */
	const char *name; /* its last component */
	struct seen_list seen;
} learned = {.dir = -1};

/*
 * The directory is opened now, so that no link that the payload makes leads
 * elsewhere then.
 */
void
learn_open(const struct options *o)
{
	char dir[PATH_MAX] = ".";
	const char *slash;
	struct stat st;

	if (!o->learn || o->output == NULL)
		return;
	slash = strrchr(o->output, '/');
	learned.name = slash == NULL ? o->output : slash + 1;
	if (slash != NULL && strlen(o->output) < sizeof(dir))
		snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - o->output),
		    o->output);
	learned.dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (learned.dir == -1)
		fatal("-o %s: %s; name a file in a directory that is there",
		    SHOWN(o->output), strerror(errno));
	if (fstatat(learned.dir, learned.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		fatal("-o %s is there already, and learn writes over nothing; "
		      "name a new file",
		    SHOWN(o->output));
	if (errno != ENOENT)
		fatal("-o %s: %s; name a new file", SHOWN(o->output),
		    strerror(errno));
}

void
learn_forget(void)
{
	if (learned.dir != -1)
		close(learned.dir);
}

int
learn_take(const struct event *e, unsigned reports)
{
	int note = (e->flags & EVENT_NOTE) != 0;

	if (!note || event_missing(e))
		(void)seen_add(&learned.seen, e);
	if (e->surface == EVENT_EXEC)
		return (reports & 1U << REPORT_EXEC) == 0;
	if (e->surface == EVENT_FS)
		return note || (reports & 1U << REPORT_FS) == 0;
	return 0;
}

void
learn_find(const struct options *o, const char *path)
{
	const struct event e = {.surface = EVENT_FS,
	    .flags = EVENT_NOTE,
	    .profile = EVENT_NO_PROFILE,
	    .err = ENOENT,
	    .count = 1,
	    .action = "find",
	    .resource = path,
	    .rule = "carrel"};

	if (o->learn)
		(void)learn_take(&e, 0);
}

/* What the screen is told: a file in memory, as one of the state is. */
static int
told(int code)
{
	int fd = memfd_create("carrel-learned", MFD_CLOEXEC);

	if (fd == -1 || events_keep(fd, &learned.seen, code) == -1 ||
	    lseek(fd, 0, SEEK_SET) == -1)
		fatal("keep what was learned: %s", strerror(errno));
	return fd;
}

/* The new file, or -1 and it was said. */
static int
output(const char *named, int json)
{
	int fd;

	if (learned.dir == -1 || (learned.seen.times == 0 && !json))
		return -1;
	fd = openat(learned.dir, learned.name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd == -1)
		log_warn("-o %s: %s; what was learned follows here",
		    SHOWN(named), strerror(errno));
	return fd;
}

int
learn_end(const struct monitored *w, int code)
{
	const struct options *o = w->options;
	const struct caller *c = w->caller;
	char json[] = "json", text[] = "text", none[] = "";
	char *argv[] = {(char[]){SCREEN}, (char[]){"learn"},
	    o->json ? json : text, c->home, c->home_real, c->target,
	    o->output != NULL ? o->output : none, NULL};
	int fd, next, status, lost;
	pid_t pid;

	fd = told(code);
	next = output(o->output, o->json);
	lost = learned.dir != -1 && next == -1 &&
	       (learned.seen.times > 0 || o->json);
	if (next == -1)
		argv[6] = none;
	pid = helper_start(w->install, SCREEN, argv, fd, next);
	close(fd);
	if (next != -1)
		close(next);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			fatal("wait for " SCREEN ": %s", strerror(errno));
	seen_free(&learned.seen);
	return lost || status != 0 ? EXIT_CARREL : code;
}
