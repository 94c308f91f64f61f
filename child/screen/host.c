#include <sys/stat.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/cgroup.h"
#include "child/shared/survey.h"
#include "host.h"
#include "child/shared/caller.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Below the home: keys, tokens, cookies and agents of common programs. A
 * directory stands for all that is in it.
 */
static const char *const known[] = {".ssh", ".gnupg", ".password-store",
    ".netrc", ".git-credentials", ".config/git/credentials", ".config/gh",
    ".config/hub", ".config/glab-cli", ".aws", ".azure", ".config/gcloud",
    ".config/doctl", ".config/hcloud", ".oci", ".kube", ".docker/config.json",
    ".config/containers/auth.json", ".config/helm", ".helm",
    ".terraform.d/credentials.tfrc.json", ".terraformrc", ".vault-token",
    ".npmrc", ".yarnrc.yml", ".pypirc", ".config/pypoetry/auth.toml",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
    ".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json",
    ".config/composer/auth.json", ".config/rclone", ".s3cfg", ".boto",
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".config/op", ".config/Bitwarden",
    ".config/Bitwarden CLI", ".config/keepassxc", ".local/share/keyrings",
    ".local/share/kwalletd", ".gnome2/keyrings", ".pki", ".mozilla",
    ".thunderbird", ".config/chromium", ".config/google-chrome",
    ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi",
    ".config/Signal", ".config/Slack", ".config/discord", ".msmtprc",
    ".mbsyncrc", ".fetchmailrc", ".claude", ".claude.json", ".codex",
    ".config/anthropic", ".config/openai", ".config/github-copilot",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history",
    ".Xauthority", ".ICEauthority", ".config/sops", ".config/age", ".step",
    ".minisign"};

/*
 * Below the home: what a shell, a session or sshd reads or runs later, and
 * what the next run of carrel trusts.
 */
static const char *const startup[] = {".bashrc", ".profile", ".bash_profile",
    ".bash_login", ".bash_logout", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
    ".kshrc", ".config/fish", ".xprofile", ".xsession", ".xinitrc",
    ".config/autostart", ".config/systemd", ".config/environment.d",
    ".local/share/applications", ".local/bin", "bin", ".ssh/authorized_keys",
    ".ssh/rc", ".ssh/config", ".gitconfig", ".config/git", ".vimrc",
    ".config/carrel"};

/* The sockets of agents, buses and displays. */
#define RUN_USER "/run/user"

static int
add(struct host_place *list, size_t *n, const char *dir, const char *name)
{
	struct host_place *c = &list[*n];

	if (asprintf(&c->path, "%s%s%s", strcmp(dir, "/") == 0 ? "" : dir,
		name[0] == '\0' ? "" : "/", name) == -1) {
		c->path = NULL;
		return -1;
	}
	(*n)++;
	return 0;
}

int
host_init(struct host *h, const struct caller *ca, const struct policy *po)
{
	char uid[16];
	size_t i;
	int bad = 0;

	memset(h, 0, sizeof(*h));
	h->credentials = calloc(NITEMS(known) + 1, sizeof(*h->credentials));
	h->startup = calloc(NITEMS(startup), sizeof(*h->startup));
	h->marks = calloc(po->ngrants + 1, 1);
	if (h->credentials == NULL || h->startup == NULL || h->marks == NULL) {
		host_free(h);
		return -1;
	}
	for (i = 0; i < NITEMS(known) && !bad; i++)
		bad = add(
		    h->credentials, &h->ncredentials, ca->home_real, known[i]);
	for (i = 0; i < NITEMS(startup) && !bad; i++)
		bad = add(h->startup, &h->nstartup, ca->home_real, startup[i]);
	snprintf(uid, sizeof(uid), "%u", (unsigned)ca->uid);
	if (bad || add(h->credentials, &h->ncredentials, RUN_USER, uid) == -1) {
		host_free(h);
		return -1;
	}
	return 0;
}

static void
places_free(struct host_place *list, size_t n)
{
	size_t i;

	for (i = 0; list != NULL && i < n; i++) {
		free(list[i].path);
		free(list[i].real);
	}
	free(list);
}

void
host_free(struct host *h)
{
	places_free(h->credentials, h->ncredentials);
	places_free(h->startup, h->nstartup);
	free(h->marks);
	memset(h, 0, sizeof(*h));
}

