#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/monitor/account.h"
#include "child/monitor/helper.h"
#include "child/shared/survey.h"
#include "config.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "look.h"
#include "parent/failure.h"
#include "parent/start.h"
#include "protect.h"

#define PROFILES  "profiles.d"
#define DIR_MODE  0700 /* XDG base directory specification */
#define FILE_MODE 0600

/* 1 if the path, and all of make, was there already. */
static int
add(struct caller *c, const char *path, int make)
{
	size_t i, len = strlen(path) + 4;
	int known;

	if (!path_clean(path) || strcmp(path, "/") == 0)
		return 0;
	for (i = 0; i < c->nprotect; i++) {
		if (strcmp(c->protect[i].path, path) == 0) {
			make |= c->protect[i].make;
			known = make == c->protect[i].make;
			c->protect[i].make = (uint8_t)make;
			return known;
		}
		len += strlen(c->protect[i].path) + 4;
	}
	if (c->nprotect == PROTECT_MAX || len > PROTECT_LEN)
		fatal("the paths of carrel's own directories, in your home "
		      "and where it is installed, are too long; use a shorter "
		      "HOME, or install it elsewhere");
	if (c->protect == NULL)
		c->protect = calloc(PROTECT_MAX, sizeof(*c->protect));
	if (c->protect == NULL ||
	    (c->protect[c->nprotect].path = strdup(path)) == NULL)
		fatal("out of memory");
	c->protect[c->nprotect++].make = (uint8_t)make;
	return 0;
}

/* The path without symlinks, as far as it exists. 0, or -1 if it is "/". */
static int
canonical(const char *path, char *real)
{
	char up[PATH_MAX_LEN + 1], *slash;
	size_t n;

	strcpy(up, path);
	while (realpath(up, real) == NULL) {
		if ((slash = strrchr(up, '/')) == NULL || slash == up)
			return -1;
		*slash = '\0';
	}
	n = strlen(real);
	if (n + strlen(path + strlen(up)) > PATH_MAX_LEN)
		return -1;
	strcpy(real + n, path + strlen(up));
	return 0;
}

static void
trust(struct caller *c, const char *dir, const char *name, int make)
{
	char path[2 * PATH_MAX + 2], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s%s", dir, name[0] != '\0' ? "/" : "",
	    name);
	if (!add(c, path, make) && path_clean(path) &&
	    canonical(path, real) == 0)
		add(c, real, make);
}

/* Where a run that knows no XDG_CONFIG_HOME looks. */
static void
trust_home(struct caller *c, const char *home)
{
	char dir[PATH_MAX + 32];

	if (strcmp(home, "/") == 0)
		home++;
	snprintf(dir, sizeof(dir), "%s/.config/carrel", home);
	trust(c, dir, "", TRUST_MAKE | TRUST_PROFILES);
	trust(c, dir, PROFILES, 0);
	snprintf(dir, sizeof(dir), "%s/.local/state/carrel", home);
	trust(c, dir, "", TRUST_MAKE);
}

void
protect_find(const struct install *in, const struct start *st, const char *pack,
    struct caller *c)
{
	char *config = account_config_dir(st, c);
	char *state = account_state_dir(st, c);
	char dir[PATH_MAX], *slash;

	trust(c, state, "", TRUST_MAKE);
	free(state);
	if (pack != NULL)
		trust(c, pack, "", 0);
	trust(c, config, "", TRUST_MAKE | TRUST_PROFILES);
	trust(c, config, PROFILES, 0);
	free(config);
	trust_home(c, c->home);
	if (c->home_other[0] != '\0')
		trust_home(c, c->home_other);
	trust(c, CARREL_SYSCONFDIR, "", 0);
	trust(c, CARREL_SYSCONFDIR, PROFILES, 0);
	trust(c, in->program, "", 0);
	trust(c, in->libexec, "", 0);
	trust(c, in->shipped, "", 0);
	/* share/carrel, which holds them */
	snprintf(dir, sizeof(dir), "%s", in->shipped);
	if ((slash = strrchr(dir, '/')) != NULL) {
		*slash = '\0';
		trust(c, dir, "", 0);
	}
}

void
protect_login(struct caller *c)
{
	static const struct {
		const char *name;
		int make;
	} places[] = {
	    {".ssh", TRUST_MAKE}, /* sshd(8) */
	    {".config/systemd", TRUST_MAKE},
	    {".config/environment.d", TRUST_MAKE}, /* systemd's, too */
	    {".forward", TRUST_MAKE | TRUST_FILE}, /* the mail system */
	    {".procmailrc", TRUST_MAKE | TRUST_FILE},
	    {".pam_environment", TRUST_MAKE | TRUST_FILE},
	};
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		trust(c, strcmp(c->home, "/") == 0 ? "" : c->home,
		    places[i].name, places[i].make);
}

