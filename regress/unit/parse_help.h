#ifndef CARREL_PARSE_HELP_H
#define CARREL_PARSE_HELP_H

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/parser/place.h"
#include "ipc/channel.h"
#include "ipc/policy.h"
#include "child/shared/request.h"

/*
 * What the tests of the parser share: layers in a temporary directory, and a
 * request about them. The host's layer must belong to root, so without root
 * it is left out.
 */

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct layout {
	char root[64];
	char shipped[96], host[96], user[96], hconf[96], uconf[96];
	const char *select[64];
	struct request q;
};

static inline void
put_bytes(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_msg(fd != -1, "%s", path);
	ck_assert(write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static inline void
put_file(const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.profile", dir, name);
	put_bytes(path, text, strlen(text));
}

static inline void
layout_init(struct layout *l)
{
	static char slash[] = "/", user[] = "u", home[] = "/home/u",
		    none[] = "", target[] = "/srv/proj";

	memset(l, 0, sizeof(*l));
	umask(022);
	strcpy(l->root, "/tmp/carrel-test-XXXXXX");
	ck_assert(mkdtemp(l->root) != NULL);
	snprintf(l->shipped, sizeof(l->shipped), "%s/shipped", l->root);
	snprintf(l->host, sizeof(l->host), "%s/host", l->root);
	snprintf(l->user, sizeof(l->user), "%s/user", l->root);
	snprintf(l->hconf, sizeof(l->hconf), "%s/host/carrel.conf", l->root);
	snprintf(l->uconf, sizeof(l->uconf), "%s/user/config", l->root);
	ck_assert(mkdir(l->shipped, 0755) == 0 && mkdir(l->host, 0755) == 0 &&
		  mkdir(l->user, 0755) == 0);
	put_file(
	    l->shipped, "sys", "[profile]\npacks = yes\n[fs]\nread = /usr\n");
	put_file(l->shipped, "home", "[fs]\ntmpfs = {home}\n");
	put_file(l->shipped, "target", "[fs]\nwrite = {target}\n");
	put_file(l->shipped, "parent", "[fs]\nread = {target-parent}\n");
	put_file(l->shipped, "own-home", "[fs]\nwrite = {home}\n");
	l->q.shipped = l->shipped;
	l->q.host = geteuid() == 0 ? l->host : none;
	l->q.host_config = geteuid() == 0 ? l->hconf : none;
	l->q.user = l->user;
	l->q.user_config = l->uconf;
	l->q.select = (char **)(uintptr_t)l->select;
	l->q.caller.uid = geteuid();
	l->q.caller.gid = getegid();
	l->q.caller.flags = CALLER_IMPLIED;
	l->q.caller.user = user;
	l->q.caller.home = l->q.caller.home_real = l->q.caller.guest_home =
	    home;
	l->q.caller.shell = l->q.caller.cwd = slash;
	l->q.caller.home_other = none;
	l->q.caller.target = target;
	l->q.caller.term = l->q.caller.lang = l->q.caller.tz = none;
}

static inline void
ask(struct layout *l, const char *name)
{
	ck_assert(l->q.nselect < NITEMS(l->select));
	l->select[l->q.nselect++] = name;
}

static inline int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static inline void
layout_free(struct layout *l)
{
	chmod(l->user, 0755);
	nftw(l->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* There is one refusal and it holds both texts, in what and in fix. */
static inline void
expect_refusal(
    const struct policy *po, uint32_t line, const char *what, const char *fix)
{
	const struct refusal *r;

	ck_assert_uint_eq(po->nrefusals, 1);
	r = &po->refusals[0];
	if (strstr(r->what, what) == NULL)
		ck_assert_str_eq(r->what, what);
	if (strstr(r->fix, fix) == NULL)
		ck_assert_str_eq(r->fix, fix);
	ck_assert_str_ne(r->fix, "");
	ck_assert_uint_eq(r->line, line);
}

static inline int
run_suite(const char *name, const TTest *const *tests, size_t n)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *sr;
	size_t i;
	int failed;

	tcase_set_timeout(tc, 120);
	for (i = 0; i < n; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}

#endif
