#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/plan.h"
#include "child/shared/json.h"
#include "host.h"
#include "ipc/address.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "ipc/variables.h"
#include "out.h"
#include "page.h"
#include "receive.h"
#include "why.h"

#define PROFILES_SHOWN 16
#define REFUSAL_LEN    (3 * TEXT_MAX_LEN)

void
why_row(struct out *o, const char *tag, const char *left, const char *right,
    const char *mark)
{
	struct cell l = {0}, r = {0};

	cell_add(&l, left);
	cell_add(&r, right);
	out_row(o, tag, &l, &r, mark);
}

/* 1 if a profile of this name takes part already. */
static int
takes_part(const struct policy *po, const char *name)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		if (strcmp(po->profiles[i].name, name) == 0)
			return 1;
	return 0;
}

static void
would_row(struct out *o, const struct catalogue_item *it,
    const struct catalogue_line *l)
{
	struct cell left = {0}, right = {0};

	cell_addf(&left, "%s: ", it->name);
	cell_add(&left, l->key);
	cell_add(&left, " = ");
	cell_scalar(&left, l->value);
	cell_add(&right, it->file);
	cell_addf(&right, ":%u", (unsigned)l->number);
	out_fact(o, "profile", it->name);
	out_row(o, policy_layer(it->layer), &left, &right, "");
}

void
why_profiles(struct out *o, const struct why *w,
    int (*grants)(const struct why *, const struct catalogue_line *))
{
	const struct catalogue_line *l;
	const struct catalogue_item *it;
	struct cell c = {0};
	size_t i, n = 0, last = w->c->nitems;

	out_block(o, "PROFILES", "installed, that would (-p NAME)");
	for (i = 0; i < w->c->nlines; i++) {
		l = &w->c->lines[i];
		if (l->item >= w->c->nitems || l->item == last)
			continue; /* one line of each is enough */
		it = &w->c->items[l->item];
		if (it->kind != ITEM_PROFILE ||
		    takes_part(&w->v.scene->policy, it->name) || !grants(w, l))
			continue;
		last = l->item;
		if (++n <= PROFILES_SHOWN)
			would_row(o, it, l);
	}
	if (n == 0)
		why_row(o, "none", "no profile that is installed", "", "");
	if (n <= PROFILES_SHOWN)
		return;
	cell_addf(&c, "and %zu more", n - PROFILES_SHOWN);
	out_note(o, &c);
}

void
why_add(struct out *o, const char *section, const char *line, const char *note)
{
	struct cell c = {0};

	out_block(o, "ADD", "to a profile of your own, if that is meant");
	why_row(o, section, line, "", "");
	if (note[0] == '\0')
		return;
	cell_add(&c, note);
	out_note(o, &c);
}

/* HOST, HOST:PORT, [ADDRESS]:PORT or ADDRESS. */
int
why_read_host(struct why *w)
{
	char buf[PATH_MAX_LEN + 1];
	char *p = buf, *colon, *end;
	struct address a;
	size_t n;

	strcpy(buf, w->subject);
	colon = strrchr(buf, ':');
	if (colon != NULL && buf[strlen(buf) - 1] != ']' &&
	    address_read(buf, &a) == -1) {
		w->port = (unsigned)strtoul(colon + 1, &end, 10);
		if (colon[1] < '0' || colon[1] > '9' || *end != '\0' ||
		    w->port == 0 || w->port > 65535)
			return -1;
		*colon = '\0';
	}
	n = strlen(p);
	if (n > 2 && p[0] == '[' && p[n - 1] == ']') {
		p[n - 1] = '\0';
		p++;
	}
	if (address_read(p, &a) == 0) {
		address_text(&a, w->host);
		return 0;
	}
	n = strlen(p);
	if (n > 1 && p[n - 1] == '.')
		p[--n] = '\0';
	if (n > EGRESS_HOST_MAX)
		return -1;
	for (end = p; *end != '\0'; end++)
		*end = (char)tolower((unsigned char)*end);
	strcpy(w->host, p);
	return egress_host(p) == EGRESS_NAME ? 0 : -1;
}

