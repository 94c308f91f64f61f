#include <sys/stat.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/caller.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/survey.h"
#include "host.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* Entries that are read of one directory when it is searched for sockets. */
#define ENTRIES_MAX 1024

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

/* The sockets of agents, buses and displays. */
#define RUN_USER "/run/user"

static int
add(struct host *h, const char *dir, const char *name)
{
	struct host_credential *c = &h->credentials[h->ncredentials];

	if (asprintf(&c->path, "%s%s%s", strcmp(dir, "/") == 0 ? "" : dir,
		name[0] == '\0' ? "" : "/", name) == -1) {
		c->path = NULL;
		return -1;
	}
	h->ncredentials++;
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
	h->marks = calloc(po->ngrants + 1, 1);
	if (h->credentials == NULL || h->marks == NULL) {
		host_free(h);
		return -1;
	}
	for (i = 0; i < NITEMS(known) && !bad; i++)
		bad = add(h, ca->home_real, known[i]);
	snprintf(uid, sizeof(uid), "%u", (unsigned)ca->uid);
	if (bad || add(h, RUN_USER, uid) == -1) {
		host_free(h);
		return -1;
	}
	return 0;
}

void
host_free(struct host *h)
{
	size_t i;

	for (i = 0; i < h->ncredentials; i++)
		free(h->credentials[i].path);
	free(h->credentials);
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
	for (i = 0; i < ENTRIES_MAX && !found; i++) {
		if ((e = readdir(d)) == NULL)
			break;
		found = e->d_type == DT_SOCK;
	}
	closedir(d);
	return found;
}

void
host_look(struct host *h, const struct policy *po, const struct survey *su)
{
	struct stat st;
	size_t i;

	for (i = 0; i < h->ncredentials; i++)
		h->credentials[i].exists =
		    lstat(h->credentials[i].path, &st) == 0;
	for (i = 0; i < po->ngrants; i++)
		if (su->rows[i].type == SURVEY_DIR &&
		    holds_socket(su->rows[i].real))
			h->marks[i] |= HOST_SOCKETS;
}

/* What a bind at this host path means for the credentials. */
static int
covers(struct host *h, const struct caller *ca, const char *path)
{
	struct host_credential *c;
	int mark;
	size_t i;

	mark = path_covers(path, ca->home) ||
	       path_covers(path, ca->home_real) ||
	       path_covers(path, RUN_USER) || path_covers(RUN_USER, path);
	for (i = 0; i < h->ncredentials; i++) {
		c = &h->credentials[i];
		if (path_covers(path, c->path)) {
			c->inside = 1;
			mark |= c->exists || strcmp(path, c->path) == 0;
		} else if (path_covers(c->path, path)) {
			if (c->inside == 0)
				c->inside = 2;
			mark = 1;
		}
	}
	return mark;
}

/*
 * A grant spelled below the home is compared as if the home had no links:
 * the table is.
 */
static int
covers_spelled(struct host *h, const struct caller *ca, const char *path)
{
	const char *below = path_below(ca->home, path);
	char *p;
	int mark;

	if (strcmp(ca->home, ca->home_real) == 0 || below == NULL ||
	    strcmp(ca->home_real, "/") == 0)
		return covers(h, ca, path);
	if (asprintf(&p, "%s%s", ca->home_real, below) == -1)
		return 1; /* rather a mark too many */
	mark = covers(h, ca, p);
	free(p);
	return mark;
}

void
host_judge(struct host *h, const struct caller *ca, const struct policy *po,
    const struct survey *su)
{
	const struct grant *g;
	const char *real;
	size_t i;

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
		if (covers_spelled(h, ca, g->source) ||
		    (real != NULL && path_clean(real) && covers(h, ca, real)))
			h->marks[i] |= HOST_CREDENTIALS;
	}
}
