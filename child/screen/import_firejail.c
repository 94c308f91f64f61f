#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"
#include "ipc/check.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "ipc/variables.h"
#include "out.h"
#include "writing.h"

#define TWICE "it stands a second time"

/* What becomes of a line of firejail-profile(5). */
enum fate {
	FATE_SHOW, /* a path that is shown; firejail shows it for writing */
	FATE_READ, /* a path that is only read */
	FATE_HIDE, /* a path that is not shown, which is so anyway */
	FATE_TMPFS,
	FATE_BIND,  /* SOURCE,PLACE */
	FATE_LIST,  /* names in the directory text */
	FATE_LIMIT, /* of the key text */
	FATE_TIME,  /* wall time, as H:M:S */
	FATE_SET,   /* NAME=VALUE */
	FATE_NET,
	FATE_PROTOCOL,
	FATE_PRIVATE, /* the home is empty */
	FATE_HAVE,    /* carrel does so in any case */
	FATE_SAY      /* it cannot be said */
};

static const struct directive {
	const char *name;
	enum fate fate;
	const char *text; /* the key or directory, or the remark */
} directives[] = {
    {"whitelist", FATE_SHOW, ""},
    {"read-write", FATE_SHOW, ""},
    {"whitelist-ro", FATE_READ, ""},
    {"read-only", FATE_READ, ""},
    {"blacklist", FATE_HIDE, ""},
    {"blacklist-nolog", FATE_HIDE, ""},
    {"noblacklist", FATE_HAVE, ""},
    {"nowhitelist", FATE_HAVE, ""},
    {"noread-only", FATE_HAVE, ""},
    {"tmpfs", FATE_TMPFS, ""},
    {"bind", FATE_BIND, ""},
    {"private-bin", FATE_SAY,
	"every program of @sys is there; see interpreter in [exec]"},
    {"private-etc", FATE_LIST, "/etc"},
    {"private-opt", FATE_LIST, "/opt"},
    {"private-srv", FATE_LIST, "/srv"},
    {"private", FATE_PRIVATE, ""},
    {"private-home", FATE_SAY, "name each path of the home for reading"},
    {"private-lib", FATE_SAY, "the libraries are those of @sys"},
    {"private-tmp", FATE_HAVE, ""},
    {"private-dev", FATE_HAVE, ""},
    {"private-cache", FATE_HAVE, ""},
    {"private-cwd", FATE_SAY, "name the directory with carrel run -C"},
    {"rlimit-nofile", FATE_LIMIT, "open-files"},
    {"rlimit-nproc", FATE_LIMIT, "processes"},
    {"rlimit-fsize", FATE_LIMIT, "file-size"},
    {"rlimit-as", FATE_LIMIT, "memory"},
    {"rlimit-cpu", FATE_LIMIT, "cpu-time"},
    {"rlimit-sigpending", FATE_SAY, "there is no such limit"},
    {"timeout", FATE_TIME, "wall-time"},
    {"env", FATE_SET, ""},
    {"rmenv", FATE_HAVE, ""},
    {"net", FATE_NET, ""},
    {"protocol", FATE_PROTOCOL, ""},
    {"caps", FATE_HAVE, ""},
    {"caps.drop", FATE_HAVE, ""},
    {"caps.keep", FATE_SAY, "a payload has no capability"},
    {"nonewprivs", FATE_HAVE, ""},
    {"noroot", FATE_HAVE, ""},
    {"nogroups", FATE_SAY, "the payload has the caller's groups"},
    {"ipc-namespace", FATE_HAVE, ""},
    {"restrict-namespaces", FATE_HAVE, ""},
    {"disable-mnt", FATE_HAVE, ""},
    {"machine-id", FATE_HAVE, ""},
    {"keep-config-pulse", FATE_HAVE, ""},
    {"shell", FATE_HAVE, ""},
    {"quiet", FATE_HAVE, ""},
    {"no3d", FATE_HAVE, ""},
    {"nodvd", FATE_HAVE, ""},
    {"noinput", FATE_HAVE, ""},
    {"noprinters", FATE_HAVE, ""},
    {"nosound", FATE_HAVE, ""},
    {"notpm", FATE_HAVE, ""},
    {"notv", FATE_HAVE, ""},
    {"nou2f", FATE_HAVE, ""},
    {"novideo", FATE_HAVE, ""},
    {"nodbus", FATE_HAVE, ""},
    {"dbus-user", FATE_SAY, "no bus is there, unless a socket is granted"},
    {"dbus-system", FATE_SAY, "no bus is there, unless a socket is granted"},
    {"dbus-user.talk", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-user.own", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-user.call", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-user.broadcast", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-system.talk", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-system.own", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-system.call", FATE_SAY, "a bus cannot be shown in part"},
    {"dbus-system.broadcast", FATE_SAY, "a bus cannot be shown in part"},
    {"x11", FATE_SAY, "no display is there, unless a socket is granted"},
    {"seccomp", FATE_HAVE, ""},
    {"seccomp.block-secondary", FATE_HAVE, ""},
    {"seccomp.32", FATE_HAVE, ""},
    {"seccomp.drop", FATE_SAY, "carrel has a filter of its own"},
    {"seccomp.keep", FATE_SAY, "carrel has a filter of its own"},
    {"seccomp-error-action", FATE_SAY, "carrel has a filter of its own"},
    {"memory-deny-write-execute", FATE_SAY, "memory may be executed"},
    {"noexec", FATE_SAY, "name what may be executed in [exec]"},
    {"apparmor", FATE_SAY, "no label is set"},
    {"apparmor-replace", FATE_SAY, "no label is set"},
    {"allow-debuggers", FATE_SAY, "see carrel run --allow-ptrace"},
    {"allusers", FATE_SAY, "the homes of others are not there"},
    {"keep-dev-shm", FATE_SAY, "/dev/shm is the sandbox's own"},
    {"keep-var-tmp", FATE_SAY, "/var/tmp is the sandbox's own"},
    {"writable-etc", FATE_SAY, "/etc is made of what is granted"},
    {"writable-var", FATE_SAY, "/var is made of what is granted"},
    {"writable-run-user", FATE_SAY, "there is no such directory"},
    {"mkdir", FATE_SAY, "make it on the host: a grant makes nothing"},
    {"mkfile", FATE_SAY, "make it on the host: a grant makes nothing"},
    {"include", FATE_SAY, "it is not read: import that file as well"},
    {"ignore", FATE_SAY, "nothing subtracts: take the line out"},
    {"name", FATE_SAY, "a run has no name of its own"},
    {"join-or-start", FATE_SAY, "a run cannot be joined"},
    {"hostname", FATE_SAY, "the name inside is \"carrel\""},
    {"hosts-file", FATE_SAY, "/etc/hosts is carrel's"},
    {"dns", FATE_SAY, "names are looked up outside"},
    {"netfilter", FATE_SAY, "name each host in [egress]"},
    {"netfilter6", FATE_SAY, "name each host in [egress]"},
    {"interface", FATE_SAY, "name each host in [egress]"},
    {"ip", FATE_SAY, "name each host in [egress]"},
    {"ip6", FATE_SAY, "name each host in [egress]"},
    {"nice", FATE_SAY, "start carrel with nice(1)"},
    {"cpu", FATE_SAY, "see cpu in [limits], or taskset(1)"},
    {"tracelog", FATE_SAY, "see report in [audit]"},
    {"deterministic-exit-code", FATE_HAVE, ""},
    {"deterministic-shutdown", FATE_HAVE, ""},
    {NULL, 0, NULL},
};

