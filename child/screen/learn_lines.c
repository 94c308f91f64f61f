#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/advice.h"
#include "child/shared/kept.h"
#include "child/shared/survey.h"
#include "host.h"
#include "child/shared/caller.h"
#include "ipc/check.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/reach.h"
#include "learn.h"
#include "writing.h"

#define WHO_SHOWN 4 /* programs that are named for one line */

/* What the lines are made of. */
struct making {
	struct learned *l;
	const struct kept *k;
	const struct learn_place *place;
	struct host host;
	struct caller caller;
};

static char *__attribute__((format(printf, 1, 2))) text(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1)
		fatal("out of memory");
	va_end(ap);
	return s;
}

static struct learn_line *
find(const struct making *m, const char *section, const char *key,
    const char *value)
{
	struct learn_line *l = m->l->lines;
	size_t i;

	for (i = 0; i < m->l->n; i++)
		if (strcmp(l[i].section, section) == 0 &&
		    strcmp(l[i].key, key) == 0 &&
		    strcmp(l[i].value, value) == 0)
			return &l[i];
	return NULL;
}

/* One more reason, if it is none of those that are told. */
static void
add_why(struct learn_line *l, const char *why)
{
	char *old = l->why;
	size_t n = 0;
	const char *p;

	for (p = old; (p = strstr(p, "; ")) != NULL; p += 2)
		n++;
	if (strstr(old, why) != NULL || n + 1 >= WHO_SHOWN)
		return;
	l->why = text("%s; %s", old, why);
	free(old);
}

/* The line of this value, new or not. value becomes its own. */
static struct learn_line *
add(struct making *m, const char *section, const char *key, char *value,
    const char *why, uint64_t times)
{
	struct learn_line *l = find(m, section, key, value);

	if (l != NULL) {
		free(value);
		add_why(l, why);
		l->times += times;
		return l;
	}
	l = grow(m->l->lines, m->l->n, sizeof(*l));
	if (l == NULL)
		fatal("out of memory");
	m->l->lines = l;
	l += m->l->n++;
	memset(l, 0, sizeof(*l));
	l->section = section;
	l->key = key;
	l->value = value;
	l->why = text("%s", why);
	l->times = times;
	return l;
}

/* As a profile names it, so that it is good for another user, too. */
static char *
spelled(const struct making *m, const char *path)
{
	const char *home = m->place->home, *target = m->place->target, *below;
	char buf[WRITING_WORD], at[PATH_MAX_LEN + 16];

	snprintf(at, sizeof(at), "%s", path);
	if (target[0] != '\0' && strcmp(target, "/") != 0 &&
	    (below = path_below(target, path)) != NULL)
		snprintf(at, sizeof(at), "{target}%s", below);
	else if (strcmp(home, "/") != 0 &&
		 (below = path_below(home, path)) != NULL)
		snprintf(at, sizeof(at), "{home}%s", below);
	return text("%s", writing_word(buf, at));
}

/* What a process did about a file that is not there. */
static const char *
deed(const char *action)
{
	static const struct {
		const char *action, *did;
	} deeds[] = {{"look", "looked for it"}, {"read", "opened it"},
	    {"write", "wanted to write it"}, {"exec", "wanted to run it"},
	    {"find", "wanted to run it by its name"},
	    {"connect", "wanted to connect to it"}};
	size_t i;

	for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (strcmp(deeds[i].action, action) == 0)
			return deeds[i].did;
	return action;
}

/* The process and what it did, or the rule that refused, raw. */
static char *
reason(const struct making *m, const struct event *e)
{
	if (event_missing(e))
		return text("%s %s", e->rule, deed(e->action));
	if (e->profile == EVENT_NO_PROFILE)
		return text("%s was refused, no rule allows it", e->action);
	return text("%s was refused by \"%s\" of %s:%u", e->action, e->rule,
	    m->k->profiles[e->profile].name, (unsigned)e->line);
}

/* Files */

/* What writes a name writes the directory that it is in. */
static int
is_of_parent(const struct event *e)
{
	static const char *const names[] = {
	    "create", "mkdir", "mknod", "symlink", "link", "rename", "remove"};
	size_t i;

	if (event_missing(e))
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(e->action, names[i]) == 0)
			return 1;
	return strcmp(e->action, "bind") == 0;
}

