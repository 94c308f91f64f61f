#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/monitor/bound.h"
#include "child/setup/control.h"
#include "child/setup/limit.h"
#include "child/shared/cgroup.h"
#include "ipc/channel.h"
#include "ipc/policy.h"
#include "parent/failure.h"
#include "parent/start.h"

/*
 * The limits of the set-up, with a monitor made by hand, and the monitor's
 * part with words of a set-up that nobody wrote.
 */

static void
policy(struct policy *po, enum limit what, uint64_t number)
{
	static char none[] = "";
	struct rule r = {RULE_LIMIT, (uint8_t)what, number, none, 0, 4};

	if (po->nprofiles == 0)
		ck_assert_ptr_nonnull(policy_add_profile(
		    po, "lim", "/u/lim.profile", LAYER_USER, PROFILE_ASKED));
	ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

static void
hear(int fd, enum control_type type, int a, const char *text)
{
	struct control m;

	ck_assert_int_eq(control_wait(fd, &m, channel_deadline(5)), 1);
	ck_assert_int_eq((int)m.type, (int)type);
	ck_assert_int_eq(m.a, a);
	ck_assert_str_eq(m.text, text);
}

/* In a child, which may make a cgroup namespace. The exit code is a bit a
   signal that it was told of, of the group's 0x80; 1: a failure. */
static int
take(struct policy *po, int fd)
{
	struct failure f = {.what = ""};
	struct limits ls;

	if (unshare(CLONE_NEWUSER) == -1)
		return 2;
	if (limit_take(po, fd, &ls, &f) == -1) {
		fprintf(stderr, "%s\n", f.what);
		return 1;
	}
	return (int)((ls.signals >> SIGTERM & 1) << 2 |
		     (ls.signals >> SIGINT & 1) << 3 |
		     (ls.group >> SIGINT & 1) << 4 |
		     (ls.group >> SIGTERM & 1) << 5) |
	       (ls.grouped == CGROUP_BIT(LIMIT_MEMORY) ? 0x40 : 0);
}

/* What the person at the terminal sent meanwhile is not lost. */
START_TEST(early_signals)
{
	struct policy po = {.nprofiles = 0};
	int pair[2], status;
	pid_t pid;

	policy(&po, LIMIT_MEMORY, 64 << 20);
	policy(&po, LIMIT_OPEN_FILES, 64);
	ck_assert_int_eq(channel_pair(pair), 0);
	if ((pid = fork()) == 0) {
		close(pair[0]);
		_exit(take(&po, pair[1]));
	}
	close(pair[1]);
	hear(pair[0], CONTROL_LIMIT, LIMIT_MEMORY,
	    "67108864 memory = 64M of lim, /u/lim.profile:4");
	hear(pair[0], CONTROL_LIMIT, LIMIT_OPEN_FILES,
	    "64 open-files = 64 of lim, /u/lim.profile:4");
	hear(pair[0], CONTROL_GROUP, (int)CGROUP_BIT(LIMIT_MEMORY), "");
	control_send(pair[0], CONTROL_SIGNAL, SIGTERM, 0, NULL);
	control_send(pair[0], CONTROL_SIGNAL, SIGINT, 1, NULL);
	control_send(pair[0], CONTROL_GROUPED, 0, 0, NULL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 0x40 | 4 | 8 | 16);
	close(pair[0]);
	policy_free(&po);
}
END_TEST

/* Another word than the one that is waited for ends it; none at all, too. */
START_TEST(other_words)
{
	static const int words[] = {CONTROL_GO, CONTROL_STOP, CONTROL_LIMIT, 0};
	struct policy po = {.nprofiles = 0};
	int pair[2], status;
	size_t i;
	pid_t pid;

	policy(&po, LIMIT_CPU, 50);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ck_assert_int_eq(channel_pair(pair), 0);
		if ((pid = fork()) == 0) {
			close(pair[0]);
			_exit(take(&po, pair[1]));
		}
		close(pair[1]);
		hear(pair[0], CONTROL_LIMIT, LIMIT_CPU,
		    "50 cpu = 50% of lim, /u/lim.profile:4");
		hear(pair[0], CONTROL_GROUP, (int)CGROUP_BIT(LIMIT_CPU), "");
		if (words[i] != 0)
			control_send(
			    pair[0], (enum control_type)words[i], 0, 0, NULL);
		close(pair[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(WEXITSTATUS(status), 1);
	}
	policy_free(&po);
}
END_TEST

static int
soft_and_hard(int resource)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(resource, &r), 0);
	return (int)(r.rlim_cur * 1000 + r.rlim_max);
}

