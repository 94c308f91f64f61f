#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/shared/event.h"
#include "ipc/buf.h"
#include "ipc/channel.h"

/* An event on its way to the monitor. */

static const struct event plain = {.surface = EVENT_EXEC,
    .profile = 3,
    .line = 12,
    .err = EACCES,
    .count = 2,
    .action = "execve",
    .resource = "/bin/sh\n\x1b[31m",
    .rule = "interpreter = /usr/bin/python3"};

static uint8_t buf[EVENT_BYTES_MAX];
static int fd[2];

static void
open_pair(void)
{
	ck_assert_int_eq(channel_pair(fd), 0);
}

static void
close_pair(void)
{
	close(fd[0]);
	close(fd[1]);
}

START_TEST(there_and_back)
{
	struct event e;

	open_pair();
	ck_assert_int_eq(event_receive(fd[1], &e, buf), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(event_send(fd[0], &plain), 0);
	ck_assert_int_eq(event_receive(fd[1], &e, buf), 1);
	ck_assert_uint_eq(e.surface, EVENT_EXEC);
	ck_assert_uint_eq(e.flags, 0);
	ck_assert_uint_eq(e.profile, 3);
	ck_assert_uint_eq(e.line, 12);
	ck_assert_uint_eq(e.err, EACCES);
	ck_assert_uint_eq(e.count, 2);
	ck_assert_str_eq(e.action, plain.action);
	ck_assert_str_eq(e.resource, plain.resource);
	ck_assert_str_eq(e.rule, plain.rule);
	close(fd[0]);
	ck_assert_int_eq(event_receive(fd[1], &e, buf), 0);
	close(fd[1]);
}
END_TEST

START_TEST(what_is_too_long_is_cut)
{
	static char text[3 * EVENT_RESOURCE_MAX];
	struct event e = plain, got;

	memset(text, 'x', sizeof(text) - 1);
	e.resource = e.rule = text;
	open_pair();
	ck_assert_int_eq(event_send(fd[0], &e), 0);
	ck_assert_int_eq(event_receive(fd[1], &got, buf), 1);
	ck_assert_uint_eq(strlen(got.resource), EVENT_RESOURCE_MAX);
	ck_assert_uint_eq(strlen(got.rule), EVENT_RULE_MAX);
	ck_assert_str_eq(got.rule + EVENT_RULE_MAX - 4, "x...");
	close_pair();
}
END_TEST

/* A sender that is never read is told so, and is not kept waiting. */
START_TEST(a_full_socket_does_not_wait)
{
	struct event e;
	int n = 0;

	open_pair();
	while (event_send(fd[0], &plain) == 0)
		ck_assert_int_lt(n++, 1000000);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_gt(n, 1);
	for (; n > 0; n--)
		ck_assert_int_eq(event_receive(fd[1], &e, buf), 1);
	ck_assert_int_eq(event_receive(fd[1], &e, buf), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close_pair();
}
END_TEST

static const struct {
	const char *name;
	struct event e;
	int good;
} sent[] = {
    {"control", {1, 0, EVENT_NO_PROFILE, 0, 0, 1, "connect", "x", ""}, 1},
    {"empty resource", {1, 0, EVENT_NO_PROFILE, 0, 0, 1, "x", "", ""}, 1},
    {"lost", {1, EVENT_LOST, EVENT_NO_PROFILE, 0, 0, 9, "", "", ""}, 1},
    {"surface 0", {0, 0, EVENT_NO_PROFILE, 0, 0, 1, "connect", "x", ""}, 0},
    {"surface 5",
	{EVENT_LAST + 1, 0, EVENT_NO_PROFILE, 0, 0, 1, "connect", "x", ""}, 0},
    {"flag", {1, 4, EVENT_NO_PROFILE, 0, 0, 1, "connect", "x", ""}, 0},
    {"note", {1, EVENT_NOTE, EVENT_NO_PROFILE, 0, 111, 1, "a", "x", ""}, 1},
    {"missing file, and who wanted it",
	{EVENT_FS, EVENT_NOTE, EVENT_NO_PROFILE, 0, 2, 1, "a", "x", "sh"}, 1},
    {"violation with a rule of nobody",
	{EVENT_FS, 0, EVENT_NO_PROFILE, 0, 2, 1, "a", "x", "sh"}, 0},
    {"note of another surface with one",
	{EVENT_EXEC, EVENT_NOTE, EVENT_NO_PROFILE, 0, 2, 1, "a", "x", "sh"}, 0},
    {"use", {1, EVENT_NOTE, EVENT_NO_PROFILE, 0, 0, 1, "a", "x", ""}, 1},
    {"use of a grant", {3, EVENT_NOTE, 1, 4, 0, 1, "read", "x", "r"}, 1},
    {"use by a rule of nobody",
	{3, EVENT_NOTE, EVENT_NO_PROFILE, 0, 0, 1, "read", "x", "r"}, 0},
    {"note that is lost",
	{1, EVENT_NOTE | EVENT_LOST, EVENT_NO_PROFILE, 0, 0, 1, "", "", ""}, 0},
    {"no count", {1, 0, EVENT_NO_PROFILE, 0, 0, 0, "connect", "x", ""}, 0},
    {"no action", {1, 0, EVENT_NO_PROFILE, 0, 0, 1, "", "x", ""}, 0},
    {"odd action", {1, 0, EVENT_NO_PROFILE, 0, 0, 1, "a\"b", "x", ""}, 0},
    {"rule of nobody", {1, 0, EVENT_NO_PROFILE, 0, 0, 1, "a", "x", "r"}, 0},
    {"line of nobody", {1, 0, EVENT_NO_PROFILE, 4, 0, 1, "a", "x", ""}, 0},
    {"lost with text", {1, EVENT_LOST, EVENT_NO_PROFILE, 0, 0, 1, "a", "", ""},
	0},
    {"lost with resource",
	{1, EVENT_LOST, EVENT_NO_PROFILE, 0, 0, 1, "", "x", ""}, 0},
};

START_TEST(fields)
{
	struct event e;

	open_pair();
	ck_assert_int_eq(event_send(fd[0], &sent[_i].e), 0);
	ck_assert_msg(event_receive(fd[1], &e, buf) == (sent[_i].good ? 1 : -1),
	    "%s", sent[_i].name);
	if (!sent[_i].good)
		ck_assert_int_eq(errno, EBADMSG);
	close_pair();
}
END_TEST

/* Every prefix, and every byte changed, is an event or refused. */
START_TEST(bytes)
{
	uint8_t whole[512], raw[512];
	struct event e;
	ssize_t n;
	size_t i;
	int r;

	open_pair();
	ck_assert_int_eq(event_send(fd[0], &plain), 0);
	n = recv(fd[1], whole, sizeof(whole), 0);
	ck_assert_int_gt(n, 0);
	for (i = 1; i < (size_t)n; i++) {
		ck_assert_int_eq(send(fd[0], whole, i, 0), (ssize_t)i);
		ck_assert_int_eq(event_receive(fd[1], &e, buf), -1);
		ck_assert_int_eq(errno, EBADMSG);
		memcpy(raw, whole, sizeof(raw));
		raw[i] ^= 0x41;
		ck_assert_int_eq(send(fd[0], raw, (size_t)n, 0), n);
		r = event_receive(fd[1], &e, buf);
		ck_assert(r == 1 || (r == -1 && errno == EBADMSG));
	}
	memcpy(raw, whole, (size_t)n);
	raw[n] = 0;
	ck_assert_int_eq(send(fd[0], raw, (size_t)n + 1, 0), n + 1);
	ck_assert_int_eq(event_receive(fd[1], &e, buf), -1);
	close_pair();
}
END_TEST

START_TEST(no_descriptor_comes_in)
{
	char space[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = buf, .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = space,
	    .msg_controllen = sizeof(space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct event e;
	int next;

	open_pair();
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd[0], sizeof(int));
	next = dup(fd[0]);
	close(next);
	ck_assert_int_eq(sendmsg(fd[0], &m, 0), 1);
	ck_assert_int_eq(event_receive(fd[1], &e, buf), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(fcntl(next, F_GETFD), -1);
	close_pair();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("event");
	TCase *tc = tcase_create("event");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, there_and_back);
	tcase_add_test(tc, what_is_too_long_is_cut);
	tcase_add_test(tc, a_full_socket_does_not_wait);
	tcase_add_loop_test(
	    tc, fields, 0, (int)(sizeof(sent) / sizeof(sent[0])));
	tcase_add_test(tc, bytes);
	tcase_add_test(tc, no_descriptor_comes_in);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