static const char *
key_of(const struct event *e, const char *path, const struct stat *st)
{
	if (path_covers("/dev", path))
		return "device";
	if (st != NULL && S_ISSOCK(st->st_mode))
		return "socket";
	if (!event_missing(e))
		return "write";
	if (strcmp(e->action, "find") == 0)
		return "command";
	return strcmp(e->action, "write") == 0 ? "write" : "read";
}

/* What each program's C library looks for, and does as well without. */
static int
is_idle(const struct event *e)
{
	static const char *const idle[] = {"/etc/locale.alias",
	    "/etc/host.conf", "/etc/gai.conf", "/etc/ld.so.preload"};
	size_t i;

	for (i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (strcmp(e->resource, idle[i]) == 0)
			return event_missing(e);
	return 0;
}

static void
take_fs(struct making *m, const struct event *e)
{
	char path[KEPT_RESOURCE_MAX + 1], *why, *slash;
	struct learn_line *l;
	struct stat st;
	int there;

	if (is_idle(e))
		return;
	/* one that is cut names something else */
	if (strlen(e->resource) >= KEPT_RESOURCE_MAX ||
	    !path_clean(e->resource) || writing_unfit(e->resource) != NULL) {
		why = reason(m, e);
		l = add(m, "fs", "", text("%s", e->resource), why, e->count);
		l->against = "a profile cannot name it so";
		free(why);
		return;
	}
	strcpy(path, e->resource);
	if (is_of_parent(e) && (slash = strrchr(path, '/')) != NULL)
		slash[slash == path] = '\0';
	there = stat(path, &st) == 0;
	why = reason(m, e);
	l = add(m, "fs", key_of(e, path, there ? &st : NULL), spelled(m, path),
	    why, e->count);
	free(why);
	if (strcmp(e->action, "exec") == 0 && !event_missing(e))
		l->against =
		    "[exec] names what may be executed, see carrel why";
	l->is_dir = there && S_ISDIR(st.st_mode);
	l->opened |= strcmp(e->action, "look") != 0;
	if (l->path == NULL)
		l->path = text("%s", path);
}

/* The network */

static void
take_egress(struct making *m, const struct event *e)
{
	char fix[ADVICE_MAX], *why = reason(m, e);
	struct learn_line *l;
	struct address a;
	struct egress eg;
	const char *line = advice_for(e, fix), *word;
	char host[EGRESS_HOST_MAX + 3], *p, *colon;

	if (line == NULL) {
		l = add(
		    m, "egress", "", text("%s", e->resource), why, e->count);
		l->against = "no line allows this";
		free(why);
		return;
	}
	line += strlen("allow = ");
	l = add(m, "egress", "allow", text("%s", line), why, e->count);
	free(why);
	p = strstr(line, "://");
	memset(&eg, 0, sizeof(eg));
	if (p == NULL || strlen(p + 3) >= sizeof(host))
		return;
	strcpy(host, p + 3 + (p[3] == '['));
	if ((colon = strrchr(host, ':')) != NULL)
		*colon = '\0';
	if ((p = strchr(host, ']')) != NULL)
		*p = '\0';
	if (address_read(host, &a) == 0)
		l->against = reach_of(&a, &word) == REACH_PUBLIC
				 ? "an address: does it belong to a name?"
				 : "an address of a private network";
	else if (strstr(line, " private") != NULL)
		l->against = "its address is one of a private network";
}

/* What narrows is changed where it is said, and no other profile widens it. */
static void
take_exec(struct making *m, const struct event *e)
{
	char *why = reason(m, e);
	struct learn_line *l;

	l = add(m, "exec", "", text("%s %s", e->action, e->resource), why,
	    e->count);
	l->against = "no other profile can allow it: change that line, if you "
		     "mean it";
	free(why);
}

static void
take_limit(struct making *m, const struct event *e)
{
	char *why = reason(m, e);
	struct learn_line *l;

	l = add(m, "limits", "", text("%s %s", e->action, e->resource), why,
	    e->count);
	l->against = "raise the limit where it is set, if you mean it";
	free(why);
}

/* Judging */

static int
depth(const char *path)
{
	int n = 0;

	for (; *path != '\0'; path++)
		n += *path == '/' && path[1] != '\0';
	return n;
}

static const char *
not_path(struct making *m, const struct learn_line *l)
{
	static const char *const systems[] = {"/usr", "/bin", "/sbin", "/lib",
	    "/lib32", "/lib64", "/libx32", "/etc", "/boot"};
	int writes = strcmp(l->key, "write") == 0, mark;
	const char *bad;
	size_t i;

	if (strcmp(l->key, "device") == 0)
		return check_device(l->path) != NULL
			   ? "no profile can grant it"
			   : "a device is no file: do you mean it?";
	if ((bad = check_source(l->path)) != NULL || path_reserved(l->path))
		return bad != NULL ? bad : "the place is carrel's own";
	mark = host_marks(&m->host, &m->caller, l->path, writes);
	if (path_covers(l->path, m->place->home) ||
	    path_covers(l->path, m->place->home_real))
		return "that is all of the home, with every credential in it";
	if ((mark & HOST_CREDENTIALS) != 0)
		return "there are credentials: what reads them can use them";
	if (strcmp(l->key, "socket") == 0)
		return "whoever answers there acts outside of the sandbox";
	if ((mark & HOST_STARTUP) != 0)
		return "what is written there runs by itself later, outside";
	for (i = 0; writes && i < sizeof(systems) / sizeof(systems[0]); i++)
		if (path_covers(systems[i], l->path))
			return "other programs of this host trust what is "
			       "there";
	if (access(l->path, F_OK) == -1 && errno == ENOENT)
		return "there is nothing of this name on this host";
	if (access(l->path, writes ? W_OK : R_OK) == -1)
		return writes ? "you cannot write it yourself"
			      : "you cannot read it yourself";
	if (l->is_dir && !l->opened)
		return "it was only looked at, and the line would show all "
		       "that is in it";
	return l->is_dir && depth(l->path) < 2
		   ? "that is very much: name the parts that are needed"
		   : NULL;
}

static void
judge(struct making *m)
{
	struct learn_line *l;
	size_t i;

	for (i = 0; i < m->l->n; i++) {
		l = &m->l->lines[i];
		if (l->against == NULL && l->path != NULL)
			l->against = not_path(m, l);
	}
}

/* Merging */

static void
drop(struct making *m, size_t i)
{
	struct learn_line *l = &m->l->lines[i];

	free(l->value);
	free(l->path);
	free(l->why);
	memmove(l, l + 1, (--m->l->n - i) * sizeof(*l));
}

static int
is_read(const struct learn_line *l)
{
	return strcmp(l->key, "read") == 0;
}

static int
is_write(const struct learn_line *l)
{
	return strcmp(l->key, "write") == 0;
}

/* 1 if a gives what b asks for: what is written can be read, too. */
static int
gives(const struct learn_line *a, const struct learn_line *b)
{
	return a->against == NULL && a->path != NULL && b->path != NULL &&
	       (is_write(a) || (is_read(a) && is_read(b))) &&
	       (is_read(b) || is_write(b)) && path_covers(a->path, b->path);
}

/* A directory that was only looked at, on the way to what is in it. */
static int
is_way(const struct learn_line *a, const struct learn_line *b)
{
	return a->is_dir && !a->opened && b->path != NULL &&
	       strcmp(a->path, b->path) != 0 && path_covers(a->path, b->path);
}

static void
drop_covered(struct making *m)
{
	struct learn_line *l;
	size_t i, k;
	int gone;

	for (i = 0; i < m->l->n; i += !gone) {
		l = m->l->lines;
		for (k = gone = 0; k < m->l->n && !gone && l[i].path != NULL;
		     k++)
			gone = k != i &&
			       (gives(&l[k], &l[i]) || is_way(&l[i], &l[k]));
		if (gone)
			drop(m, i);
	}
}

/* How many names the directory has, as far as it is worth counting. */
static size_t
entries(const char *dir)
{
	struct dirent *e;
	size_t n = 0;
	DIR *d = opendir(dir);

	while (d != NULL && n < SOCKET_ENTRIES && (e = readdir(d)) != NULL)
		n +=
		    strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d != NULL)
		closedir(d);
	return n;
}

