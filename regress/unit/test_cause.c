#include <check.h>
#include <errno.h>
#include <string.h>

#include "child/shared/cause.h"

#define LEN 1024

/* An ordinary host on which nothing is forbidden. */
static const struct cause_host plain = {.major = 6,
    .minor = 18,
    .apparmor = -1,
    .userns_clone = -1,
    .max_user = 50000,
    .max_mnt = 50001,
    .max_pid = 50002,
    .max_net = 50003,
    .max_ipc = 50004,
    .max_uts = 50005,
    .max_cgroup = 50006};

static void
says(
    const struct cause_host *h, enum cause_step step, int err, const char *what)
{
	char buf[LEN];

	cause_judge(h, step, err, buf, sizeof(buf));
	if (what[0] == '\0')
		ck_assert_str_eq(buf, "");
	else
		ck_assert_msg(strstr(buf, what) != NULL,
		    "step %d, %s: no \"%s\" in \"%s\"", step, strerror(err),
		    what, buf);
}

/* B011: the message of a host that we do not have. */
START_TEST(test_apparmor)
{
	static const enum cause_step steps[] = {
	    CAUSE_USERNS, CAUSE_IDMAP, CAUSE_MOUNT, CAUSE_PROC, CAUSE_NETNS};
	struct cause_host h = plain;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		h.apparmor = 1;
		says(&h, steps[i], EPERM, "/etc/apparmor.d/carrel");
		says(&h, steps[i], EACCES,
		    "apparmor_restrict_unprivileged_userns");
		h.apparmor = 0;
		says(&h, steps[i], EPERM, "");
	}
}
END_TEST

START_TEST(test_userns)
{
	struct cause_host h = plain;

	h.userns_clone = 0;
	says(&h, CAUSE_USERNS, EPERM,
	    "sysctl -w kernel.unprivileged_userns_clone=1");
	h.userns_clone = 1;
	says(&h, CAUSE_USERNS, EPERM, "");
	h.max_user = 0;
	says(&h, CAUSE_USERNS, ENOSPC,
	    "sysctl -w user.max_user_namespaces=15000");
	h.max_user = 50000;
	h.max_net = 3;
	says(&h, CAUSE_USERNS, ENOSPC, "user.max_net_namespaces=15000");
	h = plain;
	says(&h, CAUSE_USERNS, ENOSPC, "user.max_user_namespaces=100000");
	h.max_user = h.max_mnt = h.max_pid = h.max_net = h.max_ipc = h.max_uts =
	    h.max_cgroup = -1;
	says(&h, CAUSE_USERNS, ENOSPC, "user.max_*_namespaces");
	h = plain;
	h.chrooted = 1;
	says(&h, CAUSE_USERNS, EPERM, "chroot");
	says(&plain, CAUSE_USERNS, EINVAL, "CONFIG_USER_NS");
}
END_TEST

START_TEST(test_container)
{
	struct cause_host h = plain;

	h.proc_covered = 1;
	says(&h, CAUSE_PROC, EPERM, "systempaths=unconfined");
	says(&h, CAUSE_PROC, EPERM, "unmask=ALL");
	says(&h, CAUSE_MOUNT, EPERM, "");
	h.proc_covered = 0;
	h.seccomp = 1;
	says(&h, CAUSE_USERNS, EPERM, "seccomp=unconfined");
	says(&h, CAUSE_MOUNT, ENOSYS, "seccomp=unconfined");
	says(&h, CAUSE_OPENAT2, ENOSYS, "seccomp=unconfined");
	says(&h, CAUSE_LANDLOCK, ENOSYS, "seccomp=unconfined");
	h.seccomp = 0;
	h.selinux = 1;
	says(&h, CAUSE_MOUNT, EACCES, "AVC");
	says(&h, CAUSE_MOUNT, ENOSYS, "");
	h.selinux = 0;
	h.one_id = 1;
	says(&h, CAUSE_IDMAP, EPERM, "no id to map");
}
END_TEST

START_TEST(test_kernel)
{
	struct cause_host h = plain;

	h.major = 5;
	h.minor = 11;
	says(&h, CAUSE_MOUNT, ENOSYS, "5.12");
	says(&h, CAUSE_LANDLOCK, ENOSYS, "5.13");
	says(&h, CAUSE_OPENAT2, ENOSYS, "");
	h.minor = 5;
	says(&h, CAUSE_OPENAT2, ENOSYS, "5.6");
	h.minor = 12;
	says(&h, CAUSE_MOUNT, ENOSYS, "");
	says(&plain, CAUSE_LANDLOCK, ENOSYS, "CONFIG_SECURITY_LANDLOCK");
	says(&plain, CAUSE_LANDLOCK, EOPNOTSUPP, "lsm=");
	says(&plain, CAUSE_LANDLOCK, ENOSYS, "--without-landlock");
	says(&plain, CAUSE_LANDLOCK, EOPNOTSUPP, "--without-landlock");
	says(&plain, CAUSE_SECCOMP, EINVAL, "CONFIG_SECCOMP_FILTER");
	says(&plain, CAUSE_NFTABLES, ENOENT, "CONFIG_NFT_TPROXY");
	says(&plain, CAUSE_NFTABLES, EPROTONOSUPPORT, "modprobe nft_tproxy");
	says(&plain, CAUSE_MOUNT, ENODEV, "CONFIG_TMPFS");
	says(&plain, CAUSE_MOUNT, ENOSPC, "fs.mount-max");
}
END_TEST

/* What is used up has one answer, at every step that knows no better. */
START_TEST(test_limits)
{
	int step;

	for (step = CAUSE_OTHER; step <= CAUSE_LAST; step++) {
		says(&plain, (enum cause_step)step, EAGAIN, "ulimit -u");
		says(&plain, (enum cause_step)step, EMFILE, "ulimit -n 256");
		says(&plain, (enum cause_step)step, ENFILE, "fs.file-max");
		says(&plain, (enum cause_step)step, EFBIG, "ulimit -f");
	}
}
END_TEST

/* Where nothing is known nothing is said, whatever the step. */
START_TEST(test_silence)
{
	int step;

	for (step = CAUSE_OTHER; step <= CAUSE_LAST; step++) {
		says(&plain, (enum cause_step)step, ENOMEM, "");
		says(&plain, (enum cause_step)step, EIO, "");
	}
	says(&plain, CAUSE_OTHER, EPERM, "");
}
END_TEST

/* A short buffer is filled and ended; the real host can be read. */
START_TEST(test_buffer)
{
	struct cause_host h = plain;
	char buf[16];

	h.userns_clone = 0;
	memset(buf, 'x', sizeof(buf));
	cause_judge(&h, CAUSE_USERNS, EPERM, buf, sizeof(buf));
	ck_assert_uint_eq(strlen(buf), sizeof(buf) - 1);
	cause_read(&h);
	ck_assert_uint_gt(h.major, 0);
	ck_assert_int_ge(h.max_user, 0);
	ck_assert_str_eq(cause_of(CAUSE_OTHER, EIO, buf, sizeof(buf)), "");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cause");
	TCase *t = tcase_create("cause");
	SRunner *r;
	int failed;

	tcase_add_test(t, test_apparmor);
	tcase_add_test(t, test_userns);
	tcase_add_test(t, test_container);
	tcase_add_test(t, test_kernel);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_silence);
	tcase_add_test(t, test_buffer);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