/* A path as the profile will have it, and what is done with it. */
struct shown {
	char *path; /* may begin with {home} */
	enum fate fate;
};

struct firejail {
	FILE *fs, *env, *limits, *say;
	char *text[4];
	size_t len[4], nset, nlimits;
	struct shown *list;
	size_t n;
	int offline, no_unix, private, home; /* home: a part of it is shown */
	unsigned line;
};

static void
remark(struct firejail *f, const char *what, const char *why)
{
	writing_line(f->say, "; line %u: %s: %s", f->line, what, why);
}

/* Of "~/x" and "${HOME}/x" what follows the home; NULL if it is neither. */
static const char *
below_home(const char *s)
{
	size_t n = strncmp(s, "${HOME}", 7) == 0 ? 7 : s[0] == '~' ? 1 : 0;

	return n > 0 && (s[n] == '/' || s[n] == '\0') ? s + n : NULL;
}

/* The path that a word means, or NULL and why there is none. */
static char *
place(const char *word, const char **why)
{
	char buf[VALUE_MAX_LEN], at[VALUE_MAX_LEN];
	const char *below = below_home(word);
	int home = below != NULL, n;

	if (strlen(word) > VALUE_MAX_LEN / 2 - 32) {
		*why = "is too long";
		return NULL;
	}
	snprintf(buf, sizeof(buf), "%s", home ? below : word);
	while (strlen(buf) > 1 && buf[strlen(buf) - 1] == '/')
		buf[strlen(buf) - 1] = '\0';
	if (home && (buf[0] == '\0' || strcmp(buf, "/") == 0)) {
		*why = "that is all of the home: name the parts of it";
		return NULL;
	}
	if (strpbrk(buf, "*?[$") != NULL) {
		*why = "a pattern or a name of firejail's: write each path";
		return NULL;
	}
	if ((*why = writing_unfit(buf)) != NULL ||
	    (*why = check_source(buf)) != NULL)
		return NULL;
	n = snprintf(at, sizeof(at), "%s%s", home ? "{home}" : "", buf);
	if (n < 0 || (size_t)n >= sizeof(at)) {
		*why = "is too long";
		return NULL;
	}
	return strdup(at);
}

