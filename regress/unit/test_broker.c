#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/broker/broker.h"
#include "child/broker/refusal.h"
#include "child/broker/relay.h"
#include "child/broker/sandbox.h"
#include "child/broker/socket.h"

/* The smaller parts of carrel-broker. */

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(S81_budget)
{
	struct budget b = {.used = 0};
	int64_t now = 5000;
	int i;

	for (i = 0; i < BUDGET_PER_SECOND; i++)
		ck_assert_int_eq(budget_take(&b, now + i), 0);
	ck_assert_int_eq(budget_take(&b, now + 999), -1);
	/* the first of the ten was a second ago, the second was not */
	ck_assert_int_eq(budget_take(&b, now + 1000), 0);
	ck_assert_int_eq(budget_take(&b, now + 1000), -1);
	ck_assert_int_eq(budget_take(&b, now + 1001), 0);
	now += 2000;
	while (b.used < BUDGET_PER_RUN)
		ck_assert_int_eq(budget_take(&b, now += 1000), 0);
	ck_assert_int_eq(budget_take(&b, now + 100000), -1);
}
END_TEST

static void
is_server(const struct servers *s, size_t i, const char *text)
{
	struct address a, b;
	uint16_t port;

	ck_assert_int_eq(sockaddr_read(&s->at[i], &a, &port), 0);
	ck_assert_uint_eq(port, 53);
	ck_assert_int_eq(address_read(text, &b), 0);
	ck_assert(address_equal(&a, &b));
}

START_TEST(S83_servers)
{
	static const char text[] = "# nameserver 192.0.2.9\n"
				   "search example.org\n"
				   " nameserver\t192.0.2.1 # first\r\n"
				   "nameserver 0x7f.1\n"
				   "nameserver\n"
				   "nameservers 192.0.2.8\n"
				   "nameserver 2001:db8::1\n"
				   "nameserver fe80::1%no-such-interface\n"
				   "nameserver fe80::1%lo\n"
				   "nameserver 192.0.2.4";
	static char longer[SERVERS_FILE_MAX];
	struct servers s;

	servers_parse(&s, text, sizeof(text) - 1);
	ck_assert_uint_eq(s.n, SERVERS_MAX);
	is_server(&s, 0, "192.0.2.1");
	is_server(&s, 1, "2001:db8::1");
	is_server(&s, 2, "fe80::1");
	ck_assert_uint_eq(((struct sockaddr_in6 *)&s.at[2])->sin6_scope_id, 1);
	servers_parse(&s, "", 0);
	ck_assert_uint_eq(s.n, 1);
	is_server(&s, 0, "127.0.0.1");
	/* a line that is too long is none, and does not hide the next */
	memset(longer, ' ', sizeof(longer));
	memcpy(longer, "nameserver 192.0.2.7", 20);
	memcpy(longer + 2000, "\nnameserver 192.0.2.6\n", 22);
	servers_parse(&s, longer, 2022);
	ck_assert_uint_eq(s.n, 1);
	is_server(&s, 0, "192.0.2.6");
	servers_read(&s, "/nonexistent");
	is_server(&s, 0, "127.0.0.1");
	servers_read(&s, "/dev/zero");
	is_server(&s, 0, "127.0.0.1");
}
END_TEST

/* Packets as raw sockets give them: who refused, and what it was. */

static const uint8_t reset4[] = {0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0,
    192, 0, 2, 7, 198, 18, 0, 1, 0, 80, 0x9c, 0x40, 0, 0, 0, 0, 1, 2, 3, 4,
    0x50, 0x14, 0, 0, 0, 0, 0, 0};
static const uint8_t unreachable4[] = {0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0, 0,
    192, 0, 2, 7, 198, 18, 0, 1, 3, 3, 0, 0, 0, 0, 0, 0, 0x45, 0, 0, 29, 0, 0,
    0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1, 192, 0, 2, 7, 0x9c, 0x40, 0, 53, 0, 9,
    0, 0};

