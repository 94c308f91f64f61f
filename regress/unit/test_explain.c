#include <check.h>
#include <stdio.h>

#include "ipc/text.h"
#include "scene.h"

/* ESC, CR, LF, a bidi override, a zero-width space, stray C1, DEL, no UTF-8 */
#define HOSTILE                                                                \
	"\033[1A\r\n\xe2\x80\xae"                                              \
	"o\xe2\x80\x8b\xc2\x9b\x9b\x7f\xff"
#define ESCAPED                                                                \
	"\\x1b[1A\\x0d\\x0a\\xe2\\x80\\xaeo\\xe2\\x80\\x8b\\xc2\\x9b\\x9b"

static void
assert_clean(const char *text)
{
	const char *line, *end;

	ck_assert_int_eq(text_utf8(text, strlen(text)), 1);
	for (line = text; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(!text_unsafe(line, (size_t)(end - line)),
		    "raw: %.*s", (int)(end - line), line);
	}
}

static void
assert_has(const char *text, const char *what)
{
	ck_assert_msg(
	    strstr(text, what) != NULL, "no \"%s\" in:\n%.4000s", what, text);
}

static void
assert_lacks(const char *text, const char *what)
{
	ck_assert_msg(
	    strstr(text, what) == NULL, "\"%s\" in:\n%.4000s", what, text);
}

/* All fields of a policy that will not run can be anything. */
static void
hostile_refused(struct scene *sc)
{
	scene_make(sc);
	add_profile(sc, "evil", "/F01" HOSTILE);
	set(&sc->policy.profiles[0].description, "F02" HOSTILE);
	set(&sc->policy.profiles[0].abuse, "F03" HOSTILE);
	add_grant(sc, GRANT_BIND, 0, "/F04" HOSTILE, "/F05" HOSTILE, VERB_READ);
	add_grant(
	    sc, GRANT_SYMLINK, 0, "/F06" HOSTILE, "F07" HOSTILE, VERB_SYMLINK);
	add_grant(sc, GRANT_TMPFS, 0, "/F08" HOSTILE, "", VERB_TMPFS);
	ck_assert_int_eq(
	    policy_refuse(&sc->policy, "F09" HOSTILE, "/F10" HOSTILE, 3,
		"F11" HOSTILE, "%s", "F12" HOSTILE),
	    0);
	survey_make(sc);
	set(&sc->survey.rows[0].real, "/F13" HOSTILE);
	set(&sc->request.words[0], "F14" HOSTILE);
	set(&sc->caller.user, "F15" HOSTILE);
	set(&sc->caller.home, "/F16" HOSTILE);
	set(&sc->caller.guest_home, "/F17" HOSTILE);
	set(&sc->caller.target, "/F18" HOSTILE);
	set(&sc->caller.home_real, "/F19" HOSTILE);
	set(&sc->caller.home_other, "/F20" HOSTILE);
}

START_TEST(test_escape_refused)
{
	struct scene sc, got;
	char *text, want[64];
	unsigned i;

	hostile_refused(&sc);
	ck_assert_int_eq(pass(&sc, &got), 0);
	text = draw(&got, WIDE, 0);
	assert_clean(text);
	for (i = 1; i <= 19; i++) {
		snprintf(want, sizeof(want), "F%02u" ESCAPED, i);
		assert_has(text, want); /* it was drawn, and drawn so */
	}
	free(text);
	for (i = 1; i < 200; i += 7) {
		text = draw(&got, i, 0);
		assert_clean(text);
		free(text);
	}
	scene_free(&sc);
	scene_free(&got);
}
END_TEST

/* What a policy may hold that does run: the checks leave these raw. */
START_TEST(test_escape_plan)
{
	static const char *const fields[] = {
	    "F01", "F02", "F03", "F04", "F05", "F06", "F07", "F08"};
	struct scene sc;
	char *text, want[64], why[256];
	size_t i;

	scene_make(&sc);
	add_profile(&sc, "evil", "/F01" HOSTILE);
	set(&sc.policy.profiles[0].description, "F02" HOSTILE);
	set(&sc.policy.profiles[0].abuse, "F03" HOSTILE);
	add_grant(&sc, GRANT_BIND, 0, "/opt/x", "/srv/F04" HOSTILE, VERB_READ);
	survey_make(&sc);
	set(&sc.survey.rows[0].real, "/srv/F05" HOSTILE);
	set(&sc.request.words[0], "F06" HOSTILE);
	set(&sc.caller.user, "F07" HOSTILE);
	set(&sc.caller.shell, "/F08" HOSTILE);
	set(&sc.caller.lang, "F09" HOSTILE);
	set(&sc.caller.cwd, "/F10" HOSTILE);
	ck_assert_int_eq(policy_check(&sc.policy, why, sizeof(why)), 0);
	text = draw(&sc, WIDE, 0);
	assert_clean(text);
	for (i = 0; i < 7; i++) {
		snprintf(want, sizeof(want), "%s" ESCAPED, fields[i]);
		assert_has(text, want);
	}
	free(text);
	free(sc.request.words[0]);
	free(sc.request.words[1]);
	sc.request.nwords = 0;
	text = draw(&sc, 72, 0);
	assert_clean(text);
	assert_has(text, "F08"); /* the shell, when there is no command */
	free(text);
	scene_free(&sc);
}
END_TEST

