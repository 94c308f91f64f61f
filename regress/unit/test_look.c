/* The survey: what is found, what is not, which links were followed. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "child/setup/look.h"
#include "child/shared/survey.h"
#include "parent/failure.h"
#include "world.h"

#define SOMEBODY 12345

static char dir[64];
static struct policy po;
static struct survey sv;

static const char *
in(const char *name)
{
	static char buf[8][4300];
	static unsigned next;
	char *s = buf[next++ % 8];

	snprintf(s, sizeof(buf[0]), "%s/%s", dir, name);
	return s;
}

static void
put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	ck_assert_int_ne(fd, -1);
	close(fd);
}

static void
setup(void)
{
	strcpy(dir, "/tmp/carrel-look-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_policy(&po);
	memset(&sv, 0, sizeof(sv));
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	put(in("d/f"));
}

static void
teardown(void)
{
	char cmd[256];

	policy_free(&po);
	survey_free(&sv);
	snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s; rm -rf %s", dir, dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* The row of this one source. */
static const struct survey_row *
look(const char *source)
{
	struct failure f;

	policy_free(&po);
	survey_free(&sv);
	world_policy(&po);
	world_add(&po, VERB_READ, "/x", source);
	ck_assert_int_eq(look_survey(&po, &sv, &f), 0);
	ck_assert_uint_eq(sv.n, 1);
	return &sv.rows[0];
}

static void
found(const struct survey_row *r, enum survey_type type, const char *real)
{
	struct stat st;

	ck_assert_int_eq(r->err, 0);
	ck_assert_int_eq(r->type, type);
	ck_assert_str_eq(r->real, real);
	ck_assert_int_eq(lstat(real, &st), 0);
	ck_assert_uint_eq(r->dev, st.st_dev);
	ck_assert_uint_eq(r->ino, st.st_ino);
	ck_assert_int_ne(r->fd, -1);
	ck_assert_int_ne(fcntl(r->fd, F_GETFL) & O_PATH, 0);
	ck_assert_int_ne(fcntl(r->fd, F_GETFD) & FD_CLOEXEC, 0);
}

static void
missing(const struct survey_row *r, int err)
{
	ck_assert_int_eq(r->err, err);
	ck_assert_int_eq(r->type, SURVEY_NONE);
	ck_assert_str_eq(r->real, "");
	ck_assert_int_eq(r->fd, -1);
}

static void
link_to(const char *text, const char *name)
{
	ck_assert_int_eq(symlink(text, in(name)), 0);
}

START_TEST(plain)
{
	const struct survey_row *r;
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int s;

	found(r = look(in("d")), SURVEY_DIR, in("d"));
	ck_assert_uint_eq(r->nlinks, 0);
	found(look(in("d/f")), SURVEY_FILE, in("d/f"));
	found(look("/dev/null"), SURVEY_DEVICE, "/dev/null");
	ck_assert_int_eq(mkfifo(in("p"), 0600), 0);
	found(look(in("p")), SURVEY_FIFO, in("p")); /* nobody is waited for */
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(sun.sun_path, in("s"));
	ck_assert_int_eq(bind(s, (struct sockaddr *)&sun, sizeof(sun)), 0);
	found(look(in("s")), SURVEY_SOCKET, in("s"));
	close(s);
}
END_TEST

START_TEST(absent)
{
	missing(look(in("no")), ENOENT);
	missing(look(in("d/no/no")), ENOENT);
	missing(look(in("d/f/no")), ENOTDIR);
	missing(look("relative"), EINVAL);
	missing(look("/a/../b"), EINVAL);
	ck_assert_int_eq(mkdir(in("closed"), 0700), 0);
	ck_assert_int_eq(mkdir(in("closed/in"), 0755), 0);
	ck_assert_int_eq(chmod(in("closed"), 0), 0);
	missing(look(in("closed/in")), EACCES);
	found(look(in("closed")), SURVEY_DIR, in("closed"));
}
END_TEST

