#include "child/screen/lint.h"
#include "ipc/tool.h"
#include "ipc/rule.h"
#include "judge.h"
#include "wire.h"

/*
 * What carrel-parse may send of a profile that is only looked at, and what
 * lint makes of it: nothing that is accepted is out of its ranges, and lint
 * comes to an end.
 */

static int
say(struct sender *s)
{
	struct origin o = {.profile = 0, .verb = VERB_WRITE, .line = 3};
	struct need n[3] = {{strdup("/w/x"), 4, NEED_WRITE},
	    {strdup("https://a.example:443"), 5, NEED_ALLOW},
	    {strdup("x"), 6, NEED_COMMAND}};
	struct tool t = {.kind = TOOL_PROGRAM, .effect = EFFECT_NETWORK};
	struct rule r = {.kind = RULE_EGRESS,
	    .what = 1,
	    .number = 443,
	    .text = (char[]){"*.example"},
	    .line = 7};
	struct policy po;
	int bad;

	memset(&po, 0, sizeof(po));
	(void)policy_add_profile(
	    &po, "work", "/u/work.profile", LAYER_USER, PROFILE_ASKED);
	(void)policy_add_grant(&po, GRANT_BIND, GRANT_WRITE, "/w", "/w", 0);
	(void)grant_add_origin(&po.grants[0], &o);
	(void)policy_add_rule(&po, &r);
	t.name = strdup("t");
	t.text = strdup("text");
	t.input = strdup("");
	t.needs = malloc(sizeof(n));
	if (t.needs == NULL)
		abort();
	memcpy(t.needs, n, sizeof(n));
	t.nneeds = 3;
	(void)policy_add_tool(&po, &t);
	t.kind = TOOL_EXAMPLE;
	t.name = strdup("e");
	t.text = strdup("sh -c \"a b\"");
	t.input = strdup("in");
	t.expect = 3;
	(void)policy_add_tool(&po, &t);
	bad = described_send(s, &po);
	policy_free(&po);
	return bad;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t good[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, good, sizeof(good));
	return wire_mutate(data, size, max_size, seed, good, n);
}

static void
judge_tool(const struct policy *po, const struct tool *t)
{
	size_t i;

	if (t->kind < 1 || t->kind > 2 || t->profile >= po->nprofiles ||
	    t->name[0] == '\0' || t->effect > 3 || t->nneeds > NEEDS_MAX ||
	    t->name[strspn(t->name, "abcdefghijklmnopqrstuvwxyz0123456789-")] !=
		'\0')
		broken("tool", t->name);
	for (i = 0; i < t->nneeds; i++)
		if (t->needs[i].verb < 1 || t->needs[i].verb > 6)
			broken("need", t->needs[i].text);
}

static void
decode(unsigned type, struct rcur *c, void *arg)
{
	struct policy po;

	(void)arg;
	memset(&po, 0, sizeof(po));
	if (type == RECORD_TOOL)
		(void)tool_get(c, &po);
	policy_free(&po);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings f = {.n = 0};
	struct policy po;
	struct receiver r;
	char why[TEXT_MAX_LEN] = "";
	int fd = wire_say(data, size), accepted = 0;
	size_t i;

	if (receiver_init(&r, fd, channel_deadline(1), record_described) == -1)
		abort();
	if (described_receive(&r, &po) == 0) {
		for (i = 0; i < po.ntools; i++)
			judge_tool(&po, &po.tools[i]);
		if (policy_check(&po, why, sizeof(why)) == 0 &&
		    po.nrefusals == 0) {
			accepted = 1;
			for (i = 0; i < po.nprofiles; i++)
				lint(&po, i, 1, &f);
		}
		findings_free(&f);
		policy_free(&po);
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, NULL);
	return 0;
}
