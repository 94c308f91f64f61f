#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/monitor/ask.h"
#include "child/setup/control.h"
#include "ipc/channel.h"
#include "ipc/log.h"

/* The control socket, and what is said of a parser that ended. */

static struct control m;
static int fd[2];

static void
open_pair(void)
{
	ck_assert_int_eq(channel_pair(fd), 0);
}

START_TEST(there_and_back)
{
	static char text[2 * TEXT_MAX_LEN];

	open_pair();
	ck_assert_int_eq(control_receive(fd[1], &m), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(control_send(fd[0], CONTROL_FAILED, 3, -1, "what"), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), 1);
	ck_assert_int_eq(m.type, CONTROL_FAILED);
	ck_assert_int_eq(m.a, 3);
	ck_assert_int_eq(m.b, -1);
	ck_assert_str_eq(m.text, "what");
	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(control_send(fd[0], CONTROL_SAY, 0, 0, text), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), 1);
	ck_assert_uint_eq(strlen(m.text), TEXT_MAX_LEN);
	close(fd[0]);
	ck_assert_int_eq(control_receive(fd[1], &m), 0);
	ck_assert_int_eq(control_wait(fd[1], &m, channel_deadline(5)), 0);
	close(fd[1]);
}
END_TEST

/* An end that closes without having read all still had something to say. */
START_TEST(last_words)
{
	open_pair();
	ck_assert_int_eq(control_send(fd[0], CONTROL_GO, 0, 0, NULL), 0);
	ck_assert_int_eq(control_send(fd[1], CONTROL_FAILED, 0, 0, "no"), 0);
	close(fd[1]);
	ck_assert_int_eq(control_receive(fd[0], &m), 1);
	ck_assert_str_eq(m.text, "no");
	ck_assert_int_eq(control_receive(fd[0], &m), 0);
	close(fd[0]);
}
END_TEST

START_TEST(no_message)
{
	static const struct {
		uint8_t data[16];
		size_t n;
	} bad[] = {
	    {{0}, 12},					   /* type 0 */
	    {{CONTROL_LAST + 1}, 12},			   /* after the last */
	    {{CONTROL_GO}, 11},				   /* short */
	    {{CONTROL_GO}, 13},				   /* long */
	    {{CONTROL_GO, 0, 0, 0, 0, 0, 0, 0, 0, 9}, 12}, /* its string, too */
	    {{CONTROL_GO}, 1},
	};
	size_t i;

	open_pair();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(
		    send(fd[0], bad[i].data, bad[i].n, 0), (int)bad[i].n);
		ck_assert_int_eq(control_receive(fd[1], &m), -1);
		ck_assert_int_eq(errno, EBADMSG);
	}
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static int
is_open(int n)
{
	return fcntl(n, F_GETFD) != -1;
}

/* A descriptor comes with the one message that has it. */
START_TEST(descriptors)
{
	int p[2], n;

	open_pair();
	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(control_pass(fd[0], CONTROL_LISTENER, 3, p[1]), 0);
	ck_assert_int_eq(close(p[1]), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), 1);
	ck_assert_int_eq(m.type, CONTROL_LISTENER);
	ck_assert_int_eq(m.a, 3);
	ck_assert_int_ne(m.fd, -1);
	ck_assert_int_eq(fcntl(m.fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(m.fd, "x", 1), 1);
	ck_assert_int_eq(close(m.fd), 0);
	ck_assert_int_eq(control_send(fd[0], CONTROL_GO, 0, 0, NULL), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), 1);
	ck_assert_int_eq(m.fd, -1);
	/* with no other one, and not without it; nothing stays open */
	n = dup(p[0]);
	close(n);
	ck_assert_int_eq(control_pass(fd[0], CONTROL_GO, 0, p[0]), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert(!is_open(n) && m.fd == -1);
	ck_assert_int_eq(control_send(fd[0], CONTROL_LISTENER, 0, 0, NULL), 0);
	ck_assert_int_eq(control_receive(fd[1], &m), -1);
	ck_assert_int_eq(errno, EBADMSG);
	close(fd[0]);
	close(fd[1]);
	close(p[0]);
}
END_TEST

/* Two of them: the kernel installs no more than one has room for. */
START_TEST(too_many_descriptors)
{
	uint8_t data[12] = {CONTROL_LISTENER};
	struct iovec io = {data, sizeof(data)};
	union {
		char data[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} rights;
	struct msghdr h = {.msg_iov = &io,
	    .msg_iovlen = 1,
	    .msg_control = rights.data,
	    .msg_controllen = sizeof(rights.data)};
	struct cmsghdr *c;
	int two[2] = {0, 1}, n;

	open_pair();
	memset(&rights, 0, sizeof(rights));
	c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(two));
	memcpy(CMSG_DATA(c), two, sizeof(two));
	n = dup(0);
	close(n);
	ck_assert_int_eq(sendmsg(fd[0], &h, 0), 12);
	ck_assert_int_eq(control_receive(fd[1], &m), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert(!is_open(n) && !is_open(n + 1));
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(how_a_parser_ended)
{
	static const struct {
		int status;
		const char *has, *fix;
	} said[] = {
	    {SIGSYS, "(SIGSYS)", "report it"},
	    {SIGKILL, "(SIGKILL)", "fewer"},
	    {SIGXCPU, "10 s", "fewer"},
	    {SIGSEGV, "crashed", "--no-defaults -p NAME"},
	    {SIGTERM, "signal 15", "try again"},
	    {EXIT_CARREL << 8, "without a policy", "carrel doctor"},
	    {42 << 8, "(exit 42)", "install carrel again"},
	};
	char why[TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		ask_ended(said[i].status, why, sizeof(why));
		ck_assert_ptr_nonnull(strstr(why, said[i].has));
		ck_assert_ptr_nonnull(strstr(why, said[i].fix));
		ck_assert_ptr_null(strchr(why, '\n'));
	}
	ck_assert_ptr_nonnull(
	    strstr(ask_broken(ETIMEDOUT, why, sizeof(why)), "after 10 s"));
	ck_assert_ptr_nonnull(
	    strstr(ask_broken(EBADMSG, why, sizeof(why)), strerror(EBADMSG)));
}
END_TEST

START_TEST(waiting_for_a_parser)
{
	struct asked a = {.fd = -1};
	int status;

	a.deadline = channel_deadline(10);
	if ((a.pid = fork()) == 0)
		_exit(7);
	ck_assert_int_eq(ask_wait(&a, &status), 0);
	ck_assert_int_eq(status, 7 << 8);
	a.deadline = channel_now() + 50;
	if ((a.pid = fork()) == 0) {
		sleep(30);
		_exit(0);
	}
	ck_assert_int_eq(ask_wait(&a, &status), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_int_eq(kill(a.pid, SIGKILL), 0);
	a.deadline = channel_deadline(10);
	ck_assert_int_eq(ask_wait(&a, &status), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("control");
	TCase *t = tcase_create("control");
	SRunner *sr;
	int failed;

	tcase_add_test(t, there_and_back);
	tcase_add_test(t, last_words);
	tcase_add_test(t, no_message);
	tcase_add_test(t, descriptors);
	tcase_add_test(t, too_many_descriptors);
	tcase_add_test(t, how_a_parser_ended);
	tcase_add_test(t, waiting_for_a_parser);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