/* What is asked about; the program ends if it is nothing of these. */
static void
answer(struct out *o, struct why *w)
{
	const char *s = w->subject;

	if (s[0] == '$') {
		if (variable_name_bad(s + 1, strlen(s + 1)) != NULL)
			fatal("\"%s\" is no name of a variable; write '$NAME'",
			    SHOWN(s));
		why_variable(o, w);
	} else if (s[0] == '/') {
		if (!path_clean(s))
			fatal(
			    "\"%s\" is no clean path: write it without \".\", "
			    "\"..\", \"//\" and a \"/\" at its end",
			    SHOWN(s));
		why_path(o, w);
	} else if (why_read_host(w) == 0) {
		why_host(o, w);
	} else {
		fatal("\"%s\" is neither a path (which begins with /), nor a "
		      "host with or without a port, nor a '$VARIABLE'",
		    SHOWN(s));
	}
}

void
why_json(const struct why *w, const char *run, const struct page *page)
{
	size_t cap = page_json_room(page) + 5 * strlen(w->subject) + 128;
	struct json j;
	char *buf;

	if ((buf = malloc(cap + 2)) == NULL)
		fatal("out of memory");
	json_init(&j, buf, cap);
	json_open(&j, '{');
	json_count(&j, "v", 1);
	if (run != NULL)
		json_pair(&j, "run", run);
	json_pair(&j, "subject", w->subject);
	json_key(&j, "granted");
	json_truth(&j, w->granted);
	json_key(&j, "blocks");
	page_json(&j, page);
	json_close(&j, '}');
	if (j.bad)
		fatal("internal: the page has no room");
	strcpy(buf + j.len, "\n");
	out_write(buf, j.len + 1);
	free(buf);
}

static void
draw(struct why *w, int json)
{
	const struct screen_request *q = &w->v.scene->request;
	struct page page = {.n = 0};
	struct out o = {.page = &page};

	if (json) {
		answer(&o, w);
		why_json(w, NULL, &page);
		page_free(&page);
		return;
	}
	out_open(&o, q->width, (q->flags & SCREEN_COLOUR) != 0);
	answer(&o, w);
	out_close(&o);
	out_write(o.text, o.len);
	out_free(&o);
}

static void
receive(int next, struct catalogue *c)
{
	struct receiver r;

	if (receiver_init(&r, next, channel_deadline(PARSER_SECONDS),
		record_catalogue) == -1)
		fatal("out of memory");
	if (catalogue_receive(&r, c) == -1)
		fatal("what carrel-parse sent of the profiles: %s; see carrel "
		      "doctor",
		    strerror(errno));
	receiver_free(&r);
}

/* A policy that is refused grants nothing. */
static int
tell_refusals(const struct policy *po)
{
	char text[REFUSAL_LEN];
	size_t i;

	for (i = 0; i < po->nrefusals; i++)
		log_warn(
		    "%s", refusal_text(&po->refusals[i], text, sizeof(text)));
	if (po->nrefusals > 0)
		log_warn("such a run would not start, so there is no answer; "
			 "see carrel explain");
	return po->nrefusals > 0;
}

int
why_run(int fd, int next, int json, const char *subject)
{
	struct scene sc;
	struct plan plan;
	struct catalogue c;
	struct why w = {
	    .v = {.scene = &sc, .plan = &plan}, .c = &c, .subject = subject};
	char text[REFUSAL_LEN];
	size_t i;

	if (receive_scene(fd, &sc) == -1)
		fatal("what the screen was sent: %s", strerror(errno));
	receive(next, &c);
	if (tell_refusals(&sc.policy))
		return EXIT_CARREL;
	if (plan_make(&sc.policy, &sc.survey, &sc.caller, &sc.hostenv, &plan) ==
	    -1) {
		if (errno != EPERM)
			fatal("plan: %s", strerror(errno));
		tell_refusals(&sc.policy);
		return EXIT_CARREL;
	}
	draw(&w, json);
	for (i = 0; i < c.nfaults; i++)
		log_warn("%s",
		    refusal_text(&c.faults[i].refusal, text, sizeof(text)));
	plan_free(&plan);
	catalogue_free(&c);
	scene_free(&sc);
	return 0;
}