static void
keep(struct firejail *f, enum fate fate, char *path)
{
	struct shown *s = grow(f->list, f->n, sizeof(*s));

	if (s == NULL || path == NULL)
		fatal("out of memory");
	f->list = s;
	s[f->n].path = path;
	s[f->n++].fate = fate;
	f->home |= strncmp(path, "{home}", 6) == 0 && fate != FATE_HIDE;
}

static void
take_path(struct firejail *f, const struct directive *d, const char *word,
    const char *line)
{
	const char *why;
	char *path;

	path = place(word, &why);
	if (path != NULL)
		keep(f, d->fate, path);
	/* what cannot be named is not there, and so it is hidden */
	else if (d->fate != FATE_HIDE)
		remark(f, line, why);
}

/* Of these a run has files of its own. */
static int
is_made(const char *path)
{
	static const char *const made[] = {"/etc/passwd", "/etc/group",
	    "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"};
	size_t i;

	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (strcmp(made[i], path) == 0)
			return 1;
	return 0;
}

static void
take_list(struct firejail *f, const struct directive *d, char *words,
    const char *line)
{
	char path[VALUE_MAX_LEN], *name, *save = NULL;

	for (name = strtok_r(words, ",", &save); name != NULL;
	     name = strtok_r(NULL, ",", &save)) {
		snprintf(path, sizeof(path), "%s/%s", d->text, name);
		if (is_made(path))
			continue;
		take_path(
		    f, &(struct directive){"", FATE_READ, ""}, path, line);
	}
}