/* Never more than there was, soft or hard. */
START_TEST(only_less)
{
	struct limits ls = {.grouped = 0};
	struct start st = {.nofile = {20, 40}, .core = 4096};
	struct failure f;

	ck_assert_int_eq(limit_payload(&ls, &st), 0);
	ck_assert_int_eq(soft_and_hard(RLIMIT_NOFILE), 20040);
	ls.set[LIMIT_OPEN_FILES] = 1;
	ls.value[LIMIT_OPEN_FILES] = 30;
	ck_assert_int_eq(limit_payload(&ls, &st), 0);
	ck_assert_int_eq(soft_and_hard(RLIMIT_NOFILE), 20030);
	st.nofile.rlim_max = 30; /* what there was has gone */
	ls.value[LIMIT_OPEN_FILES] = 10;
	ls.set[LIMIT_CPU_TIME] = 1;
	ls.value[LIMIT_CPU_TIME] = 100;
	ck_assert_int_eq(limit_payload(&ls, &st), 0);
	ck_assert_int_eq(soft_and_hard(RLIMIT_NOFILE), 10010);
	ck_assert_int_eq(soft_and_hard(RLIMIT_CPU), 100101);
	ck_assert_int_eq(limit_core(&ls, &st, &f), 0);
	ck_assert_int_eq(soft_and_hard(RLIMIT_CORE), 1001);
	st.core = 0;
	ck_assert_int_eq(limit_core(&ls, &st, &f), 0);
	ck_assert_int_eq(soft_and_hard(RLIMIT_CORE), 0);
}
END_TEST

START_TEST(monitors_part)
{
	static const struct {
		int a;
		const char *text;
		int good;
	} cases[] = {
	    {LIMIT_MEMORY, "67108864 memory = 64M", 1},
	    {LIMIT_MEMORY, "67108864 memory = 64M", 0}, /* again */
	    {0, "67108864 x", 0},
	    {LIMIT_LAST + 1, "67108864 x", 0},
	    {-1, "67108864 x", 0},
	    {LIMIT_CPU, "", 0},
	    {LIMIT_CPU, "50", 0},
	    {LIMIT_CPU, "x 50", 0},
	    {LIMIT_CPU, "-1 x", 0},
	    {LIMIT_CPU, "0 x", 0},
	    {LIMIT_CPU, "99999999999999999999 x", 0},
	    {LIMIT_CPU, "50 cpu = 50%", 1},
	    {LIMIT_WALL_TIME, "1500 wall-time", 1},
	};
	struct bounds b;
	struct control m;
	size_t i;

	bound_init(&b);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m.type = CONTROL_LIMIT;
		m.a = cases[i].a;
		strcpy(m.text, cases[i].text);
		ck_assert_msg(
		    bound_hear(&b, &m) == (cases[i].good ? 0 : -1), "%zu", i);
	}
	ck_assert_str_eq(b.told[LIMIT_MEMORY], "memory = 64M");
	ck_assert_int_gt(b.wall_by, channel_now() + 1500);
	ck_assert_int_le(b.wall_by, channel_now() + 3500);
	/* bits of no limit, of one that was not told, of one that is no group's
	 */
	ck_assert_int_eq(bound_group(&b, 0, getpid()), -1);
	ck_assert_int_eq(bound_group(&b, 1 << LIMIT_PROCESSES, getpid()), -1);
	ck_assert_int_eq(bound_group(&b, 1 << LIMIT_WALL_TIME, getpid()), -1);
	ck_assert_int_eq(
	    bound_group(&b, 1 << LIMIT_CPU | 1 << 20, getpid()), -1);
	ck_assert_int_eq(b.group.dir, -1);
	bound_leave(&b);
	ck_assert_uint_eq(b.killed, 0);
	bound_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("limit");
	TCase *t = tcase_create("limit");
	SRunner *sr;
	int failed;

	tcase_add_test(t, early_signals);
	tcase_add_test(t, other_words);
	tcase_add_test(t, only_less);
	tcase_add_test(t, monitors_part);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
