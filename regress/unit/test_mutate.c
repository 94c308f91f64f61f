#include <check.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/record.h"
#include "ipc/rule.h"
#include "regress/fuzz/judge.h"

/*
 * Policies that a seeded generator made and spoiled, over a socket and into
 * the check: whatever was accepted is lawful (judge.h says what that is in
 * words of its own), and so is the plan that follows from it.
 * CARREL_T_MUTATIONS and CARREL_T_SEED set how many, and which.
 */

#ifdef __SANITIZE_ADDRESS__
#define MUTATIONS 20000
#else
#define MUTATIONS 100000
#endif
#define BYTES_MAX 16384
#define RECORDS	  64

static uint64_t state;

static unsigned
below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

#define NITEMS(a)    (sizeof(a) / sizeof((a)[0]))
#define one_of(list) ((list)[below(NITEMS(list))])

/* Paths that lie in each other, and some that nobody may have. */
static const char *const guests[] = {"/a", "/a/b", "/a/b/c", "/a.b", "/usr",
    "/usr/lib", "/usr/lib/x", "/home/u", "/home/u/proj", "/tmp", "/x", "/x/y",
    "/etc/passwd", "/etc", "/home", "/var", "/run", "/bin", "/run/user",
    "/procx", "/w", "/w/d/r"};
static const char *const bad_paths[] = {"/", "", "a", "/proc", "/proc/1",
    "/dev/null", "/sys/fs", "/run/carrel", "/run/carrel/bin/sh", "/a/../b",
    "/a/./b", "/a//b", "/a/", "/..", "/.", "/a\x1b[m", "/\xe2\x80\xae", "..",
    "/proc/self/root"};
static const char *const sources[] = {"/usr", "/usr/lib", "/usr/lib/x", "/a",
    "/a/b", "/a/b/c", "/home/u", "/home/u/proj", "/srv", "/w", "/w/d/r", "/x/y",
    "/etc/passwd"};
static const char *const names[] = {"@sys", "@home", "work", "a", "zz", "m-1"};
static const char *const bad_names[] = {
    "", "@", "sys/x", "A", "-a", "@@a", "a.b", "../a"};

/* Mostly a good one; each doubt is a chance that it is not. */

static void
add_profiles(struct policy *po)
{
	unsigned i, n = 1 + below(3);
	struct profile *p;
	const char *name;

	for (i = 0; i < n; i++) {
		name = below(60) == 0 ? one_of(bad_names) : names[i];
		p = policy_add_profile(po, name,
		    below(60) == 0 ? one_of(bad_paths) : "/p/x.profile",
		    below(60) == 0   ? (enum layer)below(6)
		    : name[0] == '@' ? LAYER_SHIPPED
				     : LAYER_USER,
		    (uint8_t)(below(60) == 0 ? below(256) : 1 + below(7)));
		ck_assert_ptr_nonnull(p);
		if (below(4) > 0)
			continue;
		p->includes = calloc(2, sizeof(*p->includes));
		p->nincludes = 1 + below(2);
		p->includes[0] = (uint16_t)below(n + (below(20) == 0));
		p->includes[1] = (uint16_t)(p->includes[0] + below(3));
	}
}

