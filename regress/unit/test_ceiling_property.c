/*
 * S102: a policy that is admitted under a ceiling has nothing outside of it.
 * The oracle knows no line and no rule: it writes down, one by one, what each
 * of them lets through in a small world, and compares sets.
 */
#include <check.h>
#include <stdio.h>

#include "child/shared/ceiling.h"
#include "child/shared/survey.h"
#include "ipc/confine.h"
#include "ipc/egress.h"
#include "ipc/rule.h"
#include "ipc/tier.h"
#include "world.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define ROUNDS	  20000

static struct caller caller;

static unsigned
pick(unsigned n)
{
	return (unsigned)random() % n;
}

/* The world of paths */

static const char *const paths[] = {"/", "/a", "/a/a", "/a/b", "/a/b/c", "/ab",
    "/b", "/b/a", "/b/a/a", "/b/ab", "/c"};
#define PATHS NITEMS(paths)

enum right { /* what can be done at a path */
	CAN_READ,
	CAN_WRITE,
	CAN_RUN,
	CAN_CONNECT,
	CAN_DEVICE,
	RIGHTS
};

typedef uint8_t reach_set[RIGHTS][PATHS];

/* The components of a path, for want of a better idea. */
static size_t
split(const char *path, char out[8][8])
{
	size_t n = 0;
	char copy[64], *p, *save = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (p = strtok_r(copy, "/", &save); p != NULL;
	     p = strtok_r(NULL, "/", &save))
		snprintf(out[n++], 8, "%s", p);
	return n;
}

static int
is_below(const char *path, const char *top)
{
	char a[8][8], b[8][8];
	size_t i, n = split(path, a), k = split(top, b);

	if (n < k)
		return 0;
	for (i = 0; i < k; i++)
		if (strcmp(a[i], b[i]) != 0)
			return 0;
	return 1;
}

static void
let(reach_set s, enum right right, const char *top)
{
	size_t i;

	for (i = 0; i < PATHS; i++)
		if (is_below(paths[i], top))
			s[right][i] = 1;
}

/* What a line of this verb lets through; a grant of it wants the first. */
static void
let_verb(reach_set s, unsigned verb, const char *top)
{
	switch (verb) {
	case VERB_WRITE:
		let(s, CAN_WRITE, top);
		/* FALLTHROUGH */
	case VERB_READ:
		let(s, CAN_READ, top);
		/* FALLTHROUGH */
	case VERB_COMMAND:
		let(s, CAN_RUN, top);
		break;
	case VERB_SOCKET:
		let(s, CAN_CONNECT, top);
		break;
	default:
		let(s, CAN_DEVICE, top);
	}
}

static int
exceeds(const void *want, const void *most, size_t n)
{
	const uint8_t *w = want, *m = most;
	size_t i;

	for (i = 0; i < n; i++)
		if (w[i] && !m[i])
			return 1;
	return 0;
}

/* The world of connections */

static const char *const hosts[] = {"x.org", "a.x.org", "b.x.org", "c.b.x.org",
    "z.q.b.x.org", "y.org", "a.y.org", "z.y.org", "8.8.8.8", "10.0.0.1",
    "other.net"};
#define HOSTS	  NITEMS(hosts)
#define ADDRESSES 8 /* from here on, two of them */
#define PRIVATE	  9 /* is one */
static const unsigned ports[] = {22, 80, 443, 9999};
#define PORTS NITEMS(ports)

enum way {
	WAY_TLS,
	WAY_HTTP,
	WAY_RAW,
	WAY_UDP,
	WAYS
};

struct net {
	uint8_t open[WAYS][HOSTS][PORTS][2]; /* last: to private addresses */
	uint8_t anything;		     /* that nobody has named */
};

