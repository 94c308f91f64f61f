#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "child/setup/plan.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "answer.h"
#include "world.h"

/*
 * carrel's half of the differential test: the very objects of the parser, the
 * protection and the plan, over selections that come from standard input. A
 * selection is a run of strings that end with a NUL, each a word and what it
 * takes; "go" ends it. What came of it is told in lines of escaped fields.
 * argv[1] is a directory for the profiles, argv[2] how the run may end.
 */

#define LIST_MAX 256

struct files {
	char *path[LIST_MAX], *text[LIST_MAX];
	size_t n;
};

struct selection_in {
	char *select[LIST_MAX], *env[LIST_MAX + 1];
	char *pack;
	size_t nselect, nenv;
	unsigned flags;
	struct caller ca;
	struct world world;
};

static char top[PATH_MAX_LEN / 2];

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *
copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		give_up("memory");
	return p;
}

/* As the parser's main() does. 0, or -1: refused. */
static int
read_profiles(const struct request *q, struct policy *po)
{
	struct layers ls;
	struct config c;
	struct selection sel;
	int n = -1;

	layers_open(&ls, q);
	if (config_read(&ls, po, &c) == 0) {
		po->prompt = c.prompt;
		c.prompt = NULL;
		n = selection_load(q, &c, &ls, po, &sel);
		if (n == 0) {
			n = resolve(q, &sel, po);
			selection_free(&sel);
		}
		config_free(&c);
	}
	layers_close(&ls);
	policy_sort(po);
	if ((n == 0) != (po->nrefusals == 0)) {
		errno = EINVAL;
		give_up("a refusal and none");
	}
	return n;
}

/* And as the set-up does with what the parser sends. */
static void
draw(const struct selection_in *in, struct policy *po)
{
	struct hostenv he;
	struct survey sv;
	struct plan pl;

	if (policy_protect(po, &in->ca) == -1)
		give_up("protect");
	if (po->nrefusals > 0)
		return;
	world_survey(&in->world, po, &sv);
	if (hostenv_pick(&he, po, in->env) == -1)
		give_up("environment");
	if (plan_make(po, &sv, &in->ca, &he, &pl) == -1 && errno != EPERM)
		give_up("plan");
	if (po->nrefusals == 0) {
		answer_steps(po, &pl);
		answer_environ(&pl);
	}
	plan_free(&pl);
	hostenv_free(&he);
	survey_free(&sv);
}

static int
locked(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_INTERPRETER)
			return 1;
	return 0;
}

static void
run(struct selection_in *in)
{
	char dir[4][PATH_MAX_LEN], config[2][PATH_MAX_LEN], why[TEXT_MAX_LEN];
	struct request q;
	struct policy po;

	memset(&q, 0, sizeof(q));
	memset(&po, 0, sizeof(po));
	snprintf(dir[0], sizeof(dir[0]), "%s/shipped", top);
	snprintf(dir[1], sizeof(dir[1]), "%s/host", top);
	snprintf(dir[2], sizeof(dir[2]), "%s/user", top);
	snprintf(config[0], sizeof(config[0]), "%s/etc/carrel.conf", top);
	snprintf(config[1], sizeof(config[1]), "%s/etc/config", top);
	q.shipped = dir[0];
	q.host = dir[1];
	q.user = dir[2];
	q.host_config = config[0];
	q.user_config = config[1];
	if (in->pack != NULL) {
		snprintf(dir[3], sizeof(dir[3]), "%s/pack/%s.profile", top,
		    in->pack);
		q.pack = dir[3];
	}
	q.flags = in->flags;
	q.select = in->select;
	q.nselect = in->nselect;
	q.caller = in->ca;
	if (read_profiles(&q, &po) == 0 &&
	    policy_check(&po, why, sizeof(why)) == -1)
		give_up(why);
	if (po.nrefusals == 0)
		answer_joined(&po);
	/* what would be executable is of the host's files, not of names */
	if (po.nrefusals == 0 && !locked(&po))
		draw(in, &po);
	answer_policy(&po);
	puts(".");
	fflush(stdout);
	policy_free(&po);
}

/* Reading */

static char *
next_string(void)
{
	static char *buf;
	static size_t cap;

	if (getdelim(&buf, &cap, '\0', stdin) < 1)
		exit(ferror(stdin) ? 1 : 0);
	return buf;
}

