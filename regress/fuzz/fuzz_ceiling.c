#include "child/shared/ceiling.h"
#include "ipc/egress.h"
#include "ipc/text.h"
#include "wire.h"

/*
 * What the other carrel-parse may send of the host's ceiling: what is accepted
 * has no field outside its range, and is judged by without a fault.
 */

static void
good(struct ceiling *c)
{
	static char lab[] = "lab", none[] = "", srv[] = "/srv", any[] = "*";
	static const struct ceiling_line lines[] = {
	    {CEILING_GROUP, CEILING_USE, 0, 0, lab, none, 2},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, none, srv, 4},
	    {CEILING_USER, CEILING_EGRESS, 0, 443, lab, any, 6},
	    {CEILING_EVERYONE, CEILING_LIMIT, LIMIT_MEMORY, 1 << 20, none, none,
		7},
	    {CEILING_EVERYONE, CEILING_REQUIRE, RULE_TIER, 1, none, none, 8}};
	size_t i;

	memset(c, 0, sizeof(*c));
	c->file = judge_copy("/etc/carrel/ceiling.conf");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (ceiling_add(c, &lines[i]) == -1)
			abort();
	if (policy_refuse(&c->faults, "", c->file, 3, "fix", "\x1b[m") == -1)
		abort();
}

static int
say(struct sender *s)
{
	struct ceiling c;
	int n;

	good(&c);
	n = ceiling_send(s, &c);
	ceiling_free(&c);
	return n;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t buf[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, buf, sizeof(buf));
	return wire_mutate(data, size, max_size, seed, buf, n);
}

static void
judge(const struct ceiling *c)
{
	struct origin o = {0, VERB_WRITE, 1};
	struct rule r = {
	    .kind = RULE_EGRESS, .what = EGRESS_ALL, .text = (char[]){"*"}};
	char text[TEXT_MAX_LEN] = "";
	struct caller ca;
	struct policy po;
	size_t i, most = 0;

	judge_caller(&ca);
	memset(&po, 0, sizeof(po));
	if (policy_add_profile(&po, "p", "/p", LAYER_USER, PROFILE_ASKED) ==
		NULL ||
	    grant_add_origin(
		policy_add_grant(&po, GRANT_BIND, GRANT_WRITE, "/w", "/w", 0),
		&o) == -1 ||
	    policy_add_rule(&po, &r) == NULL)
		abort();
	for (i = 0; i < c->n; i++) {
		ceiling_line_text(&c->lines[i], text, sizeof(text));
		if (strchr(text, '?') != NULL &&
		    strchr(c->lines[i].text, '?') == NULL &&
		    strchr(c->lines[i].name, '?') == NULL)
			broken("line", text);
		text[0] = '\0';
		if (c->lines[i].kind == CEILING_PATH &&
		    !path_clean(c->lines[i].text))
			broken("path", c->lines[i].text);
		most |= c->lines[i].kind == CEILING_EGRESS &&
			c->lines[i].what == EGRESS_ALL;
	}
	if (ceiling_judge(c, &ca, 0, NULL, &po) == -1)
		abort();
	/* nothing but that line lets everything out */
	if (po.nrefusals == 0 && !most)
		broken("egress", "admitted");
	if (ceiling_impose(c, &ca, &po) == -1)
		abort();
	policy_free(&po);
	caller_free(&ca);
}

static void
decode(unsigned type, struct rcur *c, void *arg)
{
	struct ceiling ce;

	(void)arg;
	memset(&ce, 0, sizeof(ce));
	ce.file = judge_copy("/f");
	if (type != RECORD_CEILING)
		(void)ceiling_get(type, c, &ce);
	ceiling_free(&ce);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ceiling c;
	struct receiver r;
	int fd = wire_say(data, size), accepted = 0;

	if (receiver_init(&r, fd, channel_deadline(1), record_ceiling) == -1)
		abort();
	if (ceiling_receive(&r, &c) == 0) {
		judge(&c);
		ceiling_free(&c);
		accepted = 1;
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, NULL);
	return 0;
}