static int
is_host(const char *pattern, size_t h)
{
	size_t n = strlen(hosts[h]), k = strlen(pattern);

	if (strcmp(pattern, "*") == 0)
		return 1;
	if (strncmp(pattern, "*.", 2) == 0)
		return (h < ADDRESSES || h > PRIVATE) && n > k - 1 &&
		       strcmp(hosts[h] + n - (k - 1), pattern + 1) == 0;
	return strcmp(pattern, hosts[h]) == 0;
}

static int
has_way(unsigned scheme, unsigned way)
{
	switch (scheme) {
	case EGRESS_HTTPS:
	case EGRESS_TLS:
		return way == WAY_TLS;
	case EGRESS_HTTP:
		return way == WAY_HTTP;
	case EGRESS_TCP:
		return way != WAY_UDP;
	case EGRESS_UDP:
		return way == WAY_UDP;
	default: /* each, or everything */
		return 1;
	}
}

static void
let_out(struct net *net, unsigned scheme, const char *host, uint64_t number)
{
	int private = (number & EGRESS_PRIVATE) != 0, named, p;
	unsigned port = (unsigned)(number & EGRESS_PORT);
	size_t w, h, k;

	named = strcmp(host, "*") != 0;
	net->anything |= scheme == EGRESS_ALL;
	for (w = 0; w < WAYS; w++)
		for (h = 0; h < HOSTS; h++)
			for (k = 0; k < PORTS; k++)
				for (p = 0; p < 2; p++) {
					if (!has_way(scheme, (unsigned)w) ||
					    !is_host(host, h) ||
					    (port != 0 && port != ports[k]))
						continue;
					/* an address is what it is */
					if (h == ADDRESSES || h == PRIVATE) {
						if (p != (h == PRIVATE))
							continue;
						if (p && !named && !private)
							continue;
					} else if (p && !private)
						continue;
					net->open[w][h][k][p] = 1;
				}
}

/* Something of everything */

static const char *
a_path(void)
{
	return paths[pick(PATHS)];
}

static const char *
a_host(int most)
{
	static const char *const names[] = {"x.org", "a.x.org", "b.x.org",
	    "y.org", "a.y.org", "*.x.org", "*.b.x.org", "*.q.b.x.org",
	    "*.y.org", "8.8.8.8", "10.0.0.1", "*"};

	return names[pick(NITEMS(names) - !most)];
}

static uint64_t
a_port(int most)
{
	/* the last is of no rule */
	uint64_t n = pick(8) == 0 ? EGRESS_PRIVATE : 0;

	return n | (most && pick(2) == 0 ? 0 : ports[pick(PORTS - 1)]);
}

static const uint8_t verbs[] = {
    VERB_READ, VERB_WRITE, VERB_COMMAND, VERB_SOCKET, VERB_DEVICE};
static const struct {
	uint8_t what;
	uint64_t number;
} duties[] = {{RULE_TIER, TIER_READ_ONLY}, {RULE_TIER, TIER_SIDE_EFFECT},
    {RULE_NO_SPAWN, 0}, {RULE_NO_UNIX, 0}, {RULE_ONCE, 0},
    {RULE_REPORT, REPORT_EXEC}, {RULE_REPORT, REPORT_FS},
    {RULE_VIOLATION, VIOLATION_FAIL}, {RULE_VIOLATION, VIOLATION_KILL}};

