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
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "login.h"
#include "options.h"
#include "parent/start.h"

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

/* A directory without '/' at its end, in buf; NULL if it is unfit. */
static const char *
clean(const char *dir, char *buf, size_t len)
{
	size_t n;

	if (dir == NULL || strlen(dir) >= len)
		return NULL;
	strcpy(buf, dir);
	for (n = strlen(buf); n > 1 && buf[n - 1] == '/'; n--)
		buf[n - 1] = '\0';
	return path_clean(buf) ? buf : NULL;
}

/* Reads the file itself: name service modules never enter this program. */
static void
find_user(struct caller *c)
{
	struct passwd *pw;
	FILE *f;
	char name[32], home[PATH_MAX];

	if ((f = fopen("/etc/passwd", "re")) != NULL) {
		while ((pw = fgetpwent(f)) != NULL)
			if (pw->pw_uid == c->uid && plain_name(pw->pw_name))
				break;
		if (pw != NULL) {
			c->user = copy(pw->pw_name);
			if (clean(pw->pw_dir, home, sizeof(home)) != NULL)
				c->home = copy(home);
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
	/* a login shell of carrel's is none inside */
	if (c->shell != NULL && login_named(c->shell)) {
		free(c->shell);
		c->shell = NULL;
	}
	if (c->shell == NULL)
		c->shell = copy("/bin/sh");
}

/* All of them stay in force; GROUPS_MAX_LEN of them get a name inside. */
static void
find_gids(struct caller *c)
{
	gid_t *gids;
	int i, n;

	if ((n = getgroups(0, NULL)) == -1 ||
	    (gids = calloc((size_t)n + 1, sizeof(*gids))) == NULL ||
	    (n = getgroups(n, gids)) == -1)
		fatal("getgroups: %s", strerror(errno));
	c->groups = calloc(GROUPS_MAX_LEN, sizeof(*c->groups));
	if (c->groups == NULL)
		fatal("out of memory");
	c->groups[c->ngroups++].gid = c->gid;
	for (i = 0; i < n && c->ngroups < GROUPS_MAX_LEN; i++)
		if (gids[i] != c->gid)
			c->groups[c->ngroups++].gid = gids[i];
	free(gids);
}

static void
find_groups(struct caller *c)
{
	size_t i, left = GROUPS_NAMES_LEN;
	struct group *gr;
	FILE *f;

	find_gids(c);
	if ((f = fopen("/etc/group", "re")) != NULL) {
		while ((gr = fgetgrent(f)) != NULL)
			for (i = 0; i < c->ngroups; i++)
				if (c->groups[i].gid == gr->gr_gid &&
				    c->groups[i].name == NULL &&
				    plain_name(gr->gr_name) &&
				    strlen(gr->gr_name) < left) {
					c->groups[i].name = copy(gr->gr_name);
					left -= strlen(gr->gr_name);
				}
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
	char buf[PATH_MAX], real[PATH_MAX];
	const char *env = clean(start_getenv(s, "HOME"), buf, sizeof(buf));
	char *listed = c->home;
	struct stat st;

	if (env != NULL && stat(env, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == c->uid &&
	    (listed == NULL || strlen(listed) <= HOME_OTHER_LEN))
		c->home = copy(env);
	if (c->home == NULL)
		c->home = copy("/");
	/* a run without this HOME reads its profiles there */
	c->home_other =
	    copy(listed != NULL && strcmp(listed, c->home) != 0 ? listed : "");
	if (listed != c->home)
		free(listed);
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
	if (o->login_shell != NULL) {
		free(c->shell);
		c->shell = copy(o->login_shell);
	}
	find_groups(c);
	find_home(s, c);
	find_target(o, c);
	find_words(s, c);
}

char *
account_home(const struct caller *c)
{
	struct caller who;

	memset(&who, 0, sizeof(who));
	who.uid = c->uid;
	find_user(&who);
	free(who.user);
	free(who.shell);
	return who.home;
}

static char *
own_dir(const struct start *s, const struct caller *c, const char *variable,
    const char *otherwise)
{
	char buf[PATH_MAX], *p;
	const char *dir;
	int n;

	dir = clean(start_getenv(s, variable), buf, sizeof(buf));
	if (dir != NULL)
		n = asprintf(&p, "%s/carrel", dir[1] == '\0' ? "" : dir);
	else
		n = asprintf(&p, "%s/%s/carrel",
		    c->home[1] == '\0' ? "" : c->home, otherwise);
	if (n == -1)
		fatal("out of memory");
	return p;
}

char *
account_config_dir(const struct start *s, const struct caller *c)
{
	return own_dir(s, c, "XDG_CONFIG_HOME", ".config");
}

char *
account_state_dir(const struct start *s, const struct caller *c)
{
	return own_dir(s, c, "XDG_STATE_HOME", ".local/state");
}
