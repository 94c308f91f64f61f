#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/shared/cgroup.h"
#include "ipc/rule.h"

/* What can be said of control groups without one: regress/uml has the rest. */

START_TEST(words)
{
	static const char list[] = "cpuset cpu io memory hugetlb pids\n";

	ck_assert_int_eq(cgroup_has(list, "cpu"), 1);
	ck_assert_int_eq(cgroup_has(list, "pids"), 1);
	ck_assert_int_eq(cgroup_has(list, "cpuset"), 1);
	ck_assert_int_eq(cgroup_has(list, "mem"), 0);
	ck_assert_int_eq(cgroup_has(list, "huge"), 0);
	ck_assert_int_eq(cgroup_has("", "cpu"), 0);
	ck_assert_int_eq(cgroup_has("\n", "cpu"), 0);
	ck_assert_int_eq(cgroup_has("cpu", "cpu"), 1);
	ck_assert_int_eq(cgroup_has("cpuset", "cpu"), 0);
	ck_assert_str_eq(cgroup_controller(LIMIT_PROCESSES), "pids");
	ck_assert_ptr_null(cgroup_controller(LIMIT_WALL_TIME));
	ck_assert_ptr_null(cgroup_controller(0));
}
END_TEST

START_TEST(families)
{
	int p[2], status;
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	ck_assert_int_eq(cgroup_carrels(pid, getpid()), 1);
	ck_assert_int_eq(cgroup_carrels(getpid(), getpid()), 1);
	ck_assert_int_eq(cgroup_carrels(getppid(), getpid()), 0);
	ck_assert_int_eq(cgroup_carrels(1, getpid()), 0);
	ck_assert_int_eq(cgroup_carrels(getpid(), pid), 0);
	close(p[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(cgroup_carrels(pid, getpid()), 0);
}
END_TEST

/* S6: what is missing, and the command or setting that helps. */
START_TEST(reasons)
{
	static const struct {
		enum cgroup_state state;
		unsigned lacks;
		const char *what, *fix;
	} cases[] = {
	    {CGROUP_NONE, 0, "no cgroup v2 is mounted at /sys/fs/cgroup; ",
		"systemd.unified_cgroup_hierarchy=1"},
	    {CGROUP_KERNEL, LIMIT_MEMORY, "no controller \"memory\" here",
		"cgroup_no_v1=all"},
	    {CGROUP_UNDELEGATED, 0, "cgroup /sys/fs/cgroup/x is not delegated",
		"-p Delegate=yes carrel run"},
	    {CGROUP_UNDELEGATED, LIMIT_CPU, "with the controller \"cpu\"; ",
		"-p Delegate=yes carrel run"},
	    {CGROUP_SHARED, 0, "other processes are in the cgroup /sys/fs/",
		"-p Delegate=yes carrel run"},
	    {CGROUP_UNREADABLE, 0, "/sys/fs/cgroup/x: Permission denied; ",
		"-p Delegate=yes carrel run"},
	};
	struct cgroup_host h = {.err = 13, .own = "/sys/fs/cgroup/x"};
	char why[2048];
	size_t i;

	ck_assert_str_eq(cgroup_why(&h, why, sizeof(why)), "");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		h.state = cases[i].state;
		h.lacks = cases[i].lacks;
		cgroup_why(&h, why, sizeof(why));
		ck_assert_msg(strstr(why, cases[i].what) != NULL, "%s", why);
		ck_assert_msg(strstr(why, cases[i].fix) != NULL, "%s", why);
	}
}
END_TEST

/* Whatever this host is: an answer, and one that can be told. */
START_TEST(this_host)
{
	struct cgroup_host h;
	char why[8192];

	cgroup_find(&h, CGROUP_ALL, getpid());
	cgroup_why(&h, why, sizeof(why));
	printf("cgroup: %d %s %s\n", (int)h.state, h.own, why);
	ck_assert_int_eq(h.state == CGROUP_READY, why[0] == '\0');
	ck_assert(h.state != CGROUP_KERNEL || h.lacks != 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cgroup");
	TCase *t = tcase_create("cgroup");
	SRunner *sr;
	int failed;

	tcase_add_test(t, words);
	tcase_add_test(t, families);
	tcase_add_test(t, reasons);
	tcase_add_test(t, this_host);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