static void
a_line(struct ceiling *c)
{
	static const char *const whom[] = {"u", "v", "1000", "1001", "g", "h"};
	struct ceiling_line l = {.line = (uint32_t)c->n + 1};
	char none[] = "";
	unsigned d = pick((unsigned)NITEMS(duties));

	l.who = (uint8_t)(CEILING_EVERYONE + (pick(2) == 0 ? 0 : pick(3)));
	l.name = l.who == CEILING_EVERYONE
		     ? none
		     : (char *)(uintptr_t)whom[pick(NITEMS(whom))];
	l.text = none;
	switch (pick(10)) {
	case 0:
		l.kind = CEILING_LIMIT;
		l.what = (uint8_t)(LIMIT_MEMORY + pick(LIMIT_LAST));
		l.number = 1ULL << (12 + pick(6));
		break;
	case 1:
		l.kind = pick(4) != 0 ? CEILING_REQUIRE : CEILING_AUDIT;
		if (l.kind == CEILING_REQUIRE) {
			l.what = duties[d].what;
			l.number = duties[d].number;
		}
		break;
	case 2:
	case 3:
	case 4:
		l.kind = CEILING_EGRESS;
		l.what = (uint8_t)pick(EGRESS_ALL + 1);
		l.text =
		    (char *)(uintptr_t)(l.what == EGRESS_ALL ? "*" : a_host(1));
		l.number = l.what == EGRESS_ALL ? 0 : a_port(1);
		break;
	case 5:
		if (l.who != CEILING_EVERYONE && pick(3) == 0) {
			l.kind = CEILING_USE;
			break;
		}
		/* FALLTHROUGH */
	default:
		l.kind = CEILING_PATH;
		l.what = verbs[pick(NITEMS(verbs))];
		l.text = (char *)(uintptr_t)(pick(4) == 0 ? "/" : a_path());
	}
	ck_assert_int_eq(ceiling_add(c, &l), 0);
}

static void
a_rule(struct policy *po)
{
	struct rule r = {.text = (char[]){""}, .line = 9};
	unsigned d = pick((unsigned)NITEMS(duties));

	switch (pick(4)) {
	case 0:
		r.kind = RULE_LIMIT;
		r.what = (uint8_t)(LIMIT_MEMORY + pick(LIMIT_LAST));
		r.number = 1ULL << (12 + pick(6));
		break;
	case 1:
		r.kind = duties[d].what;
		if (r.kind == RULE_REPORT)
			r.what = (uint8_t)duties[d].number;
		else
			r.number = duties[d].number;
		if (r.kind == RULE_TIER && pick(4) == 0)
			r.number = TIER_UNRESTRICTED;
		break;
	default:
		r.kind = RULE_EGRESS;
		r.what = (uint8_t)(1 + pick(EGRESS_ALL));
		r.text =
		    (char *)(uintptr_t)(r.what == EGRESS_ALL ? "*" : a_host(0));
		r.number = r.what == EGRESS_ALL ? 0 : a_port(0);
	}
	ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

/* The verdict of the oracle */

/* No name of this world is digits alone and a user's, too. */
static int
is_mine(const struct ceiling_line *l)
{
	if (l->who == CEILING_EVERYONE)
		return 1;
	if (l->who == CEILING_USER)
		return strcmp(l->name, "u") == 0 ||
		       strcmp(l->name, "1000") == 0;
	/* of the groups u (1000) and g (77) */
	return strcmp(l->name, "u") == 0 || strcmp(l->name, "1000") == 0 ||
	       strcmp(l->name, "g") == 0;
}

static int
may_use(const struct ceiling *c)
{
	size_t i, asked = 0;

	for (i = 0; i < c->n; i++)
		if (c->lines[i].kind == CEILING_USE) {
			asked = 1;
			if (is_mine(&c->lines[i]))
				return 1;
		}
	return !asked;
}

/* The most of a limit; UINT64_MAX: there is none. */
static uint64_t
most_of(const struct ceiling *c, unsigned what)
{
	uint64_t most = UINT64_MAX;
	size_t i;
	int who;

	for (who = CEILING_USER; who >= CEILING_EVERYONE; who--) {
		for (i = 0; i < c->n; i++)
			if (c->lines[i].kind == CEILING_LIMIT &&
			    c->lines[i].what == what &&
			    c->lines[i].who == who && is_mine(&c->lines[i]) &&
			    c->lines[i].number < most)
				most = c->lines[i].number;
		if (most != UINT64_MAX)
			break;
	}
	return most;
}

/* The least that the policy says; UINT64_MAX: it does not. */
static uint64_t
least_of(const struct policy *po, unsigned kind, unsigned what)
{
	uint64_t least = UINT64_MAX;
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == kind && po->rules[i].what == what &&
		    po->rules[i].number < least)
			least = po->rules[i].number;
	return least;
}

