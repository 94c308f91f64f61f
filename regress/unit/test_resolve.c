#include <time.h>

#include "answer.h"
#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "parse_help.h"

static void
only(struct layout *l, const char *a, const char *b, const char *c)
{
	l->q.flags = REQUEST_NO_DEFAULTS;
	l->q.nselect = 0;
	ask(l, a);
	if (b != NULL)
		ask(l, b);
	if (c != NULL)
		ask(l, c);
}

static void
resolves(struct layout *l, struct policy *po)
{
	answer(l, po);
	if (po->nrefusals > 0)
		ck_abort_msg("%s", po->refusals[0].what);
}

static void
refused(struct layout *l, uint32_t line, const char *what, const char *fix)
{
	struct policy po;

	answer(l, &po);
	expect_refusal(&po, line, what, fix);
	policy_free(&po);
}

static int
has_profile(const struct policy *po, const char *name)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		if (strcmp(po->profiles[i].name, name) == 0)
			return po->profiles[i].flags;
	return 0;
}

/* Everything that leaves the parser, as text. */
static char *
print_policy(const struct policy *po)
{
	char *text;
	size_t len, i, k;
	FILE *f = open_memstream(&text, &len);

	for (i = 0; i < po->nprofiles; i++) {
		fprintf(f, "%s|%s|%s|%s|%d|%d:", po->profiles[i].name,
		    po->profiles[i].file, po->profiles[i].description,
		    po->profiles[i].abuse, po->profiles[i].layer,
		    po->profiles[i].flags);
		for (k = 0; k < po->profiles[i].nincludes; k++)
			fprintf(f, " %d", po->profiles[i].includes[k]);
		fputc('\n', f);
	}
	for (i = 0; i < po->ngrants; i++) {
		fprintf(f, "%d|%d|%s|%s|%llu:", po->grants[i].kind,
		    po->grants[i].flags, po->grants[i].guest,
		    po->grants[i].source,
		    (unsigned long long)po->grants[i].size);
		for (k = 0; k < po->grants[i].norigins; k++)
			fprintf(f, " %d.%d.%u",
			    po->grants[i].origins[k].profile,
			    po->grants[i].origins[k].verb,
			    po->grants[i].origins[k].line);
		fputc('\n', f);
	}
	for (i = 0; i < po->nrules; i++)
		fprintf(f, "%s|%d|%llu|%s|%d.%u\n", rule_key(&po->rules[i]),
		    po->rules[i].what, (unsigned long long)po->rules[i].number,
		    po->rules[i].text, po->rules[i].profile, po->rules[i].line);
	for (i = 0; i < po->nrefusals; i++)
		fprintf(f, "%s|%s|%u|%s|%s\n", po->refusals[i].profile,
		    po->refusals[i].file, po->refusals[i].line,
		    po->refusals[i].what, po->refusals[i].fix);
	fclose(f);
	return text;
}

/* S3: 200 orders, with some names twice, and always the same bytes. */
static void
shuffle(struct layout *l)
{
	const char *names[16], *t;
	struct policy po;
	char *first = NULL, *text;
	size_t n = l->q.nselect, i, k;
	int round;

	memcpy(names, l->select, n * sizeof(*names));
	srand(1);
	for (round = 0; round < 200; round++) {
		for (i = n - 1; i > 0; i--) {
			k = (size_t)rand() % (i + 1);
			t = names[i];
			names[i] = names[k];
			names[k] = t;
		}
		l->q.nselect = 0;
		for (i = 0; i < n; i++)
			ask(l, names[i]);
		for (i = (size_t)rand() % 4; i > 0; i--)
			ask(l, names[(size_t)rand() % n]);
		answer(l, &po);
		text = print_policy(&po);
		policy_free(&po);
		if (first == NULL) {
			first = text;
			continue;
		}
		ck_assert_str_eq(text, first);
		free(text);
	}
	free(first);
}

