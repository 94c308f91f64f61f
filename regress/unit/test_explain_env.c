/* The block ENVIRONMENT: its values, its reasons, and narrow terminals. */
#include <check.h>
#include <stdio.h>

#include "child/shared/hostenv.h"
#include "ipc/text.h"
#include "scene.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define NARROWEST 24
#define WIDEST	  140

/* What stands in the block, from its heading to the next one. */
static char *
block(struct scene *sc, unsigned width)
{
	char *text = draw(sc, width, 0), *p, *end;

	p = strstr(text, "\nENVIRONMENT\n");
	ck_assert_ptr_nonnull(p);
	end = strstr(p, "\n\nLIMITS");
	ck_assert_ptr_nonnull(end);
	end[1] = '\0';
	p = copy(p + 1);
	free(text);
	return p;
}

static void
has(const char *text, const char *what)
{
	ck_assert_msg(
	    strstr(text, what) != NULL, "no \"%s\" in:\n%.4000s", what, text);
}

static size_t
count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

/* The user's profile "mine", with /usr, a tmpfs, and a path with a blank. */
static void
world(struct scene *sc)
{
	scene_make(sc);
	add_profile(sc, "@sys", "/p/sys.profile");
	set(&sc->policy.profiles[0].name, "mine");
	sc->policy.profiles[0].layer = LAYER_USER;
	add_grant(sc, GRANT_BIND, 0, "/opt/a b", "/opt/a b", VERB_READ);
	add_grant(sc, GRANT_TMPFS, 0, "/opt/t", "", VERB_TMPFS);
	add_grant(sc, GRANT_BIND, 0, "/usr", "/usr", VERB_READ);
}

static void
ready(struct scene *sc, char *const *env)
{
	char why[256] = "";

	policy_sort(&sc->policy);
	ck_assert_msg(
	    policy_check(&sc->policy, why, sizeof(why)) == 0, "%s", why);
	survey_make(sc);
	ck_assert_int_eq(hostenv_pick(&sc->hostenv, &sc->policy, env), 0);
}

/* An element with a blank is quoted, a scalar never is. */
START_TEST(quotes)
{
	char *env[] = {(char[]){"CI=  a  b\xc2\xa0"}, (char[]){"COLORTERM="},
	    (char[]){"PAGER=\xe3\x80\x80"}, (char[]){"VISUAL=say \"a\" \\ "},
	    NULL};
	struct scene sc;
	char *text;

	world(&sc);
	add_claim(&sc, ENV_SET, "EDITOR", "vi -e");
	add_claim(&sc, ENV_INHERIT, "CI", NULL);
	add_claim(&sc, ENV_INHERIT, "COLORTERM", NULL);
	add_claim(&sc, ENV_INHERIT, "PAGER", NULL);
	add_claim(&sc, ENV_INHERIT, "VISUAL", NULL);
	add_claim(&sc, ENV_MERGE, "PATH", "/opt/a b/bin");
	add_claim(&sc, ENV_MERGE, "NODE_PATH", "/opt/a b");
	ready(&sc, env);
	text = block(&sc, WIDE);
	has(text, "  set       EDITOR=vi -e   ");
	has(text, "  set       CARREL_PROFILES=mine   ");
	/* blanks at the ends, and behind another one, are visible */
	has(text, "  set       CI=\\x20\\x20a \\x20b\\xc2\\xa0   ");
	has(text, "  set       COLORTERM=   ");
	has(text, "  set       PAGER=\\xe3\\x80\\x80   ");
	has(text, "  set       VISUAL=say \"a\" \\\\\\x20   ");
	has(text, "  set       PATH=\"/opt/a b/bin\":/usr/bin:/bin:");
	has(text, "  element   \"/opt/a b/bin\"   ");
	has(text, "  set       NODE_PATH=\"/opt/a b\"   ");
	has(text, "  element   /usr/bin   ");
	free(text);
	scene_free(&sc);
}
END_TEST

/* One row for each reason, in the host's order; each element is named. */
START_TEST(reasons)
{
	char *env[] = {
	    (char[]){"PATH=/srv/a:/tmp/x:/proc/self/cwd:/srv/b c::/usr/bin:"
		     "/dev/fd:rel:/opt/t:/x/../y:/srv/a"},
	    NULL};
	static const char *const rows[] = {
	    "of the host, nothing grants it: /srv/a \"/srv/b c\" /srv/a   ",
	    "of the host, only an empty writable tmpfs is there: /tmp/x "
	    "/opt/t   ",
	    "of the host, only /proc or /dev is there: /proc/self/cwd "
	    "/dev/fd   ",
	    "of the host, it is empty: \"\"   ",
	    "of the host, it is relative: rel   ",
	    "of the host, it has a \"..\" in it: /x/../y   "};
	struct scene sc;
	char *text, *p;
	size_t i;

	world(&sc);
	add_claim(&sc, ENV_SANITISE, "PATH", NULL);
	ready(&sc, env);
	text = p = block(&sc, WIDE);
	ck_assert_uint_eq(count(text, "\n  dropped "), NITEMS(rows));
	for (i = 0; i < NITEMS(rows); i++) {
		has(p, rows[i]);
		p = strstr(p, rows[i]);
	}
	ck_assert_uint_eq(count(text, " sanitise mine:21"), NITEMS(rows) + 1);
	/* what stays is above all that is dropped, in the order of the bands */
	has(text, "  set       PATH=/usr/bin:/bin:/usr/sbin:/sbin   ");
	ck_assert(
	    strstr(text, "  element   /sbin") < strstr(text, "  dropped "));
	free(text);
	scene_free(&sc);
}
END_TEST