static int
says(const struct policy *po, unsigned kind, unsigned what, uint64_t number)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == kind && po->rules[i].what == what &&
		    po->rules[i].number == number)
			return 1;
	return 0;
}

static int
is_met(const struct policy *po, const struct ceiling_line *l, int audited)
{
	uint64_t tier = least_of(po, RULE_TIER, 0);

	if (l->kind == CEILING_AUDIT)
		return audited;
	if (l->what == RULE_TIER)
		return (tier == UINT64_MAX ? TIER_SIDE_EFFECT : tier) <=
		       l->number;
	if (l->what == RULE_REPORT)
		return says(po, RULE_REPORT, (unsigned)l->number, 0);
	if (l->what == RULE_VIOLATION)
		return says(po, RULE_VIOLATION, 0, VIOLATION_KILL) ||
		       says(po, RULE_VIOLATION, 0, l->number);
	return says(po, l->what, 0, 0) ||
	       (l->what == RULE_NO_UNIX && tier == TIER_READ_ONLY);
}

static void
write_down(const struct ceiling *c, reach_set most, struct net *net)
{
	const struct ceiling_line *l;
	size_t i;

	memset(most, 0, sizeof(reach_set));
	memset(net, 0, sizeof(*net));
	for (i = 0; i < c->n; i++) {
		l = &c->lines[i];
		if (!is_mine(l))
			continue;
		if (l->kind == CEILING_PATH)
			let_verb(most, l->what, l->text);
		if (l->kind == CEILING_EGRESS)
			let_out(net, l->what, l->text, l->number);
	}
}

static int
names_fit(const struct ceiling *c, const struct policy *po, int audited)
{
	reach_set most, want;
	struct net out, wants;
	size_t i;
	unsigned what;

	write_down(c, most, &out);
	memset(want, 0, sizeof(want));
	memset(&wants, 0, sizeof(wants));
	for (i = 0; i < po->ngrants; i++)
		let_verb(
		    want, po->grants[i].origins[0].verb, po->grants[i].source);
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS)
			let_out(&wants, po->rules[i].what, po->rules[i].text,
			    po->rules[i].number);
	if (exceeds(want, most, sizeof(want)) ||
	    exceeds(&wants, &out, sizeof(wants)))
		return 0;
	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++)
		if (least_of(po, RULE_LIMIT, what) != UINT64_MAX &&
		    least_of(po, RULE_LIMIT, what) > most_of(c, what))
			return 0;
	for (i = 0; i < c->n; i++)
		if ((c->lines[i].kind == CEILING_REQUIRE ||
			c->lines[i].kind == CEILING_AUDIT) &&
		    is_mine(&c->lines[i]) && !is_met(po, &c->lines[i], audited))
			return 0;
	return 1;
}

static int
rows_fit(
    const struct ceiling *c, const struct policy *po, const struct survey *sv)
{
	reach_set most, want;
	struct net out;
	size_t i;

	write_down(c, most, &out);
	memset(want, 0, sizeof(want));
	for (i = 0; i < sv->n; i++) {
		if (sv->rows[i].type == SURVEY_NONE)
			continue;
		if (sv->rows[i].type == SURVEY_SOCKET)
			let_verb(want, VERB_SOCKET, sv->rows[i].real);
		else if (sv->rows[i].type == SURVEY_DEVICE ||
			 sv->rows[i].type == SURVEY_BLOCK)
			let_verb(want, VERB_DEVICE, sv->rows[i].real);
		else
			let_verb(want, po->grants[i].origins[0].verb,
			    sv->rows[i].real);
	}
	return !exceeds(want, most, sizeof(want));
}

