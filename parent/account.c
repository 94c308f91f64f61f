#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account.h"
#include "ipc/caller.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "options.h"
#include "start.h"

static char *
copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		fatal("out of memory");
	return p;
}

/* A name that can stand in passwd(5) and in a path. */
static int
plain_name(const char *s)
{
	return s[0] != '\0' && s[0] != '.' && strlen(s) <= IDENT_MAX_LEN &&
	       strpbrk(s, "/:,") == NULL && !text_unsafe(s, strlen(s));
}

/* Reads the file itself: name service modules never enter this program. */
static void
find_user(struct caller *c)
{
	struct passwd *pw;
	FILE *f;
	char name[32];

	if ((f = fopen("/etc/passwd", "re")) != NULL) {
		while ((pw = fgetpwent(f)) != NULL)
			if (pw->pw_uid == c->uid && plain_name(pw->pw_name))
				break;
		if (pw != NULL) {
			c->user = copy(pw->pw_name);
			if (path_clean(pw->pw_dir))
				c->home = copy(pw->pw_dir);
			if (path_clean(pw->pw_shell))
				c->shell = copy(pw->pw_shell);
		}
		fclose(f);
	}
	if (c->user == NULL) {
		snprintf(name, sizeof(name), "uid%u", (unsigned)c->uid);
		c->user = copy(name);
		c->flags |= CALLER_NO_ACCOUNT;
	}
	if (c->shell == NULL)
		c->shell = copy("/bin/sh");
}

static void
find_groups(struct caller *c)
{
	gid_t gids[GROUPS_MAX_LEN];
	struct group *gr;
	size_t i;
	FILE *f;
	int n;

	n = getgroups(GROUPS_MAX_LEN - 1, gids);
	if (n == -1)
		fatal("getgroups: %s", strerror(errno));
	c->groups = calloc((size_t)n + 1, sizeof(*c->groups));
	if (c->groups == NULL)
		fatal("out of memory");
	c->groups[c->ngroups++].gid = c->gid;
	for (i = 0; i < (size_t)n; i++)
		if (gids[i] != c->gid)
			c->groups[c->ngroups++].gid = gids[i];
	if ((f = fopen("/etc/group", "re")) != NULL) {
		while ((gr = fgetgrent(f)) != NULL)
			for (i = 0; i < c->ngroups; i++)
				if (c->groups[i].gid == gr->gr_gid &&
				    c->groups[i].name == NULL &&
				    plain_name(gr->gr_name))
					c->groups[i].name = copy(gr->gr_name);
		fclose(f);
	}
	for (i = 0; i < c->ngroups; i++)
		if (c->groups[i].name == NULL)
			c->groups[i].name = copy("");
	if (strcmp(c->groups[0].name, c->user) == 0)
		c->flags |= CALLER_PRIVATE_GROUP;
}

/* HOME counts if it is absolute and the caller's. */
static void
find_home(const struct start *s, struct caller *c)
{
	const char *env = start_getenv(s, "HOME");
	char clean[PATH_MAX], real[PATH_MAX];
	struct stat st;
	size_t n;

	if (env != NULL && strlen(env) < sizeof(clean)) {
		strcpy(clean, env);
		for (n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
			clean[n - 1] = '\0';
		if (path_clean(clean) && stat(clean, &st) == 0 &&
		    S_ISDIR(st.st_mode) && st.st_uid == c->uid) {
			free(c->home);
			c->home = copy(clean);
		}
	}
	if (c->home == NULL)
		c->home = copy("/");
	c->home_real = copy(realpath(c->home, real) != NULL ? real : c->home);
	c->guest_home = path_guest_home(c->home, c->user);
	if (c->guest_home == NULL)
		fatal("the home of %s has no place inside: %s", c->user,
		    strerror(errno));
}

static int
kernel_path(const char *p)
{
	return path_covers("/proc", p) || path_covers("/sys", p) ||
	       path_covers("/dev", p);
}

static void
find_target(const struct options *o, struct caller *c)
{
	char real[PATH_MAX];
	struct stat st;

	if (o->dir == NULL) {
		if (getcwd(real, sizeof(real)) == NULL || real[0] != '/')
			strcpy(real, "/");
		c->flags |= CALLER_IMPLIED;
	} else {
		if (strncmp(o->dir, "/proc/", 6) == 0)
			fatal("-C \"%s\" is a kernel interface; name a "
			      "directory of your own",
			    o->dir);
		if (realpath(o->dir, real) == NULL)
			fatal("-C \"%s\" cannot be the target: %s; name a "
			      "directory that exists",
			    o->dir, strerror(errno));
		if (kernel_path(real))
			fatal("-C \"%s\" is a kernel interface; name a "
			      "directory of your own",
			    o->dir);
		if (stat(real, &st) == -1 || !S_ISDIR(st.st_mode))
			fatal("-C \"%s\" is not a directory; name the "
			      "directory that the command shall work in",
			    o->dir);
	}
	if (strlen(real) > PATH_MAX_LEN || !path_clean(real))
		fatal("the working directory's path is too long or odd: %s",
		    real);
	c->target = copy(real);
	c->cwd = copy(real);
}

static void
find_words(const struct start *s, struct caller *c)
{
	const char *term = start_getenv(s, "TERM");
	const char *lang = start_getenv(s, "LANG");
	const char *tz = start_getenv(s, "TZ");

	c->term = copy(term != NULL && owned_plain(term) ? term : "");
	c->lang = copy(lang != NULL && owned_plain(lang) ? lang : "");
	c->tz = copy(tz != NULL && owned_zone(tz) ? tz : "");
}

void
account_find(const struct start *s, const struct options *o, struct caller *c)
{
	memset(c, 0, sizeof(*c));
	c->uid = getuid();
	c->gid = getgid();
	find_user(c);
	find_groups(c);
	find_home(s, c);
	find_target(o, c);
	find_words(s, c);
}

char *
account_config_dir(const struct start *s, const struct caller *c)
{
	const char *xdg = start_getenv(s, "XDG_CONFIG_HOME");
	char *p;
	int n;

	if (xdg != NULL && path_clean(xdg))
		n = asprintf(&p, "%s/carrel", xdg);
	else
		n = asprintf(&p, "%s/.config/carrel",
		    strcmp(c->home, "/") == 0 ? "" : c->home);
	if (n == -1)
		fatal("out of memory");
	return p;
}
