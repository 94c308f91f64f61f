#include <errno.h>
#include <string.h>

#include "child/setup/plan.h"
#include "explain.h"
#include "host.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "out.h"
#include "receive.h"

#define LANDLOCK_SCOPES 6		   /* the first ABI that can scope */
#define REFUSAL_LEN	(3 * TEXT_MAX_LEN) /* what, fix, file and name */

static const char own[] = "(carrel)";

void
explain_origins(struct cell *c, const struct policy *po, const struct grant *g)
{
	const struct origin *o;
	size_t i;

	if (g->norigins == 0)
		cell_add(c, own);
	for (i = 0; i < g->norigins; i++) {
		o = &g->origins[i];
		cell_addf(c, "%s%s %s", i == 0 ? "" : ", ",
		    policy_verb(o->verb), po->profiles[o->profile].name);
		if (o->line != 0)
			cell_addf(c, ":%u", (unsigned)o->line);
	}
}

/* A row whose text is carrel's but for one raw value. */
static void
own_row(struct out *o, const char *tag, const char *text, const char *mark)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, text);
	cell_add(&right, own);
	out_row(o, tag, &left, &right, mark);
}

static void
refusal_row(struct out *o, const struct refusal *r)
{
	char text[REFUSAL_LEN];
	struct cell c = {0}, none = {0};

	cell_add(&c, refusal_text(r, text, sizeof(text)));
	out_row(o, "no", &c, &none, "");
}

static void
refused_more(struct out *o, size_t n)
{
	struct cell c = {0}, none = {0};

	cell_addf(&c, "and %zu reasons more", n);
	out_row(o, "no", &c, &none, "");
}

static void
block_refused(struct out *o, const struct policy *po)
{
	size_t i;

	out_block(o, "REFUSED", "nothing would start");
	for (i = 0; i < po->nrefusals; i++)
		refusal_row(o, &po->refusals[i]);
	if (po->unkept > 0)
		refused_more(o, po->unkept);
}

static void
command_row(struct out *o, const struct view *v)
{
	const struct screen_request *q = &v->scene->request;
	struct cell c = {0}, none = {0};
	size_t i;

	for (i = 0; i < q->nwords; i++) {
		if (i > 0)
			cell_add(&c, " ");
		cell_quote(&c, q->words[i]);
	}
	if (q->nwords == 0)
		cell_add(&c, v->scene->caller.shell);
	if ((q->flags & SCREEN_CUT) != 0)
		cell_add(&c, " ...");
	out_row(o, q->nwords == 0 ? "shell" : "command", &c, &none,
	    (q->flags & SCREEN_CUT) != 0 ? "<- cut" : "");
}

static void
block_target(struct out *o, const struct view *v)
{
	const struct caller *ca = &v->scene->caller;
	struct cell c = {0}, none = {0};

	out_block(o, "TARGET", "");
	command_row(o, v);
	cell_add(&c, ca->user);
	cell_addf(
	    &c, " (uid %u, gid %u)", (unsigned)ca->uid, (unsigned)ca->gid);
	out_row(o, "user", &c, &none,
	    (ca->flags & CALLER_NO_ACCOUNT) != 0
		? "<- not in the password database"
		: "");
	cell_quote(&c, ca->guest_home);
	if (strcmp(ca->guest_home, ca->home) != 0) {
		cell_add(&c, " for ");
		cell_quote(&c, ca->home);
	}
	out_row(o, "home", &c, &none, "");
	if (ca->target[0] != '\0')
		cell_quote(&c, ca->target);
	else
		cell_add(&c, "none");
	if (ca->target[0] != '\0' && (ca->flags & CALLER_IMPLIED) != 0)
		cell_add(&c, " (the working directory)");
	out_row(o, "target", &c, &none, "");
	if (v->plan == NULL)
		return;
	if (v->plan->none_mounted != NULL && v->plan->none_mounted[0] != '\0') {
		cell_add(&c, v->plan->none_mounted);
		out_note(o, &c);
	}
	if (v->plan->ncwd > 0) {
		cell_quote(&c, v->plan->cwd[0]);
		cell_add(&c, " if it exists inside");
		out_row(o, "starts", &c, &none, "");
	}
}

/* What is staged, as it is called there. */
static void
block_commands(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	struct cell left = {0}, right = {0};
	const struct grant *g;
	size_t i, n = 0;

	out_block(o, "COMMANDS", "");
	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if (g->kind != GRANT_COMMAND)
			continue;
		n++;
		cell_quote(&left, g->guest);
		explain_source(&left, g, &v->scene->survey.rows[i]);
		explain_origins(&right, po, g);
		out_row(o, "staged", &left, &right, "");
	}
	if (n == 0)
		own_row(o, "none", "no executable is staged", "");
}

static void
landlock_row(struct out *o, const struct screen_request *q)
{
	struct cell left = {0}, right = {0};
	const char *mark = "";

	cell_add(&right, own);
	if ((q->flags & SCREEN_WITHOUT_LANDLOCK) != 0) {
		cell_add(&left, "off: the mounts are the only wall around "
				"files, abstract sockets and signals are not "
				"scoped");
		cell_free(&right);
		cell_add(&right, "--without-landlock");
		mark = "<- weaker than the default";
	} else if (q->landlock == 0) {
		cell_add(&left, "this kernel has none");
		mark = "<- a run stops here: carrel doctor";
	} else {
		cell_addf(&left, "ABI %u: the same files a second time",
		    (unsigned)q->landlock);
		cell_add(
		    &left, q->landlock >= LANDLOCK_SCOPES
			       ? "; abstract sockets and signals scoped"
			       : "; abstract sockets and signals need ABI 6");
		if (q->landlock < LANDLOCK_SCOPES)
			mark = "<- not scoped by this kernel";
	}
	out_row(o, "landlock", &left, &right, mark);
}