START_TEST(defaults)
{
	struct layout l;
	struct policy po;
	const struct grant *g;

	layout_init(&l);
	resolves(&l, &po);
	ck_assert_uint_eq(po.nprofiles, 3);
	ck_assert_uint_eq(po.ngrants, 3);
	ck_assert_int_eq(has_profile(&po, "@sys"), PROFILE_DEFAULT);
	g = policy_find(&po, "/srv/proj");
	ck_assert(g != NULL && g->flags == GRANT_WRITE);
	ck_assert(policy_find(&po, "/home/u")->kind == GRANT_TMPFS);
	policy_free(&po);
	l.q.flags = REQUEST_NO_DEFAULTS;
	resolves(&l, &po);
	ck_assert_uint_eq(po.nprofiles + po.ngrants, 0);
	policy_free(&po);
	l.q.flags = 0;
	ask(&l, "@sys");
	ask(&l, "@sys");
	resolves(&l, &po);
	ck_assert_int_eq(
	    has_profile(&po, "@sys"), PROFILE_DEFAULT | PROFILE_ASKED);
	policy_free(&po);
	put_bytes(l.uconf, "[carrel]\ndefaults = @home\n", 26);
	resolves(&l, &po);
	ck_assert_uint_eq(po.nprofiles, 2);
	ck_assert_int_eq(has_profile(&po, "@home"), PROFILE_DEFAULT);
	policy_free(&po);
	put_bytes(l.uconf, "[carrel]\ndefaults = nope\n", 25);
	answer(&l, &po);
	expect_refusal(&po, 2, "unknown profile \"nope\"", "");
	ck_assert_str_eq(po.refusals[0].file, l.uconf);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

START_TEST(names)
{
	static const char *const bad[] = {"a b", "a.b", "../x", "/etc/x", "",
	    "-p", "@", "@@sys", "A", "x.profile", "a/b", "\x1b[1A", "\xff"};
	struct layout l;
	struct policy po;
	char name[300];
	size_t i;

	layout_init(&l);
	for (i = 0; i < NITEMS(bad); i++) {
		only(&l, bad[i], NULL, NULL);
		refused(&l, 0, "is not the name of a profile", "use a name");
	}
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	only(&l, name, NULL, NULL);
	refused(&l, 0, "is not the name of a profile", "63 bytes");
	name[63] = '\0';
	refused(&l, 0, "unknown profile \"aaa", "check the spelling");
	only(&l, "sys", NULL, NULL);
	refused(&l, 0, "unknown profile \"sys\"", "write @sys");
	only(&l, "@sy", NULL, NULL);
	refused(&l, 0, "unknown profile \"@sy\"", l.shipped);
	put_file(l.user, "mine", "");
	only(&l, "@mine", NULL, NULL);
	refused(&l, 0, "unknown profile \"@mine\"", "write mine");
	only(&l, "mine", NULL, NULL);
	resolves(&l, &po);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

START_TEST(many_unknown_names)
{
	struct layout l;
	struct policy po;

	layout_init(&l);
	put_bytes(l.uconf, "[carrel]\ndefaults = no\ndefaults = so\n", 37);
	ask(&l, "no");
	ask(&l, "such");
	ask(&l, "pro file");
	ask(&l, "sys");
	ask(&l, "@no");
	ask(&l, "No");
	answer(&l, &po);
	/* each once for each that names it */
	ck_assert_uint_eq(po.nrefusals, 8);
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}
END_TEST

START_TEST(includes)
{
	struct layout l;
	struct policy po;
	size_t i;

	layout_init(&l);
	/* a diamond, and one of its sides named twice */
	put_file(l.user, "top",
	    "[profile]\ninclude = left\ninclude = right\ninclude = left\n");
	put_file(l.user, "left", "[profile]\ninclude = @sys\n");
	put_file(l.user, "right", "[profile]\ninclude = @sys\n");
	only(&l, "top", NULL, NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.nprofiles, 4);
	ck_assert_uint_eq(po.ngrants, 1);
	ck_assert_int_eq(has_profile(&po, "@sys"), PROFILE_IMPLIED);
	ck_assert_int_eq(has_profile(&po, "top"), PROFILE_ASKED);
	for (i = 0; i < po.nprofiles; i++)
		ck_assert_uint_eq(po.profiles[i].nincludes,
		    po.profiles[i].name[0] == '@'   ? 0
		    : po.profiles[i].name[0] == 't' ? 2
						    : 1);
	policy_free(&po);
	put_file(l.user, "lost", "\n[profile]\ninclude = gone\n");
	only(&l, "lost", "top", NULL);
	answer(&l, &po);
	expect_refusal(&po, 3, "unknown profile \"gone\"", "create");
	ck_assert_str_eq(po.refusals[0].profile, "lost");
	/* what is not whole is not shown */
	ck_assert_uint_eq(po.nprofiles + po.ngrants, 0);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

START_TEST(cycles)
{
	struct layout l;
	struct policy po;

	layout_init(&l);
	put_file(l.user, "c", "[profile]\ninclude = a\n");
	put_file(l.user, "a", "[profile]\ndescription = x\ninclude = b\n");
	put_file(l.user, "b", "[profile]\ninclude = c\n");
	put_file(l.user, "self", "[profile]\ninclude = self\n");
	put_file(l.user, "above", "[profile]\ninclude = b\n");
	only(&l, "c", NULL, NULL);
	refused(&l, 3, "cycle: a -> b -> c -> a", "remove one");
	only(&l, "b", "above", NULL);
	refused(&l, 3, "cycle: a -> b -> c -> a", "remove one");
	only(&l, "self", NULL, NULL);
	refused(&l, 2, "cycle: self -> self", "remove one");
	only(&l, "self", "b", "@sys");
	answer(&l, &po);
	ck_assert_uint_eq(po.nrefusals, 2);
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}
END_TEST

/* The longest chain that is allowed, one more, and a great many. */
START_TEST(depth)
{
	struct layout l;
	struct policy po;
	char name[16], text[64];
	int i;

	layout_init(&l);
	for (i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "n%03d", i);
		snprintf(
		    text, sizeof(text), "[profile]\ninclude = n%03d\n", i + 1);
		put_file(l.user, name, text);
	}
	put_file(l.user, "n099", "");
	only(&l, "n036", NULL, NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.nprofiles, INCLUDE_DEPTH);
	policy_free(&po);
	only(&l, "n035", NULL, NULL);
	refused(&l, 0, "65 profiles include each other", "less deeply");
	only(&l, "n050", "n035", "n036");
	shuffle(&l);
	only(&l, "n100", NULL, NULL); /* n600 is not there, and too many */
	refused(&l, 2, "unknown profile \"n600\"", "check");
	put_file(l.user, "n099", "[profile]\ninclude = n100\n");
	only(&l, "n050", NULL, NULL);
	refused(&l, 0, "more than 512 profiles", "fewer");
	layout_free(&l);
}
END_TEST

START_TEST(joins)
{
	struct layout l;
	struct policy po;
	const struct grant *g;

	layout_init(&l);
	put_file(l.user, "a",
	    "[fs]\ntry-read = /x\ntmpfs = /t size=1M\n"
	    "symlink = /l -> x\ntry-read = /y\nread = /x\n");
	put_file(l.user, "b",
	    "[fs]\ntry-write = /x\ntmpfs = /t size=1024K\n"
	    "symlink = /l -> x\ntry-write = /y\n");
	put_file(l.user, "c", "[fs]\nread = /x -> /x\n");
	only(&l, "a", "b", "c");
	resolves(&l, &po);
	ck_assert_uint_eq(po.ngrants, 4);
	g = policy_find(&po, "/x");
	ck_assert_uint_eq(g->norigins, 4);
	ck_assert_uint_eq(g->flags, GRANT_WRITE);
	g = policy_find(&po, "/y");
	ck_assert_uint_eq(g->norigins, 2);
	ck_assert_uint_eq(g->flags, GRANT_WRITE | GRANT_TRY);
	ck_assert_uint_eq(policy_find(&po, "/t")->size, 1 << 20);
	policy_free(&po);
	only(&l, "c", NULL, NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.grants[0].flags, 0);
	policy_free(&po);
	only(&l, "a", "b", "c");
	shuffle(&l);
	layout_free(&l);
}
END_TEST

/* S39: all who want memory are named, with file and line. */
START_TEST(sum_of_tmpfs)
{
	struct layout l;
	char want[512];

	layout_init(&l);
	put_file(l.user, "a", "[fs]\ntmpfs = /a size=512M\n");
	put_file(l.user, "b", "[fs]\n\ntmpfs = /b size=1G\n");
	only(&l, "a", "b", NULL);
	snprintf(want, sizeof(want),
	    "1536 MiB, more than 1G: /a 512 MiB (tmpfs of a, %s/a.profile:2)"
	    ", /b 1024 MiB (tmpfs of b, %s/b.profile:3)",
	    l.user, l.user);
	refused(&l, 3, want, "size=");
	shuffle(&l);
	layout_free(&l);
}
END_TEST

/* S2b, S3: every claim crosses, and the least of the sums is the limit. */
START_TEST(limits)
{
	struct layout l;
	struct policy po;
	char want[256];

	layout_init(&l);
	put_file(l.user, "a",
	    "[profile]\ninclude = c\n[fs]\ntmpfs = /a size=1G\n[limits]\n"
	    "wall-time = 2s\ntmpfs = 3G\n");
	put_file(l.user, "b", "[limits]\ntmpfs = 2G\nwall-time = 1m\n");
	put_file(
	    l.user, "c", "[limits]\ncpu-time = 9s\n[fs]\ntmpfs = /c size=1G\n");
	only(&l, "a", "b", "@sys");
	resolves(&l, &po);
	ck_assert_uint_eq(po.nrules, 5);
	ck_assert_uint_eq(po.rules[0].what, LIMIT_CPU_TIME);
	ck_assert_str_eq(po.profiles[po.rules[0].profile].name, "c");
	ck_assert_uint_eq(po.rules[1].number, 2000);
	ck_assert_uint_eq(po.rules[1].line, 6);
	ck_assert_uint_eq(confine_tmpfs(&po), 2ULL << 30);
	policy_free(&po);
	shuffle(&l);
	put_file(l.user, "d", "[limits]\ntmpfs = 2047M\n");
	only(&l, "a", "b", "d");
	snprintf(want, sizeof(want),
	    "add up to 2048 MiB, more than 2047M (tmpfs = 2047M of d, "
	    "%s/d.profile:2)",
	    l.user);
	refused(&l, 4, want, "size=");
	shuffle(&l);
	layout_free(&l);
}
END_TEST

static void
conflict(const char *a, const char *b, const char *c, int n)
{
	struct layout l;
	struct policy po;
	char text[128];
	const char *const claims[] = {a, b, c};
	static const char *const owner[] = {"of a, ", "of b, ", "of c, "};
	int i;

	layout_init(&l);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "[fs]\n%s\n", claims[i]);
		put_file(l.user, i == 0 ? "a" : i == 1 ? "b" : "c", text);
	}
	only(&l, "a", "b", n == 3 ? "c" : NULL);
	answer(&l, &po);
	expect_refusal(&po, 2, "disagree", "leave out");
	for (i = 0; i < n; i++)
		ck_assert_msg(strstr(po.refusals[0].what, owner[i]) != NULL,
		    "%s%s", owner[i], po.refusals[0].what);
	ck_assert_str_eq(po.refusals[0].profile, "a");
	/* the claims are shown all the same */
	ck_assert_uint_ge(po.ngrants, 2);
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}

