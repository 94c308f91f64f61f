#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/owned.h"
#include "ipc/text.h"
#include "ipc/variables.h"
#include "out.h"
#include "writing.h"

/* What becomes of an option. */
enum fate {
	FATE_BIND, /* key = SOURCE -> PLACE */
	FATE_LINK,
	FATE_TMPFS,
	FATE_OWN, /* its place is carrel's own, or something is to be said */
	FATE_SIZE,
	FATE_SET,
	FATE_NET_OFF,
	FATE_NET_ON,
	FATE_EMPTY, /* of the environment */
	FATE_HAVE,  /* carrel does so in any case */
	FATE_SAY    /* it cannot be said */
};

static const struct option {
	const char *name;
	unsigned words; /* behind it */
	enum fate fate;
	const char *text; /* the key, or the remark */
} options[] = {
    {"--ro-bind", 2, FATE_BIND, "read"},
    {"--ro-bind-try", 2, FATE_BIND, "try-read"},
    {"--bind", 2, FATE_BIND, "write"},
    {"--bind-try", 2, FATE_BIND, "try-write"},
    {"--dev-bind", 2, FATE_BIND, "write"},
    {"--dev-bind-try", 2, FATE_BIND, "try-write"},
    {"--symlink", 2, FATE_LINK, ""},
    {"--tmpfs", 1, FATE_TMPFS, ""},
    {"--dir", 1, FATE_TMPFS, ""},
    {"--proc", 1, FATE_OWN, "/proc"},
    {"--dev", 1, FATE_OWN, "/dev"},
    {"--mqueue", 1, FATE_SAY, "there are no message queues"},
    {"--size", 1, FATE_SIZE, ""},
    {"--setenv", 2, FATE_SET, ""},
    {"--unsetenv", 1, FATE_HAVE, ""},
    {"--clearenv", 0, FATE_EMPTY, ""},
    {"--unshare-all", 0, FATE_NET_OFF, ""},
    {"--unshare-net", 0, FATE_NET_OFF, ""},
    {"--share-net", 0, FATE_NET_ON, ""},
    {"--unshare-user", 0, FATE_HAVE, ""},
    {"--unshare-user-try", 0, FATE_HAVE, ""},
    {"--unshare-ipc", 0, FATE_HAVE, ""},
    {"--unshare-pid", 0, FATE_HAVE, ""},
    {"--unshare-uts", 0, FATE_HAVE, ""},
    {"--unshare-cgroup", 0, FATE_HAVE, ""},
    {"--unshare-cgroup-try", 0, FATE_HAVE, ""},
    {"--die-with-parent", 0, FATE_HAVE, ""},
    {"--new-session", 0, FATE_HAVE, ""},
    {"--disable-userns", 0, FATE_SAY, "user namespaces inside are as usual"},
    {"--assert-userns-disabled", 0, FATE_SAY,
	"user namespaces inside are as usual"},
    {"--cap-drop", 1, FATE_HAVE, ""},
    {"--cap-add", 1, FATE_SAY, "a payload has no capability"},
    {"--as-pid-1", 0, FATE_SAY, "pid 1 is carrel's"},
    {"--uid", 1, FATE_SAY, "the payload is who calls"},
    {"--gid", 1, FATE_SAY, "the payload is who calls"},
    {"--hostname", 1, FATE_SAY, "the name inside is \"carrel\""},
    {"--chdir", 1, FATE_SAY, "name the directory with carrel run -C"},
    {"--argv0", 1, FATE_SAY, "a program has its own name"},
    {"--remount-ro", 1, FATE_SAY, "what is no write grant is read-only"},
    {"--perms", 1, FATE_SAY, "modes are the host's"},
    {"--chmod", 2, FATE_SAY, "modes are the host's"},
    {"--file", 2, FATE_SAY, "write the file on the host and grant it"},
    {"--bind-data", 2, FATE_SAY, "write the file on the host and grant it"},
    {"--ro-bind-data", 2, FATE_SAY, "write the file on the host and grant it"},
    {"--seccomp", 1, FATE_SAY, "carrel has a filter of its own"},
    {"--add-seccomp-fd", 1, FATE_SAY, "carrel has a filter of its own"},
    {"--exec-label", 1, FATE_SAY, "no label is set"},
    {"--file-label", 1, FATE_SAY, "no label is set"},
    {"--userns", 1, FATE_SAY, "a namespace cannot be joined"},
    {"--userns2", 1, FATE_SAY, "a namespace cannot be joined"},
    {"--pidns", 1, FATE_SAY, "a namespace cannot be joined"},
    {"--lock-file", 1, FATE_SAY, "no file is locked"},
    {"--sync-fd", 1, FATE_SAY, "see --status-fd of carrel run"},
    {"--info-fd", 1, FATE_SAY, "see --status-fd of carrel run"},
    {"--json-status-fd", 1, FATE_SAY, "see --status-fd of carrel run"},
    {"--block-fd", 1, FATE_SAY, "see --status-fd of carrel run"},
    {"--userns-block-fd", 1, FATE_SAY, "see --status-fd of carrel run"},
    {NULL, 0, 0, NULL},
};