START_TEST(S82_refusals)
{
	uint8_t p[128], *exact;
	struct refusal_seen r;
	struct address from;
	char text[ADDRESS_TEXT];
	size_t n;

	ck_assert_int_eq(refusal_read4(reset4, sizeof(reset4), &r), 1);
	ck_assert_uint_eq(r.udp, 0);
	ck_assert_uint_eq(r.port, 80);
	ck_assert_str_eq(address_text(&r.to, text), "192.0.2.7");
	ck_assert_int_eq(
	    refusal_read4(unreachable4, sizeof(unreachable4), &r), 1);
	ck_assert_uint_eq(r.udp, 1);
	ck_assert_uint_eq(r.port, 53);
	ck_assert_str_eq(address_text(&r.to, text), "192.0.2.7");
	/* the same of IPv6, without a header outside */
	ck_assert_int_eq(address_read("2001:db8::7", &from), 0);
	ck_assert_int_eq(
	    refusal_read6(reset4 + 20, 20, IPPROTO_TCP, &from, &r), 1);
	ck_assert_uint_eq(r.port, 80);
	ck_assert_str_eq(address_text(&r.to, text), "2001:db8::7");
	memset(p, 0, sizeof(p));
	p[0] = 1;
	p[8] = 0x60;
	p[8 + 6] = IPPROTO_UDP;
	memcpy(p + 8 + 24, from.bytes, 16);
	p[8 + 40 + 3] = 53;
	ck_assert_int_eq(
	    refusal_read6(p, 8 + 40 + 4, IPPROTO_ICMPV6, &from, &r), 1);
	ck_assert_uint_eq(r.udp, 1);
	ck_assert_uint_eq(r.port, 53);
	ck_assert_int_eq(
	    refusal_read6(p, 8 + 40 + 3, IPPROTO_ICMPV6, &from, &r), 0);
	/* an end that is no refusal, a fragment, another message */
	memcpy(p, reset4, sizeof(reset4));
	p[27] = 1;
	ck_assert_int_eq(refusal_read4(p, sizeof(reset4), &r), 0);
	memcpy(p, reset4, sizeof(reset4));
	p[33] = 0x12;
	ck_assert_int_eq(refusal_read4(p, sizeof(reset4), &r), 0);
	memcpy(p, reset4, sizeof(reset4));
	p[7] = 1;
	ck_assert_int_eq(refusal_read4(p, sizeof(reset4), &r), 0);
	memcpy(p, unreachable4, sizeof(unreachable4));
	p[20] = 8;
	ck_assert_int_eq(refusal_read4(p, sizeof(unreachable4), &r), 0);
	/* a header that says more than there is; nothing is read beyond */
	for (n = 0; n < sizeof(unreachable4); n++) {
		exact = malloc(n + 1);
		ck_assert_ptr_nonnull(exact);
		memcpy(exact, unreachable4, n);
		ck_assert_int_eq(refusal_read4(exact, n, &r), n >= 52);
		free(exact);
	}
	memcpy(p, reset4, sizeof(reset4));
	p[0] = 0x4f;
	ck_assert_int_eq(refusal_read4(p, sizeof(reset4), &r), 0);
	p[0] = 0x44;
	ck_assert_int_eq(refusal_read4(p, sizeof(reset4), &r), 0);
}
END_TEST

/* What the rules come to for a host at a port. */

static struct broker_rule rules[] = {
    {{EGRESS_HTTPS, 0, 443, "allowed.test"}, NULL, 0, 1},
    {{EGRESS_TLS, 1, 443, "*.test"}, NULL, 0, 2},
    {{EGRESS_HTTP, 0, 80, "allowed.test"}, NULL, 0, 3},
    {{EGRESS_UDP, 0, 443, "allowed.test"}, NULL, 0, 4},
    {{EGRESS_TCP, 0, 22, "10.0.0.1"}, NULL, 0, 5},
    {{EGRESS_ALL, 0, 0, "*"}, NULL, 0, 6},
};

static struct broker_rule turned[] = {
    {{EGRESS_ALL, 0, 0, "*"}, NULL, 0, 6},
    {{EGRESS_TCP, 0, 22, "10.0.0.1"}, NULL, 0, 5},
};

START_TEST(rules_join)
{
	struct broker b = {.setup = {.rules = rules, .nrules = 5}};
	struct host name = {.name = "allowed.test"};
	struct host literal = {.name = "10.0.0.1", .literal = 1};
	struct allowed a;

	hosts_allowed(&b, &name, 443, 0, &a);
	ck_assert_ptr_null(a.plain);
	ck_assert_ptr_null(a.http);
	ck_assert_ptr_eq(a.tls, &rules[1]); /* the wider one */
	ck_assert_int_eq(a.tls_private, 1);
	hosts_allowed(&b, &name, 80, 0, &a);
	ck_assert_ptr_eq(a.http, &rules[2]);
	ck_assert_int_eq(a.http_private, 0);
	ck_assert_ptr_null(a.tls);
	hosts_allowed(&b, &name, 443, 1, &a);
	ck_assert_ptr_eq(a.plain, &rules[3]);
	ck_assert_ptr_null(a.tls);
	hosts_allowed(&b, &name, 22, 0, &a);
	ck_assert(a.plain == NULL && a.tls == NULL && a.http == NULL);
	hosts_allowed(&b, &literal, 22, 0, &a);
	ck_assert_ptr_eq(a.plain, &rules[4]);
	ck_assert_int_eq(a.plain_private, 1); /* it is named itself */
	hosts_allowed(&b, NULL, 22, 0, &a);
	ck_assert(a.plain == NULL && a.tls == NULL && a.http == NULL);
	b.setup.nrules = 6;
	hosts_allowed(&b, NULL, 22, 0, &a);
	ck_assert_ptr_eq(a.plain, &rules[5]);
	ck_assert_int_eq(a.plain_private, 0);
	/* a rule of its own is more than "*", in whatever order */
	hosts_allowed(&b, &literal, 22, 0, &a);
	ck_assert_ptr_eq(a.plain, &rules[4]);
	ck_assert_int_eq(a.plain_private, 1);
	b.setup.rules = turned;
	b.setup.nrules = NITEMS(turned);
	hosts_allowed(&b, &literal, 22, 0, &a);
	ck_assert_ptr_eq(a.plain, &turned[1]);
	ck_assert_int_eq(a.plain_private, 1);
}
END_TEST