/* 1 if the line is proposed for something that lies in this directory. */
static int
lies_in(const struct learn_line *l, const struct learn_line *like, size_t len)
{
	return l->against == NULL && l->path != NULL &&
	       strcmp(l->key, like->key) == 0 &&
	       strncmp(l->path, like->path, len) == 0 && l->path[len] == '/' &&
	       strchr(l->path + len + 1, '/') == NULL;
}

/* The directory in the place of many of what is in it, if it may be named. */
static int
merge_into(
    struct making *m, const struct learn_line *like, size_t len, size_t n)
{
	char *dir = text("%.*s", (int)len, like->path), *why;
	struct learn_line probe = {.key = like->key,
			      .path = dir,
			      .is_dir = 1,
			      .opened = 1},
			  *l;
	uint64_t times = 0;
	size_t i;

	if (not_path(m, &probe) != NULL) {
		free(dir);
		return 0;
	}
	for (i = 0; i < m->l->n; i++)
		if (lies_in(&m->l->lines[i], like, len))
			times += m->l->lines[i].times;
	why = text("%zu of the %zu names in it were wanted", n, entries(dir));
	l = add(m, "fs", probe.key, spelled(m, dir), why, times);
	free(why);
	l->is_dir = l->opened = 1;
	l->against = NULL; /* it may have been looked at before */
	if (l->path == NULL)
		l->path = text("%s", dir);
	free(dir);
	return 1;
}