/* S32: same place, anything else than the same: every claimant by name. */
START_TEST(conflicts)
{
	conflict("read = /x -> /d", "read = /y -> /d", NULL, 2);
	conflict("read = /x -> /d", "tmpfs = /d", NULL, 2);
	conflict("tmpfs = /d size=1M", "tmpfs = /d size=2M", NULL, 2);
	conflict("symlink = /d -> a", "symlink = /d -> b", NULL, 2);
	conflict("symlink = /d -> a", "read = /d", NULL, 2);
	conflict("read = /x -> /d", "tmpfs = /d", "symlink = /d -> e", 3);
	conflict("read = /x -> /d", "write = /x -> /d", "tmpfs = /d", 3);
	conflict("socket = /x -> /d", "read = /x -> /d", NULL, 2);
	conflict("socket = /x -> /d", "socket = /y -> /d", NULL, 2);
	conflict("command = /x/t", "command = /y/t", NULL, 2);
	conflict("command = /x/t", "command = /y/u -> t", "command = /z/t", 3);
}
END_TEST

/* The same wish joins; a name for each of two is no conflict. */
START_TEST(commands)
{
	struct layout l;
	struct policy po;

	layout_init(&l);
	put_file(l.user, "a", "[fs]\ncommand = {home}/t\ndevice = /dev/x\n");
	put_file(l.user, "b",
	    "[fs]\ncommand = /home/u/t\ncommand = /home/u/t -> {user}-t\n");
	only(&l, "a", "b", NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.ngrants, 3);
	ck_assert_str_eq(po.grants[0].guest, "/dev/x");
	ck_assert_str_eq(po.grants[0].source, "/dev/x");
	ck_assert_str_eq(po.grants[1].guest, "/run/carrel/bin/t");
	ck_assert_str_eq(po.grants[1].source, "/home/u/t");
	ck_assert_uint_eq(po.grants[1].norigins, 2);
	ck_assert_str_eq(po.grants[2].guest, "/run/carrel/bin/u-t");
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}
END_TEST

