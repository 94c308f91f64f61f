#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/confine.h"
#include "parent/failure.h"

/*
 * Each test is a process of its own (CK_FORK) with all capabilities in a new
 * user namespace. What is left is read from /proc, not by the code under test.
 */

/* The leak checker traces its process, which no longer lets itself be. */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
	return 1;
}

#define BIT(cap) (1ULL << (cap))

static void
put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	ck_assert_msg(fd != -1, "%s: %s", file, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void
enter_namespace(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	ck_assert_msg(
	    unshare(CLONE_NEWUSER) == 0, "unshare: %s", strerror(errno));
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
}

/* The number after name in /proc/self/status. */
static unsigned long long
status(const char *name, int base)
{
	char line[256];
	unsigned long long v = ~0ULL;
	FILE *f = fopen("/proc/self/status", "r");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			v = strtoull(line + strlen(name), NULL, base);
	fclose(f);
	return v;
}

static void
set_caps(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {
	    {(uint32_t)effective, (uint32_t)permitted, (uint32_t)inheritable},
	    {(uint32_t)(effective >> 32), (uint32_t)(permitted >> 32),
		(uint32_t)(inheritable >> 32)}};

	ck_assert_int_eq(syscall(SYS_capset, &h, d), 0);
}

START_TEST(drop_leaves_nothing)
{
	unsigned long long all;
	struct failure f;

	enter_namespace();
	all = status("CapPrm:", 16);
	ck_assert_uint_ne(all, 0);
	/* a caller that hands down as much as can be handed down */
	set_caps(all, all, all);
	ck_assert_int_eq(
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0), 0);
	ck_assert_uint_ne(status("CapBnd:", 16), 0);
	ck_assert_uint_eq(status("CapInh:", 16), all);
	ck_assert_uint_eq(status("CapAmb:", 16), BIT(CAP_NET_RAW));
	ck_assert_uint_eq(status("NoNewPrivs:", 10), 0);

	ck_assert_msg(caps_drop(&f) == 0, "%s", f.what);
	ck_assert_uint_eq(status("CapEff:", 16), 0);
	ck_assert_uint_eq(status("CapPrm:", 16), 0);
	ck_assert_uint_eq(status("CapInh:", 16), 0);
	ck_assert_uint_eq(status("CapBnd:", 16), 0);
	ck_assert_uint_eq(status("CapAmb:", 16), 0);
	ck_assert_uint_eq(status("NoNewPrivs:", 10), 1);
	/* a second time there is nothing to do, and no need for SETPCAP */
	ck_assert_msg(caps_drop(&f) == 0, "%s", f.what);
}
END_TEST

START_TEST(drop_fails_closed)
{
	unsigned long long all;
	struct failure f;

	enter_namespace();
	all = status("CapPrm:", 16) & ~BIT(CAP_SETPCAP);
	set_caps(all, all, 0);
	ck_assert_int_eq(caps_drop(&f), -1);
	ck_assert_int_eq(f.err, EPERM);
	ck_assert_str_eq(f.what, "PR_CAPBSET_DROP");
	ck_assert_uint_ne(status("CapBnd:", 16), 0);
}
END_TEST

START_TEST(no_dac_is_like_the_user)
{
	const uint64_t dac =
	    BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER);
	char file[] = "/tmp/test_caps.XXXXXX";
	unsigned long long all;
	struct failure f;
	int fd, got;

	ck_assert((fd = mkstemp(file)) != -1);
	ck_assert_int_eq(fchmod(fd, 0), 0);
	close(fd);
	enter_namespace();
	all = status("CapEff:", 16);
	ck_assert((all & dac) == dac);
	fd = open(file, O_RDONLY); /* the namespace's root may */
	got = fd != -1;
	close(fd);
	ck_assert_msg(caps_no_dac(&f) == 0, "%s", f.what);
	fd = open(file, O_RDONLY);
	unlink(file);
	ck_assert(got);
	ck_assert_int_eq(fd, -1);
	ck_assert_uint_eq(status("CapEff:", 16), all & ~dac);
	ck_assert_uint_eq(status("CapPrm:", 16), all);
}
END_TEST

/* What a caller has of his own, root's or a namespace's, is no gain. */
START_TEST(own_capabilities_are_no_privilege)
{
	ck_assert_int_eq(caps_privileged(), 0);
	enter_namespace();
	ck_assert_uint_ne(status("CapPrm:", 16), 0);
	ck_assert_int_eq(caps_privileged(), 0);
}
END_TEST

/* Ids alone: setuid programs without a capability in either set. */
START_TEST(another_id_is_privilege)
{
	if (getuid() != 0)
		return; /* only root can have two ids */
	ck_assert_int_eq(setresuid(1, 0, 1), 0);
	set_caps(0, 0, 0);
	ck_assert_int_eq(caps_privileged(), 1);
}
END_TEST

START_TEST(saved_id_is_privilege)
{
	if (getuid() != 0)
		return;
	ck_assert_int_eq(setresgid(1, 1, 0), 0);
	ck_assert_int_eq(setresuid(1, 1, 1), 0);
	ck_assert_uint_eq(status("CapPrm:", 16), 0);
	ck_assert_int_eq(caps_privileged(), 1);
}
END_TEST

START_TEST(plain_user_has_none)
{
	if (getuid() == 0) {
		ck_assert_int_eq(setresgid(1, 1, 1), 0);
		ck_assert_int_eq(setresuid(1, 1, 1), 0);
	}
	ck_assert_int_eq(caps_privileged(), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("caps");
	TCase *c = tcase_create("caps");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(c, drop_leaves_nothing);
	tcase_add_test(c, drop_fails_closed);
	tcase_add_test(c, no_dac_is_like_the_user);
	tcase_add_test(c, own_capabilities_are_no_privilege);
	tcase_add_test(c, another_id_is_privilege);
	tcase_add_test(c, saved_id_is_privilege);
	tcase_add_test(c, plain_user_has_none);
	suite_add_tcase(s, c);
	srunner_set_fork_status(r, CK_FORK);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
