#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/environ.h"
#include "ipc/limits.h"

/* Claims on variables: over the wire and back, and what the check refuses. */

static int
judge(struct policy *po)
{
	char why[TEXT_MAX_LEN] = "";
	int n = policy_check(po, why, sizeof(why));

	ck_assert(n == 0 || why[0] != '\0');
	return n;
}

static void
swap(char **p, const char *s)
{
	free(*p);
	*p = strdup(s);
}

static struct env_claim *
wish(struct policy *po, uint16_t profile, enum env_verb verb, const char *name,
    const char *value)
{
	struct origin o = {profile, (uint8_t)verb, 20};
	char *values[1] = {(char *)(uintptr_t)value};
	struct env_claim *c;

	c = policy_add_claim(po, verb, name, values, value != NULL);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
	return c;
}

/* A policy that is fine: a profile of each layer and a claim of each verb. */
static void
good(struct policy *po)
{
	struct origin second = {2, ENV_SET, 4};

	memset(po, 0, sizeof(*po));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "root", "/h/root.profile", LAYER_HOST, PROFILE_ASKED));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "work", "/u/work.profile", LAYER_USER, PROFILE_ASKED));
	po->prompt = strdup("{cwd} >");
	wish(po, 2, ENV_PREPEND, "PATH", "/a");
	wish(po, 2, ENV_MERGE, "PATH", "/b");
	wish(po, 2, ENV_MERGE, "PATH", "/c");
	wish(po, 2, ENV_SANITISE, "PATH", NULL);
	wish(po, 2, ENV_INHERIT, "EDITOR", NULL);
	wish(po, 1, ENV_SET, "GIT_SSH", "ssh");
	wish(po, 0, ENV_SET, "LC_ALL", "C");
	ck_assert_int_eq(
	    environ_add_origin(wish(po, 1, ENV_SET, "EDITOR", "vi"), &second),
	    0);
	policy_sort(po);
}

static struct env_claim *
wish_at(struct policy *po, const char *name, enum env_verb verb)
{
	size_t i;

	for (i = 0; i < po->nenv; i++)
		if (strcmp(po->env[i].name, name) == 0 &&
		    po->env[i].verb == verb)
			return &po->env[i];
	ck_abort_msg("no claim on %s", name);
	return NULL;
}

/* What is changed in a claim of good(). */
static const struct {
	const char *name;
	enum env_verb verb;
	const char *rename, *value; /* NULL: as it is */
	int reverb, profile;	    /* -1: as it is */
	int sort;		    /* 1: into its place again */
} wish_lies[] = {
    {"EDITOR", ENV_SET, "HOME", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "PATH", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "PS1", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "SSH_AUTH_SOCK", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "A=B", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "1A", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "A-B", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "A\n", NULL, -1, -1, 1},
    {"EDITOR", ENV_SET, "LD_PRELOAD", NULL, -1, -1, 1}, /* a user's, too */
    {"EDITOR", ENV_SET, "BASH_FUNC_x", NULL, -1, -1, 1},
    {"EDITOR", ENV_INHERIT, "npm_config_X", NULL, -1, -1, 1},
    {"EDITOR", ENV_INHERIT, "BASH_ENV", NULL, -1, -1, 1},
    {"EDITOR", ENV_INHERIT, "CARGO_HOME", NULL, -1, -1, 1},
    {"EDITOR", ENV_INHERIT, "MANPATH", NULL, -1, -1, 1},
    {"GIT_SSH", ENV_SET, NULL, NULL, -1, 2, 0},
    {"GIT_SSH", ENV_SET, NULL, NULL, -1, 0, 0},
    {"LC_ALL", ENV_SET, "FOO", NULL, -1, -1, 1}, /* shipped, no row */
    {"EDITOR", ENV_SET, NULL, "a\x1b", -1, -1, 0},
    {"EDITOR", ENV_SET, NULL, "\xe2\x80\xae", -1, -1, 0},
    {"EDITOR", ENV_SET, NULL, "a\nb", -1, -1, 0},
    {"EDITOR", ENV_SET, "CARGO_HOME", "relative", -1, -1, 1},
    {"PATH", ENV_PREPEND, NULL, "/a:/b", -1, -1, 0},
    {"PATH", ENV_PREPEND, NULL, "", -1, -1, 0},
    {"PATH", ENV_PREPEND, NULL, "bin", -1, -1, 0},
    {"PATH", ENV_PREPEND, NULL, "/a/../b", -1, -1, 0},
    {"PATH", ENV_PREPEND, NULL, "/a\n", -1, -1, 0},
    {"PATH", ENV_MERGE, NULL, "/c", -1, -1, 0},		 /* one element twice */
    {"PATH", ENV_MERGE, NULL, "/z", -1, -1, 0},		 /* out of order */
    {"PATH", ENV_MERGE, NULL, NULL, ENV_PREPEND, -1, 1}, /* two fronts */
    {"PATH", ENV_SANITISE, "MANPATH", NULL, -1, -1, 1},
    {"PATH", ENV_SANITISE, NULL, NULL, -1, 0, 0},	  /* a shipped one */
    {"PATH", ENV_SANITISE, NULL, NULL, ENV_MERGE, -1, 1}, /* no element */
    {"PATH", ENV_SANITISE, "ZZZ", NULL, -1, -1, 1},	  /* no list */
    {"EDITOR", ENV_INHERIT, NULL, NULL, ENV_SET, -1, 1},  /* no value */
    {"EDITOR", ENV_SET, NULL, NULL, ENV_INHERIT, -1, 1},  /* a value */
    {"EDITOR", ENV_SET, NULL, NULL, ENV_MERGE, -1, 1},
    {"EDITOR", ENV_SET, NULL, NULL, ENV_LAST + 1, -1, 1},
    {"EDITOR", ENV_SET, NULL, NULL, 0, -1, 1},
    {"EDITOR", ENV_SET, NULL, NULL, -1, 3, 0},
    {"EDITOR", ENV_SET, NULL, NULL, -1, 2, 0}, /* the second claimant's */
    {"EDITOR", ENV_SET, "zzz", NULL, -1, -1, 0},
};
#define WISH_LIES (int)(sizeof(wish_lies) / sizeof(wish_lies[0]))

