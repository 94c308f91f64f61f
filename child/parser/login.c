#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child/shared/login.h"
#include "child/shared/caller.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "login.h"
#include "place.h"
#include "reader.h"

#define SECTIONS_MAX 4096 /* of one file: 256 KiB hold no more with a key */

enum of {
	OF_USER,
	OF_GROUP,
	OF_ALL,
	OF_NOBODY
};

/* A section, and what it says. */
struct section {
	char name[SECTION_MAX_LEN + 1];
	enum of of; /* who calls; OF_NOBODY: somebody else */
	uint32_t line, shell_line;
	char *shell; /* NULL: not said */
	char **profiles;
	size_t nprofiles;
};

struct reading {
	const struct place *at;
	const struct caller *caller;
	struct section *all;
	size_t n;
};

static void
reading_free(struct reading *in)
{
	size_t i, k;

	for (i = 0; i < in->n; i++) {
		for (k = 0; k < in->all[i].nprofiles; k++)
			free(in->all[i].profiles[k]);
		free(in->all[i].profiles);
		free(in->all[i].shell);
	}
	free(in->all);
}

static int
in_group(const struct caller *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->ngroups; i++)
		if (strcmp(c->groups[i].name, name) == 0)
			return 1;
	return 0;
}

/* Whose section it is; -1 after a refusal. */
static int
whose(const struct reading *in, const struct reader_line *l)
{
	const struct caller *c = in->caller;
	const char *s = l->section;

	if (strcmp(s, "default") == 0)
		return OF_ALL;
	if (strncmp(s, "user ", 5) == 0 && s[5] != ' ')
		return strcmp(s + 5, c->user) == 0 ? OF_USER : OF_NOBODY;
	if (strncmp(s, "group ", 6) == 0 && s[6] != ' ')
		return in_group(c, s + 6) ? OF_GROUP : OF_NOBODY;
	return place_refuse(in->at, l->line,
	    "use one of [user NAME], [group NAME], [default]",
	    "unknown section [%s]", s);
}

static int
check_end(const struct reading *in)
{
	const struct section *s;

	if (in->n == 0 || (s = &in->all[in->n - 1])->nprofiles > 0)
		return 0;
	return place_refuse(in->at, s->line,
	    "write profile = NAME in it, or remove it",
	    "[%s] names no profile, so there would be nothing to log in to",
	    s->name);
}

static int
take_section(struct reading *in, const struct reader_line *l)
{
	struct section *s;
	size_t i;
	int of;

	if (check_end(in) == -1 || (of = whose(in, l)) == -1)
		return -1;
	for (i = 0; i < in->n; i++)
		if (strcmp(in->all[i].name, l->section) == 0)
			return place_refuse(in->at, l->line,
			    "write all of it in one place",
			    "[%s] stands a second time, after line %u",
			    l->section, in->all[i].line);
	if (in->n == SECTIONS_MAX)
		return place_refuse(in->at, l->line, "use groups",
		    "there are more than %d sections", SECTIONS_MAX);
	s = &in->all[in->n++];
	memset(s, 0, sizeof(*s));
	strcpy(s->name, l->section);
	s->of = (enum of)of;
	s->line = l->line;
	return 0;
}

static int
take_profile(struct reading *in, struct section *s, const struct reader_line *l)
{
	char **more;

	if (!check_name(l->value))
		return place_refuse(in->at, l->line,
		    "write one name a line: a-z, 0-9 and \"-\", with \"@\" in "
		    "front of a shipped one",
		    "profile = \"%s\" is not the name of a profile",
		    SHOWN(l->value));
	if (s->nprofiles == SELECT_MAX)
		return place_refuse(in->at, l->line,
		    "let one profile include the others",
		    "[%s] names more than %d profiles", s->name, SELECT_MAX);
	more = realloc(s->profiles, (s->nprofiles + 1) * sizeof(*more));
	if (more == NULL)
		return -1;
	s->profiles = more;
	if ((s->profiles[s->nprofiles] = strdup(l->value)) == NULL)
		return -1;
	s->nprofiles++;
	return 0;
}

static int
take_shell(struct reading *in, struct section *s, const struct reader_line *l)
{
	const char *base = strrchr(l->value, '/');

	if (s->shell != NULL)
		return place_refuse(in->at, l->line, "remove one of the two",
		    "\"shell\" in [%s] stands a second time", s->name);
	if (!path_clean(l->value) || base[1] == '\0')
		return place_refuse(in->at, l->line,
		    "write the path of a shell inside, e.g. /bin/bash",
		    "shell = \"%s\" is no clean path", SHOWN(l->value));
	if (strcmp(base + 1, "carrel-sh") == 0)
		return place_refuse(in->at, l->line,
		    "write the path of a shell inside, e.g. /bin/bash",
		    "shell = \"%s\" would be carrel itself", SHOWN(l->value));
	s->shell_line = l->line;
	s->shell = strdup(l->value);
	return s->shell == NULL ? -1 : 0;
}

static int
take_line(void *arg, const struct reader_line *l)
{
	struct reading *in = arg;
	struct section *s;

	if (l->key == NULL)
		return take_section(in, l);
	s = &in->all[in->n - 1];
	if (strcmp(l->key, "profile") == 0)
		return take_profile(in, s, l);
	if (strcmp(l->key, "shell") == 0)
		return take_shell(in, s, l);
	return place_refuse(in->at, l->line, "use one of profile, shell",
	    "unknown key \"%s\" in [%s]", SHOWN(l->key), s->name);
}