static void
nests(const char *outer, const char *inner, int legal)
{
	struct layout l;
	struct policy po;
	char text[128];

	layout_init(&l);
	snprintf(text, sizeof(text), "[fs]\n%s\n", outer);
	put_file(l.user, "a", text);
	snprintf(text, sizeof(text), "[fs]\n%s\n", inner);
	put_file(l.user, "b", text);
	only(&l, "a", "b", NULL);
	answer(&l, &po);
	if (legal) {
		ck_assert_msg(po.nrefusals == 0, "%s in %s", inner, outer);
	} else {
		expect_refusal(&po, 2, "would hide what is there", "inside");
		ck_assert_str_eq(po.refusals[0].profile, "b");
		ck_assert(strstr(po.refusals[0].what, "of a, ") != NULL);
		ck_assert(strstr(po.refusals[0].what, "of b, ") != NULL);
	}
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}

/* S33: nothing is masked. */
START_TEST(nesting)
{
	nests("read = /x", "write = /x/a", 1);
	nests("write = /x", "read = /x/a/b", 1);
	nests("read = /h -> /x", "write = /h/a -> /x/a", 1);
	nests("tmpfs = /x", "read = /x/a", 1);
	nests("tmpfs = /x", "symlink = /x/a -> b", 1);
	nests("tmpfs = /x", "tmpfs = /x/a", 1);
	nests("read = /x", "read = /xa -> /x-a", 1);
	nests("read = /x", "read = /x-a", 1);
	nests("read = /x", "tmpfs = /x/a", 0);
	nests("write = /x", "tmpfs = /x/a", 0);
	nests("read = /x", "symlink = /x/a -> b", 0);
	nests("read = /x", "read = /y -> /x/a", 0);
	nests("read = /x", "read = /x/b -> /x/a", 0);
	nests("symlink = /x -> y", "read = /x/a", 0);
	nests("symlink = /x -> y", "tmpfs = /x/a", 0);
	nests("read = /x", "socket = /x/s", 1);
	nests("read = /x", "socket = /y/s -> /x/s", 0);
	nests("tmpfs = /x", "socket = /y/s -> /x/s", 1);
	nests("tmpfs = /run", "command = /c/t", 1);
	nests("read = /x -> /run", "command = /c/t", 0);
	nests("write = /run", "command = /run/carrel/bin/t", 0);
}
END_TEST