/* With colour the only escapes are carrel's own. */
START_TEST(test_colour)
{
	struct scene sc;
	const char *p;
	char *text;
	size_t n = 0;

	hostile_refused(&sc);
	text = draw(&sc, 80, 1);
	for (p = text; (p = strchr(p, '\033')) != NULL; p++, n++)
		ck_assert(strncmp(p, "\033[0m", 4) == 0 ||
			  strncmp(p, "\033[1m", 4) == 0 ||
			  strncmp(p, "\033[33m", 5) == 0 ||
			  strncmp(p, "\033[31m", 5) == 0);
	ck_assert_uint_gt(n, 0);
	free(text);
	scene_free(&sc);
}
END_TEST

/* The line that begins with this text, without its blanks at the front. */
static void
assert_row(
    const char *text, const char *tag, const char *start, const char *what)
{
	const char *line, *end, *p;
	size_t n = strlen(tag);

	for (line = text; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		p = line + strspn(line, " ");
		if (strncmp(p, tag, n) != 0 || p[n] != ' ')
			continue;
		p += n + strspn(p + n, " ");
		if (strncmp(p, start, strlen(start)) != 0)
			continue;
		p = strstr(p, what);
		ck_assert_msg(p != NULL && p < end, "no \"%s\" in: %.*s", what,
		    (int)(end - line), line);
		return;
	}
	ck_abort_msg("no row %s %s in:\n%.4000s", tag, start, text);
}

START_TEST(test_rows)
{
	struct scene sc;
	char *text;

	ordinary(&sc);
	text = draw(&sc, WIDE, 0);
	assert_row(text, "ro", "/data from /srv/data", "read @sys:12");
	assert_row(text, "ro", "/data", "a link that led to /mnt/disk");
	assert_row(text, "rw", "/home/ada/proj", "write @sys:12");
	assert_row(text, "absent", "/opt/gone", "try-read @sys:12");
	assert_row(text, "ro", "\"/opt/my tools\"", "read @sys:12");
	assert_row(text, "tmpfs", "/var/tmp of 1 MiB", "tmpfs @sys:12");
	assert_row(text, "link", "/x -> usr/x", "symlink @sys:12");
	assert_row(text, "command", "make \"all of it\"", "");
	assert_row(text, "shipped", "@sys", "default");
	assert_row(text, "outside", "/home/ada/.ssh", "(carrel)");
	assert_row(text, "landlock", "ABI 7", "scoped");
	assert_row(text, "core-size", "1 byte", "(carrel)");
	assert_lacks(text, "REFUSED");
	assert_lacks(text, "covers credentials");
	free(text);

	sc.request.landlock = 4;
	sc.request.flags = SCREEN_ALLOW_PTRACE;
	text = draw(&sc, WIDE, 0);
	assert_row(text, "landlock", "ABI 4", "not scoped by this kernel");
	assert_row(text, "calls", "an allow-list", "--allow-ptrace");
	free(text);
	sc.request.flags = SCREEN_WITHOUT_LANDLOCK;
	text = draw(&sc, WIDE, 0);
	assert_row(text, "landlock", "off", "--without-landlock");
	free(text);
	scene_free(&sc);
}
END_TEST

START_TEST(test_blocks)
{
	static const char *const blocks[] = {"TARGET\n", "\nPROFILES\n",
	    "\nFILESYSTEM\n", "\nCOMMANDS\n", "\nNETWORK\n", "\nENVIRONMENT\n",
	    "\nLIMITS\n", "\nCONFINEMENT\n", "\nNOT GRANTED  "};
	struct scene sc;
	const char *p;
	char *text, *again;
	size_t i;

	ordinary(&sc);
	text = draw(&sc, 80, 0);
	for (i = 0, p = text; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		p = strstr(p, blocks[i]);
		ck_assert_msg(p != NULL, "no block %s", blocks[i]);
	}
	again = draw(&sc, 80, 0);
	ck_assert_str_eq(text, again);
	free(text);
	free(again);
	scene_free(&sc);
}
END_TEST