/* The two parts of the profile in the making, and what is known so far. */
struct import {
	FILE *fs, *env;
	char *fs_text, *env_text;
	size_t fs_len, env_len, nset;
	char size[32]; /* of the next tmpfs; or "" */
	int offline, cleared;
};

static void
remark(FILE *f, const struct option *o, char *const *w, const char *why)
{
	writing_line(f, "; %s %s %s: %s", o->name, o->words > 0 ? w[1] : "",
	    o->words > 1 ? w[2] : "", why);
}

static void
bind_line(struct import *in, const struct option *o, char *const *w)
{
	char a[VALUE_MAX_LEN], b[VALUE_MAX_LEN];
	const char *bad;

	if ((bad = writing_unfit(w[1])) != NULL ||
	    (bad = writing_unfit(w[2])) != NULL ||
	    (bad = check_source(w[1])) != NULL ||
	    (bad = check_guest(w[2])) != NULL) {
		remark(in->fs, o, w, bad);
		return;
	}
	if (strncmp(o->name, "--dev", 5) == 0)
		remark(in->fs, o, w, "devices in it need device = each");
	if (strcmp(w[1], w[2]) == 0)
		writing_line(in->fs, "%s = %s", o->text, writing_word(a, w[1]));
	else
		writing_line(in->fs, "%s = %s -> %s", o->text,
		    writing_word(a, w[1]), writing_word(b, w[2]));
}

static void
place_line(struct import *in, const struct option *o, char *const *w)
{
	char a[VALUE_MAX_LEN], b[VALUE_MAX_LEN];
	const char *at = w[o->fate == FATE_LINK ? 2 : 1], *bad;

	if ((bad = writing_unfit(at)) != NULL ||
	    (bad = check_guest(at)) != NULL ||
	    (o->fate == FATE_LINK && (bad = writing_unfit(w[1])) != NULL))
		remark(in->fs, o, w, bad);
	else if (o->fate == FATE_LINK)
		writing_line(in->fs, "symlink = %s -> %s", writing_word(a, at),
		    writing_word(b, w[1]));
	else
		writing_line(in->fs, "tmpfs = %s%s%s", writing_word(a, at),
		    in->size[0] != '\0' ? " size=" : "", in->size);
	in->size[0] = '\0';
}

/* For the tmpfs that comes next. */
static void
size_word(struct import *in, const struct option *o, char *const *w)
{
	unsigned long long n;

	errno = 0;
	n = strtoull(w[1], NULL, 10);
	in->size[0] = '\0';
	if (w[1][strspn(w[1], "0123456789")] != '\0' || errno != 0 ||
	    n < TMPFS_SIZE_MIN || n > TMPFS_SIZE_MAX)
		remark(in->fs, o, w, "a tmpfs has 4K to 1024G");
	else
		snprintf(in->size, sizeof(in->size), "%llu", n);
}