static void
take_bind(struct firejail *f, char *words, const char *line)
{
	char a[WRITING_WORD], b[WRITING_WORD], *to = strchr(words, ',');
	const char *why = "it needs SOURCE,PLACE";
	char *from = NULL, *at = NULL;

	if (to != NULL) {
		*to++ = '\0';
		if ((from = place(words, &why)) != NULL &&
		    (at = place(to, &why)) != NULL &&
		    (at[0] != '/' || (why = check_guest(at)) == NULL))
			writing_line(f->fs, "try-write = %s -> %s",
			    writing_word(a, from), writing_word(b, at));
		else
			to = NULL;
	}
	if (to == NULL)
		remark(f, line, why);
	free(from);
	free(at);
}

/* 1 if [limits] takes the number with that unit behind it. */
static int
in_range(const char *key, uint64_t n, const char *unit)
{
	struct rule r = {.kind = RULE_LIMIT, .what = 1};
	const struct rule_suffix *u;
	uint64_t min, max;

	while (r.what <= LIMIT_LAST && strcmp(rule_key(&r), key) != 0)
		r.what++;
	if (r.what > LIMIT_LAST)
		return 0;
	rule_range(r.what, &min, &max);
	u = rule_suffixes(r.what);
	while (u->suffix != NULL && strcmp(u->suffix, unit) != 0)
		u++;
	return u->suffix != NULL && n <= max / u->times && n * u->times >= min;
}

/* 1 if a line "key = " stands there: a profile has one, and it counts. */
static int
has_line(FILE *to, char *const *text, const char *key)
{
	size_t n = strlen(key);
	const char *s;

	if (fflush(to) == EOF)
		fatal("out of memory");
	for (s = *text; s != NULL && *s != '\0'; s += *s == '\n') {
		if (strncmp(s, key, n) == 0 && strncmp(s + n, " = ", 3) == 0)
			return 1;
		s += strcspn(s, "\n");
	}
	return 0;
}

static void
take_limit(struct firejail *f, const struct directive *d, const char *word,
    const char *line)
{
	const char *unit = strcmp(d->text, "cpu-time") == 0 ? "s" : "";
	size_t n = strlen(word);

	if (n == 0 || n > 15 || strspn(word, "0123456789") != n ||
	    word[0] == '0' ||
	    !in_range(d->text, strtoull(word, NULL, 10), unit)) {
		remark(f, line, "it is no number that [limits] takes");
		return;
	}
	if (has_line(f->limits, &f->text[2], d->text)) {
		remark(f, line, TWICE);
		return;
	}
	writing_line(f->limits, "%s = %s%s", d->text, word, unit);
	f->nlimits++;
}

static void
take_time(struct firejail *f, const char *word, const char *line)
{
	unsigned h, m, s;
	char rest;

	if (sscanf(word, "%2u:%2u:%2u%c", &h, &m, &s, &rest) != 3 ||
	    !in_range("wall-time", h * 3600 + m * 60 + s, "s")) {
		remark(f, line, "it is no time");
		return;
	}
	if (has_line(f->limits, &f->text[2], "wall-time")) {
		remark(f, line, TWICE);
		return;
	}
	writing_line(f->limits, "wall-time = %us", h * 3600 + m * 60 + s);
	f->nlimits++;
}

static void
take_set(struct firejail *f, char *word, const char *line)
{
	char *value = strchr(word, '=');
	size_t n;

	if (value != NULL)
		*value++ = '\0';
	n = value != NULL ? strlen(value) : 0;
	if (value == NULL || variable_name_bad(word, strlen(word)) != NULL ||
	    owned_find(word) != NULL || n > VALUE_MAX_LEN / 2 ||
	    text_unsafe(value, n) || !text_utf8(value, n)) {
		remark(f, line, "no profile can set this");
		return;
	}
	if (variable_code(word, ENV_SET) != NULL ||
	    has_line(f->env, &f->text[1], word)) {
		remark(f, line,
		    variable_code(word, ENV_SET) != NULL
			? "its value is code, and only the host's profiles set "
			  "such a one"
			: TWICE);
		return;
	}
	writing_line(f->env, "%s = %s", word, value);
	f->nset++;
}