/* One direction, over socketpairs. */

static struct pipes pipes;
static struct end in, out;
static int far_in, far_out;
static size_t look_at; /* bytes at a time that may pass */

static void
open_ends(void)
{
	int p[2];

	ck_assert_int_eq(pipes_init(&pipes), 0);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p), 0);
	in = (struct end){p[0], 1, 1};
	far_in = p[1];
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p), 0);
	out = (struct end){p[0], 1, 1};
	far_out = p[1];
}

static enum look
look(struct half *h, void *arg)
{
	(void)arg;
	if (h->buf[0] == 'X')
		return LOOK_BAD;
	h->pass = h->have < look_at ? h->have : look_at;
	return h->have < look_at ? LOOK_MORE : LOOK_PASS;
}

static size_t
unseen(const struct half *h, void *arg)
{
	(void)h;
	(void)arg;
	return 0;
}

static enum relay
go(struct half *h)
{
	enum relay r;

	in.readable = in.writable = out.readable = out.writable = 1;
	while ((r = relay_run(h, &pipes)) == RELAY_MORE)
		;
	return r;
}

START_TEST(S88_relay)
{
	static uint8_t data[1 << 20], got[1 << 20];
	size_t sent = 0, have = 0;
	struct half h;
	enum relay r;
	ssize_t n;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	open_ends();
	relay_init(&h, &in, &out);
	while (have < sizeof(data)) {
		n = send(far_in, data + sent, sizeof(data) - sent, 0);
		sent += n > 0 ? (size_t)n : 0;
		ck_assert_int_eq(go(&h), RELAY_WAIT);
		n = recv(far_out, got + have, sizeof(got) - have, 0);
		have += n > 0 ? (size_t)n : 0;
	}
	ck_assert_mem_eq(data, got, sizeof(data));
	ck_assert_int_eq(go(&h), RELAY_WAIT);
	ck_assert_int_eq(h.pipe.fd[0], -1); /* given back when empty */
	ck_assert_uint_eq(pipes.nkept, pipes.nlarge);
	ck_assert_int_eq(shutdown(far_in, SHUT_WR), 0);
	r = go(&h);
	ck_assert_int_eq(r, RELAY_DONE);
	ck_assert_int_eq(recv(far_out, got, 1, 0), 0);
	relay_free(&h, &pipes);
}
END_TEST

START_TEST(S88_relay_without_pipes)
{
	struct rlimit none = {4, 4096}, old;
	char got[16];
	struct half h;

	open_ends();
	relay_init(&h, &in, &out);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	ck_assert_int_eq(send(far_in, "hello", 5, 0), 5);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(go(&h), RELAY_WAIT);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(pipes.nlarge, 0);
	ck_assert_int_eq(recv(far_out, got, sizeof(got), 0), 5);
	ck_assert_mem_eq(got, "hello", 5);
	ck_assert_int_eq(close(far_in), 0);
	ck_assert_int_eq(go(&h), RELAY_DONE);
}
END_TEST

START_TEST(S85_relay_looks)
{
	char got[16];
	struct half h;

	open_ends();
	relay_init(&h, &in, &out);
	h.buf = malloc(RELAY_BUFFER);
	h.look = look;
	h.unseen = unseen;
	look_at = 4;
	ck_assert_int_eq(send(far_in, "abc", 3, 0), 3);
	ck_assert_int_eq(go(&h), RELAY_WAIT);
	ck_assert_int_eq(recv(far_out, got, sizeof(got), 0), -1);
	ck_assert_int_eq(send(far_in, "defghi", 6, 0), 6);
	ck_assert_int_eq(go(&h), RELAY_WAIT);
	ck_assert_int_eq(recv(far_out, got, sizeof(got), 0), 8);
	ck_assert_mem_eq(got, "abcdefgh", 8);
	/* what was read beside is not lost, and what is bad not sent */
	ck_assert_int_eq(send(far_in, "jklX", 4, 0), 4);
	ck_assert_int_eq(go(&h), RELAY_BAD);
	ck_assert_int_eq(recv(far_out, got, sizeof(got), 0), 4);
	ck_assert_mem_eq(got, "ijkl", 4);
	relay_free(&h, &pipes);
}
END_TEST