/* A pack in order, before all else: what follows may spoil it. */
static void
add_pack(struct policy *po)
{
	static const char *const out[] = {
	    "/workdir/out", "/workdir/a/b", "/etc/x", "/workdir"};
	static char none[] = "";
	struct rule r = {.kind = RULE_NO_UNIX, .text = none};
	struct origin o = {.verb = VERB_READ};
	const char *top = below(20) == 0 ? "/w" : "/home/u/proj";
	char source[64];
	struct grant *g;
	unsigned i;

	ck_assert_ptr_nonnull(policy_add_profile(po, "+p", "/w/p.profile",
	    below(20) == 0 ? LAYER_USER : LAYER_PACK, PROFILE_ASKED));
	g = policy_add_grant(po, GRANT_BIND, 0, "/workdir", top, 0);
	ck_assert_int_eq(grant_add_origin(g, &o), 0);
	if (below(2)) {
		i = below(8) == 0 ? below(4) : below(2);
		snprintf(source, sizeof(source), "%s%s", top,
		    below(20) == 0 ? "/else" : out[i] + 8 * (i != 2));
		o.verb = VERB_WRITE;
		o.line = 5;
		g = policy_add_grant(po, GRANT_BIND,
		    (uint8_t)(GRANT_WRITE | (below(2) ? GRANT_OUTPUT : 0)),
		    out[i], source, 0);
		ck_assert_int_eq(grant_add_origin(g, &o), 0);
	}
	if (below(20) > 0)
		ck_assert_ptr_nonnull(policy_add_rule(po, &r));
	r.kind = RULE_REPORT;
	r.what = REPORT_FS;
	if (below(20) > 0)
		ck_assert_ptr_nonnull(policy_add_rule(po, &r));
	r.kind = RULE_VIOLATION;
	r.what = 0;
	r.number = VIOLATION_FAIL;
	if (below(20) > 0)
		ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

static void
add_grant(struct policy *po)
{
	struct origin o = {.verb = (uint8_t)(1 + below(VERB_LAST))};
	const char *guest = below(80) == 0 ? one_of(bad_paths) : one_of(guests);
	const char *source = below(2) ? guest : one_of(sources);
	enum grant_kind kind = GRANT_BIND;
	uint64_t size = 0;
	uint8_t flags = 0;
	struct grant *g;
	unsigned n;

	if (o.verb == VERB_TMPFS) {
		kind = GRANT_TMPFS;
		size = below(40) == 0 ? below(8192) : 4096U << below(18);
	} else if (o.verb == VERB_SYMLINK)
		kind = GRANT_SYMLINK;
	else if (o.verb == VERB_COMMAND) {
		kind = GRANT_COMMAND;
		guest = below(80) == 0 ? "/run/carrel/bin/a/b"
				       : "/run/carrel/bin/a";
	} else if (o.verb == VERB_SOCKET)
		kind = GRANT_SOCKET;
	else if (o.verb == VERB_DEVICE) {
		kind = GRANT_DEVICE;
		guest = below(40) == 0 ? "/dev/mem" : "/dev/kvm";
		source = guest;
	}
	if (o.verb == VERB_WRITE || o.verb == VERB_TRY_WRITE)
		flags |= GRANT_WRITE;
	if (o.verb == VERB_TRY_READ || o.verb == VERB_TRY_WRITE)
		flags |= GRANT_TRY;
	if ((flags & GRANT_WRITE) != 0 && below(3) == 0)
		flags |= GRANT_OUTPUT;
	if (below(80) == 0)
		source = one_of(bad_paths);
	if (below(80) == 0)
		flags ^= (uint8_t)(1U << below(8));
	if (below(80) == 0)
		kind = (enum grant_kind)below(8);
	if (below(80) == 0)
		size = below(100000);
	g = policy_add_grant(po, kind, flags, guest,
	    kind == GRANT_TMPFS && below(80) > 0 ? "" : source, size);
	ck_assert_ptr_nonnull(g);
	for (n = below(80) == 0 ? 0 : 1 + below(2); n > 0; n--) {
		o.profile =
		    (uint16_t)below((unsigned)po->nprofiles + (below(40) == 0));
		o.line = 1 + below(100);
		if (below(80) == 0)
			o.verb = (uint8_t)below(11);
		ck_assert_int_eq(grant_add_origin(g, &o), 0);
	}
}

static void
add_claim(struct policy *po)
{
	static const char *const vars[] = {
	    "EDITOR", "LANG", "MANPATH", "PATH", "TERM_PROGRAM"};
	static const char *const foul[] = {
	    "CARREL_RUN", "LD_PRELOAD", "A-B", "", "HOME"};
	static char one[] = "/usr/bin", two[] = "x", bad[] = "/a\033";
	char *values[] = {below(60) == 0 ? bad : one, two};
	struct origin o = {.verb = (uint8_t)(1 + below(5)), .line = 7};
	size_t n = o.verb > 3 ? 0 : 1;
	struct env_claim *c;

	if (below(60) == 0)
		n = below(3);
	if (below(60) == 0)
		o.verb = (uint8_t)below(8);
	c = policy_add_claim(po, (enum env_verb)o.verb,
	    below(60) == 0 ? one_of(foul) : one_of(vars), values, n);
	ck_assert_ptr_nonnull(c);
	o.profile = (uint16_t)below((unsigned)po->nprofiles + (below(40) == 0));
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
}

/* Some of each kind; those that cross have a chance of a common path. */
static void
add_rule(struct policy *po)
{
	static char none[] = "", x[] = "/usr/bin/x", y[] = "/usr/lib/y",
		    foul[] = "/a/../b";
	struct rule r = {.kind = (uint8_t)(1 + below(9)), .line = 1 + below(9)};

	r.text = none;
	if (r.kind == RULE_INTERPRETER || r.kind == RULE_LIBRARY)
		r.text = below(60) == 0 ? foul : below(4) ? x : y;
	if (r.kind == RULE_LIMIT) {
		r.what = (uint8_t)(1 + below(LIMIT_LAST));
		r.number = (uint64_t)4096 << below(16);
	} else if (r.kind == RULE_REPORT) {
		r.what = (uint8_t)(1 + below(REPORT_LAST));
	} else if (r.kind == RULE_TIER || r.kind == RULE_VIOLATION) {
		r.number = (r.kind == RULE_VIOLATION ? 2 : 1) + below(2);
	}
	if (below(60) == 0)
		r.kind = (uint8_t)below(12);
	if (below(60) == 0)
		r.what = (uint8_t)below(12);
	if (below(60) == 0)
		r.number = below(5);
	r.profile = (uint16_t)below((unsigned)po->nprofiles + (below(40) == 0));
	ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

static int
profile_cmp(const void *a, const void *b)
{
	return strcmp(((const struct profile *)a)->name,
	    ((const struct profile *)b)->name);
}

static void
generate(struct policy *po)
{
	unsigned n;

	memset(po, 0, sizeof(*po));
	if (below(6) == 0)
		add_pack(po);
	add_profiles(po);
	for (n = below(7); n > 0; n--)
		add_grant(po);
	for (n = below(3) == 0 ? 1 + below(2) : 0; n > 0; n--)
		add_claim(po);
	for (n = below(3) == 0 ? 1 + below(4) : 0; n > 0; n--)
		add_rule(po);
	if (below(40) > 0)
		qsort(po->profiles, po->nprofiles, sizeof(*po->profiles),
		    profile_cmp);
	if (below(40) > 0)
		policy_sort(po);
	if (below(20) == 0)
		ck_assert_int_eq(policy_refuse(po, "a", "/a", 1, "x", "no"), 0);
}

/* The policy's bytes on the wire, by an honest sender. */
static size_t
bytes_of(const struct policy *po, uint8_t *data, const int pair[2])
{
	struct sender s;
	ssize_t n;

	ck_assert_int_eq(sender_init(&s, pair[0], -1), 0);
	ck_assert_int_eq(policy_send(&s, po), 0);
	sender_free(&s);
	n = recv(pair[1], data, BYTES_MAX, 0);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}

/* Changes the bytes; half of all policies stay as they are. */
static size_t
spoil(uint8_t *data, size_t len)
{
	size_t at[RECORDS], size[RECORDS], n = 0, i, k, times;
	uint8_t copy[BYTES_MAX];
	uint32_t v;

	if (below(2) == 0)
		return len;
	for (i = 0; i < len && n < RECORDS; n++) {
		memcpy(&v, data + i + 2, sizeof(v));
		at[n] = i;
		size[n] = v + RECORD_HEADER;
		i += size[n];
	}
	i = below((unsigned)n);
	k = at[i] + below((unsigned)size[i]);
	switch (below(7)) {
	case 0:
		data[k] ^= (uint8_t)(1U << below(8));
		return len;
	case 1:
		data[k] = (uint8_t)below(256);
		return len;
	case 2: /* cut */
		return k;
	case 3: /* a record twice, or elsewhere */
		memcpy(copy, data + at[i], size[i]);
		k = at[below((unsigned)n)];
		if (len + size[i] > BYTES_MAX)
			return len;
		memmove(data + k + size[i], data + k, len - k);
		memcpy(data + k, copy, size[i]);
		return len + size[i];
	case 4: /* a record less */
		memmove(data + at[i], data + at[i] + size[i],
		    len - at[i] - size[i]);
		return len - size[i];
	case 5: /* a number */
		v = (uint32_t)1 << below(32);
		v -= below(3);
		times = 1U << below(3);
		if (k + times <= len)
			memcpy(data + k, &v, times);
		return len;
	default: /* more than there should be */
		for (times = 1 + below(30); times > 0 && len < BYTES_MAX;
		     times--)
			data[len++] = (uint8_t)below(256);
		return len;
	}
}

/* 1 if it was accepted. */
static int
hear(const uint8_t *data, size_t len, int *planned)
{
	struct receiver r;
	struct policy po;
	char why[TEXT_MAX_LEN] = "";
	int pair[2], good = 0;

	ck_assert_int_eq(channel_pair(pair), 0);
	if (len > 0)
		ck_assert_int_eq(send(pair[0], data, len, 0), (int)len);
	close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_deadline(10), record_policy), 0);
	if (policy_receive(&r, &po) == 0) {
		good = policy_check(&po, why, sizeof(why)) == 0;
		ck_assert(good || why[0] != '\0');
		if (good)
			judge_policy(&po);
		if (good && po.nrefusals == 0)
			*planned += judge_plan(below(4), &po);
		policy_free(&po);
	}
	receiver_free(&r);
	close(pair[1]);
	return good;
}