static void
take_protocol(struct firejail *f, const char *words)
{
	f->no_unix |= strstr(words, "unix") == NULL;
	f->offline |= strstr(words, "inet") == NULL;
}

static void
take(
    struct firejail *f, const struct directive *d, char *rest, const char *line)
{
	switch (d->fate) {
	case FATE_SHOW:
	case FATE_READ:
	case FATE_HIDE:
	case FATE_TMPFS:
		take_path(f, d, rest, line);
		break;
	case FATE_LIST:
		take_list(f, d, rest, line);
		break;
	case FATE_BIND:
		take_bind(f, rest, line);
		break;
	case FATE_LIMIT:
		take_limit(f, d, rest, line);
		break;
	case FATE_TIME:
		take_time(f, rest, line);
		break;
	case FATE_SET:
		take_set(f, rest, line);
		break;
	case FATE_NET:
		if (strcmp(rest, "none") == 0)
			f->offline = 1;
		else
			remark(f, line, "name each host in [egress]");
		break;
	case FATE_PROTOCOL:
		take_protocol(f, rest);
		break;
	case FATE_PRIVATE:
		f->private = 1;
		if (rest[0] != '\0')
			remark(f, line, "name what is to be its home");
		break;
	case FATE_HAVE:
		break;
	case FATE_SAY:
		remark(f, line, d->text);
		break;
	}
}

/* One line; it is changed. */
static void
take_line(struct firejail *f, char *s)
{
	const struct directive *d;
	char *rest, whole[TEXT_SHOWN_MAX + 1];
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]) != NULL;)
		s[--n] = '\0';
	if (n == 0 || s[0] == '#')
		return;
	snprintf(whole, sizeof(whole), "%s", SHOWN(s));
	if (s[0] == '?') {
		remark(f, whole, "carrel has no such conditions");
		return;
	}
	rest = s + strcspn(s, " \t");
	if (*rest != '\0')
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	for (d = directives; d->name != NULL; d++)
		if (strcmp(d->name, s) == 0)
			break;
	if (d->name == NULL)
		fatal("line %u: \"%s\" is nothing of firejail's that carrel "
		      "knows; take the line out",
		    f->line, SHOWN(s));
	take(f, d, rest, whole);
}

/* What @sys shows, without which nothing runs. */
static int
is_of_sys(const char *path)
{
	static const char *const sys[] = {
	    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
	size_t i;

	for (i = 0; i < sizeof(sys) / sizeof(sys[0]); i++)
		if (path_covers(sys[i], path))
			return 1;
	return 0;
}

/* The first of these fates that covers the path, or NULL. */
static const struct shown *
covering(const struct firejail *f, const char *path, enum fate fate)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->list[i].fate == fate &&
		    path_covers(f->list[i].path, path))
			return &f->list[i];
	return NULL;
}

static void
put_path(struct firejail *f, const struct shown *s)
{
	char buf[WRITING_WORD];
	const char *key;

	if (s->fate == FATE_HIDE) {
		if (is_of_sys(s->path) ||
		    covering(f, s->path, FATE_SHOW) != NULL ||
		    covering(f, s->path, FATE_READ) != NULL)
			writing_line(f->say,
			    "; blacklist %s: what holds it is shown, and "
			    "nothing subtracts",
			    s->path);
		return;
	}
	if (s->fate == FATE_TMPFS) {
		writing_line(f->fs, "tmpfs = %s", writing_word(buf, s->path));
		return;
	}
	/* there already, and read-only */
	if (is_of_sys(s->path))
		return;
	/* the narrower of the two counts */
	if (s->fate == FATE_SHOW && covering(f, s->path, FATE_READ) != NULL)
		return;
	key = s->fate == FATE_SHOW ? "try-write" : "try-read";
	writing_line(f->fs, "%s = %s", key, writing_word(buf, s->path));
}