START_TEST(refuses_each_wish)
{
	struct policy po;
	struct env_claim *c;
	size_t i;

	good(&po);
	ck_assert_int_eq(judge(&po), 0);
	c = wish_at(&po, wish_lies[_i].name, wish_lies[_i].verb);
	if (wish_lies[_i].rename != NULL)
		swap(&c->name, wish_lies[_i].rename);
	if (wish_lies[_i].value != NULL)
		swap(&c->values[0], wish_lies[_i].value);
	if (wish_lies[_i].profile != -1)
		c->origins[0].profile = (uint16_t)wish_lies[_i].profile;
	if (wish_lies[_i].reverb != -1) {
		c->verb = (uint8_t)wish_lies[_i].reverb;
		for (i = 0; i < c->norigins; i++)
			c->origins[i].verb = c->verb;
	}
	if (wish_lies[_i].sort)
		policy_sort(&po);
	ck_assert_msg(judge(&po) == -1, "lie %d was believed", _i);
	policy_free(&po);
}
END_TEST

START_TEST(refuses_other_wishes)
{
	char text[VALUE_MAX_LEN + 2];
	struct policy po;

	good(&po);
	wish_at(&po, "EDITOR", ENV_SET)->norigins = 0;
	ck_assert_int_eq(judge(&po), -1);
	wish_at(&po, "EDITOR", ENV_SET)->norigins = 2;
	wish_at(&po, "EDITOR", ENV_SET)->origins[1].verb = ENV_MERGE;
	ck_assert_int_eq(judge(&po), -1);
	wish_at(&po, "EDITOR", ENV_SET)->origins[1].verb = ENV_SET;
	ck_assert_int_eq(judge(&po), 0);
	memset(text, 'x', sizeof(text));
	text[VALUE_MAX_LEN] = '\0';
	swap(&wish_at(&po, "EDITOR", ENV_SET)->values[0], text);
	ck_assert_int_eq(judge(&po), 0);
	text[VALUE_MAX_LEN] = 'x';
	text[VALUE_MAX_LEN + 1] = '\0';
	swap(&wish_at(&po, "EDITOR", ENV_SET)->values[0], text);
	ck_assert_int_eq(judge(&po), -1);
	swap(&wish_at(&po, "EDITOR", ENV_SET)->values[0], "x");
	swap(&po.prompt, "a\x1b[2J");
	ck_assert_int_eq(judge(&po), -1);
	text[PROMPT_MAX_LEN + 1] = '\0';
	swap(&po.prompt, text);
	ck_assert_int_eq(judge(&po), -1);
	text[PROMPT_MAX_LEN] = '\0';
	swap(&po.prompt, text);
	ck_assert_int_eq(judge(&po), 0);
	policy_free(&po);
}
END_TEST

START_TEST(wishes_over_the_wire)
{
	struct policy po, back;
	struct sender s;
	struct receiver r;
	size_t n;
	int pair[2];

	good(&po);
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	ck_assert_int_eq(policy_send(&s, &po), 0);
	close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_deadline(5), record_policy), 0);
	ck_assert_int_eq(policy_receive(&r, &back), 0);
	ck_assert_int_eq(judge(&back), 0);
	ck_assert_uint_eq(back.nenv, 8);
	ck_assert_str_eq(back.prompt, "{cwd} >");
	ck_assert_str_eq(policy_environ(&back, "PATH", &n)->values[0], "/b");
	ck_assert_uint_eq(n, 4);
	ck_assert_ptr_null(policy_environ(&back, "PAT", &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(wish_at(&back, "EDITOR", ENV_SET)->norigins, 2);
	ck_assert_uint_eq(
	    wish_at(&back, "EDITOR", ENV_SET)->origins[1].line, 4);
	sender_free(&s);
	receiver_free(&r);
	policy_free(&po);
	policy_free(&back);
	close(pair[1]);
}
END_TEST

/* A refused policy may say anything, but nothing that a screen trips over. */
START_TEST(refused_wishes_can_be_shown)
{
	struct policy po;

	good(&po);
	swap(&wish_at(&po, "EDITOR", ENV_SET)->name, "HOME");
	ck_assert_int_eq(policy_refuse(&po, "", "", 0, "", "x"), 0);
	ck_assert_int_eq(judge(&po), 0);
	po.env[0].verb = ENV_LAST + 1;
	ck_assert_int_eq(judge(&po), -1);
	po.env[0].verb = ENV_SET;
	ck_assert_int_eq(judge(&po), 0);
	po.env[0].origins[0].profile = 3;
	ck_assert_int_eq(judge(&po), -1);
	policy_free(&po);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policy environ");
	TCase *t = tcase_create("policy environ");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(t, refuses_each_wish, 0, WISH_LIES);
	tcase_add_test(t, refuses_other_wishes);
	tcase_add_test(t, wishes_over_the_wire);
	tcase_add_test(t, refused_wishes_can_be_shown);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
