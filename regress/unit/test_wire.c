#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/buf.h"
#include "ipc/channel.h"
#include "ipc/record.h"

/* The cursor, the tables and the channel: a peer that does not play fair. */

START_TEST(fields_come_back)
{
	uint8_t data[64];
	struct wbuf w;
	struct rcur c;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u8(&w, 1);
	wbuf_u16(&w, 2);
	wbuf_u32(&w, 3);
	wbuf_u64(&w, 4);
	wbuf_str(&w, "five");
	wbuf_str(&w, NULL);
	ck_assert_int_eq(w.bad, 0);
	rcur_init(&c, data, w.len);
	ck_assert_uint_eq(rcur_u8(&c), 1);
	ck_assert_uint_eq(rcur_u16(&c), 2);
	ck_assert_uint_eq(rcur_u32(&c), 3);
	ck_assert_uint_eq(rcur_u64(&c), 4);
	ck_assert_str_eq(rcur_str(&c, 4), "five");
	ck_assert_str_eq(rcur_str(&c, 0), "");
	ck_assert_int_eq(rcur_end(&c), 0);
}
END_TEST

START_TEST(cursor_refuses)
{
	static const uint8_t nul_inside[] = {3, 0, 'a', 0, 'b', 0};
	static const uint8_t no_nul[] = {3, 0, 'a', 'b', 'c', 'd'};
	static const uint8_t too_short[] = {9, 0, 'a', 0};
	static const uint8_t left_over[] = {1, 0, 'a', 0, 7};
	struct rcur c;

	rcur_init(&c, nul_inside, sizeof(nul_inside));
	ck_assert_str_eq(rcur_str(&c, 10), "");
	ck_assert_int_eq(rcur_end(&c), -1);
	rcur_init(&c, no_nul, sizeof(no_nul));
	rcur_str(&c, 10);
	ck_assert_int_eq(rcur_end(&c), -1);
	rcur_init(&c, too_short, sizeof(too_short));
	rcur_str(&c, 10);
	ck_assert_int_eq(rcur_end(&c), -1);
	rcur_init(&c, left_over, sizeof(left_over));
	ck_assert_str_eq(rcur_str(&c, 10), "a");
	ck_assert_int_eq(rcur_end(&c), -1);
	ck_assert_uint_eq(rcur_u8(&c), 7);
	ck_assert_int_eq(rcur_end(&c), 0);
	/* one more than there is: 0, and it stays wrong */
	ck_assert_uint_eq(rcur_u32(&c), 0);
	ck_assert_int_eq(rcur_end(&c), -1);
	/* a string over its maximum */
	rcur_init(&c, left_over, sizeof(left_over));
	rcur_str(&c, 0);
	ck_assert_int_eq(rcur_end(&c), -1);
}
END_TEST

START_TEST(writer_overflows)
{
	uint8_t data[4];
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u32(&w, 1);
	ck_assert_int_eq(w.bad, 0);
	wbuf_u8(&w, 1);
	ck_assert_int_eq(w.bad, 1);
	ck_assert_uint_eq(w.len, 4);
}
END_TEST

static int
legal(const struct record_rule *rules, const unsigned *types, size_t n)
{
	struct record_state st;
	size_t i;

	record_start(&st, rules);
	for (i = 0; i < n; i++)
		if (record_step(&st, types[i]) == -1)
			return 0;
	return record_done(&st);
}

START_TEST(order_of_records)
{
	static const struct {
		unsigned types[5];
		size_t n;
		int ok;
	} cases[] = {
	    {{RECORD_POLICY, RECORD_POLICY_END}, 2, 1},
	    {{RECORD_POLICY, RECORD_PROFILE, RECORD_PROFILE, RECORD_GRANT,
		 RECORD_POLICY_END},
		5, 1},
	    {{RECORD_POLICY}, 1, 0},			 /* no END */
	    {{RECORD_PROFILE, RECORD_POLICY_END}, 2, 0}, /* no head */
	    {{RECORD_POLICY, RECORD_POLICY, RECORD_POLICY_END}, 3, 0},
	    {{RECORD_POLICY, RECORD_GRANT, RECORD_PROFILE}, 3, 0}, /* order */
	    {{RECORD_POLICY, RECORD_POLICY_END, RECORD_POLICY_END}, 3, 0},
	    {{RECORD_POLICY, RECORD_POLICY_END, RECORD_GRANT}, 3, 0},
	    {{RECORD_POLICY, 0, RECORD_POLICY_END}, 3, 0},
	    {{RECORD_POLICY, RECORD_TYPES, RECORD_POLICY_END}, 3, 0},
	    {{RECORD_POLICY, RECORD_SELECT, RECORD_POLICY_END}, 3, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(legal(record_policy, cases[i].types,
				  cases[i].n) == cases[i].ok,
		    "case %zu", i);
}
END_TEST

START_TEST(no_more_than_the_maximum)
{
	struct record_state st;
	unsigned i;

	record_start(&st, record_policy);
	ck_assert_int_eq(record_step(&st, RECORD_POLICY), 0);
	for (i = 0; i < PROFILES_MAX; i++)
		ck_assert_int_eq(record_step(&st, RECORD_PROFILE), 0);
	ck_assert_int_eq(record_step(&st, RECORD_PROFILE), -1);
}
END_TEST

/* What the receiver says to these bytes, sent as one datagram. */
static int
hear(const void *data, size_t n, int send_fd, int *err)
{
	struct receiver r;
	struct rcur c;
	unsigned type;
	int pair[2], ret;
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = n};
	union {
		struct cmsghdr h;
		char space[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	ck_assert_int_eq(channel_pair(pair), 0);
	if (send_fd != -1) {
		memset(&ctl, 0, sizeof(ctl));
		m.msg_control = &ctl;
		m.msg_controllen = sizeof(ctl);
		ctl.h.cmsg_level = SOL_SOCKET;
		ctl.h.cmsg_type = SCM_RIGHTS;
		ctl.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&ctl.h), &send_fd, sizeof(int));
	}
	ck_assert_int_eq(sendmsg(pair[0], &m, 0), (int)n);
	close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_deadline(5), record_policy), 0);
	ret = receiver_next(&r, &type, &c);
	*err = errno;
	receiver_free(&r);
	close(pair[1]);
	return ret;
}