static void
print(struct firejail *f, const char *name)
{
	char *text;
	size_t len, i;
	FILE *o;

	for (i = 0; i < f->n; i++)
		put_path(f, &f->list[i]);
	if (fclose(f->fs) == EOF || fclose(f->env) == EOF ||
	    fclose(f->limits) == EOF || fclose(f->say) == EOF ||
	    (o = open_memstream(&text, &len)) == NULL)
		fatal("out of memory");
	writing_line(o, "; What firejail was told in %s.", name);
	fprintf(o,
	    "; Save it as NAME.profile in ~/.config/carrel/profiles.d, look "
	    "at\n"
	    "; it with carrel profile validate NAME, and use it with\n"
	    "; carrel run -p NAME -- COMMAND. firejail shows the host but for\n"
	    "; what is taken away; here nothing is there but what is named: "
	    "the\n"
	    "; system by @sys, an empty home, the directory where you start "
	    "it.\n"
	    "%s\n[profile]\ndescription = imported from firejail\n%s\n[fs]\n%s",
	    f->text[3], f->offline ? "" : "tier = unrestricted\n", f->text[0]);
	if (!f->private && !f->home)
		fprintf(o, "; the home was shown as a whole: name what is "
			   "needed of it, see carrel learn\n");
	if (f->nset > 0)
		fprintf(o, "\n[environ.set]\n%s", f->text[1]);
	fprintf(o, "\n; firejail passes the whole environment on; here each "
		   "variable is named:\n; [environ.inherit]\n; NAME = yes\n");
	if (!f->offline)
		fprintf(o, "\n; the network was the host's; here it is every "
			   "public host, nothing private\n[egress]\n"
			   "allow = *\n");
	if (f->no_unix)
		fprintf(o, "\n[exec]\nunix = no\n");
	if (f->nlimits > 0)
		fprintf(o, "\n[limits]\n%s", f->text[2]);
	if (fclose(o) == EOF)
		fatal("out of memory");
	out_write(text, len);
	free(text);
}

/* All of a regular file of the user's choice, with a NUL behind it. */
static char *
slurp(const char *name)
{
	char *text = malloc(FILE_MAX_LEN + 1);
	struct stat st;
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	if (text == NULL)
		fatal("out of memory");
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1)
		fatal("%s: %s; name a profile of firejail", SHOWN(name),
		    strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_LEN)
		fatal("%s is no file, or longer than %d bytes; name a profile "
		      "of firejail",
		    SHOWN(name), FILE_MAX_LEN);
	while (len < FILE_MAX_LEN &&
	       (n = read(fd, text + len, FILE_MAX_LEN - len)) > 0)
		len += (size_t)n;
	close(fd);
	if (n == -1)
		fatal("%s: %s", SHOWN(name), strerror(errno));
	text[len] = '\0';
	if (strlen(text) != len)
		fatal(
		    "%s holds a NUL; name a profile of firejail", SHOWN(name));
	return text;
}

int
import_firejail(const char *name)
{
	struct firejail f = {.n = 0};
	char *text = slurp(name), *s, *end;
	size_t i;

	f.fs = open_memstream(&f.text[0], &f.len[0]);
	f.env = open_memstream(&f.text[1], &f.len[1]);
	f.limits = open_memstream(&f.text[2], &f.len[2]);
	f.say = open_memstream(&f.text[3], &f.len[3]);
	if (f.fs == NULL || f.env == NULL || f.limits == NULL || f.say == NULL)
		fatal("out of memory");
	for (s = text; *s != '\0'; s = end) {
		end = s + strcspn(s, "\n");
		if (*end != '\0')
			*end++ = '\0';
		f.line++;
		take_line(&f, s);
	}
	print(&f, name);
	for (i = 0; i < f.n; i++)
		free(f.list[i].path);
	free(f.list);
	for (i = 0; i < 4; i++)
		free(f.text[i]);
	free(text);
	return 0;
}