/* Between /a and /a/b stands /a-b: what lies above must still be found. */
START_TEST(deep_nesting)
{
	struct layout l;
	struct policy po;

	layout_init(&l);
	put_file(l.user, "a",
	    "[fs]\ntmpfs = /a\nread = /a/b\nread = /a-b\n"
	    "read = /a.b\nwrite = /a/b/c/d\n"
	    "tmpfs = /a/c\nread = /q -> /a/c/d/e/f\n");
	only(&l, "a", NULL, NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.ngrants, 7);
	policy_free(&po);
	put_file(l.user, "a",
	    "[fs]\ntmpfs = /a\nread = /a/b\nread = /a-b\n"
	    "read = /a/b-c\ntmpfs = /a/b/c/d\n");
	refused(&l, 6, "\"/a/b/c/d\" lies inside \"/a/b\"", "inside");
	layout_free(&l);
}
END_TEST

static void
claim_refused(const char *claim, const char *what, const char *fix)
{
	struct layout l;
	char text[6000];

	layout_init(&l);
	snprintf(text, sizeof(text), "[fs]\nread = /ok\n%s\n", claim);
	put_file(l.user, "a", text);
	only(&l, "a", NULL, NULL);
	refused(&l, 3, what, fix);
	layout_free(&l);
}