/* 1 if a socket lies in the directory itself; d_type is enough. */
static int
holds_socket(const char *path)
{
	struct dirent *e;
	DIR *d;
	int i, found = 0;

	if ((d = opendir(path)) == NULL)
		return 0;
	for (i = 0; i < SOCKET_ENTRIES && !found; i++) {
		if ((e = readdir(d)) == NULL)
			break;
		found = e->d_type == DT_SOCK;
	}
	closedir(d);
	return found;
}

static void
look_at(struct host_place *list, size_t n)
{
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		list[i].exists = lstat(list[i].path, &st) == 0;
		free(list[i].real);
		list[i].real = realpath(list[i].path, NULL);
	}
}

/* Those that need a control group; of processes only root's do. */
static void
look_at_limits(struct host *h, const struct policy *po)
{
	struct cgroup_host g;
	int what;

	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++) {
		if (confine_limit(po, (enum limit)what) == NULL ||
		    cgroup_controller((unsigned)what) == NULL ||
		    (what == LIMIT_PROCESSES && getuid() != 0))
			continue;
		cgroup_find(&g, CGROUP_BIT(what), getppid());
		h->unlimited[what] = g.state != CGROUP_READY;
	}
}

void
host_look(struct host *h, const struct policy *po, const struct survey *su)
{
	size_t i;

	look_at(h->credentials, h->ncredentials);
	look_at(h->startup, h->nstartup);
	look_at_limits(h, po);
	for (i = 0; i < po->ngrants; i++)
		if (su->rows[i].type == SURVEY_DIR &&
		    holds_socket(su->rows[i].real))
			h->marks[i] |= HOST_SOCKETS;
}

/* 1: path covers the place, by name or where it leads; 2: a part of it. */
static int
reaches(const struct host_place *c, const char *path)
{
	if (path_covers(path, c->path) ||
	    (c->real != NULL && path_covers(path, c->real)))
		return 1;
	return path_covers(c->path, path) ||
		       (c->real != NULL && path_covers(c->real, path))
		   ? 2
		   : 0;
}

/* What a bind at this host path means: marks. */
static int
covers(struct host *h, const struct caller *ca, const char *path, int writes)
{
	struct host_place *c;
	int mark, n;
	size_t i;

	mark =
	    path_covers(path, ca->home) || path_covers(path, ca->home_real) ||
	    (ca->home_other[0] != '\0' && path_covers(path, ca->home_other)) ||
	    path_covers(path, RUN_USER) || path_covers(RUN_USER, path);
	for (i = 0; i < h->ncredentials; i++) {
		c = &h->credentials[i];
		n = reaches(c, path);
		if (n == 1)
			c->inside = 1;
		else if (n == 2 && c->inside == 0)
			c->inside = 2;
		mark |= n == 2 ||
			(n == 1 && (c->exists || strcmp(path, c->path) == 0));
	}
	mark = mark ? HOST_CREDENTIALS : 0;
	for (i = 0; i < h->nstartup && writes; i++)
		if (reaches(&h->startup[i], path) != 0)
			mark |= HOST_STARTUP;
	return mark;
}

/*
 * A grant spelled below the home is compared as if the home had no links:
 * the table is.
 */
static int
covers_spelled(
    struct host *h, const struct caller *ca, const char *path, int writes)
{
	const char *below = path_below(ca->home, path);
	char *p;
	int mark;

	if (strcmp(ca->home, ca->home_real) == 0 || below == NULL ||
	    strcmp(ca->home_real, "/") == 0)
		return covers(h, ca, path, writes);
	if (asprintf(&p, "%s%s", ca->home_real, below) == -1)
		return HOST_CREDENTIALS; /* rather a mark too many */
	mark = covers(h, ca, p, writes);
	free(p);
	return mark;
}

int
host_marks(
    struct host *h, const struct caller *ca, const char *path, int writes)
{
	return covers_spelled(h, ca, path, writes);
}

void
host_judge(struct host *h, const struct caller *ca, const struct policy *po,
    const struct survey *su)
{
	const struct grant *g;
	const char *real;
	size_t i;
	int writes, mark;

	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		/* carrel's own rows bring in nothing that is not there */
		if (!grant_opens(g) || (g->flags & GRANT_OWN) != 0 ||
		    !path_clean(g->source))
			continue;
		real = su->rows[i].real;
		/* an absent try- grant brings nothing in */
		if ((g->flags & GRANT_TRY) != 0 &&
		    su->rows[i].type == SURVEY_NONE)
			continue;
		writes = (g->flags & GRANT_WRITE) != 0;
		mark = covers_spelled(h, ca, g->source, writes);
		if (real != NULL && path_clean(real))
			mark |= covers(h, ca, real, writes);
		h->marks[i] |= (unsigned char)mark;
	}
}