/* A file below the directory of profiles; text NULL: it goes again. */
static void
write_file(const char *path, const char *text)
{
	char full[PATH_MAX_LEN];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	if (text == NULL) {
		if (unlink(full) == -1)
			give_up(full);
		return;
	}
	if ((f = fopen(full, "w")) == NULL || fputs(text, f) == EOF ||
	    fclose(f) == EOF)
		give_up(full);
}

static void
write_files(struct files *now, const struct files *before)
{
	size_t i, k;

	for (i = 0; i < before->n; i++) {
		for (k = 0; k < now->n; k++)
			if (strcmp(now->path[k], before->path[i]) == 0)
				break;
		if (k == now->n)
			write_file(before->path[i], NULL);
	}
	for (i = 0; i < now->n; i++)
		write_file(now->path[i], now->text[i]);
}

static void
files_free(struct files *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		free(f->path[i]);
		free(f->text[i]);
	}
	f->n = 0;
}

static void
begin(struct selection_in *in)
{
	struct caller *c = &in->ca;

	memset(in, 0, sizeof(*in));
	c->uid = c->gid = 1000;
	c->user = copy("u");
	c->home_other = copy("");
	c->shell = copy("/bin/sh");
	c->term = copy("xterm");
	c->lang = copy("");
	c->tz = copy("");
	c->protect = calloc(LIST_MAX, sizeof(*c->protect));
	if (c->protect == NULL)
		give_up("memory");
}

static void
end(struct selection_in *in)
{
	size_t i;

	for (i = 0; i < in->nselect; i++)
		free(in->select[i]);
	for (i = 0; i < in->nenv; i++)
		free(in->env[i]);
	free(in->pack);
	world_free(&in->world);
	caller_free(&in->ca);
}

static void
set_home(struct caller *c, const char *home)
{
	c->home = copy(home);
	c->home_real = copy(home);
	c->guest_home = path_guest_home(home, c->user);
	if (c->guest_home == NULL)
		give_up("home");
}

/* One word and what it takes; 0 behind the last. */
static int
take(struct selection_in *in, struct files *f)
{
	char word[16], *s = next_string();

	snprintf(word, sizeof(word), "%s", s);
	if (strcmp(word, "go") == 0)
		return 0;
	if (in->nselect == LIST_MAX || in->nenv == LIST_MAX ||
	    f->n == LIST_MAX || in->ca.nprotect == LIST_MAX) {
		errno = E2BIG;
		give_up(word);
	}
	s = copy(next_string());
	if (strcmp(word, "select") == 0) {
		in->select[in->nselect++] = s;
	} else if (strcmp(word, "env") == 0) {
		in->env[in->nenv++] = s;
	} else if (strcmp(word, "pack") == 0) {
		in->pack = s;
	} else if (strcmp(word, "file") == 0) {
		f->path[f->n] = s;
		f->text[f->n++] = copy(next_string());
	} else if (strcmp(word, "target") == 0) {
		in->ca.target = s;
		in->ca.cwd = copy(s);
	} else if (strcmp(word, "protect") == 0) {
		in->ca.protect[in->ca.nprotect++].path = s;
	} else if (strcmp(word, "node") == 0) {
		world_add(&in->world, s, next_string());
		free(s);
	} else {
		if (strcmp(word, "home") == 0)
			set_home(&in->ca, s);
		else if (strcmp(s, "no-defaults") == 0)
			in->flags |= REQUEST_NO_DEFAULTS;
		else if (strcmp(s, "implied") == 0)
			in->ca.flags |= CALLER_IMPLIED;
		free(s);
	}
	return 1;
}

int
main(int argc, char **argv)
{
	static const char *const dirs[] = {
	    "shipped", "host", "user", "pack", "etc"};
	struct files files[2] = {{.n = 0}, {.n = 0}};
	struct selection_in in;
	char path[PATH_MAX_LEN];
	size_t i;

	if (argc != 2)
		return 2;
	snprintf(top, sizeof(top), "%s", argv[1]);
	umask(022);
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		if (mkdir(path, 0755) == -1)
			give_up(path);
	}
	for (i = 0;; i = !i) {
		begin(&in);
		while (take(&in, &files[i]))
			;
		write_files(&files[i], &files[!i]);
		files_free(&files[!i]);
		run(&in);
		end(&in);
	}
}