/* What this section adds; twice the same is once. */
static int
join(const struct reading *in, const struct section *s, struct login *out,
    const struct section **shell)
{
	size_t i, k;

	for (i = 0; i < s->nprofiles; i++) {
		for (k = 0; k < out->nprofiles; k++)
			if (strcmp(out->profiles[k], s->profiles[i]) == 0)
				break;
		if (k == out->nprofiles && login_add(out, s->profiles[i]) == -1)
			return errno != E2BIG
				   ? -1
				   : place_refuse(in->at, s->line,
					 "let one profile include the others",
					 "the groups of %s name more than %d "
					 "profiles",
					 in->caller->user, SELECT_MAX);
	}
	if (s->shell == NULL)
		return 0;
	if (*shell != NULL && strcmp((*shell)->shell, s->shell) != 0)
		return place_refuse(in->at, s->shell_line,
		    "write a section [user NAME] for him, or one shell for "
		    "both",
		    "%s is of two groups with two shells: %s in [%s], line "
		    "%u, and %s in [%s]",
		    in->caller->user, (*shell)->shell, (*shell)->name,
		    (*shell)->shell_line, s->shell, s->name);
	*shell = s;
	return 0;
}

/* All sections of the closest kind that there is. */
static int
decide(const struct reading *in, struct login *out)
{
	const struct section *shell = NULL;
	enum of of = OF_NOBODY;
	size_t i;

	for (i = 0; i < in->n; i++)
		if (in->all[i].of < of)
			of = in->all[i].of;
	if (of == OF_NOBODY)
		return place_refuse(in->at, 0,
		    "have root write [user NAME], [group NAME] or [default]",
		    "it has no section for %s", in->caller->user);
	/* a group whose name is not known may be one with less */
	if (of != OF_USER && in->caller->ngroups >= GROUPS_MAX_LEN)
		return place_refuse(in->at, 0, "have root write [user NAME]",
		    "%s is of too many groups to know which of them decides",
		    in->caller->user);
	for (i = 0; i < in->n; i++) {
		if (in->all[i].of != of)
			continue;
		if (out->line == 0)
			out->line = in->all[i].line;
		if (join(in, &in->all[i], out, &shell) == -1)
			return -1;
	}
	out->shell = strdup(shell != NULL ? shell->shell : LOGIN_SHELL);
	out->what = strdup("");
	out->fix = strdup("");
	return out->shell == NULL || out->what == NULL || out->fix == NULL ? -1
									   : 0;
}

int
login_parse(const struct place *at, char *data, size_t len,
    const struct caller *c, struct login *out)
{
	struct reading in = {.at = at, .caller = c};
	int n = -1;

	memset(out, 0, sizeof(*out));
	in.all = calloc(SECTIONS_MAX, sizeof(*in.all));
	if (in.all != NULL &&
	    reader_parse(at, data, len, take_line, &in) == 0 &&
	    check_end(&in) == 0)
		n = decide(&in, out);
	reading_free(&in);
	if (n == -1)
		login_free(out);
	return n;
}

/* What the kernel says of the file, by its descriptor alone. */
static int
trusted(const struct place *at, int fd)
{
	struct stat st;

	if (syscall(SYS_fstat, fd, &st) == -1)
		return place_refuse(at, 0, "make it a plain file",
		    "it cannot be looked at: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return place_refuse(
		    at, 0, "make it a plain file", "it is no regular file");
	if (st.st_uid != 0 || (st.st_mode & 022) != 0)
		return place_refuse(at, 0,
		    "have root run \"chown root\" and \"chmod go-w\" on it",
		    "it must belong to root and be writable by nobody else");
	return 0;
}

static int
read_all(const struct place *at, int fd, char *data, size_t *len)
{
	ssize_t n;

	*len = 0;
	while (*len <= FILE_MAX_LEN) {
		n = pread(
		    fd, data + *len, FILE_MAX_LEN + 1 - *len, (off_t)*len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return place_refuse(at, 0, "make it a plain file",
			    "it cannot be read: %s", strerror(errno));
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	return 0; /* the reader refuses one that is too long */
}

/* The one refusal of a file, taken over. */
static int
reason(struct policy *po, struct login *out)
{
	struct refusal *r = &po->refusals[0];

	if (po->nrefusals == 0)
		return -1;
	out->line = r->line;
	out->what = r->what;
	out->fix = r->fix;
	r->what = r->fix = NULL;
	out->shell = strdup("");
	return out->shell == NULL ? -1 : 0;
}

int
login_read(struct policy *po, int fd, const struct caller *c, struct login *out)
{
	struct place at = {po, "", ""};
	char *data = malloc(FILE_MAX_LEN + 2);
	size_t len;
	int n = -1;

	memset(out, 0, sizeof(*out));
	if (data != NULL && fd != -1 && trusted(&at, fd) == 0 &&
	    read_all(&at, fd, data, &len) == 0)
		n = login_parse(&at, data, len, c, out);
	free(data);
	if (n == -1)
		n = reason(po, out);
	if (n == -1)
		login_free(out);
	return n;
}
