#include "judge.h"
#include "wire.h"

/*
 * What carrel-parse may send, through everything that the parent does with it
 * before it touches a file: receive, check, plan. What is accepted is judged
 * again by judge.h.
 */

static int
say(struct sender *s)
{
	static char vi[] = "vi", *value = vi;
	struct origin o = {.profile = 0, .line = 3};
	struct origin set = {.profile = 1, .verb = ENV_SET, .line = 4};
	static char none[] = "", x[] = "/usr/bin/x";
	struct rule rules[] = {{RULE_INTERPRETER, 0, 0, x, 0, 5},
	    {RULE_INTERPRETER, 0, 0, x, 1, 5},
	    {RULE_LIMIT, LIMIT_MEMORY, 1 << 26, none, 1, 6},
	    {RULE_REPORT, REPORT_EXEC, 0, none, 0, 7}};
	struct policy po;
	size_t i;

	memset(&po, 0, sizeof(po));
	(void)policy_add_profile(
	    &po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT);
	(void)policy_add_profile(
	    &po, "work", "/u/work.profile", LAYER_USER, PROFILE_ASKED);
	po.profiles[1].includes = calloc(1, sizeof(uint16_t));
	po.profiles[1].nincludes = 1;
	(void)policy_add_grant(&po, GRANT_BIND, 0, "/usr", "/usr", 0);
	(void)policy_add_grant(
	    &po, GRANT_BIND, GRANT_WRITE, "/usr/src", "/usr/src", 0);
	(void)policy_add_grant(&po, GRANT_TMPFS, 0, "/home/u", "", 1 << 20);
	(void)policy_add_grant(
	    &po, GRANT_BIND, GRANT_WRITE | GRANT_TRY, "/home/u/p", "/srv/p", 0);
	(void)policy_add_grant(
	    &po, GRANT_BIND, GRANT_WRITE, "/w", "/home/u/w", 0);
	(void)policy_add_grant(
	    &po, GRANT_BIND, 0, "/w/a/b", "/home/u/w/a/b", 0);
	(void)policy_add_grant(&po, GRANT_SYMLINK, 0, "/x", "usr/bin", 0);
	(void)environ_add_origin(
	    policy_add_claim(&po, ENV_SET, "EDITOR", &value, 1), &set);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		(void)policy_add_rule(&po, &rules[i]);
	for (i = 0; i < po.ngrants; i++) {
		o.verb = po.grants[i].kind == GRANT_TMPFS     ? VERB_TMPFS
			 : po.grants[i].kind == GRANT_SYMLINK ? VERB_SYMLINK
			 : po.grants[i].flags == 0	      ? VERB_READ
			 : po.grants[i].flags == GRANT_WRITE  ? VERB_WRITE
							      : VERB_TRY_WRITE;
		(void)grant_add_origin(&po.grants[i], &o);
	}
	policy_sort(&po);
	if (policy_send(s, &po) == -1)
		return -1;
	policy_free(&po);
	return 0;
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
decode(unsigned type, struct rcur *c, void *arg)
{
	struct policy po;

	(void)arg;
	memset(&po, 0, sizeof(po));
	(void)policy_get(type, c, &po);
	policy_free(&po);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy po;
	struct receiver r;
	char why[TEXT_MAX_LEN] = "";
	int fd = wire_say(data, size);
	int accepted = 0;
	unsigned i;

	if (receiver_init(&r, fd, channel_deadline(1), record_policy) == -1)
		abort();
	if (policy_receive(&r, &po) == 0) {
		if (policy_check(&po, why, sizeof(why)) == 0) {
			judge_policy(&po);
			accepted = po.nrefusals == 0;
			/* a plan with refusals leaves them in the policy */
			for (i = 0; i < 4 && po.nrefusals == 0; i++)
				(void)judge_plan(
				    i == 0 ? 0 : i + data[size - 1], &po);
		} else if (why[0] == '\0') {
			broken("refused", "without a word");
		}
		policy_free(&po);
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, NULL);
	return 0;
}