static void
setup(void)
{
	const char *seed = getenv("CARREL_T_SEED");

	srandom(seed != NULL ? (unsigned)atoi(seed) : 1);
	world_caller(&caller);
	caller.groups = realloc(caller.groups, 2 * sizeof(*caller.groups));
	caller.groups[1].gid = 77;
	caller.groups[1].name = strdup("g");
	caller.ngroups = 2;
}

static void
teardown(void)
{
	caller_free(&caller);
}

/* After the second judgement it has each limit, and none is more. */
static void
check_limits(const struct ceiling *c, struct policy *po)
{
	uint64_t before[LIMIT_LAST + 1], now;
	unsigned what;

	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++)
		before[what] = least_of(po, RULE_LIMIT, what);
	ck_assert_int_eq(ceiling_impose(c, &caller, po), 0);
	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++) {
		now = least_of(po, RULE_LIMIT, what);
		if (before[what] != UINT64_MAX)
			ck_assert_uint_eq(now, before[what]);
		else if (what == LIMIT_CORE_SIZE)
			ck_assert_uint_eq(now, UINT64_MAX);
		else
			ck_assert_uint_eq(now, most_of(c, what));
	}
}

START_TEST(agrees)
{
	static const uint8_t types[] = {SURVEY_NONE, SURVEY_DIR, SURVEY_FILE,
	    SURVEY_DIR, SURVEY_SOCKET, SURVEY_DEVICE, SURVEY_BLOCK,
	    SURVEY_FIFO};
	unsigned round, i, n, audited, admitted = 0, opened = 0, refused = 0;
	unsigned late = 0;
	struct ceiling c;
	struct policy po;
	struct survey sv;
	char guest[16];
	int fit;

	for (round = 0; round < ROUNDS; round++) {
		memset(&c, 0, sizeof(c));
		c.file = strdup("/etc/carrel/ceiling.conf");
		world_policy(&po);
		for (n = pick(20), i = 0; i < n; i++)
			a_line(&c);
		for (n = pick(3), i = 0; i < n; i++) {
			snprintf(guest, sizeof(guest), "/m%u", i);
			world_add(
			    &po, verbs[pick(NITEMS(verbs))], guest, a_path());
		}
		for (n = pick(3), i = 0; i < n; i++)
			a_rule(&po);
		audited = pick(2);
		fit = may_use(&c) && names_fit(&c, &po, (int)audited);
		ck_assert_int_eq(
		    ceiling_judge(&c, &caller, (int)audited, NULL, &po), 0);
		ck_assert_msg(fit == (po.nrefusals == 0),
		    "round %u: the oracle says %d: %s", round, fit,
		    po.nrefusals > 0 ? po.refusals[0].what : "admitted");
		refused += !fit;
		if (fit) {
			admitted++;
			ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
			for (i = 0; i < po.ngrants; i++) {
				sv.rows[i].type = types[pick(NITEMS(types))];
				sv.rows[i].real =
				    strdup(pick(2) == 0 ? a_path()
							: po.grants[i].source);
			}
			fit = rows_fit(&c, &po, &sv);
			ck_assert_int_eq(
			    ceiling_judge(&c, &caller, (int)audited, &sv, &po),
			    0);
			ck_assert_msg(fit == (po.nrefusals == 0),
			    "round %u, opened: the oracle says %d: %s", round,
			    fit,
			    po.nrefusals > 0 ? po.refusals[0].what
					     : "admitted");
			opened += fit && po.ngrants > 0;
			late += !fit;
			if (fit)
				check_limits(&c, &po);
			survey_free(&sv);
		}
		ceiling_free(&c);
		policy_free(&po);
	}
	printf("ceiling: %u refused, %u admitted by name, %u refused then, "
	       "%u run with grants\n",
	    refused, admitted, late, opened);
	ck_assert(refused > 1000 && admitted > 1000 && opened > 300);
	ck_assert(late > 100);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ceiling, properties");
	TCase *c = tcase_create("ceiling");
	SRunner *r;
	int n;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, agrees);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n != 0;
}