START_TEST(links)
{
	const struct survey_row *r;

	link_to("d", "l1");
	link_to(in("l1"), "l2");
	found(r = look(in("l2/f")), SURVEY_FILE, in("d/f"));
	ck_assert_uint_eq(r->nlinks, 2);
	ck_assert_str_eq(r->links[0], in("l2"));
	ck_assert_str_eq(r->links[1], in("l1"));
	/* a link's own path is canonical, however it was reached */
	link_to("f", "d/lf");
	found(r = look(in("l1/lf")), SURVEY_FILE, in("d/f"));
	ck_assert_uint_eq(r->nlinks, 2);
	ck_assert_str_eq(r->links[0], in("l1"));
	ck_assert_str_eq(r->links[1], in("d/lf"));
	/* up from where it is, not from where it was named */
	ck_assert_int_eq(mkdir(in("d/e"), 0755), 0);
	link_to("d/e", "le");
	link_to("le/../f", "up");
	found(r = look(in("up")), SURVEY_FILE, in("d/f"));
	ck_assert_uint_eq(r->nlinks, 2);
	link_to("/../../..//tmp/.", "top");
	found(look(in("top")), SURVEY_DIR, "/tmp");
	link_to("/", "root");
	found(look(in("root")), SURVEY_DIR, "/");
	link_to("./d/./", "slash");
	found(look(in("slash")), SURVEY_DIR, in("d"));
	found(look(in("slash/f")), SURVEY_FILE, in("d/f"));
}
END_TEST

START_TEST(bad_links)
{
	const struct survey_row *r;
	char text[4096];
	size_t i;

	link_to("gone", "dangling");
	missing(r = look(in("dangling")), ENOENT);
	ck_assert_uint_eq(r->nlinks, 1);
	ck_assert_str_eq(r->links[0], in("dangling"));
	link_to("loop", "loop");
	missing(r = look(in("loop")), ELOOP);
	ck_assert_uint_eq(r->nlinks, LINKS_MAX);
	link_to("d/f/", "filedir");
	missing(look(in("filedir")), ENOTDIR);
	link_to("d/f/..", "fileup");
	missing(look(in("fileup")), ENOTDIR);
	/* a text that asks for a great many look-ups */
	for (i = 0; i + 5 < sizeof(text); i += 5)
		memcpy(text + i, "d/../", 5);
	text[i] = '\0';
	link_to(text, "many");
	link_to("many/many/many/many/many", "more");
	r = look(in("more"));
	missing(r, r->err);
	ck_assert(r->err == ELOOP || r->err == ENAMETOOLONG);
}
END_TEST

START_TEST(magic_links)
{
	missing(look("/proc/self/root"), ELOOP);
	missing(look("/proc/self/cwd"), ELOOP);
	link_to("/proc/self/cwd", "magic");
	missing(look(in("magic")), ELOOP);
	link_to("/proc/thread-self/root/etc", "root");
	missing(look(in("root")), ELOOP);
	/* positive control: the same procfs, no link */
	found(look("/proc/sys/kernel"), SURVEY_DIR, "/proc/sys/kernel");
}
END_TEST

/* A link of another user in a directory like /tmp. */
START_TEST(sticky_links)
{
	ck_assert_int_eq(mkdir(in("sticky"), 0755), 0);
	ck_assert_int_eq(chmod(in("sticky"), 01777), 0);
	link_to("../d", "sticky/mine");
	found(look(in("sticky/mine")), SURVEY_DIR, in("d"));
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(lchown(in("sticky/mine"), SOMEBODY, SOMEBODY), 0);
	missing(look(in("sticky/mine")), EACCES);
	ck_assert_int_eq(chmod(in("sticky"), 0777), 0);
	found(look(in("sticky/mine")), SURVEY_DIR, in("d"));
}
END_TEST

/* As if the kernel had no openat2(2). */
static void
forget_openat2(void)
{
	struct sock_filter f[] = {
	    BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p), 0);
}

static void
setup_old(void)
{
	setup();
	forget_openat2();
}

/* The soft limit; the teardown needs some again. */
static void
limit(rlim_t n)
{
	struct rlimit l;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = n;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &l), 0);
}

