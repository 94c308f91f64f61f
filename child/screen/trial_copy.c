#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/policy.h"
#include "ipc/rule.h"
#include "profile.h"
#include "trial.h"

/* Nothing answers there: an address for documentation, RFC 5737. */
#define NOWHERE "tcp://192.0.2.1:9"

#define LAYER_DIR "config/carrel/profiles.d"

int
trial_copies(const struct profiled *p)
{
	unsigned layer = p->policy.profiles[p->subject].layer;

	return layer == LAYER_PACK || layer == LAYER_USER;
}

void
trial_path(const struct trial *tr, char *buf, size_t len)
{
	const struct profiled *p = tr->p;
	const struct profile *pr = &p->policy.profiles[p->subject];

	if (pr->layer == LAYER_PACK)
		snprintf(buf, len, "%s/%s.profile", tr->dir, pr->name + 1);
	else
		snprintf(
		    buf, len, "%s/" LAYER_DIR "/%s.profile", tr->dir, pr->name);
}

/* The whole file; NULL with errno. */
static char *
load(const char *path, size_t *len)
{
	char *data = malloc(FILE_MAX_LEN + 1);
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);

	*len = 0;
	while (data != NULL && fd != -1 && *len <= FILE_MAX_LEN) {
		n = read(fd, data + *len, FILE_MAX_LEN + 1 - *len);
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	if (fd != -1)
		close(fd);
	if (data != NULL && fd != -1 && n != -1)
		return data;
	free(data);
	return NULL;
}

/* What becomes of a line of the profile: '=' as it is, 'r' read, '-' left out
 */
static char
fate_of(const struct trial *tr, uint32_t line, unsigned flags)
{
	const struct policy *po = &tr->p->policy;
	const struct grant *g;
	size_t i, k;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS &&
		    po->rules[i].profile == tr->p->subject &&
		    po->rules[i].line == line)
			return tr->use.rules[i] && !(flags & TRIAL_OFFLINE)
				   ? '='
				   : '-';
	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if (g->kind != GRANT_BIND || !(g->flags & GRANT_WRITE))
			continue;
		for (k = 0; k < g->norigins; k++)
			if (g->origins[k].profile == tr->p->subject &&
			    g->origins[k].line == line &&
			    (g->origins[k].verb == VERB_WRITE ||
				g->origins[k].verb == VERB_TRY_WRITE))
				return tr->use.grants[i] ? '=' : 'r';
	}
	return '=';
}

/* One line; 1 if it was a way into the network that is left out. */
static int
put_line(FILE *f, const struct trial *tr, unsigned flags, uint32_t line,
    const char *p, size_t n)
{
	const char *eq = memchr(p, '=', n);
	char fate = (char)(eq == NULL ? '=' : fate_of(tr, line, flags));

	if (fate == '-') {
		fputs("#\n", f);
		return 1;
	}
	if (fate == 'r') {
		fprintf(f, "try-read ");
		n -= (size_t)(eq - p);
		p = eq;
	}
	fwrite(p, 1, n, f);
	putc('\n', f);
	return 0;
}

static void
put_profile(FILE *f, const struct trial *tr, unsigned flags, const char *data,
    size_t len)
{
	const char *p = data, *nl;
	uint32_t line;
	int cut = 0;

	for (line = 1; p < data + len; line++, p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(data + len - p));
		if (nl == NULL)
			nl = data + len;
		cut |= put_line(f, tr, flags, line, p, (size_t)(nl - p));
	}
	/* without a rule the network has no observer, and tells nothing */
	if (cut)
		fputs("[egress]\nallow = " NOWHERE "\n", f);
	if (flags & TRIAL_REPORT)
		fputs("[audit]\nreport = exec\nreport = fs\n", f);
}

/* A copy of one file; of the profile itself only what the example needs. */
static int
copy(const struct trial *tr, size_t i, unsigned flags, const char *to)
{
	const struct profile *pr = &tr->p->policy.profiles[i];
	char *data;
	size_t len;
	FILE *f;
	int bad;

	if ((data = load(pr->file, &len)) == NULL)
		return -1;
	if ((f = fopen(to, "we")) == NULL) {
		free(data);
		return -1;
	}
	if (i == tr->p->subject)
		put_profile(f, tr, flags, data, len);
	else
		fwrite(data, 1, len, f);
	free(data);
	bad = ferror(f);
	return fclose(f) == EOF || bad ? -1 : 0;
}

int
trial_copy(const struct trial *tr, unsigned flags, const char **what)
{
	const struct policy *po = &tr->p->policy;
	char path[256];
	size_t i;

	if (!trial_copies(tr->p))
		return 0;
	for (i = 0; i < po->nprofiles; i++) {
		if (i == tr->p->subject)
			trial_path(tr, path, sizeof(path));
		else if (po->profiles[i].layer == LAYER_USER)
			snprintf(path, sizeof(path),
			    "%s/" LAYER_DIR "/%s.profile", tr->dir,
			    po->profiles[i].name);
		else
			continue;
		*what = po->profiles[i].file;
		if (copy(tr, i, flags, path) == -1)
			return -1;
	}
	return 0;
}