START_TEST(bad_datagrams)
{
	uint8_t data[DATAGRAM_MAX + 64];
	struct wbuf w;
	int err, fd, before, after;

	/* the control: one good record */
	wbuf_init(&w, data, sizeof(data));
	wbuf_u16(&w, RECORD_POLICY);
	wbuf_u32(&w, 2);
	wbuf_u16(&w, 1);
	ck_assert_int_eq(hear(data, w.len, -1, &err), 1);
	/* with a descriptor: refused, and the descriptor is closed */
	before = dup(0);
	close(before);
	fd = open("/dev/null", 0);
	ck_assert_int_eq(hear(data, w.len, fd, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	close(fd);
	after = dup(0);
	close(after);
	ck_assert_int_eq(before, after);
	/* shorter than its header says, shorter than a header */
	ck_assert_int_eq(hear(data, w.len - 1, -1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(hear(data, 3, -1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	/* larger than any may be */
	memset(data, 0, sizeof(data));
	ck_assert_int_eq(hear(data, sizeof(data), -1, &err), -1);
	ck_assert_int_eq(err, EMSGSIZE);
	/* a length of 2^32 - 1 */
	wbuf_init(&w, data, sizeof(data));
	wbuf_u16(&w, RECORD_POLICY);
	wbuf_u32(&w, UINT32_MAX);
	ck_assert_int_eq(hear(data, w.len, -1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
}
END_TEST

/* What the receiver says after a whole policy and then these lengths. */
static int
finish(const size_t *len, size_t n, int shut, int *err)
{
	uint8_t data[64];
	struct receiver r;
	struct rcur c;
	struct wbuf w;
	unsigned type;
	int pair[2], ret;
	size_t i;

	ck_assert_int_eq(channel_pair(pair), 0);
	wbuf_init(&w, data, sizeof(data));
	wbuf_u16(&w, RECORD_POLICY);
	wbuf_u32(&w, 0);
	wbuf_u16(&w, RECORD_POLICY_END);
	wbuf_u32(&w, 0);
	ck_assert_int_eq(send(pair[0], data, w.len, 0), (int)w.len);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(send(pair[0], data, len[i], 0), (int)len[i]);
	if (shut)
		shutdown(pair[0], SHUT_WR);
	else
		close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_now() + 50, record_policy), 0);
	ck_assert_int_eq(receiver_next(&r, &type, &c), 1);
	ck_assert_int_eq(receiver_next(&r, &type, &c), 1);
	ret = receiver_finish(&r);
	*err = errno;
	receiver_free(&r);
	if (shut)
		close(pair[0]);
	close(pair[1]);
	return ret;
}

START_TEST(the_end_is_the_end)
{
	static const size_t one[] = {RECORD_HEADER}, none_one[] = {0, 6},
			    none_none_one[] = {0, 0, 6};
	int err;

	ck_assert_int_eq(finish(NULL, 0, 0, &err), 0);
	ck_assert_int_eq(finish(NULL, 0, 1, &err), 0);
	ck_assert_int_eq(finish(one, 1, 0, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	/* an empty datagram reads like the end */
	ck_assert_int_eq(finish(none_one, 2, 0, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(finish(none_none_one, 3, 1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
}
END_TEST

START_TEST(silence_ends)
{
	struct receiver r;
	struct rcur c;
	unsigned type;
	int pair[2];

	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_now() + 50, record_policy), 0);
	ck_assert_int_eq(receiver_next(&r, &type, &c), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	close(pair[0]);
	ck_assert_int_eq(receiver_next(&r, &type, &c), -1);
	ck_assert_int_eq(errno, EPIPE);
	receiver_free(&r);
	close(pair[1]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wire");
	TCase *t = tcase_create("wire");
	SRunner *sr;
	int failed;

	tcase_add_test(t, fields_come_back);
	tcase_add_test(t, cursor_refuses);
	tcase_add_test(t, writer_overflows);
	tcase_add_test(t, order_of_records);
	tcase_add_test(t, no_more_than_the_maximum);
	tcase_add_test(t, bad_datagrams);
	tcase_add_test(t, the_end_is_the_end);
	tcase_add_test(t, silence_ends);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
