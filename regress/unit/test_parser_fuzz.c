#include "child/parser/config.h"
#include "child/parser/format.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "parse_help.h"

/*
 * 20,000 profiles that a seeded generator spoiled: none crashes the parser,
 * each gives a draft or exactly one refusal, and every draft resolves to a
 * policy that the parent's check accepts.
 */

#define ROUNDS	  20000
#define BYTES_MAX 8192

static uint64_t state = 88172645463325252ULL;

static unsigned
random_below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

/* What files are made of, and what breaks them. */
static const char *const parts[] = {"[profile]\n", "[fs]\n", "[egress]\n",
    "description = x\n", "abuse = y\n", "include = @sys\n", "include = a-b\n",
    "packs = yes\n", "read = ", "write = ", "try-read = ", "try-write = ",
    "tmpfs = ", "symlink = ", "/usr", "/usr/lib", "/a b", "\"/a b\"", " -> ",
    "->", "size=64M", " size=", "4096", "{home}", "{target}", "{target-parent}",
    "{user}", "{uid}", "{tmp}", "{", "}", "\"", "\n", "\n", "\n", "=", ":", ";",
    "#", " ; c", "\t", " ", "\r\n", "/proc/x", "/dev", "//", "/./", "/..",
    "../", "~", "\xc3\xa4", "\xe2\x80\xae", "\xff", "\xef\xbb\xbf", "\x1b", "]",
    "[", "[fs", "[a.b c]\n", "[environ.set]\n", "[environ.merge]\n",
    "[environ.prepend]\n", "[environ.inherit]\n", "[environ.sanitise]\n",
    "[limits]\n", "[exec]\n", "[audit]\n", "wall-time = ", "open-files = ",
    "core-size = ", "interpreter = ", "once = yes\n", "spawn = no\n",
    "report = fs\n", "2s", "1h", "50%", "64", "500ms",
    "PATH = ", "EDITOR = ", "NODE_PATH = ", "LD_PRELOAD = ", "FOO = ", "/usr/a",
    "HOME = ", "CARGO_HOME = ", "CLASSPATH = ", "yes\n", "no", "yes",
    "deny = /x\n", "socket = /x\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

static const char good[] =
    "; a comment\n[profile]\ndescription = some \"text\" {x}\nabuse = more\n"
    "[fs]\nread = /usr\nwrite = {home}/w -> /w\ntry-read = \"/a b\"\n"
    "try-write = {target}/out\ntmpfs = /t size=1M\nsymlink = /l -> ../t\n"
    "write = /usr/local\n[environ.set]\nEDITOR = vi\nFOO = {x} {home}\n"
    "CARGO_HOME = {home}/w\n[environ.merge]\nPATH = /usr/a\nPATH = /usr/b\n"
    "[environ.prepend]\nNODE_PATH = /w/x\n[environ.inherit]\nCI = yes\n"
    "[environ.sanitise]\nPATH = yes\n";

static size_t
generate(char *data)
{
	size_t len = 0, n, k;
	const char *p;

	if (random_below(2) == 0) {
		len = sizeof(good) - 1;
		memcpy(data, good, len);
	} else {
		for (n = random_below(60); n > 0; n--) {
			p = parts[random_below(NITEMS(parts))];
			memcpy(data + len, p, strlen(p));
			len += strlen(p);
		}
	}
	for (n = random_below(4); n > 0 && len > 0; n--) {
		k = random_below((unsigned)len);
		switch (random_below(4)) {
		case 0:
			data[k] = (char)random_below(256);
			break;
		case 1:
			len = k;
			break;
		case 2:
			memmove(data + k, data + k + 1, len - k - 1);
			len--;
			break;
		default:
			p = parts[random_below(NITEMS(parts))];
			memmove(data + k + strlen(p), data + k, len - k);
			memcpy(data + k, p, strlen(p));
			len += strlen(p);
		}
	}
	return len;
}

/* Whatever a file said: nothing in a message moves, hides or is endless. */
static void
check_messages(const struct policy *po)
{
	char text[3 * TEXT_MAX_LEN], safe[4 * TEXT_MAX_LEN];
	size_t i;

	for (i = 0; i < po->nrefusals; i++) {
		refusal_text(&po->refusals[i], text, sizeof(text));
		ck_assert_uint_lt(strlen(text), TEXT_MAX_LEN / 2);
		text_escape(safe, sizeof(safe), text);
		ck_assert(!text_unsafe(safe, strlen(safe)));
		ck_assert_ptr_null(strstr(safe, "  "));
		ck_assert_ptr_null(strstr(safe, "\xc2\xa0\xc2\xa0"));
	}
}

static void
resolve_one(const struct request *q, struct draft *d, struct policy *po)
{
	static char name[] = "p", file[] = "/p.profile";
	struct member m = {.name = name,
	    .file = file,
	    .flags = PROFILE_ASKED,
	    .layer = LAYER_USER,
	    .draft = *d};
	struct selection sel = {&m, 1};
	char why[TEXT_MAX_LEN] = "";
	int n;

	/* its includes are not there: that is the selection's to judge */
	memset(m.digest, 'd', SHA256_HEX);
	while (d->nincludes > 0)
		free(d->includes[--d->nincludes].name);
	m.draft.nincludes = 0;
	n = resolve(q, &sel, po);
	ck_assert_int_eq(n, po->nrefusals > 0 ? -1 : 0);
	ck_assert_msg(policy_check(po, why, sizeof(why)) == 0, "%s", why);
}

START_TEST(mutations)
{
	static char home[] = "/home/u", target[] = "/srv/{home}";
	struct request q;
	struct policy po;
	struct place at = {&po, "p", "/p.profile"};
	struct draft d;
	char *data;
	size_t len;
	unsigned i, drafts = 0, policies = 0;
	int n;

	memset(&q, 0, sizeof(q));
	q.caller.home = q.caller.home_real = q.caller.guest_home = home;
	q.caller.target = target;
	q.caller.home_other = home + sizeof(home) - 1;
	q.caller.user = home + 6;
	for (i = 0; i < ROUNDS; i++) {
		char buf[BYTES_MAX];

		len = generate(buf);
		/* exactly as long as promised, so that a sanitizer sees more */
		data = malloc(len + 1);
		ck_assert(data != NULL);
		memcpy(data, buf, len);
		memset(&po, 0, sizeof(po));
		n = draft_parse(&at, LAYER_USER, data, len, &d);
		ck_assert_int_eq(n, po.nrefusals == 1 ? -1 : 0);
		if (n == 0) {
			drafts++;
			resolve_one(&q, &d, &po);
			policies += po.nrefusals == 0;
			draft_free(&d);
		}
		check_messages(&po);
		policy_free(&po);
		free(data);
	}
	/* the generator reaches both sides */
	ck_assert_uint_gt(drafts, ROUNDS / 20);
	ck_assert_uint_lt(drafts, ROUNDS / 20 * 19);
	ck_assert_uint_gt(policies, ROUNDS / 40);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {mutations};

	return run_suite("parser fuzz", tests, NITEMS(tests));
}