static unsigned
number(const char *name, unsigned otherwise)
{
	const char *s = getenv(name);

	return s == NULL ? otherwise : (unsigned)strtoul(s, NULL, 10);
}

START_TEST(mutations)
{
	unsigned n = number("CARREL_T_MUTATIONS", MUTATIONS), i;
	unsigned seed = number("CARREL_T_SEED", 20231);
	unsigned accepted = 0, refused = 0;
	int planned = 0, pair[2];
	uint8_t data[BYTES_MAX];
	struct policy po;
	size_t len;

	printf("%u mutations, CARREL_T_SEED=%u\n", n, seed);
	fflush(stdout);
	ck_assert_int_eq(channel_pair(pair), 0);
	for (i = 0; i < n; i++) {
		/* each can be repeated by its own */
		state = 88172645463325252ULL + seed + i * 0x9e3779b97f4a7c15ULL;
		generate(&po);
		len = spoil(data, bytes_of(&po, data, pair));
		policy_free(&po);
		if (hear(data, len, &planned))
			accepted++;
		else
			refused++;
	}
	printf("%u accepted (%d planned), %u refused\n", accepted, planned,
	    refused);
	/* the generator reaches both sides, and the plan */
	ck_assert_uint_gt(accepted, n / 20);
	ck_assert_uint_gt(refused, n / 20);
	ck_assert_int_gt(planned, (int)n / 40);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mutate");
	TCase *t = tcase_create("mutate");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_test(t, mutations);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
