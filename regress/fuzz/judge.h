#ifndef CARREL_FUZZ_JUDGE_H
#define CARREL_FUZZ_JUDGE_H

/*
 * What must hold of every policy that was accepted and of every plan that
 * follows from it, said a second time, in another way and without regard for
 * speed. Shared by the fuzz targets and regress/unit/test_mutate.c.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/plan.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "child/shared/caller.h"
#include "ipc/egress.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/rule.h"

static inline void __attribute__((noreturn))
broken(const char *what, const char *which)
{
	fprintf(stderr, "\nBROKEN: %s: %s\n", what, which);
	abort();
}

static inline char *
judge_copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		abort();
	return p;
}

static inline void
judge_caller(struct caller *c)
{
	memset(c, 0, sizeof(*c));
	c->uid = c->gid = 1000;
	c->user = judge_copy("u");
	c->home = judge_copy("/home/u");
	c->home_real = judge_copy("/home/u");
	c->home_other = judge_copy("");
	c->guest_home = judge_copy("/home/u");
	c->shell = judge_copy("/bin/sh");
	c->cwd = judge_copy("/home/u/proj");
	c->target = judge_copy("/home/u/proj");
	c->term = judge_copy("xterm");
	c->lang = judge_copy("");
	c->tz = judge_copy("");
	c->protect = calloc(2, sizeof(*c->protect));
	if (c->protect == NULL)
		abort();
	c->protect[0].path = judge_copy("/home/u/.config/carrel");
	c->protect[0].make = 1;
	c->protect[1].path = judge_copy("/usr/src/carrel");
	c->nprotect = 2;
}

/* 1 if path is dir or below it, component by component. */
static inline int
is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return 1;
	return strncmp(path, dir, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

static inline int
is_dirty(const char *path)
{
	return path[0] != '/' || strlen(path) > PATH_MAX_LEN ||
	       strstr(path, "//") != NULL || strstr(path, "/./") != NULL ||
	       strstr(path, "/../") != NULL ||
	       (path[1] != '\0' && path[strlen(path) - 1] == '/') ||
	       (strlen(path) >= 2 &&
		   strcmp(path + strlen(path) - 2, "/.") == 0) ||
	       (strlen(path) >= 3 &&
		   strcmp(path + strlen(path) - 3, "/..") == 0);
}

static inline int
is_own(const char *path)
{
	return strcmp(path, "/") == 0 || is_below(path, "/proc") ||
	       is_below(path, "/dev") || is_below(path, "/sys") ||
	       is_below(path, "/run/carrel");
}

/* Two kinds have their place in what is carrel's own. */
static inline int
is_ours(const struct grant *g)
{
	if (g->kind == GRANT_COMMAND)
		return strncmp(g->guest, "/run/carrel/bin/", 16) == 0 &&
		       strchr(g->guest + 16, '/') == NULL;
	return g->kind == GRANT_DEVICE && strncmp(g->guest, "/dev/", 5) == 0 &&
	       strcmp(g->guest, g->source) == 0 &&
	       !is_below(g->guest, "/dev/mem") &&
	       !is_below(g->guest, "/dev/null") &&
	       !is_below(g->guest, "/dev/pts") &&
	       !is_below(g->guest, "/dev/shm");
}

static inline void
judge_grant(const struct policy *po, const struct grant *g)
{
	const struct grant *a, *above = NULL;
	static const int kinds[] = {0, GRANT_BIND, GRANT_BIND, GRANT_BIND,
	    GRANT_BIND, GRANT_TMPFS, GRANT_SYMLINK, GRANT_COMMAND, GRANT_SOCKET,
	    GRANT_DEVICE};
	int write = 0, must = 0, v;
	size_t i;

	if (is_dirty(g->guest) || (is_own(g->guest) && !is_ours(g)))
		broken("guest", g->guest);
	if (g->kind < GRANT_BIND || g->kind > GRANT_DEVICE ||
	    (g->flags & ~0x0b) != 0 || (g->flags & 9) == 8 || g->norigins < 1)
		broken("grant", g->guest);
	if ((g->kind == GRANT_BIND || g->kind == GRANT_COMMAND ||
		g->kind == GRANT_SOCKET) &&
	    (is_dirty(g->source) || strcmp(g->source, "/") == 0 ||
		is_below(g->source, "/proc") || is_below(g->source, "/sys") ||
		is_below(g->source, "/dev") || g->size != 0))
		broken("source", g->source);
	if (g->kind != GRANT_BIND && g->flags != 0)
		broken("flags", g->guest);
	if (g->kind == GRANT_TMPFS && (g->size < 4096 || g->size > 1ULL << 40))
		broken("size", g->guest);
	for (i = 0; i < g->norigins; i++) {
		v = g->origins[i].verb;
		if (g->origins[i].profile >= po->nprofiles || v < 1 || v > 9 ||
		    g->kind != kinds[v])
			broken("claim", g->guest);
		if ((g->kind == GRANT_SOCKET || g->kind == GRANT_DEVICE) &&
		    po->profiles[g->origins[i].profile].name[0] == '@')
			broken("a shipped profile's", g->guest);
		write |= v == VERB_WRITE || v == VERB_TRY_WRITE;
		must |= v == VERB_READ || v == VERB_WRITE;
	}
	if (g->kind == GRANT_BIND &&
	    (g->flags & 3) !=
		(write ? GRANT_WRITE : 0) + (must ? 0 : GRANT_TRY))
		broken("nobody asked for that", g->guest);
	for (i = 0; i < po->ngrants; i++) {
		a = &po->grants[i];
		if (a == g)
			continue;
		if (strcmp(a->guest, g->guest) == 0)
			broken("two claims", g->guest);
		if (is_below(g->guest, a->guest) &&
		    (above == NULL || strlen(a->guest) > strlen(above->guest)))
			above = a;
	}
	if (above == NULL || above->kind == GRANT_TMPFS)
		return;
	if (above->kind != GRANT_BIND ||
	    (g->kind != GRANT_BIND && g->kind != GRANT_SOCKET) ||
	    !is_below(g->source, above->source) ||
	    strcmp(g->source + strlen(above->source),
		g->guest + strlen(above->guest)) != 0)
		broken("hidden", g->guest);
}

static inline void
judge_claim(const struct policy *po, size_t i)
{
	const struct env_claim *c = &po->env[i];
	size_t k;

	if (c->name[0] == '\0' ||
	    c->name[strspn(c->name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_")] != '\0' ||
	    strcmp(c->name, "CARREL") == 0 ||
	    strcmp(c->name, "CARREL_RUN") == 0 ||
	    strcmp(c->name, "CARREL_TARGET") == 0 ||
	    strcmp(c->name, "CARREL_PROFILES") == 0)
		broken("variable", c->name);
	if (i > 0 && strcmp(po->env[i - 1].name, c->name) > 0)
		broken("variables' order", c->name);
	if (c->verb < ENV_SET || c->verb > ENV_SANITISE || c->norigins == 0 ||
	    (c->nvalues != 0) != (c->verb <= ENV_PREPEND))
		broken("claim on a variable", c->name);
	for (k = 0; k < c->norigins; k++)
		if (c->origins[k].profile >= po->nprofiles ||
		    (strncmp(c->name, "LD_", 3) == 0 &&
			po->profiles[c->origins[k].profile].layer !=
			    LAYER_HOST))
			broken("claimant", c->name);
	for (k = 0; k < c->nvalues; k++)
		if (strpbrk(c->values[k], "\n\033\r\177") != NULL)
			broken("value", c->name);
}

/* A host's form is judged by its bytes alone, a port by its range. */
static inline void
judge_egress(const struct rule *r)
{
	if (r->what < 1 || r->what > 6 || (r->number & ~0x1ffffULL) != 0 ||
	    ((r->number & 0xffff) == 0) != (r->what == 6))
		broken("egress", "out of range");
	if (strspn(r->text, "*abcdefghijklmnopqrstuvwxyz0123456789.:-") !=
		strlen(r->text) ||
	    strrchr(r->text, '*') > r->text || strlen(r->text) > 255 ||
	    strcmp(r->text, "localhost") == 0)
		broken("egress", r->text);
}

static inline void
judge_rule(const struct policy *po, size_t i)
{
	const struct rule *r = &po->rules[i], *o;
	int scalar = r->kind != RULE_INTERPRETER && r->kind != RULE_LIBRARY &&
		     r->kind != RULE_REPORT && r->kind != RULE_EGRESS;
	uint8_t others[PROFILES_MAX] = {0};
	size_t k, n = 0, common = 0;

	if (r->kind < 1 || r->kind > 10 || r->what > 9 ||
	    r->profile >= po->nprofiles)
		broken("rule", "kind");
	if ((r->kind == RULE_INTERPRETER || r->kind == RULE_LIBRARY)
		? is_dirty(r->text) || r->text[1] == '\0'
		: (r->text[0] != '\0') !=
		      (r->kind == RULE_EGRESS && r->what != EGRESS_ALL))
		broken("rule's text", r->text);
	if (r->kind == RULE_EGRESS)
		judge_egress(r);
	else if (r->kind == RULE_LIMIT
		     ? r->what < 1 || r->number > 1ULL << 50 ||
			   (r->number == 0 && r->what != LIMIT_FILE_SIZE)
		     : r->number > 3)
		broken("rule's number", "out of range");
	for (k = 0; k < po->nrules; k++) {
		o = &po->rules[k];
		if (k != i && scalar && o->kind == r->kind &&
		    o->what == r->what && o->profile == r->profile)
			broken("rule", "twice in one profile");
		if (o->kind == r->kind && others[o->profile]++ == 0)
			n++;
	}
	if (r->kind != RULE_INTERPRETER && r->kind != RULE_LIBRARY)
		return;
	for (k = 0; k < po->nrules; k++) { /* some path is named by all */
		size_t j, by = 0;

		for (j = 0; j < po->nrules; j++)
			by += po->rules[j].kind == r->kind &&
			      strcmp(po->rules[j].text, po->rules[k].text) == 0;
		common |= po->rules[k].kind == r->kind && by == n;
	}
	if (!common)
		broken("rule", "nothing is left");
}

static inline void
judge_sum(const struct policy *po)
{
	uint64_t sum = 0, most = 0;
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_LIMIT &&
		    po->rules[i].what == LIMIT_TMPFS &&
		    (most == 0 || po->rules[i].number < most))
			most = po->rules[i].number;
	for (i = 0; i < po->ngrants; i++)
		sum += po->grants[i].size;
	if (sum > (most != 0 ? most : 1ULL << 30))
		broken("tmpfs", "more than a run may have");
}

/* S13: what a stranger's profile has comes from the one directory. */
static inline void
judge_pack(const struct policy *po)
{
	const struct grant *g;
	const char *top = NULL;
	size_t i, k, rules = 0;

	if (po->nprofiles == 0 || po->profiles[0].layer != 4)
		return;
	for (i = 1; i < po->nprofiles; i++)
		if (po->profiles[i].layer == 4)
			broken("two packs", po->profiles[i].name);
	for (k = 0; k < po->profiles[0].nincludes; k++)
		if (po->profiles[po->profiles[0].includes[k]].layer != 1)
			broken("a pack's include", "not shipped");
	for (i = 0; i < po->ngrants; i++)
		if (strcmp(po->grants[i].guest, "/workdir") == 0)
			top = po->grants[i].source;
	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		for (k = 0; k < g->norigins; k++) {
			if (g->origins[k].profile != 0 ||
			    g->kind == GRANT_TMPFS || g->kind == GRANT_SYMLINK)
				continue;
			if (g->kind != GRANT_BIND || top == NULL ||
			    !is_below(g->guest, "/workdir") ||
			    strncmp(g->source, top, strlen(top)) != 0 ||
			    strcmp(g->source + strlen(top), g->guest + 8) != 0)
				broken("a pack's grant", g->guest);
			if (g->guest[8] == '\0' &&
			    (g->origins[k].verb == VERB_WRITE ||
				g->origins[k].verb == VERB_TRY_WRITE))
				broken("a pack writes", "everything");
		}
	}
	for (i = 0; i < po->nenv; i++)
		for (k = 0; k < po->env[i].norigins; k++)
			if (po->env[i].origins[k].profile == 0 &&
			    po->env[i].verb > ENV_PREPEND)
				broken("a pack takes", po->env[i].name);
	for (i = 0; i < po->nrules; i++)
		rules += po->rules[i].profile == 0 &&
			 (po->rules[i].kind == RULE_NO_UNIX ||
			     (po->rules[i].kind == RULE_REPORT &&
				 po->rules[i].what == REPORT_FS) ||
			     po->rules[i].kind == RULE_VIOLATION);
	if (rules != 3)
		broken("a pack", "is not confined");
}

/* S74, of the lowest tier. */
static inline void
judge_tier(const struct policy *po)
{
	uint64_t tier = 4;
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_TIER &&
		    po->rules[i].number < tier)
			tier = po->rules[i].number;
	if (tier != 1)
		return;
	for (i = 0; i < po->ngrants; i++)
		if (po->grants[i].kind == GRANT_SOCKET ||
		    po->grants[i].kind == GRANT_DEVICE ||
		    (po->grants[i].flags & 9) == 1)
			broken("read-only", po->grants[i].guest);
	for (i = 0; i < po->nenv; i++)
		if (po->env[i].verb > ENV_PREPEND)
			broken("read-only", po->env[i].name);
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS)
			broken("read-only", po->rules[i].text);
}

