#include "limits.h"
#include "record.h"

/* A rule of type 0 ends each table. */

const struct record_rule record_request[] = {
    {RECORD_REQUEST, 1, 1},
    {RECORD_SELECT, 0, SELECT_MAX},
    {RECORD_CALLER, 1, 1},
    {RECORD_REQUEST_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_policy[] = {
    {RECORD_POLICY, 1, 1},
    {RECORD_PROFILE, 0, PROFILES_MAX},
    {RECORD_GRANT, 0, GRANTS_MAX},
    {RECORD_ENVIRON, 0, CLAIMS_MAX},
    {RECORD_RULE, 0, RULES_MAX},
    {RECORD_REFUSAL, 0, REFUSALS_MAX},
    {RECORD_POLICY_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_described[] = {
    {RECORD_POLICY, 1, 1},
    {RECORD_PROFILE, 0, PROFILES_MAX},
    {RECORD_GRANT, 0, GRANTS_MAX},
    {RECORD_ENVIRON, 0, CLAIMS_MAX},
    {RECORD_RULE, 0, RULES_MAX},
    {RECORD_REFUSAL, 0, REFUSALS_MAX},
    {RECORD_POLICY_END, 1, 1},
    {RECORD_TOOL, 0, TOOLS_MAX},
    {RECORD_DESCRIBED_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_screen[] = {
    {RECORD_SCREEN, 1, 1},
    {RECORD_CALLER, 1, 1},
    {RECORD_VARIABLE, 0, CLAIMS_MAX},
    {RECORD_CEILING, 0, 1},
    {RECORD_CEILING_LINE, 0, CEILING_LINES_MAX},
    {RECORD_CEILING_FAULT, 0, REFUSALS_MAX},
    {RECORD_CEILING_END, 0, 1},
    {RECORD_POLICY, 1, 1},
    {RECORD_PROFILE, 0, PROFILES_MAX},
    {RECORD_GRANT, 0, GRANTS_MAX},
    {RECORD_ENVIRON, 0, CLAIMS_MAX},
    {RECORD_RULE, 0, RULES_MAX},
    {RECORD_REFUSAL, 0, REFUSALS_MAX},
    {RECORD_POLICY_END, 1, 1},
    {RECORD_SURVEY, 0, GRANTS_MAX},
    {RECORD_EXEC, 0, EXEC_MAX},
    {RECORD_SCREEN_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_caller[] = {
    {RECORD_CALLER, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_broker[] = {
    {RECORD_BROKER, 1, 1},
    {RECORD_BROKER_RULE, 0, EGRESS_RULES_MAX},
    {RECORD_BROKER_HOST, 0, EGRESS_HOSTS_MAX},
    {RECORD_BROKER_SOCKET, 0, EGRESS_SOCKETS_MAX},
    {RECORD_BROKER_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_ready[] = {
    {RECORD_READY, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_kept[] = {
    {RECORD_RUN, 1, 1},
    {RECORD_KEPT_PROFILE, 0, PROFILES_MAX},
    {RECORD_EVENT, 0, EVENTS_MAX},
    {RECORD_RUN_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_catalogue[] = {
    {RECORD_CATALOGUE, 1, 1},
    {RECORD_ITEM, 0, CATALOGUE_MAX},
    {RECORD_LINE, 0, CATALOGUE_LINES},
    {RECORD_FAULT, 0, CATALOGUE_MAX},
    {RECORD_CATALOGUE_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_ceiling[] = {
    {RECORD_CEILING, 1, 1},
    {RECORD_CEILING_LINE, 0, CEILING_LINES_MAX},
    {RECORD_CEILING_FAULT, 0, REFUSALS_MAX},
    {RECORD_CEILING_END, 1, 1},
    {0, 0, 0},
};

const struct record_rule record_login[] = {
    {RECORD_LOGIN, 1, 1},
    {RECORD_SELECT, 0, SELECT_MAX},
    {RECORD_LOGIN_END, 1, 1},
    {0, 0, 0},
};

size_t
record_fds(unsigned type)
{
	return type == RECORD_BROKER_SOCKET ? 1 : 0;
}

void
record_start(struct record_state *st, const struct record_rule *rules)
{
	st->rule = rules;
	st->seen = 0;
}

int
record_step(struct record_state *st, unsigned type)
{
	while (st->rule->type != 0) {
		if (type == st->rule->type) {
			if (st->seen >= st->rule->max)
				return -1;
			st->seen++;
			return 0;
		}
		if (st->seen < st->rule->min)
			return -1;
		st->rule++;
		st->seen = 0;
	}
	return -1;
}

int
record_done(const struct record_state *st)
{
	const struct record_rule *r = st->rule;

	if (r->type == 0)
		return 1;
	return st->seen >= r->min && r[1].type == 0;
}