/* The text without all of its blanks and line ends. */
static char *
squash(const char *text)
{
	char *p = copy(text), *to = p;

	for (; *text != '\0'; text++)
		if (*text != ' ' && *text != '\n')
			*to++ = *text;
	*to = '\0';
	return p;
}

/* Nothing of the scene but ASCII and wide characters of three bytes. */
static unsigned
columns(const char *s, size_t n)
{
	unsigned k = 0;
	size_t i;

	for (i = 0; i < n; i++)
		k += (unsigned char)s[i] < 0x80	  ? 1
		     : (unsigned char)s[i] > 0xc0 ? 2
						  : 0;
	return k;
}

static void
rich(struct scene *sc)
{
	char *env[] = {(char[]){"CI=\033[2J\xe2\x80\xae\x9b\\x\\\\ (carrel)"},
	    (char[]){"EDITOR=emacs -nw --eval '(message \"\xe6\xbc\xa2\")'"},
	    (char[]){"A_LONG_NAME_OF_SOME_TOKEN=x"},
	    (char[]){"PATH=/srv/none/of/this/is/there/and/it/is/long:"
		     "/usr/lib/\xe6\xbc\xa2\xe5\xad\x97/bin:/usr/games:"
		     "/proc/self/root/usr/local/bin:/tmp/a/b/c/d/e/f/g"},
	    NULL};

	world(sc);
	add_claim(sc, ENV_INHERIT, "CI", NULL);
	add_claim(sc, ENV_INHERIT, "EDITOR", NULL);
	add_claim(sc, ENV_INHERIT, "A_LONG_NAME_OF_SOME_TOKEN", NULL);
	add_claim(sc, ENV_INHERIT, "COLORTERM", NULL);
	add_claim(sc, ENV_SET, "SOME_OTHER_NAME", "/opt/none/of/this");
	add_claim(sc, ENV_MERGE, "PATH", "/opt/a b/c d/e f");
	add_claim(sc, ENV_MERGE, "NODE_PATH", "/opt/t/node/modules");
	add_claim(sc, ENV_SANITISE, "PATH", NULL);
	ready(sc, env);
}

/* One line at this width: nothing is cut that a reader needs whole. */
static void
judge_line(const char *line, size_t n, unsigned width)
{
	size_t i, in = strspn(line, " ");

	ck_assert_msg(
	    columns(line, n) <= width, "%u: %.*s", width, (int)n, line);
	/* rows begin at 2, what continues them at 14, the claimants further */
	ck_assert_msg(in == 0 || in == 2 || in == 14 || in >= 16, "%u: %.*s",
	    width, (int)n, line);
	for (i = 0; i < n; i++) {
		if (line[i] != '\\')
			continue;
		ck_assert_msg(
		    line[i + 1] == '\\' || (line[i + 1] == 'x' && i + 3 < n),
		    "an escape is taken apart at %u: %.*s", width, (int)n,
		    line);
		i++;
	}
}

/*
 * In any terminal: no line too long, nothing lost, claimants and marks never
 * where the value goes on, so that no value can look like one.
 */
START_TEST(narrow)
{
	struct scene sc;
	const char *line, *end;
	char *text, *flat, *want;
	unsigned width;

	rich(&sc);
	text = block(&sc, WIDE);
	want = squash(text);
	free(text);
	for (width = NARROWEST; width <= WIDEST; width++) {
		text = block(&sc, width);
		flat = squash(text);
		ck_assert_str_eq(flat, want);
		free(flat);
		for (line = text; *line != '\0'; line = end + 1) {
			end = strchr(line, '\n');
			ck_assert_ptr_nonnull(end);
			ck_assert(!text_unsafe(line, (size_t)(end - line)));
			judge_line(line, (size_t)(end - line), width);
		}
		/* but for the one that the value of CI ends with */
		if (width < 50)
			ck_assert_uint_eq(
			    count(text, "\n                (carrel)\n") + 1,
			    count(want, "(carrel)"));
		free(text);
	}
	free(want);
	scene_free(&sc);
}
END_TEST

/* Lines end between elements, and between the components of a path. */
START_TEST(where_lines_end)
{
	struct scene sc;
	char *text;

	rich(&sc);
	text = block(&sc, 40);
	has(text, "  set       PATH=\"/opt/a b/c d/e f\":\n"
		  "              /usr/lib/\xe6\xbc\xa2\xe5\xad\x97/bin:\n"
		  "              /usr/games:/usr/bin:/bin:\n"
		  "              /usr/sbin:/sbin\n"
		  "                (carrel)\n");
	has(text, "it:\n"
		  "              /srv/none/of/this/is\n"
		  "              /there/and/it/is/long\n"
		  "                sanitise mine:21\n");
	/* each mark has a line of its own, whole */
	has(text, "  set       A_LONG_NAME_OF_SOME_TOKEN=\n"
		  "              (not shown)\n"
		  "                inherit mine:21\n"
		  "                <- unchecked\n"
		  "                <- credential\n");
	has(text, "  set       SOME_OTHER_NAME=/opt/none\n"
		  "              /of/this\n"
		  "                set mine:21\n"
		  "                <- unchecked\n"
		  "                <- not granted (0 grants\n"
		  "                inside)\n");
	free(text);
	scene_free(&sc);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("explain env");
	TCase *t = tcase_create("explain env");
	SRunner *sr;
	int failed;

	tcase_add_test(t, quotes);
	tcase_add_test(t, reasons);
	tcase_add_test(t, narrow);
	tcase_add_test(t, where_lines_end);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