START_TEST(S88_relay_reset)
{
	struct half h;

	open_ends();
	relay_init(&h, &in, &out);
	ck_assert_int_eq(send(far_in, "abc", 3, 0), 3);
	ck_assert_int_eq(close(far_out), 0);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(go(&h), RELAY_RESET);
	relay_free(&h, &pipes);
	/* its pipe was not empty: it is not lent again */
	ck_assert_uint_eq(pipes.nkept, 0);
	ck_assert_uint_eq(pipes.nlarge, 0);
}
END_TEST

START_TEST(S88_pipes)
{
	struct lent l[PIPES_LARGE + 2];
	size_t i;

	ck_assert_int_eq(pipes_init(&pipes), 0);
	for (i = 0; i < NITEMS(l); i++) {
		ck_assert_int_eq(pipes_lend(&pipes, &l[i]), 0);
		ck_assert_int_eq(l[i].large, i < PIPES_LARGE);
	}
	ck_assert_int_le(fcntl(l[PIPES_LARGE].fd[0], F_GETPIPE_SZ), PIPE_SMALL);
	for (i = 0; i < NITEMS(l); i++)
		pipes_take_back(&pipes, &l[i], 1);
	ck_assert_uint_eq(pipes.nkept, PIPES_LARGE);
	pipes_take_back(&pipes, &l[0], 1); /* twice is nothing */
	ck_assert_uint_eq(pipes.nkept, PIPES_LARGE);
	ck_assert_int_eq(pipes_lend(&pipes, &l[0]), 0);
	ck_assert_uint_eq(pipes.nlarge, PIPES_LARGE);
	pipes_take_back(&pipes, &l[0], 0);
	ck_assert_uint_eq(pipes.nlarge, PIPES_LARGE - 1);
}
END_TEST

/* What is left once it is confined: the signal of a call, or its errno. */

static int
connect_to(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons(port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
}

static int
a_rule(void)
{
	return connect_to(22); /* nobody listens, or somebody does */
}

static int
a_name_server(void)
{
	return connect_to(53);
}

static int
another_port(void)
{
	return connect_to(23);
}

static int
a_file(void)
{
	return open("/etc/passwd", O_RDONLY) == -1 ? errno : 0;
}

static int
a_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
a_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_DGRAM, 0) == -1 ? errno : 0;
}

static int
a_process(void)
{
	return fork() == -1 ? errno : 0;
}

static int
a_program(void)
{
	return execl("/bin/true", "true", NULL) == -1 ? errno : 0;
}

static int
a_signal(void)
{
	return kill(getppid(), 0) == -1 ? errno : 0;
}

static int
a_pipe(void)
{
	return pipes_init(&pipes) == -1 ||
		       pipes_lend(&pipes, &(struct lent){{0}, 0}) == -1
		   ? errno
		   : 0;
}

static const struct {
	int (*call)(void);
	int killed;
	int err; /* 0: any that the network may give */
} confined[] = {
    {a_rule, 0, 0},
    {a_name_server, 0, 0},
    {another_port, 0, EACCES},
    {a_pipe, 0, 0},
    {a_file, 1, 0},
    {a_unix_socket, 1, 0},
    {a_packet_socket, 1, 0},
    {a_process, 1, 0},
    {a_program, 1, 0},
    {a_signal, 1, 0},
};

START_TEST(S71_confined)
{
	struct broker_setup setup = {.rules = &rules[4], .nrules = 1};
	int status, err = confined[_i].err;
	pid_t pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		if (broker_confine(&setup, 0) != NULL)
			_exit(200);
		_exit(confined[_i].call());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (SANDBOX_SANITIZED)
		return; /* which has no filter */
	ck_assert_int_eq(WIFSIGNALED(status), confined[_i].killed);
	if (confined[_i].killed)
		ck_assert_int_eq(WTERMSIG(status), SIGSYS);
	else if (err != 0)
		ck_assert_int_eq(WEXITSTATUS(status), err);
	else
		ck_assert(WEXITSTATUS(status) == 0 ||
			  WEXITSTATUS(status) == ECONNREFUSED);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("broker");
	TCase *c = tcase_create("broker");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_test(c, S81_budget);
	tcase_add_test(c, S83_servers);
	tcase_add_test(c, S82_refusals);
	tcase_add_test(c, rules_join);
	tcase_add_test(c, S88_relay);
	tcase_add_test(c, S88_relay_without_pipes);
	tcase_add_test(c, S85_relay_looks);
	tcase_add_test(c, S88_relay_reset);
	tcase_add_test(c, S88_pipes);
	tcase_add_loop_test(c, S71_confined, 0, (int)NITEMS(confined));
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