/* A way down from a write grant's directory, none of it a symlink. */
struct way {
	int fd;	   /* O_PATH */
	int loose; /* the caller's credentials can change a directory on it */
	uid_t uid;
};

/*
 * Whoever owns a directory can make it writable; on a file system that is
 * read-only nobody can.
 */
static int
way_note(struct way *w)
{
	struct stat st;

	if (fstat(w->fd, &st) == -1)
		return -1;
	if (faccessat(w->fd, ".", W_OK, 0) == 0 ||
	    (errno != EROFS && st.st_uid == w->uid))
		w->loose = 1;
	return 0;
}

static int
way_down(struct way *w, const char *name, int make)
{
	int fd;

	if (make && mkdirat(w->fd, name, DIR_MODE) == -1 && errno != EEXIST)
		return -1;
	fd = openat(w->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	close(w->fd);
	w->fd = fd;
	return way_note(w);
}

/* An empty one, of a name that is not there. */
static int
way_file(const struct way *w, const char *name)
{
	int fd;

	fd = openat(w->fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	return fd == -1 ? -1 : close(fd);
}

/* All of below, "/a/b", from w->fd on. make: TRUST_*. 0, or -1 with errno. */
static int
way_walk(struct way *w, const char *below, int make)
{
	char name[COMPONENT_MAX + 1];
	size_t n;

	if (way_note(w) == -1)
		return -1;
	while (*below != '\0') {
		below++;
		n = strcspn(below, "/");
		memcpy(name, below, n);
		name[n] = '\0';
		below += n;
		if (*below == '\0' && (make & TRUST_FILE) != 0)
			return way_file(w, name);
		if (way_down(w, name, 0) == 0)
			continue;
		if (errno != ENOENT || !make || way_down(w, name, 1) == -1)
			return -1;
	}
	if ((make & TRUST_PROFILES) != 0 &&
	    mkdirat(w->fd, PROFILES, DIR_MODE) == -1 && errno != EEXIST)
		return -1;
	return 0;
}

static int
is_made(const struct caller *c, const char *path)
{
	size_t i;

	for (i = 0; i < c->nprotect; i++)
		if (strcmp(c->protect[i].path, path) == 0)
			return c->protect[i].make;
	return 0;
}

/* What would be there after a run. */
static int
pretend(struct survey_row *r, const char *top, const char *below)
{
	char real[2 * PATH_MAX_LEN + 1];

	snprintf(real, sizeof(real), "%s%s", top, below);
	if (!path_clean(real))
		return 0;
	free(r->real);
	r->real = strdup(real);
	r->type = SURVEY_DIR;
	r->mode = DIR_MODE;
	r->err = 0;
	return r->real == NULL ? -1 : 0;
}

/* The row r of grant g, which lies in the write grant in, found as top. */
static int
missing(const struct caller *c, const struct grant *g, struct survey_row *r,
    const struct grant *in, const struct survey_row *top, int make)
{
	struct way w = {.loose = 0, .uid = c->uid};
	const char *below = path_below(in->source, g->source);
	int mine = is_made(c, g->source), n, err;

	/* a way by symlinks is for the plan to refuse */
	if (top->type != SURVEY_DIR || r->nlinks > top->nlinks)
		return 0;
	if ((w.fd = look_again(top)) == -1)
		return -1;
	n = way_walk(&w, below, make ? mine : 0);
	err = errno;
	close(w.fd);
	if (n == 0)
		return look_one(g->source, r);
	if (!w.loose)
		r->shut = 1;
	else if (make && mine)
		r->err = err;
	else if (mine && err == ENOENT)
		return pretend(r, top->real, below);
	return 0;
}

int
protect_makes(
    const struct policy *po, const struct survey *sv, const struct caller *c)
{
	size_t i;

	for (i = 0; i < po->ngrants; i++)
		if ((po->grants[i].flags & GRANT_OWN) != 0 &&
		    sv->rows[i].err != 0 && is_made(c, po->grants[i].source))
			return 1;
	return 0;
}

int
protect_missing(const struct policy *po, struct survey *sv,
    const struct caller *c, int make, struct failure *f)
{
	const struct grant *g, *in;
	size_t i;

	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if (!(g->flags & GRANT_OWN) || sv->rows[i].err == 0 ||
		    (in = policy_above(po, g->guest)) == NULL)
			continue;
		if (missing(c, g, &sv->rows[i], in, &sv->rows[in - po->grants],
			make) == -1)
			return failure_set(
			    f, CAUSE_OTHER, "protect %s", g->source);
	}
	return 0;
}