START_TEST(bad_claims)
{
	struct layout l;
	struct policy po;

	claim_refused("tmpfs = /", "is carrel's own", "another place");
	claim_refused("tmpfs = /proc", "is carrel's own", "another place");
	claim_refused("tmpfs = /proc/x", "is carrel's own", "another place");
	claim_refused("read = /usr -> /dev/x", "is carrel's own", "another");
	claim_refused("symlink = /sys/x -> y", "is carrel's own", "another");
	claim_refused("tmpfs = /run/carrel", "is carrel's own", "another");
	claim_refused("tmpfs = /run/carrel/bin", "is carrel's own", "another");
	claim_refused("read = /", "is the whole host", "grant what");
	claim_refused("read = / -> /host", "is the whole host", "grant what");
	claim_refused("read = /proc/1", "kernel interface", "grant what");
	claim_refused("read = /dev/kvm -> /x", "kernel interface",
	    "write \"device = /dev/kvm\"");
	claim_refused("write = /dev/null", "kernel interface",
	    "is in every sandbox already");
	claim_refused("read = /dev", "kernel interface", "grant what");
	claim_refused("device = /dev", "is not below /dev", "character");
	claim_refused("device = /etc/passwd", "is not below /dev", "character");
	claim_refused(
	    "device = /dev/tty", "in every sandbox already", "remove");
	claim_refused("device = /dev/pts/0", "in every sandbox", "remove");
	claim_refused("device = /dev/shm/x", "in every sandbox", "remove");
	claim_refused("device = /dev/mem", "is the memory", "remove");
	claim_refused("device = /dev/kmem", "is the memory", "remove");
	claim_refused("device = /dev/port", "is the memory", "remove");
	claim_refused("device = /dev/../mem", "is not a clean path", "..");
	claim_refused("socket = /s -> /dev/log", "is carrel's own", "another");
	claim_refused(
	    "socket = /dev/log -> /s", "kernel interface", "outside /dev");
	claim_refused("command = /", "is the whole host", "grant what");
	claim_refused("command = /proc/self/exe", "kernel interface", "grant");
	claim_refused("command = x", "is not an absolute path", "begins");
	claim_refused("command = /x -> a/b", "is not one component", "bare");
	claim_refused("command = /x -> ..", "is not one component", "bare");
	claim_refused("command = /x -> .", "is not one component", "bare");
	claim_refused("command = /x -> /y", "is not one component", "bare");
	claim_refused("read = /a//b", "is not a clean path", "write \"/a/b\"");
	claim_refused("tmpfs = /a/", "is not a clean path", "write \"/a\"");
	claim_refused("read = /a -> b", "is not an absolute path", "begins");
	claim_refused("read = /a/../b", "is not a clean path", "..");
	layout_init(&l);
	put_file(l.user, "a", "[fs]\ntmpfs = /\nread = /ok\nread = x\n");
	only(&l, "a", NULL, NULL);
	answer(&l, &po);
	/* all of them at once, and the claim that could be made */
	ck_assert_uint_eq(po.nrefusals, 2);
	ck_assert_uint_eq(po.ngrants, 1);
	policy_free(&po);
	put_file(l.user, "b", "[fs]\nraed = x\n");
	put_file(l.user, "c", "[fs\n");
	only(&l, "a", "b", "c");
	answer(&l, &po);
	/* text that does not parse shows the errors alone */
	ck_assert_uint_eq(po.nrefusals, 2);
	ck_assert_uint_eq(po.ngrants, 0);
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}
END_TEST