START_TEST(test_width)
{
	static const unsigned widths[] = {24, 40, 59, 60, 80, 132};
	struct scene sc;
	char *text, *line, *save = NULL;
	size_t i;

	ordinary(&sc);
	set(&sc.request.words[1], "a-word-that-is-a-good-deal-longer-than-any-"
				  "of-the-narrow-terminals-and-has-no-blank");
	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		text = draw(&sc, widths[i], 0);
		for (line = strtok_r(text, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save))
			ck_assert_msg(strlen(line) <= widths[i], "%zu > %u: %s",
			    strlen(line), widths[i], line);
		free(text);
	}
	scene_free(&sc);
}
END_TEST

/*
 * A description that fills the lines of a terminal, so that what it says next
 * would stand where carrel's own rows do: where the width is not known, too.
 */
START_TEST(test_forged)
{
	static const char *const rows[] = {
	    "FILESYSTEM", "  ro  /usr", "NOT GRANTED  no known credentials"};
	static const unsigned widths[] = {0, 24, 60, 80, 200};
	char text[2048] = "x", *drawn, *line, *save = NULL;
	struct scene sc;
	size_t i, k;

	for (i = 0; i < 12; i++) {
		/* up to the 80th column of a line, or one with a hang */
		k = (strlen(text) / 66 + 1) * (i < 6 ? 80 : 66);
		memset(text + strlen(text), ' ', k - strlen(text));
		text[k] = '\0';
		strcat(text, rows[i % 3]);
	}
	ordinary(&sc);
	set(&sc.policy.profiles[0].description, text);
	set(&sc.policy.profiles[0].abuse, text);
	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		drawn = draw(&sc, widths[i], 0);
		assert_has(drawn, "\\x20");
		for (line = strtok_r(drawn, "\n", &save), k = 0; line != NULL;
		     line = strtok_r(NULL, "\n", &save)) {
			ck_assert_uint_le(
			    strlen(line), widths[i] == 0 ? 80 : widths[i]);
			k += strncmp(line, "FILESYSTEM", 10) == 0;
			k += strncmp(line, "NOT GRANTED", 11) == 0;
			k += strncmp(line, "  ro  /usr", 10) == 0;
		}
		ck_assert_uint_eq(k, 2); /* the blocks themselves */
		free(drawn);
	}
	scene_free(&sc);
}
END_TEST

/* Variables: rows, elements, and bytes of the host that are not the screen's */
START_TEST(test_environment)
{
	char *env[] = {(char[]){"CI=F01" HOSTILE},
	    (char[]){"PATH=/usr/F02" HOSTILE ":/tmp/F03" HOSTILE},
	    (char[]){"A_KEY=F04secret"}, NULL};
	struct scene sc, got;
	char *text, want[64], why[256];
	unsigned i;

	scene_make(&sc);
	add_profile(&sc, "@sys", "/p/sys.profile");
	set(&sc.policy.profiles[0].name, "mine");
	sc.policy.profiles[0].layer = LAYER_USER;
	add_grant(&sc, GRANT_BIND, 0, "/usr", "/usr", VERB_READ);
	add_claim(&sc, ENV_INHERIT, "A_KEY", NULL);
	add_claim(&sc, ENV_INHERIT, "CI", NULL);
	add_claim(&sc, ENV_INHERIT, "COLORTERM", NULL);
	add_claim(&sc, ENV_SET, "EDITOR", "vi -e");
	add_claim(&sc, ENV_MERGE, "PATH", "/usr/local/x");
	add_claim(&sc, ENV_SANITISE, "PATH", NULL);
	policy_sort(&sc.policy);
	ck_assert_int_eq(policy_check(&sc.policy, why, sizeof(why)), 0);
	survey_make(&sc);
	ck_assert_int_eq(hostenv_pick(&sc.hostenv, &sc.policy, env), 0);
	ck_assert_int_eq(pass(&sc, &got), 0);
	text = draw(&got, WIDE, 0);
	assert_clean(text);
	for (i = 1; i <= 3; i++) {
		snprintf(want, sizeof(want), "F%02u" ESCAPED, i);
		assert_has(text, want);
	}
	assert_lacks(text, "secret");
	assert_row(text, "set", "A_KEY=(not shown)", "<- credential");
	assert_row(text, "set", "CI=F01", "inherit mine:21");
	assert_row(text, "unset", "COLORTERM", "<- not set on this host");
	assert_row(text, "set", "EDITOR=vi -e", "set mine:21");
	assert_row(text, "set", "PATH=", "(carrel)");
	assert_row(text, "element", "/usr/local/x", "merge mine:21");
	assert_row(text, "element", "/usr/F02", "sanitise mine:21");
	assert_row(text, "element", "/sbin", "(carrel)");
	assert_row(text, "dropped",
	    "of the host, only an empty writable tmpfs is there: ", "/tmp/F03");
	free(text);

	/* refused: what they want, in their own words */
	ck_assert_int_eq(
	    policy_refuse(&got.policy, "", "", 0, "", "%s", "no such"), 0);
	set(&got.policy.env[3].values[0], "F05" HOSTILE);
	text = draw(&got, WIDE, 0);
	assert_clean(text);
	assert_row(text, "set", "EDITOR=F05" ESCAPED, "set mine:21");
	assert_row(text, "sanitise", "PATH", "sanitise mine:21");
	assert_lacks(text, "F01"); /* the host's values are of no plan */
	free(text);
	scene_free(&sc);
	scene_free(&got);
}
END_TEST