/* More grants than descriptors: all are seen, few are kept. */
START_TEST(few_descriptors)
{
	struct failure f;
	char guest[32];
	size_t i, open = 0;
	int fd;

	for (i = 0; i < 500; i++) {
		snprintf(guest, sizeof(guest), "/x%zu", i);
		world_add(&po, VERB_READ, guest, in("d/f"));
	}
	limit(200);
	ck_assert_int_eq(look_survey(&po, &sv, &f), 0);
	for (i = 0; i < 500; i++) {
		ck_assert_int_eq(sv.rows[i].type, SURVEY_FILE);
		open += sv.rows[i].fd != -1;
	}
	ck_assert_uint_gt(open, 10);
	ck_assert_uint_lt(open, 100);
	fd = look_again(&sv.rows[499]);
	ck_assert_int_ne(fd, -1);
	close(fd);
}
END_TEST

START_TEST(no_descriptor)
{
	struct failure f;

	world_add(&po, VERB_READ, "/x", in("d/f"));
	limit(3);
	ck_assert_int_eq(look_survey(&po, &sv, &f), -1);
	ck_assert_ptr_nonnull(strstr(f.what, "ulimit -n"));
	ck_assert_int_eq(f.err, EMFILE);
	limit(200);
}
END_TEST

static void
again(void)
{
	const struct survey_row *r = look(in("d/f"));
	int fd;

	fd = look_again(r);
	ck_assert_int_ne(fd, -1);
	close(fd);
	/* another file of that name */
	ck_assert_int_eq(rename(in("d/f"), in("d/old")), 0);
	ck_assert_int_eq(look_again(r), -1);
	ck_assert_int_eq(errno, ENOENT);
	put(in("d/f"));
	ck_assert_int_eq(look_again(r), -1);
	ck_assert_int_eq(errno, ESTALE);
	/* a link, even if it leads to the one that was seen */
	ck_assert_int_eq(unlink(in("d/f")), 0);
	ck_assert_int_eq(symlink("old", in("d/f")), 0);
	ck_assert_int_eq(look_again(r), -1);
	/* positive control */
	ck_assert_int_eq(rename(in("d/old"), in("d/f")), 0);
	fd = look_again(r);
	ck_assert_int_ne(fd, -1);
	close(fd);
}

START_TEST(opened_again)
{
	again();
}
END_TEST

static void
add_all(TCase *c)
{
	tcase_add_test(c, plain);
	tcase_add_test(c, absent);
	tcase_add_test(c, links);
	tcase_add_test(c, bad_links);
	tcase_add_test(c, magic_links);
	tcase_add_test(c, few_descriptors);
	tcase_add_test(c, no_descriptor);
	tcase_add_test(c, opened_again);
}

static Suite *
suite(void)
{
	Suite *s = suite_create("look");
	TCase *c = tcase_create("look"), *old = tcase_create("old kernel");
	TCase *root = tcase_create("sticky");

	tcase_add_checked_fixture(c, setup, teardown);
	add_all(c);
	tcase_add_checked_fixture(old, setup_old, teardown);
	add_all(old);
	tcase_add_checked_fixture(root, setup, teardown);
	tcase_add_test(root, sticky_links);
	suite_add_tcase(s, c);
	suite_add_tcase(s, old);
	suite_add_tcase(s, root);
	return s;
}

static int
run(const char *name)
{
	SRunner *sr = srunner_create(suite());
	int failed;

	srunner_run(sr, NULL, name, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed;
}

/* What needs another user's files first, the rest as nobody in particular. */
int
main(void)
{
	int failed = run("sticky");

	if (geteuid() == 0 &&
	    (setgroups(0, NULL) == -1 ||
		setresgid(SOMEBODY, SOMEBODY, SOMEBODY) == -1 ||
		setresuid(SOMEBODY, SOMEBODY, SOMEBODY) == -1)) {
		perror("become an ordinary user");
		return 1;
	}
	failed += run("look") + run("old kernel");
	return failed == 0 ? 0 : 1;
}
