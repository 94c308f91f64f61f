#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "parent/control.h"

static void
send_word(int fd, const char *text)
{
	ck_assert_int_eq(control_send(fd, CONTROL_SAY, 1, 2, text), 0);
}

static void
expect(int fd, const char *text)
{
	struct control m;

	ck_assert_int_eq(control_receive(fd, &m), 1);
	ck_assert_int_eq(m.type, CONTROL_SAY);
	ck_assert_int_eq(m.a, 1);
	ck_assert_int_eq(m.b, 2);
	ck_assert_str_eq(m.text, text);
}

START_TEST(words_in_their_order)
{
	struct control m;
	int fd[2];

	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert(control_receive(fd[0], &m) == -1 && errno == EAGAIN);
	send_word(fd[1], "one");
	send_word(fd[1], "two");
	close(fd[1]);
	expect(fd[0], "one");
	expect(fd[0], "two");
	ck_assert_int_eq(control_receive(fd[0], &m), 0);
	ck_assert_int_eq(control_receive(fd[0], &m), 0);
	close(fd[0]);
}
END_TEST

/* The last words of one that ended before it read what it was told. */
START_TEST(last_words_of_a_deaf_one)
{
	struct control m;
	int fd[2];

	ck_assert_int_eq(channel_pair(fd), 0);
	send_word(fd[0], "never read");
	send_word(fd[1], "why");
	send_word(fd[1], "farewell");
	close(fd[1]);
	expect(fd[0], "why");
	expect(fd[0], "farewell");
	ck_assert_int_eq(control_receive(fd[0], &m), 0);
	close(fd[0]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("control");
	TCase *c = tcase_create("control");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(c, words_in_their_order);
	tcase_add_test(c, last_words_of_a_deaf_one);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