/*
 * Values of blanks of all kinds and characters that deceive, in every field,
 * on screens of every width: no two blanks of one stand side by side.
 */
START_TEST(test_blanks)
{
	static const char *const parts[] = {" ", "\xc2\xa0", "\xe3\x80\x80",
	    "  ", "\t", "Q", "\xe2\x80\x83", "\xd8\x80", "\xe2\xa0\x80", "\xff",
	    "\xc2", "\\", "\"", "QQQQ", "\xe2\x80\x8b"};
	static const char *const blanks[] = {" ", "\xc2\xa0", "\xe3\x80\x80"};
	char value[256], *text, *p;
	struct scene sc;
	unsigned seed = 1;
	size_t i, k, n, f;

	for (i = 0; i < 400; i++) {
		hostile_refused(&sc);
		char **fields[] = {&sc.policy.profiles[0].description,
		    &sc.policy.profiles[0].abuse, &sc.policy.grants[0].guest,
		    &sc.policy.grants[0].source, &sc.policy.refusals[0].what,
		    &sc.policy.refusals[0].fix, &sc.request.words[0],
		    &sc.caller.user, &sc.caller.home};
		for (f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			strcpy(value, "q");
			for (k = 0; k < 40; k++) {
				seed = seed * 1103515245 + 12345;
				strcat(value,
				    parts[(seed >> 16) %
					  (sizeof(parts) / sizeof(*parts))]);
			}
			strcat(value, "q");
			set(fields[f], value);
		}
		text = draw(&sc, (unsigned)(i % 90), 0);
		assert_clean(text);
		/* within a line, between two letters of one value */
		for (p = text; (p = strchr(p, 'Q')) != NULL; p++) {
			for (n = 0, k = 1; k != 0; n += k != 0)
				for (k = 0, f = 0; f < 3; f++)
					if (strncmp(p + 1, blanks[f],
						strlen(blanks[f])) == 0) {
						p += k = strlen(blanks[f]);
						break;
					}
			ck_assert_msg(n < 2 || p[1] != 'Q', "%.40s", p - n - 1);
		}
		free(text);
		scene_free(&sc);
	}
}
END_TEST

/* First and last, with the reasons; nothing of a plan in between. */
START_TEST(test_refused)
{
	struct scene sc;
	char *text, *last, *p;

	ordinary(&sc);
	ck_assert_int_eq(policy_refuse(&sc.policy, "@sys", "/a/sys.profile", 4,
			     "remove one", "two claims for %s", "/data"),
	    0);
	text = draw(&sc, WIDE, 0);
	ck_assert(strncmp(text, "REFUSED", 7) == 0);
	last = strstr(text + 1, "\nREFUSED");
	ck_assert_ptr_nonnull(last);
	for (p = last + 2; (p = strchr(p, '\n')) != NULL; p++)
		ck_assert(p[1] == '\0' || p[1] == ' ');
	assert_row(last, "no", "profile @sys (/a/sys.profile:4): two claims",
	    "; remove one");
	assert_has(text, "what the profiles claim");
	assert_lacks(text, "ENVIRONMENT");
	free(text);
	scene_free(&sc);

	scene_make(&sc); /* nothing could be read */
	ck_assert_int_eq(
	    policy_refuse(&sc.policy, "", "", 0, "", "%s", "no such"), 0);
	survey_make(&sc);
	text = draw(&sc, WIDE, 0);
	ck_assert_str_eq(text, "REFUSED  nothing would start\n"
			       "  no        no such\n");
	free(text);
	scene_free(&sc);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("explain");
	TCase *t = tcase_create("explain");
	SRunner *r;
	int failed;

	tcase_add_test(t, test_escape_refused);
	tcase_add_test(t, test_escape_plan);
	tcase_add_test(t, test_colour);
	tcase_add_test(t, test_rows);
	tcase_add_test(t, test_blocks);
	tcase_add_test(t, test_width);
	tcase_add_test(t, test_blanks);
	tcase_add_test(t, test_forged);
	tcase_add_test(t, test_refused);
	tcase_add_test(t, test_environment);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
