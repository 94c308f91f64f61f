#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "announce.h"
#include "child/monitor/ask.h"
#include "child/monitor/ceiling.h"
#include "child/shared/ceiling.h"
#include "child/monitor/options.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "control.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "look.h"
#include "look_exec.h"
#include "pack.h"
#include "parent/failure.h"
#include "parent/start.h"
#include "plan.h"
#include "protect.h"
#include "server.h"
#include "setup.h"
#include "setup_parts.h"

/*
 * The first half of the set-up: what it hears, and the plan that follows. It
 * opens what the policy names, and makes nothing of it but the user's own
 * directory, for which it waits.
 */

void
setup_end(const struct setup *s, const struct failure *f)
{
	control_send(s->control, CONTROL_FAILED, (int)f->step, f->err, f->what);
	_exit(1);
}

void
setup_end_refused(const struct setup *s, const struct policy *po)
{
	const struct refusal *r;
	char text[TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < po->nrefusals; i++) {
		r = &po->refusals[i];
		refusal_text(r, text, sizeof(text));
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
	if (po->unkept > 0) {
		snprintf(
		    text, sizeof(text), "and %zu reasons more", po->unkept);
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
	control_send(s->control, CONTROL_REFUSED, 0, 0, NULL);
	_exit(1);
}

void
setup_await_go(const struct setup *s)
{
	static int went; /* it is said once, and may be wanted early */
	struct failure f = {.step = CAUSE_OTHER};
	struct control m;
	int n;

	if (went)
		return;
	n = control_wait(s->control, &m, s->deadline);
	if (n == 0)
		_exit(1); /* nobody is left to tell */
	if (n == -1)
		ask_broken(errno, f.what, sizeof(f.what));
	else if (m.type != CONTROL_GO)
		failure_set(&f, CAUSE_OTHER, "unexpected word of the monitor");
	else
		went = 1;
	if (!went)
		setup_end(s, &f);
}

/* Refused before the monitor's word, which comes first. */
static void __attribute__((noreturn))
end_refused_early(const struct setup *s, const struct policy *po)
{
	setup_await_go(s);
	setup_end_refused(s, po);
}

void
setup_hear_caller(const struct setup *s, struct caller *out)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct receiver r;
	struct rcur c;
	unsigned type;

	if (receiver_init(&r, s->control, s->deadline, record_caller) == -1 ||
	    receiver_next(&r, &type, &c) != 1 || caller_get(&c, out) == -1) {
		if (errno == EPIPE)
			_exit(1); /* nobody is left to tell */
		failure_set(&f, CAUSE_OTHER, "learn who calls");
		setup_end(s, &f);
	}
	receiver_free(&r);
}

/* 0 and the policy, or an errno. The digest is only made where it is read. */
static int
decode_policy(
    const struct setup *s, struct policy *po, char digest[SHA256_HEX + 1])
{
	struct sha256 sum;
	struct receiver r;
	int err = 0;

	sha256_init(&sum);
	digest[0] = '\0';
	if (receiver_init(&r, s->parser, s->deadline, record_policy) == -1)
		return errno;
	r.digest = s->audited ? &sum : NULL;
	if (policy_receive(&r, po) == -1)
		err = errno;
	if (s->audited)
		sha256_end(&sum, digest);
	receiver_free(&r);
	close(s->parser);
	return err;
}

void
setup_hear_policy(const struct setup *s, struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};
	char digest[SHA256_HEX + 1];
	int err = decode_policy(s, po, digest);

	if (err == 0 && policy_check(po, f.what, sizeof(f.what)) == -1)
		setup_end(s, &f);
	if ((err == 0 || err == EPIPE) &&
	    announce_policy(s->control, err == 0 ? po : NULL, digest,
		s->options->learn || s->options->nuses > 0) == -1)
		err = errno;
	if (err == EPIPE)
		setup_await_go(s);
	if (err != 0) {
		ask_broken(err, f.what, sizeof(f.what));
		setup_end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused_early(s, po);
}

/* Why the ceiling is none: then nothing runs. */
static void
take_faults(const struct setup *s, const struct ceiling *c, struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};

	if (ceiling_blame(c, po) == -1) {
		failure_set(&f, CAUSE_OTHER, "the ceiling");
		setup_end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused_early(s, po);
}

/* In hosted mode there is no run without the host's log. */
static int
is_audited(const struct setup *s)
{
	return s->options->require_audit || server_used();
}

void
setup_hear_ceiling(
    const struct setup *s, struct policy *po, struct ceiling *out)
{
	struct failure f = {.step = CAUSE_OTHER};
	int err;

	memset(out, 0, sizeof(*out));
	if (s->ceiling == -1 && !server_used())
		return;
	err = s->ceiling == -1 ? (ceiling_default(out) == -1 ? ENOMEM : 0)
			       : ceiling_take(s->ceiling, s->deadline, out);
	if (err != 0) {
		/* how it ended says more */
		if (err == EPIPE)
			setup_await_go(s);
		ceiling_broken(err, f.what, sizeof(f.what));
		setup_end(s, &f);
	}
	take_faults(s, out, po);
	if (ceiling_judge(out, s->caller, is_audited(s), NULL, po) == -1)
		failure_set(&f, CAUSE_OTHER, "judge by the ceiling");
	else if (po->nrefusals > 0)
		end_refused_early(s, po);
	else if (ceiling_impose(out, s->caller, po) == -1)
		failure_set(&f, CAUSE_OTHER, "set the ceiling's limits");
	else
		return;
	setup_end(s, &f);
}

/* By what was opened: no name has led around the ceiling. */
static void
judge_opened(const struct setup *s, const struct ceiling *c,
    const struct survey *survey, struct policy *po)
{
	struct failure f = {.step = CAUSE_OTHER};

	if (c->file == NULL)
		return;
	if (ceiling_judge(c, s->caller, is_audited(s), survey, po) == -1) {
		failure_set(&f, CAUSE_OTHER, "judge by the ceiling");
		setup_end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused_early(s, po);
}

/* -v: what sanitise left out, and why (S53). */
static void
say_drops(const struct setup *s, const struct plan *plan)
{
	const struct env_row *r;
	char text[TEXT_MAX_LEN];
	size_t i, k;

	for (i = 0; i < plan->nenv; i++) {
		r = &plan->env[i];
		for (k = 0; k < r->ndrops; k++) {
			snprintf(text, sizeof(text),
			    "%s: \"%.512s\" of the host is left out: %s",
			    r->name, r->drops[k].value, r->drops[k].mark);
			control_send(s->control, CONTROL_SAY, 0, 0, text);
		}
	}
}

/* -v: what is read-only by one name, and can be written by another. */
static void
say_elsewhere(
    const struct setup *s, const struct policy *po, const struct plan *plan)
{
	static const char *const how[] = {
	    [ELSEWHERE_WHOLE] = "also writable as ",
	    [ELSEWHERE_PART] = "in part also writable, as ",
	    [ELSEWHERE_UNKNOWN] = "perhaps also writable: too much to tell"};
	const struct elsewhere_row *e;
	char text[TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < plan->nelsewhere; i++) {
		e = &plan->elsewhere[i];
		if (e->kind == ELSEWHERE_NOT)
			continue;
		snprintf(text, sizeof(text),
		    "%.512s is read-only, but %s%.512s", po->grants[i].guest,
		    how[e->kind], e->guest != NULL ? e->guest : "");
		control_send(s->control, CONTROL_SAY, 0, 0, text);
	}
}

void
setup_say_plan(
    const struct setup *s, const struct policy *po, const struct plan *plan)
{
	if (plan->none_mounted[0] != '\0' &&
	    (s->options->verbose || isatty(STDERR_FILENO)))
		control_send(s->control, CONTROL_SAY, 0, 0, plan->none_mounted);
	if (s->options->verbose) {
		say_drops(s, plan);
		say_elsewhere(s, po, plan);
	}
}

void
setup_draw(const struct setup *s, const struct ceiling *ceiling,
    struct policy *po, struct survey *survey, struct plan *plan)
{
	struct failure f = {.step = CAUSE_OTHER};
	struct hostenv host;

	if (policy_protect(po, s->caller) == -1) {
		failure_set(&f, CAUSE_OTHER, "protect what carrel trusts");
		setup_end(s, &f);
	}
	if (po->nrefusals > 0)
		end_refused_early(s, po);
	if (look_survey(po, survey, &f) == -1)
		setup_end(s, &f);
	judge_opened(s, ceiling, survey, po);
	/* nothing is made for a policy whose sender did not end well */
	if (protect_makes(po, survey, s->caller))
		setup_await_go(s);
	if (protect_missing(po, survey, s->caller, 1, &f) == -1 ||
	    pack_expect(po, survey, &f) == -1 ||
	    look_exec(po, survey, &f) == -1)
		setup_end(s, &f);
	/* with what a pack makes, and what the exec lock looked at */
	judge_opened(s, ceiling, survey, po);
	if (hostenv_pick(&host, po, s->start->env) == -1) {
		failure_set(&f, CAUSE_OTHER, "the caller's environment");
		setup_end(s, &f);
	}
	if (plan_make(po, survey, s->caller, &host, plan) == -1) {
		if (po->nrefusals > 0)
			end_refused_early(s, po);
		failure_set(&f, CAUSE_OTHER, "make the plan");
		setup_end(s, &f);
	}
	hostenv_free(&host);
}
