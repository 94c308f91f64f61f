#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/advice.h"
#include "child/shared/event.h"

/* S75: which line would let through what was refused. */

struct told {
	const char *action, *resource, *rule, *line; /* NULL: none */
};

#define N61 "a23456789012345678901234567890123456789012345678901234567890a"

static const struct told told[] = {
    /* what no rule matched */
    {"connect", "tcp example.org:443", "", "allow = https://example.org:443"},
    {"connect", "tcp example.org:80", "", "allow = http://example.org:80"},
    {"connect", "tcp example.org:22", "", "allow = tcp://example.org:22"},
    {"connect", "tcp 192.0.2.1:443", "", "allow = tcp://192.0.2.1:443"},
    {"connect", "tcp [2001:db8::1]:80", "", "allow = tcp://[2001:db8::1]:80"},
    {"connect", "tcp 10.0.0.1:22", "", "allow = tcp://10.0.0.1:22"},
    {"send", "udp example.org:443", "", "allow = udp://example.org:443"},
    {"send", "udp 192.0.2.1:123", "", "allow = udp://192.0.2.1:123"},
    {"resolve", "name example.org", "", "allow = https://example.org:443"},
    /* what speaks otherwise */
    {"tls", "tcp example.org:443: not TLS", "allow = https://example.org:443",
	"allow = tcp://example.org:443"},
    {"tls", "tcp [2001:db8::1]:443: not TLS", "allow = x",
	"allow = tcp://[2001:db8::1]:443"},
    {"tls", "tcp example.org:443: no server name", "allow = x",
	"allow = tcp://example.org:443"},
    {"http", "tcp example.org:80: no request of HTTP/1", "allow = x",
	"allow = tcp://example.org:80"},
    /* a private address behind a name */
    {"connect", "tcp example.org:80 (10.0.0.1): private",
	"allow = http://example.org:80",
	"allow = http://example.org:80 private"},
    {"connect", "tcp a.example.org:80 (fd00::1): private",
	"allow = http://*.example.org:80",
	"allow = http://*.example.org:80 private"},
    /* nothing would help, or it is not for a person to guess */
    {"connect", "tcp example.org:80 (127.0.0.1): loopback",
	"allow = http://example.org:80", NULL},
    {"connect", "tcp [::ffff:10.0.0.1]:80: private", "allow = *", NULL},
    {"connect", "tcp a.example:80 (10.0.0.1): private", "allow = *", NULL},
    {"tls", "tcp example.org:443: the server name is x.org", "allow = x", NULL},
    {"tls", "tcp example.org:443: a bad TLS hello", "allow = x", NULL},
    {"http", "tcp example.org:80: another Host", "allow = x", NULL},
    {"http", "tcp example.org:80: CONNECT", "allow = x", NULL},
    {"connect", "tcp 127.0.0.2:80", "", NULL},
    {"connect", "tcp 169.254.169.254:80", "", NULL},
    {"connect", "tcp 198.18.1.0:80", "", NULL},
    {"connect", "tcp [::1]:80", "", NULL},
    {"connect", "tcp [fe80::1]:80", "", NULL},
    {"send", "udp 192.0.2.1:53", "", NULL},
    {"resolve", "name localhost", "", NULL},
    {"resolve", "name api", "", NULL},
    {"resolve", "name printer.local", "", NULL},
    {"resolve", "name 1.2.0.192.in-addr.arpa", "", NULL},
    {"resolve", "name a\\046b.example.org", "", NULL},
    {"resolve", "name *.example.org", "", NULL},
    {"resolve", "name example.org: private", "", NULL},
    {"resolve",
	"name x.test: a run may have 256 names under wildcards, and 10 new "
	"ones a second",
	"", NULL},
    /* what no broker of ours says */
    {"connect", "", "", NULL},
    {"connect", "tcp ", "", NULL},
    {"connect", "tcp :443", "", NULL},
    {"connect", "tcp []:443", "", NULL},
    {"connect", "tcp [2001:db8::1:443", "", NULL},
    {"connect", "tcp *:443", "", NULL},
    {"connect", "tcp *.org:443", "", NULL},
    {"connect", "tcp example.org:0", "", NULL},
    {"connect", "tcp example.org:65536", "", NULL},
    {"connect", "tcp example.org:99999999999999999999999", "", NULL},
    {"connect", "tcp example.org:443 private", "", NULL},
    {"connect", "tcp example.org:443\nallow = *", "", NULL},
    {"connect", "tcp a b:443", "", NULL},
    {"connect", "tcp EXAMPLE.org:443", "", NULL},
    {"connect",
	"tcp " N61 "." N61 "." N61 "." N61 "." N61 "." N61 ".example.org:443",
	"", NULL},
};

START_TEST(S75_advice)
{
	const struct told *t = &told[_i];
	struct event e = {.surface = EVENT_EGRESS,
	    .profile = t->rule[0] == '\0' ? EVENT_NO_PROFILE : 0,
	    .count = 1,
	    .action = t->action,
	    .resource = t->resource,
	    .rule = t->rule};
	char buf[ADVICE_MAX];
	const char *got = advice_for(&e, buf);

	if (t->line == NULL)
		ck_assert_msg(got == NULL, "%s: %s", t->resource, got);
	else
		ck_assert_msg(got != NULL && strcmp(got, t->line) == 0,
		    "%s: %s", t->resource, got);
	/* of another surface there is none */
	e.surface = EVENT_EXEC;
	ck_assert_ptr_null(advice_for(&e, buf));
}
END_TEST

START_TEST(long_rule)
{
	char rule[EVENT_RULE_MAX + 1] = "allow = ", buf[ADVICE_MAX];
	struct event e = {.surface = EVENT_EGRESS,
	    .count = 1,
	    .action = "connect",
	    .resource = "tcp a.example:1 (10.0.0.1): private",
	    .rule = rule};

	memset(rule + 8, 'x', sizeof(rule) - 9);
	ck_assert_ptr_null(advice_for(&e, buf));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("advice");
	TCase *c = tcase_create("advice");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_loop_test(
	    c, S75_advice, 0, (int)(sizeof(told) / sizeof(told[0])));
	tcase_add_test(c, long_rule);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