/* {home} is another one inside, so a single path stands for two. */
START_TEST(both_sides)
{
	static char outer[] = "/usr/home/u", inner[] = "/home/u",
		    braces[] = "/srv/{home}";
	struct layout l;
	struct policy po;
	const struct grant *g;

	layout_init(&l);
	l.q.caller.home = l.q.caller.home_real = outer;
	l.q.caller.guest_home = inner;
	l.q.caller.target = braces;
	put_file(l.user, "a", "[fs]\nread = {home}/x\nread = {target}\n");
	only(&l, "a", NULL, NULL);
	resolves(&l, &po);
	g = policy_find(&po, "/home/u/x");
	ck_assert(g != NULL);
	ck_assert_str_eq(g->source, "/usr/home/u/x");
	g = policy_find(&po, "/srv/{home}");
	ck_assert(g != NULL);
	ck_assert_str_eq(g->source, "/srv/{home}");
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* S24 */
START_TEST(home_as_target)
{
	static char real[] = "/data/u", above[] = "/home", home[] = "/home/u",
		    below[] = "/home/u/proj", none[] = "", data[] = "/data",
		    other[] = "/var/u", others[] = "/var";
	static const char go_on[] = "use --no-defaults -p @sys -p @own-home";
	char *const homes[] = {home, above, real, data, other, others};
	struct layout l;
	struct policy po;
	size_t i;

	layout_init(&l);
	l.q.caller.home_real = real;
	l.q.caller.home_other = other;
	put_file(l.user, "dev", "[profile]\ninclude = @target\n");
	for (i = 0; i < NITEMS(homes); i++) {
		l.q.caller.target = homes[i];
		l.q.flags = 0;
		l.q.nselect = 0;
		/* implied: the default is left out */
		l.q.caller.flags = CALLER_IMPLIED;
		resolves(&l, &po);
		ck_assert_int_eq(has_profile(&po, "@target"), 0);
		ck_assert_uint_eq(po.nprofiles, 2);
		policy_free(&po);
		/* asked for by name, or by what it includes */
		ask(&l, "@target");
		refused(&l, 0, "is the home directory or holds it", go_on);
		l.q.nselect = 0;
		ask(&l, "dev");
		refused(&l, 0, "is the home directory or holds it", go_on);
		/* by -C */
		l.q.nselect = 0;
		l.q.caller.flags = 0;
		refused(&l, 0, "is the home directory or holds it", go_on);
		/* and what the fix says works */
		only(&l, "@sys", "@own-home", NULL);
		resolves(&l, &po);
		policy_free(&po);
	}
	l.q.caller.target = below;
	l.q.nselect = 0;
	l.q.flags = 0;
	resolves(&l, &po);
	ck_assert_int_eq(has_profile(&po, "@target"), PROFILE_DEFAULT);
	policy_free(&po);
	ask(&l, "@parent");
	refused(&l, 0, "the parent of the target \"/home/u\"", go_on);
	l.q.caller.target = none;
	only(&l, "@parent", NULL, NULL);
	refused(&l, 2, "{target-parent} in", "-C DIR");
	l.q.nselect = 0;
	l.q.flags = 0;
	refused(&l, 2, "{target} in", "-C DIR");
	layout_free(&l);
}
END_TEST

START_TEST(own_home_beside_home)
{
	struct layout l;

	layout_init(&l);
	ask(&l, "@own-home");
	refused(&l, 2, "\"/home/u\" is claimed", "use --no-defaults");
	layout_free(&l);
}
END_TEST

/* More reasons than are kept: still the same ones in any order. */
START_TEST(many_refusals)
{
	struct layout l;
	struct policy po;
	FILE *f;
	char path[256];
	int i, k;

	layout_init(&l);
	for (k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), "%s/%c.profile", l.user, 'a' + k);
		f = fopen(path, "w");
		fprintf(f, "[fs]\n");
		for (i = 0; i < 200; i++)
			fprintf(f, "tmpfs = /t/%d size=%dM\n", i, k + 1);
		for (i = 0; i < 200; i++)
			fprintf(f, "tmpfs = /proc/%d\n", i);
		fclose(f);
	}
	only(&l, "a", "b", "c");
	answer(&l, &po);
	ck_assert_uint_eq(po.nrefusals, REFUSALS_MAX);
	policy_free(&po);
	shuffle(&l);
	layout_free(&l);
}
END_TEST

