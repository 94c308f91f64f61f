#include <stdio.h>
#include <string.h>

#include "expand.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "place.h"

#define NAME_SHOWN   64 /* of a name in braces that is none */
#define PLACEHOLDERS "{home} {target} {target-parent} {user} {uid} {tmp}"

enum name {
	NAME_HOME,
	NAME_TARGET,
	NAME_PARENT,
	NAME_USER,
	NAME_UID,
	NAME_TMP
};

static const char *const names[] = {
    [NAME_HOME] = "{home}",
    [NAME_TARGET] = "{target}",
    [NAME_PARENT] = "{target-parent}",
    [NAME_USER] = "{user}",
    [NAME_UID] = "{uid}",
    [NAME_TMP] = "{tmp}",
};

/* The placeholder at p, or -1. */
static int
name_at(const char *p)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(p, names[i], strlen(names[i])) == 0)
			return (int)i;
	return -1;
}

int
expand_check(const struct place *at, uint32_t line, const char *text)
{
	const char *p = text, *end;
	int i;

	while (*(p += strcspn(p, "{}")) != '\0') {
		if ((i = name_at(p)) != -1) {
			p += strlen(names[i]);
			continue;
		}
		end = strchr(p, '}');
		if (*p == '}' || end == NULL ||
		    memchr(p + 1, '{', (size_t)(end - p)) != NULL)
			return place_refuse(at, line,
			    "grant the directory above it; a path with a brace "
			    "cannot be written",
			    "\"%s\" holds a brace that belongs to no "
			    "placeholder",
			    SHOWN(text));
		return place_refuse(at, line, "use one of " PLACEHOLDERS,
		    "\"%.*s\" in \"%s\" is not a placeholder",
		    (int)(end - p < NAME_SHOWN ? end + 1 - p : NAME_SHOWN), p,
		    SHOWN(text));
	}
	return 0;
}

/* What it stands for, in buf or the caller; NULL if it has no value. */
static const char *
value_of(int name, const struct caller *c, enum expand_side side, char *buf,
    size_t cap)
{
	const char *slash;

	switch (name) {
	case NAME_HOME:
		return side == EXPAND_GUEST ? c->guest_home : c->home;
	case NAME_TARGET:
		return c->target[0] == '\0' ? NULL : c->target;
	case NAME_PARENT:
		if ((slash = strrchr(c->target, '/')) == NULL)
			return NULL;
		if (slash == c->target)
			return "/";
		snprintf(buf, cap, "%.*s", (int)(slash - c->target), c->target);
		return buf;
	case NAME_USER:
		/* one component of a path, and nothing that leads elsewhere */
		if (c->user[0] == '\0' || strchr(c->user, '/') != NULL ||
		    strcmp(c->user, ".") == 0 || strcmp(c->user, "..") == 0)
			return NULL;
		return c->user;
	case NAME_UID:
		snprintf(buf, cap, "%lu", (unsigned long)c->uid);
		return buf;
	default:
		return "/tmp";
	}
}

static int
no_value(const struct place *at, uint32_t line, const char *text, int name)
{
	if (name == NAME_USER)
		return place_refuse(at, line, "use {uid}",
		    "{user} in \"%s\" has no value: your name cannot be part "
		    "of a path",
		    SHOWN(text));
	return place_refuse(at, line, "name a directory with -C DIR",
	    "%s in \"%s\" has no value: there is no target directory",
	    names[name], SHOWN(text));
}

int
expand_text(const struct place *at, uint32_t line, const char *text,
    const struct caller *c, enum expand_side side, char *buf)
{
	char tmp[PATH_MAX_LEN + 1];
	const char *p = text, *v;
	size_t len = 0, n;
	int name;

	while (*p != '\0') {
		if ((name = *p == '{' ? name_at(p) : -1) == -1) {
			v = p;
			n = 1 + strcspn(p + 1, "{");
			p += n;
		} else {
			v = value_of(name, c, side, tmp, sizeof(tmp));
			if (v == NULL)
				return no_value(at, line, text, name);
			p += strlen(names[name]);
			n = strlen(v);
			if (strcmp(v, "/") == 0 && *p == '/')
				n = 0;
		}
		if (n > VALUE_MAX_LEN - len)
			return place_refuse(at, line, "use a shorter path",
			    "\"%s\" is too long when its placeholders are "
			    "filled in",
			    SHOWN(text));
		memcpy(buf + len, v, n);
		len += n;
	}
	buf[len] = '\0';
	return 0;
}

/* The text without "//", "/." and a '/' at its end; "/" if nothing is left. */
static void
tidy(const char *p, char *out)
{
	const char *start = out;
	size_t n;

	while (*p != '\0') {
		if (*p == '/' &&
		    (p[1] == '/' || p[1] == '\0' ||
			(p[1] == '.' && (p[2] == '/' || p[2] == '\0')))) {
			p += p[1] == '.' ? 2 : 1;
			continue;
		}
		n = 1 + strcspn(p + 1, "/");
		memcpy(out, p, n);
		out += n;
		p += n;
	}
	if (out == start)
		*out++ = '/';
	*out = '\0';
}

static int
refuse_path(
    const struct place *at, uint32_t line, const char *text, const char *path)
{
	char clean[VALUE_MAX_LEN + 1], spelled[VALUE_MAX_LEN + 1];
	char fix[FIX_MAX_LEN] = "";

	if (path[0] != '/') {
		if (strncmp(text, "~/", 2) == 0)
			text_add(fix, sizeof(fix), "write \"{home}%s\"",
			    SHOWN(text + 1));
		else if (strcmp(text, "~") == 0)
			text_add(fix, sizeof(fix), "write {home}");
		if (fix[0] == '\0')
			text_add(fix, sizeof(fix),
			    "write a path that begins with \"/\" or a "
			    "placeholder");
		return place_refuse(at, line, fix,
		    "\"%s\" is not an absolute path", SHOWN(text));
	}
	tidy(path, clean);
	if (path_clean(clean)) {
		/* as it was written, unless the placeholders made it so */
		tidy(text, spelled);
		text_add(fix, sizeof(fix), "write \"%s\"",
		    SHOWN(strcmp(spelled, text) == 0 ? clean : spelled));
	}
	if (fix[0] == '\0')
		text_add(fix, sizeof(fix),
		    "write the path itself, without \"..\", of at most %d "
		    "bytes, with components of at most %d",
		    PATH_MAX_LEN, COMPONENT_MAX);
	return place_refuse(
	    at, line, fix, "\"%s\" is not a clean path", SHOWN(path));
}

int
expand_path(const struct place *at, uint32_t line, const char *text,
    const struct caller *c, enum expand_side side, char *buf)
{
	if (expand_text(at, line, text, c, side, buf) == -1)
		return -1;
	if (!path_clean(buf))
		return refuse_path(at, line, text, buf);
	return 0;
}
