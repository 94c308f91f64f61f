#include <errno.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/rule.h"
#include "receive.h"

void
scene_free(struct scene *sc)
{
	screen_request_free(&sc->request);
	caller_free(&sc->caller);
	hostenv_free(&sc->hostenv);
	ceiling_free(&sc->ceiling);
	policy_free(&sc->policy);
	survey_free(&sc->survey);
}

/* It names a rule of its kind, or the one for which it was found. */
static int
take_exec(struct scene *sc, struct rcur *c)
{
	const struct policy *po = &sc->policy;
	const struct survey_exec *e;
	unsigned kind;

	if (survey_exec_get(c, &sc->survey) == -1)
		return -1;
	e = &sc->survey.exec[sc->survey.nexec - 1];
	kind = e->kind == EXEC_LIBRARY ? RULE_LIBRARY : RULE_INTERPRETER;
	return e->rule < po->nrules && po->rules[e->rule].kind == kind ? 0 : -1;
}

/* Its rules come behind those that a survey of the exec lock names. */
static int
impose(struct scene *sc, int ended)
{
	if (sc->ceiling.file == NULL)
		return 0;
	if (!ended)
		return -1;
	return sc->policy.nrefusals > 0
		   ? 0
		   : ceiling_impose(&sc->ceiling, &sc->caller, &sc->policy);
}

/* One record; rows counts the survey's; ended: there was all of a ceiling. */
static int
take(struct scene *sc, unsigned type, struct rcur *c, size_t *rows, int *ended)
{
	char why[TEXT_MAX_LEN];

	switch (type) {
	case RECORD_SCREEN:
		return screen_get(c, &sc->request);
	case RECORD_CALLER:
		return caller_get(c, &sc->caller);
	case RECORD_VARIABLE:
		return hostenv_get(c, &sc->hostenv);
	case RECORD_CEILING:
	case RECORD_CEILING_LINE:
	case RECORD_CEILING_FAULT:
	case RECORD_CEILING_END:
		*ended |= type == RECORD_CEILING_END;
		return ceiling_get(type, c, &sc->ceiling);
	case RECORD_SURVEY:
		if (*rows >= sc->survey.n)
			return -1;
		return survey_get(c, &sc->survey.rows[(*rows)++]);
	case RECORD_EXEC:
		return take_exec(sc, c);
	case RECORD_SCREEN_END:
		/* all rows, or none for a policy that was refused early */
		if (*rows != sc->survey.n &&
		    (*rows != 0 || sc->policy.nrefusals == 0))
			return -1;
		return rcur_end(c);
	case RECORD_POLICY_END:
		if (policy_get(type, c, &sc->policy) == -1)
			return -1;
		/* with the grants that carrel itself adds: rows follow */
		if (policy_check(&sc->policy, why, sizeof(why)) == -1 ||
		    policy_protect(&sc->policy, &sc->caller) == -1 ||
		    impose(sc, *ended) == -1)
			return -1;
		return survey_init(&sc->survey, sc->policy.ngrants);
	default:
		return policy_get(type, c, &sc->policy);
	}
}

int
receive_scene(int fd, struct scene *out)
{
	struct scene sc;
	struct receiver r;
	struct rcur c;
	unsigned type;
	size_t rows = 0;
	int n, ended = 0;

	memset(&sc, 0, sizeof(sc));
	if (receiver_init(
		&r, fd, channel_deadline(PARSER_SECONDS), record_screen) == -1)
		return -1;
	while ((n = receiver_next(&r, &type, &c)) == 1) {
		if (take(&sc, type, &c, &rows, &ended) == -1) {
			errno = EBADMSG;
			n = -1;
			break;
		}
		if (type == RECORD_SCREEN_END) {
			n = receiver_finish(&r);
			break;
		}
	}
	if (n == 0 && !record_done(&r.state)) {
		errno = EPIPE;
		n = -1;
	}
	receiver_free(&r);
	if (n == -1) {
		scene_free(&sc);
		return -1;
	}
	*out = sc;
	return 0;
}