/* Claimants beyond what a message holds are counted. */
START_TEST(many_claimants)
{
	struct layout l;
	struct policy po;
	FILE *f;
	char path[256];
	int i;

	layout_init(&l);
	snprintf(path, sizeof(path), "%s/a.profile", l.user);
	f = fopen(path, "w");
	fprintf(f, "[fs]\n");
	for (i = 0; i < ORIGINS_MAX; i++)
		fprintf(f, "read = /x -> /d\n");
	fclose(f);
	only(&l, "a", NULL, NULL);
	resolves(&l, &po);
	ck_assert_uint_eq(po.grants[0].norigins, ORIGINS_MAX);
	policy_free(&po);
	put_file(l.user, "b", "[fs]\ntmpfs = /d\ntmpfs = /d/e\n");
	only(&l, "a", "b", NULL);
	answer(&l, &po);
	expect_refusal(&po, 2, " more", "leave out");
	ck_assert_uint_lt(strlen(po.refusals[0].what), TEXT_MAX_LEN);
	policy_free(&po);
	f = fopen(path, "a");
	fprintf(f, "read = /x -> /d\n");
	fclose(f);
	only(&l, "a", NULL, NULL);
	refused(&l, 2, "is claimed more than 1024 times", "once");
	layout_free(&l);
}
END_TEST

static double
milliseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* One of 20,000 grants costs what one of 200 does. */
START_TEST(many_grants)
{
	static const int lines[] = {70, 7000};
	struct layout l;
	struct policy po;
	FILE *f;
	char path[256];
	double start, each[2];
	int i, k, m;

	layout_init(&l);
	only(&l, "a", "b", "c");
	for (m = 0; m < 2; m++) {
		for (k = 0; k < 3; k++) {
			snprintf(path, sizeof(path), "%s/%c.profile", l.user,
			    'a' + k);
			f = fopen(path, "w");
			fprintf(f, "[fs]\n");
			for (i = 0; i < lines[m]; i++)
				fprintf(f, "read = /srv/data/%d/%d\n", k, i);
			fclose(f);
		}
		start = milliseconds();
		for (i = m == 0 ? 20 : 1; i > 0; i--) {
			resolves(&l, &po);
			ck_assert_uint_eq(po.ngrants, (size_t)(3 * lines[m]));
			policy_free(&po);
		}
		each[m] = (milliseconds() - start) / 3 / lines[m];
	}
	each[0] /= 20;
	/* sorting costs a little more; a loop in a loop a hundred times */
	ck_assert_msg(
	    each[1] < 8 * each[0], "%f then %f ms a grant", each[0], each[1]);
	/* more than a policy may hold */
	for (k = 3; k < 6; k++) {
		snprintf(path, sizeof(path), "%s/%c.profile", l.user, 'a' + k);
		f = fopen(path, "w");
		fprintf(f, "[fs]\n");
		for (i = 0; i < 7000; i++)
			fprintf(f, "read = /srv/data/%d/%d\n", k, i);
		fclose(f);
		ask(&l, k == 3 ? "d" : k == 4 ? "e" : "f");
	}
	refused(&l, 0, "more than 32768 paths", "grant");
	layout_free(&l);
}
END_TEST

/* The profiles that are shipped: each one resolves and says what it risks. */
START_TEST(shipped)
{
	static const char *const all[] = {
	    "@sys", "@home", "@target", "@own-home", "@parent", "@tmp-shared"};
	static char dir[4096];
	struct layout l;
	struct policy po;
	size_t i, k;

	layout_init(&l);
	ck_assert(realpath("profiles", dir) != NULL);
	l.q.shipped = dir;
	for (i = 0; i < NITEMS(all); i++) {
		only(&l, all[i], NULL, NULL);
		resolves(&l, &po);
		ck_assert_uint_eq(po.nprofiles, 1);
		ck_assert_str_ne(po.profiles[0].description, "");
		ck_assert_str_ne(po.profiles[0].abuse, "");
		ck_assert_uint_ge(po.ngrants, 1);
		for (k = 0; k < po.ngrants; k++) {
			static const char *const secret[] = {"/etc/ssl/private",
			    "/etc/shadow", "/etc/sudoers", "/etc/gitconfig",
			    "/etc", "/etc/ssl", "/etc/pki", "/etc/ssh", "/var",
			    "/run", "/root"};
			size_t n;

			for (n = 0; n < NITEMS(secret); n++)
				ck_assert_str_ne(po.grants[k].guest, secret[n]);
		}
		policy_free(&po);
	}
	layout_free(&l);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {defaults, names, many_unknown_names,
	    includes, cycles, depth, joins, sum_of_tmpfs, limits, conflicts,
	    commands, nesting, deep_nesting, bad_claims, both_sides,
	    home_as_target, own_home_beside_home, many_refusals, many_claimants,
	    many_grants, shipped};

	return run_suite("resolve", tests, NITEMS(tests));
}