static void
block_confinement(struct out *o, const struct view *v)
{
	const struct screen_request *q = &v->scene->request;
	struct cell left = {0}, right = {0};
	int ptrace = (q->flags & SCREEN_ALLOW_PTRACE) != 0;

	out_block(o, "CONFINEMENT", "");
	if (q->mode == SCREEN_HOSTED) {
		own_row(o, "mode", "hosted mode: no user namespace", "");
		own_row(
		    o, "new", "namespaces: mount pid ipc uts net cgroup", "");
	} else {
		own_row(o, "mode", "user mode: unprivileged user namespaces",
		    v->scene->caller.uid == 0 ? "<- the caller is root" : "");
		own_row(o, "new",
		    "namespaces: user mount pid ipc uts net cgroup", "");
	}
	own_row(o, "none", "of the capabilities, in any set", "");
	own_row(o, "set", "no_new_privs; every mount nosuid", "");
	cell_add(&left, "an allow-list; ");
	cell_add(&left, ptrace ? "ptrace inside the sandbox is on it"
			       : "ptrace is not on it");
	cell_add(&right, ptrace ? "--allow-ptrace" : own);
	out_row(o, "calls", &left, &right,
	    ptrace ? "<- weaker than the default" : "");
	landlock_row(o, q);
	explain_exec(o, v);
	explain_audit(o, v);
}

static void
block_not_granted(struct out *o, const struct host *h)
{
	const struct host_place *c;
	struct cell left = {0}, right = {0};
	size_t i, n = 0;

	for (i = 0; i < h->ncredentials; i++) {
		c = &h->credentials[i];
		n += c->exists && c->inside != 1;
	}
	out_block(o, "NOT GRANTED",
	    n == 0
		? "no known credentials exist on this host that are not inside"
		: "credentials that exist on this host and are not inside");
	for (i = 0; i < h->ncredentials; i++) {
		c = &h->credentials[i];
		if (!c->exists || c->inside == 1)
			continue;
		cell_quote(&left, c->path);
		cell_add(&right, own);
		out_row(o, "outside", &left, &right,
		    c->inside == 2 ? "<- but a part of it is granted" : "");
	}
}

void
explain_draw(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;

	if (po->nrefusals > 0)
		block_refused(o, po);
	if (po->nrefusals > 0 && po->nprofiles == 0 && po->ngrants == 0)
		return; /* nothing could be read: the reasons stand alone */
	block_target(o, v);
	explain_profiles(o, po);
	explain_ceiling(o, v);
	explain_fs(o, v);
	block_commands(o, v);
	explain_net(o, po);
	if (v->plan != NULL)
		explain_env(o, v->plan);
	else
		explain_env_claims(o, po);
	explain_limits(o, v);
	block_confinement(o, v);
	block_not_granted(o, v->host);
	if (po->nrefusals > 0)
		block_refused(o, po);
}

/* The plan, or NULL when the policy was refused before there could be one. */
static struct plan *
make_plan(struct scene *sc, struct plan *p)
{
	if (sc->policy.nrefusals > 0)
		return NULL;
	if (plan_make(&sc->policy, &sc->survey, &sc->caller, &sc->hostenv, p) ==
		-1 &&
	    errno != EPERM)
		fatal("plan: %s", strerror(errno));
	return p;
}

int
explain_receive(int fd, struct seen_run *r)
{
	if (receive_scene(fd, &r->scene) == -1)
		fatal("what the screen was sent: %s", strerror(errno));
	r->view.scene = &r->scene;
	r->view.host = &r->host;
	r->view.plan = make_plan(&r->scene, &r->plan);
	if (host_init(&r->host, &r->scene.caller, &r->scene.policy) == -1)
		fatal("out of memory");
	host_look(&r->host, &r->scene.policy, &r->scene.survey);
	host_judge(
	    &r->host, &r->scene.caller, &r->scene.policy, &r->scene.survey);
	return r->scene.policy.nrefusals > 0 ? EXIT_CARREL : 0;
}

void
explain_forget(struct seen_run *r)
{
	host_free(&r->host);
	if (r->view.plan != NULL)
		plan_free(&r->plan);
	scene_free(&r->scene);
}

void
explain_warn(const struct policy *po)
{
	char why[REFUSAL_LEN];
	size_t i;

	for (i = 0; i < po->nrefusals; i++)
		log_warn(
		    "%s", refusal_text(&po->refusals[i], why, sizeof(why)));
}

int
explain_run(int fd, int json)
{
	struct seen_run r;
	struct out o;
	int code = explain_receive(fd, &r);

	if (json) {
		explain_json(&r.view);
	} else {
		out_open(&o, r.scene.request.width,
		    (r.scene.request.flags & SCREEN_COLOUR) != 0);
		explain_draw(&o, &r.view);
		out_close(&o);
		out_write(o.text, o.len);
		out_free(&o);
	}
	explain_warn(&r.scene.policy);
	explain_forget(&r);
	return code;
}