static const struct option *
find_option(const char *name)
{
	const struct option *o;

	for (o = options; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

/* 1 if an option behind this --setenv has the last word on its name. */
static int
is_undone(const struct option *o, char *const *w)
{
	const char *name = w[1];
	unsigned i;

	for (;;) {
		for (i = 0; i <= o->words; i++)
			if (*w++ == NULL)
				return 0;
		if (*w == NULL || (o = find_option(*w)) == NULL)
			return 0;
		if (o->fate == FATE_EMPTY ||
		    ((o->fate == FATE_SET || strcmp(*w, "--unsetenv") == 0) &&
			w[1] != NULL && strcmp(w[1], name) == 0))
			return 1;
	}
}

static void
set_line(struct import *in, const struct option *o, char *const *w)
{
	const struct code_name *code;
	char why[128];

	if (is_undone(o, w)) {
		remark(in->env, o, w, "an option behind it counts");
		return;
	}
	if (owned_find(w[1]) != NULL) {
		remark(in->env, o, w, "the name is carrel's own");
		return;
	}
	if ((code = variable_code(w[1], ENV_SET)) != NULL) {
		snprintf(why, sizeof(why), "is code: %s", code->why);
		remark(in->env, o, w, why);
		return;
	}
	if (variable_name_bad(w[1], strlen(w[1])) != NULL ||
	    strlen(w[2]) > VALUE_MAX_LEN || text_unsafe(w[2], strlen(w[2])) ||
	    !text_utf8(w[2], strlen(w[2]))) {
		remark(in->env, o, w, "no profile can set this");
		return;
	}
	writing_line(in->env, "%s = %s", w[1], w[2]);
	in->nset++;
}

static void
take(struct import *in, const struct option *o, char *const *w)
{
	switch (o->fate) {
	case FATE_BIND:
		bind_line(in, o, w);
		break;
	case FATE_LINK:
	case FATE_TMPFS:
		place_line(in, o, w);
		break;
	case FATE_OWN:
		if (strcmp(w[1], o->text) != 0)
			remark(in->fs, o, w, "it is at its own place alone");
		break;
	case FATE_SIZE:
		size_word(in, o, w);
		break;
	case FATE_SET:
		set_line(in, o, w);
		break;
	case FATE_NET_OFF:
	case FATE_NET_ON:
		in->offline = o->fate == FATE_NET_OFF;
		break;
	case FATE_EMPTY:
		in->cleared = 1;
		break;
	case FATE_HAVE:
		break;
	case FATE_SAY:
		remark(in->fs, o, w, o->text);
		break;
	}
}

/* Reads the options. Returns where the command begins. */
static char *const *
read_words(struct import *in, char *const *w)
{
	const struct option *o;
	unsigned i;

	for (; *w != NULL && strncmp(*w, "--", 2) == 0; w += 1 + o->words) {
		if (strcmp(*w, "--") == 0)
			return w + 1;
		if ((o = find_option(*w)) == NULL)
			fatal("\"%s\" is no option of bubblewrap that carrel "
			      "knows; leave it out",
			    SHOWN(*w));
		for (i = 1; i <= o->words; i++)
			if (w[i] == NULL)
				fatal("\"%s\" needs %u words behind it",
				    o->name, o->words);
		take(in, o, w);
	}
	return w;
}

static void
print(const struct import *in, char *const *command)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		fatal("out of memory");
	fprintf(f, "; As bubblewrap was told. Save it as NAME.profile in\n"
		   "; ~/.config/carrel/profiles.d, look at it with\n"
		   "; carrel profile validate NAME, and use it with\n"
		   "; carrel run --no-defaults -p NAME -- COMMAND\n");
	if (*command != NULL)
		writing_line(f, "; of which the command was %s", *command);
	fprintf(f,
	    "\n[profile]\ndescription = imported from bubblewrap\n%s"
	    "\n[fs]\n%s",
	    in->offline ? "" : "tier = unrestricted\n", in->fs_text);
	if (in->nset > 0 || in->env_len > 0)
		fprintf(f, "\n[environ.set]\n%s", in->env_text);
	if (!in->cleared)
		fprintf(f, "\n; bubblewrap passes the whole environment on; "
			   "here each variable is named:\n; [environ.inherit]\n"
			   "; NAME = yes\n");
	if (!in->offline)
		fprintf(f, "\n; the network was the host's; here it is every "
			   "public host, nothing private\n[egress]\n"
			   "allow = *\n");
	if (fclose(f) == EOF)
		fatal("out of memory");
	out_write(text, len);
	free(text);
}

int
import_bwrap(char *const *words)
{
	struct import in = {.nset = 0};
	char *const *command;

	in.fs = open_memstream(&in.fs_text, &in.fs_len);
	in.env = open_memstream(&in.env_text, &in.env_len);
	if (in.fs == NULL || in.env == NULL)
		fatal("out of memory");
	command = read_words(&in, words);
	if (fclose(in.fs) == EOF || fclose(in.env) == EOF)
		fatal("out of memory");
	print(&in, command);
	free(in.fs_text);
	free(in.env_text);
	return 0;
}