static void
merge(struct making *m)
{
	const struct learn_line *l;
	size_t i, k, n, len;

	for (i = 0; i < m->l->n; i++) {
		l = &m->l->lines[i];
		if (l->against != NULL || l->path == NULL ||
		    (!is_read(l) && !is_write(l)))
			continue;
		len = (size_t)(strrchr(l->path, '/') - l->path);
		for (k = n = 0; k < m->l->n; k++)
			n += lies_in(&m->l->lines[k], l, len) != 0;
		if (len > 0 && n >= LEARN_MANY && merge_into(m, l, len, n)) {
			drop_covered(m);
			i = (size_t)-1; /* once more from the beginning */
		}
	}
}

static int
line_cmp(const void *a, const void *b)
{
	const struct learn_line *x = a, *y = b;
	int n = -strcmp(x->section, y->section);

	if (n == 0)
		n = (x->against != NULL) - (y->against != NULL);
	if (n == 0)
		n = strcmp(x->key, y->key);
	return n != 0 ? n : path_cmp(x->value, y->value);
}

static void
count(struct learned *l)
{
	size_t i;

	if (l->n > 1)
		qsort(l->lines, l->n, sizeof(*l->lines), line_cmp);
	for (i = 0; i < l->n; i++)
		l->proposed += l->lines[i].against == NULL;
}

void
learn_lines(
    struct learned *l, const struct kept *k, const struct learn_place *place)
{
	struct making m = {.l = l, .k = k, .place = place};
	const struct policy none = {.ngrants = 0};
	const struct survey nothing = {.n = 0};
	size_t i;

	memset(l, 0, sizeof(*l));
	m.caller.home = (char *)(uintptr_t)place->home;
	m.caller.home_real = (char *)(uintptr_t)place->home_real;
	m.caller.home_other = (char[]){""};
	m.caller.uid = getuid();
	if (host_init(&m.host, &m.caller, &none) == -1)
		fatal("out of memory");
	host_look(&m.host, &none, &nothing);
	for (i = 0; i < k->nevents; i++)
		switch (k->events[i].surface) {
		case EVENT_FS:
			take_fs(&m, &k->events[i]);
			break;
		case EVENT_EGRESS:
			take_egress(&m, &k->events[i]);
			break;
		case EVENT_EXEC:
			take_exec(&m, &k->events[i]);
			break;
		default:
			take_limit(&m, &k->events[i]);
			break;
		}
	judge(&m);
	drop_covered(&m);
	merge(&m);
	count(l);
	host_free(&m.host);
}

void
learn_free(struct learned *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->lines[i].value);
		free(l->lines[i].path);
		free(l->lines[i].why);
	}
	free(l->lines);
	memset(l, 0, sizeof(*l));
}