/* Of a policy that policy_check() accepted. */
static inline void
judge_policy(const struct policy *po)
{
	size_t i, k;

	if (po->nprofiles > PROFILES_MAX || po->ngrants > GRANTS_MAX ||
	    po->nrefusals > REFUSALS_MAX)
		broken("too long", "list");
	for (i = 0; i < po->nprofiles; i++) {
		if (i > 0 &&
		    strcmp(po->profiles[i - 1].name, po->profiles[i].name) >= 0)
			broken("profiles' order", po->profiles[i].name);
		if (po->profiles[i].flags == 0 || po->profiles[i].flags > 7 ||
		    po->profiles[i].layer < 1 || po->profiles[i].layer > 4 ||
		    (po->profiles[i].layer == 4) !=
			(po->profiles[i].name[0] == '+') ||
		    po->profiles[i].name[strspn(po->profiles[i].name,
			"@+abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
			broken("profile", po->profiles[i].name);
		for (k = 0; k < po->profiles[i].nincludes; k++)
			if (po->profiles[i].includes[k] >= po->nprofiles)
				broken("include", po->profiles[i].name);
	}
	if (po->nrefusals > 0)
		return;
	for (i = 0; i < po->ngrants; i++)
		judge_grant(po, &po->grants[i]);
	for (i = 0; i < po->nenv; i++)
		judge_claim(po, i);
	for (i = 0; i < po->nrules; i++)
		judge_rule(po, i);
	judge_sum(po);
	judge_pack(po);
	judge_tier(po);
}

/*
 * A file system that never was: what a path is depends on its name and a
 * seed alone, so that a survey of it agrees with itself. Seed 0 has nothing
 * but directories.
 */

static inline unsigned
judge_hash(unsigned seed, const char *s)
{
	unsigned h = 2166136261U ^ seed;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619U;
	return h ^ h >> 15;
}

static inline void
look_at(unsigned seed, const char *path, struct survey_row *r)
{
	char at[2 * PATH_MAX_LEN + 2] = "";
	size_t n, len = 0;
	unsigned h;

	r->type = SURVEY_DIR;
	for (; *path != '\0'; path += n) {
		n = 1 + strcspn(path + 1, "/");
		if (r->type != SURVEY_DIR || len + n > PATH_MAX_LEN) {
			r->type = SURVEY_NONE;
			r->err = ENOTDIR;
			break;
		}
		memcpy(at + len, path, n);
		at[len += n] = '\0';
		h = judge_hash(seed, at);
		if (seed == 0 || h % 16 < 9)
			continue;
		if (h % 16 < 11) {
			r->type = SURVEY_FILE;
		} else if (h % 16 == 11) {
			r->type = SURVEY_NONE;
			r->err = ENOENT;
			break;
		} else if (h % 16 == 12) {
			r->type = SURVEY_SOCKET + h / 16 % 3;
		} else if (r->nlinks < LINKS_MAX) {
			r->links[r->nlinks++] = judge_copy(at);
			if (h % 16 == 13) /* to a place of its own */
				snprintf(
				    at, sizeof(at), "/mnt/t%u", h / 16 % 64);
			else if (h % 16 == 14) /* within the same directory */
				snprintf(
				    strrchr(at, '/'), 16, "/l%u", h / 16 % 8);
			else
				strcpy(at, h / 16 % 2 ? "/usr" : "/home/u");
			len = strlen(at);
		}
	}
	r->real = judge_copy(r->type == SURVEY_NONE ? "" : at);
	r->dev = 1;
	r->ino = judge_hash(1, at);
}

/* What look_exec() could have found for the rules of a policy. */
static inline void
judge_lock(unsigned seed, const struct policy *po, struct survey *sv)
{
	static const char *const found[] = {
	    "", "", "/usr/bin/ld.so", "/usr/lib", "/home/u/lib", ""};
	const struct rule *r;
	struct survey_exec *e;
	unsigned kind, first, last;
	size_t i;

	for (i = 0; i < po->nrules && i < 64; i++) {
		r = &po->rules[i];
		if (r->kind != RULE_INTERPRETER && r->kind != RULE_LIBRARY)
			continue;
		first =
		    r->kind == RULE_LIBRARY ? EXEC_LIBRARY : EXEC_INTERPRETER;
		last = r->kind == RULE_LIBRARY ? EXEC_LIBRARY : EXEC_OWN;
		for (kind = first; kind <= last; kind++) {
			e = survey_add_exec(sv, kind, i,
			    found[kind][0] == '\0' ? r->text : found[kind]);
			if (e == NULL)
				abort();
			e->row.links = calloc(LINKS_MAX, sizeof(*e->row.links));
			if (e->row.links == NULL)
				abort();
			look_at(seed, e->guest, &e->row);
			if (kind != EXEC_SYSTEM && kind != EXEC_OWN)
				e->row.mode = 0755;
			else
				e->guest[0] = '\0';
			if (kind < EXEC_SYSTEM && e->row.type == SURVEY_DIR)
				e->row.type = SURVEY_FILE;
		}
	}
}

static inline void
judge_survey(unsigned seed, const struct policy *po, struct survey *sv)
{
	size_t i;

	if (survey_init(sv, po->ngrants) == -1)
		abort();
	for (i = 0; i < sv->n; i++) {
		sv->rows[i].links =
		    calloc(LINKS_MAX, sizeof(*sv->rows[i].links));
		if (sv->rows[i].links == NULL)
			abort();
		if (grant_opens(&po->grants[i]))
			look_at(seed, po->grants[i].source, &sv->rows[i]);
		else
			sv->rows[i].real = judge_copy("");
	}
	judge_lock(seed, po, sv);
}

/* A lock leaves nothing executable but its own steps, and those read-only. */
static inline void
judge_exec(
    const struct policy *po, const struct survey *sv, const struct plan *pl)
{
	const struct step *s;
	const struct grant *g;
	size_t i;

	for (i = 0; i < pl->nsteps && pl->locked; i++) {
		s = &pl->steps[i];
		if (s->kind != STEP_DIR && s->kind != STEP_FILE &&
		    s->kind != STEP_SYMLINK && (s->flags & STEP_NOEXEC) == 0)
			broken("executable", s->guest);
	}
	if (pl->nexec > 0 && !pl->locked)
		broken("exec", "without a lock");
	for (i = 0; i < pl->nexec; i++) {
		s = &pl->exec[i];
		if (s->kind != STEP_EXEC || s->grant < 0 ||
		    (size_t)s->grant >= sv->nexec || is_dirty(s->guest) ||
		    (s->flags & STEP_RDONLY) == 0 ||
		    (i > 0 && path_cmp(pl->exec[i - 1].guest, s->guest) >= 0))
			broken("exec step", s->guest);
		g = policy_find(po, s->guest);
		if (g == NULL)
			g = policy_above(po, s->guest);
		if (g == NULL || g->kind == GRANT_TMPFS ||
		    (g->kind == GRANT_BIND && (g->flags & GRANT_WRITE) != 0))
			broken("executable and writable", s->guest);
	}
}

/* What a step may stand in, and what it must not be. */
static inline void
judge_step(const struct policy *po, const struct plan *pl, size_t i)
{
	const struct step *s = &pl->steps[i], *up = NULL;
	size_t k, n;

	if (is_dirty(s->guest))
		broken("step", s->guest);
	if (i > 0 && path_cmp(pl->steps[i - 1].guest, s->guest) >= 0)
		broken("order", s->guest);
	if (s->grant != -1 && is_own(s->guest) &&
	    !is_ours(&po->grants[s->grant]))
		broken("carrel's own", s->guest);
	if (s->grant < -1 || s->grant >= (int)po->ngrants ||
	    (s->grant != -1 &&
		strcmp(po->grants[s->grant].guest, s->guest) != 0))
		broken("whose", s->guest);
	if (s->kind == STEP_BIND &&
	    (s->grant == -1 || !grant_opens(&po->grants[s->grant]) ||
		(po->grants[s->grant].kind == GRANT_BIND &&
		    (po->grants[s->grant].flags & GRANT_WRITE) == 0 &&
		    (s->flags & STEP_RDONLY) == 0)))
		broken("a bind that nobody granted", s->guest);
	for (k = 0; k < i; k++) /* the deepest step above it */
		if (is_below(s->guest, pl->steps[k].guest))
			up = &pl->steps[k];
	if (up == NULL && strcmp(s->guest, "/") != 0)
		broken("stands in nothing", s->guest);
	if (up == NULL)
		return;
	/* a pin is no mount of its own: what it is in counts */
	for (k = i; k-- > 0 && up->kind == STEP_PIN;)
		if (pl->steps[k].kind != STEP_PIN &&
		    is_below(s->guest, pl->steps[k].guest)) {
			up = &pl->steps[k];
			break;
		}
	if (up->kind == STEP_FILE || up->kind == STEP_SYMLINK ||
	    up->kind == STEP_DEVICE || up->kind == STEP_MASK)
		broken("stands in what is no directory", s->guest);
	if (up->kind == STEP_BIND && s->kind != STEP_BIND &&
	    s->kind != STEP_PIN)
		broken("made inside a bind", s->guest);
	if (up->kind == STEP_BIND && (up->flags & STEP_ISDIR) == 0)
		broken("stands in a file", s->guest);
	if (up->kind != STEP_TMPFS && up->kind != STEP_DIR)
		return;
	n = strcmp(up->guest, "/") == 0 ? 0 : strlen(up->guest);
	if (strchr(s->guest + n + 1, '/') != NULL)
		broken("its directory is not made", s->guest);
}

/* Plans an accepted policy; 1 if the plan can be had. */
static inline int
judge_plan(unsigned seed, struct policy *po)
{
	static char shell[] = "SHELL=/bin/x",
		    path[] = "PATH=/a:/usr/bin::/\033";
	static char *env[] = {shell, path, NULL};
	struct caller caller;
	struct survey survey;
	struct hostenv host;
	struct plan plan;
	size_t i;
	int good;

	judge_caller(&caller);
	if (policy_protect(po, &caller) == -1) {
		/* only a pack has a place that must be the caller's */
		if (errno != EBADMSG || po->nprofiles == 0 ||
		    po->profiles[0].layer != 4)
			abort();
		caller_free(&caller);
		return 0;
	}
	if (po->nrefusals > 0) {
		caller_free(&caller);
		return 0;
	}
	judge_survey(seed, po, &survey);
	if (hostenv_pick(&host, po, env) == -1)
		abort();
	good = plan_make(po, &survey, &caller, &host, &plan) == 0;
	hostenv_free(&host);
	if (!good && errno != EPERM)
		broken("plan", strerror(errno));
	if (good != (po->nrefusals == 0))
		broken("plan", "refusals");
	for (i = 0; good && i < plan.nsteps; i++)
		judge_step(po, &plan, i);
	if (good)
		judge_exec(po, &survey, &plan);
	plan_free(&plan);
	survey_free(&survey);
	caller_free(&caller);
	return good;
}

#endif
