#include <sys/socket.h>
#include <sys/stat.h>

#include <check.h>

#include "ipc/limits.h"
#include "scene.h"

/* Characters that take no or two columns are counted so. */
START_TEST(test_columns)
{
	struct cell left = {0}, right = {0};
	struct out o;
	const char *p;

	out_open(&o, 80, 0);
	cell_add(&left, "/\xe6\xbc\xa2\xe5\xad\x97/e\xcc\x81");
	cell_add(&right, "X");
	out_row(&o, "ro", &left, &right, "");
	cell_add(&left, "/1234/e");
	cell_add(&right, "X");
	out_row(&o, "ro", &left, &right, "");
	out_close(&o);
	p = strchr(o.text, '\n');
	ck_assert_ptr_nonnull(p);
	/* two wide ones: 6 bytes, 4 columns; an accent: 2 bytes, none */
	ck_assert_int_eq(strchr(o.text, 'X') - o.text,
	    strrchr(p + 1, 'X') - (p + 1) + 2 + 2);
	out_free(&o);
}
END_TEST

static void
drawn(unsigned width, const char *raw, const char *want)
{
	struct cell left = {0}, right = {0};
	struct out o;

	out_open(&o, width, 0);
	cell_add(&left, raw);
	cell_add(&right, "(carrel)");
	out_row(&o, "allow", &left, &right, "");
	out_close(&o);
	ck_assert_str_eq(o.text, want);
	out_free(&o);
}

/* An address is not taken apart at its "//", and a name between labels. */
START_TEST(test_addresses)
{
	drawn(40, "https://gist.githubusercontent.com:443, TLS",
	    "  allow     https://\n"
	    "              gist.githubusercontent\n"
	    "              .com:443, TLS\n"
	    "                (carrel)\n");
	drawn(40, "https://a.example:443",
	    "  allow     https://a.example:443\n"
	    "                (carrel)\n");
	/* at the end of the last line, if there is room */
	drawn(80,
	    "https://gist.githubusercontent.com:443, TLS that asks for the "
	    "same name",
	    "  allow     https://gist.githubusercontent.com:443, TLS that asks "
	    "for the same\n"
	    "              name                               (carrel)\n");
}
END_TEST

static unsigned char
mark_of(const char *source)
{
	struct scene sc;
	struct host h;
	unsigned char mark;

	scene_make(&sc);
	add_profile(&sc, "@sys", "/sys.profile");
	add_grant(&sc, GRANT_BIND, 0, "/x", source, VERB_READ);
	survey_make(&sc);
	ck_assert_int_eq(host_init(&h, &sc.caller, &sc.policy), 0);
	host_judge(&h, &sc.caller, &sc.policy, &sc.survey);
	mark = h.marks[0];
	host_free(&h);
	scene_free(&sc);
	return mark;
}

/* S7: what the parent added the screen adds again, and the rows fit. */
START_TEST(test_protected)
{
	struct scene in, out;
	char *text;
	size_t i;

	scene_make(&in);
	add_profile(&in, "@own-home", "/own-home.profile");
	in.caller.protect = calloc(1, sizeof(*in.caller.protect));
	in.caller.protect[0].path = copy("/home/ada/.config/carrel");
	in.caller.protect[0].make = 1;
	in.caller.nprotect = 1;
	add_grant(
	    &in, GRANT_BIND, GRANT_WRITE, "/home/ada", "/home/ada", VERB_WRITE);
	add_grant(&in, GRANT_DEVICE, 0, "/dev/kvm", "/dev/kvm", VERB_DEVICE);
	add_grant(
	    &in, GRANT_COMMAND, 0, "/run/carrel/bin/t", "/opt/t", VERB_COMMAND);
	in.policy.grants[1].origins[0].profile = 0;
	in.policy.profiles[0].layer = LAYER_USER;
	set(&in.policy.profiles[0].name, "own");
	policy_sort(&in.policy);
	ck_assert_int_eq(policy_protect(&in.policy, &in.caller), 0);
	ck_assert_uint_eq(in.policy.ngrants, 4);
	survey_make(&in);
	for (i = 0; i < 4; i++) {
		in.survey.rows[i].mode = (uint16_t)(0700 + i);
		in.survey.rows[i].rdev = 0xa00e8 + i;
		if (in.policy.grants[i].kind == GRANT_DEVICE)
			in.survey.rows[i].type = SURVEY_DEVICE;
		if (in.policy.grants[i].kind == GRANT_COMMAND)
			in.survey.rows[i].type = SURVEY_FILE;
		if (in.policy.grants[i].flags & GRANT_OWN)
			in.survey.rows[i].ino = 0; /* a run makes it */
	}
	ck_assert_int_eq(pass(&in, &out), 0);
	ck_assert_uint_eq(out.caller.nprotect, 1);
	ck_assert_int_eq(out.caller.protect[0].make, 1);
	ck_assert_uint_eq(out.policy.ngrants, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_str_eq(
		    out.policy.grants[i].guest, in.policy.grants[i].guest);
		ck_assert_int_eq(
		    out.policy.grants[i].flags, in.policy.grants[i].flags);
		ck_assert_int_eq(out.survey.rows[i].mode, 0700 + (int)i);
		ck_assert_uint_eq(out.survey.rows[i].rdev, 0xa00e8 + i);
		ck_assert_int_eq(out.survey.rows[i].shut, 0);
	}
	text = draw(&out, WIDE, 0);
	ck_assert_ptr_nonnull(strstr(text, "pin       /home/ada/.config,"));
	ck_assert_ptr_nonnull(strstr(text, "<- carrel trusts it, a run makes"));
	ck_assert_ptr_nonnull(strstr(text, "device    /dev/kvm"));
	ck_assert_ptr_nonnull(
	    strstr(text, "staged    /run/carrel/bin/t from /opt/t"));
	free(text);
	scene_free(&out);

	/* without its row the sender did not see what was added */
	in.caller.nprotect = 0;
	ck_assert_int_eq(pass(&in, &out), -1);
	in.caller.nprotect = 1;
	in.survey.rows[0].shut = 1;
	in.survey.rows[1].twice = 1;
	ck_assert_int_eq(pass(&in, &out), 0);
	ck_assert_int_eq(out.survey.rows[0].shut, 1);
	ck_assert_int_eq(out.survey.rows[0].twice, 0);
	ck_assert_int_eq(out.survey.rows[1].twice, 1);
	scene_free(&out);
	set(&in.caller.protect[0].path, "relative");
	ck_assert_int_eq(pass(&in, &out), -1);
	scene_free(&in);
}
END_TEST

START_TEST(test_credentials)
{
	static const char *const yes[] = {"/home/ada", "/home",
	    "/home/ada/.ssh", "/home/ada/.ssh/config", "/run/user", "/run",
	    "/run/user/1000", "/run/user/1000/bus", "/home/ada/.gnupg"};
	static const char *const no[] = {"/home/ada/proj", "/usr", "/home/ad",
	    "/home/ada/.sshx", "/home/adam", "/run/users"};
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(
		    mark_of(yes[i]) == HOST_CREDENTIALS, "%s", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(mark_of(no[i]) == 0, "%s", no[i]);
}
END_TEST

/* A directory that holds one marks only if it exists; links are seen. */
START_TEST(test_credentials_inside)
{
	struct scene sc;
	struct host h;
	size_t i, gh = 0;

	scene_make(&sc);
	add_profile(&sc, "@sys", "/sys.profile");
	add_grant(&sc, GRANT_BIND, 0, "/c", "/home/ada/.config", VERB_READ);
	add_grant(&sc, GRANT_BIND, 0, "/d", "/srv/link", VERB_READ);
	add_grant(
	    &sc, GRANT_BIND, GRANT_TRY, "/e", "/home/ada/.aws", VERB_TRY_READ);
	survey_make(&sc);
	set(&sc.survey.rows[1].real, "/home/ada/.ssh/keys");
	sc.survey.rows[2].type = SURVEY_NONE;
	ck_assert_int_eq(host_init(&h, &sc.caller, &sc.policy), 0);
	host_judge(&h, &sc.caller, &sc.policy, &sc.survey);
	ck_assert_int_eq(h.marks[0], 0);
	ck_assert_int_eq(h.marks[1], HOST_CREDENTIALS);
	ck_assert_int_eq(h.marks[2], 0);
	for (i = 0; i < h.ncredentials; i++) {
		if (strcmp(h.credentials[i].path, "/home/ada/.config/gh") == 0)
			gh = i;
		if (strcmp(h.credentials[i].path, "/home/ada/.ssh") == 0)
			ck_assert_int_eq(h.credentials[i].inside, 2);
		if (strcmp(h.credentials[i].path, "/home/ada/.aws") == 0)
			ck_assert_int_eq(h.credentials[i].inside, 0);
	}
	ck_assert_int_eq(h.credentials[gh].inside, 1);
	h.credentials[gh].exists = 1;
	host_judge(&h, &sc.caller, &sc.policy, &sc.survey);
	ck_assert_int_eq(h.marks[0], HOST_CREDENTIALS);
	host_free(&h);
	scene_free(&sc);
}
END_TEST

/* What is written there runs later: only of a grant for writing. */
START_TEST(test_startup)
{
	static const struct {
		const char *source;
		uint8_t flags;
		int mark;
	} cases[] = {{"/home/ada", GRANT_WRITE, 1}, {"/home/ada", 0, 0},
	    {"/home/ada/.config", GRANT_WRITE, 1},
	    {"/home/ada/.config/carrel/profiles.d", GRANT_WRITE, 1},
	    {"/home/ada/.local/bin/tool", GRANT_WRITE, 1},
	    {"/home/ada/.bashrc", GRANT_WRITE, 1},
	    {"/home/ada/.ssh", GRANT_WRITE, 1}, {"/home/ada/.bashrc", 0, 0},
	    {"/home/ada/proj", GRANT_WRITE, 0},
	    {"/home/ada/.local/share", GRANT_WRITE | GRANT_TRY, 1},
	    {"/home/ada/.bashrc.d", GRANT_WRITE, 0}};
	struct scene sc;
	struct host h;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scene_make(&sc);
		add_profile(&sc, "@sys", "/sys.profile");
		add_grant(&sc, GRANT_BIND, cases[i].flags, "/x",
		    cases[i].source,
		    (cases[i].flags & GRANT_TRY) != 0 ? VERB_TRY_WRITE
		    : cases[i].flags != 0	      ? VERB_WRITE
						      : VERB_READ);
		survey_make(&sc);
		ck_assert_int_eq(host_init(&h, &sc.caller, &sc.policy), 0);
		host_judge(&h, &sc.caller, &sc.policy, &sc.survey);
		ck_assert_msg(
		    !!(h.marks[0] & HOST_STARTUP) == cases[i].mark, "%zu", i);
		host_free(&h);
		text = draw(&sc, 200, 0);
		ck_assert_int_eq(
		    strstr(text, "runs outside later") != NULL, cases[i].mark);
		free(text);
		scene_free(&sc);
	}
}
END_TEST

/* Credentials and start-up files that are links, looked up for real. */
START_TEST(test_real_places)
{
	char home[] = "/tmp/carrel-host-XXXXXX", path[128], to[128];
	static const char *const links[] = {".ssh", ".bashrc"};
	static const char *const places[] = {"keys", "dot/bashrc"};
	struct scene sc;
	struct host h;
	size_t i;

	ck_assert_ptr_nonnull(mkdtemp(home));
	for (i = 0; i < 2; i++) {
		snprintf(
		    path, sizeof(path), "%s/%s", home, i == 0 ? "keys" : "dot");
		ck_assert_int_eq(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/dot/bashrc", home);
		if (i == 1)
			ck_assert_int_eq(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/%s", home, links[i]);
		snprintf(to, sizeof(to), "%s/%s", home, places[i]);
		ck_assert_int_eq(symlink(to, path), 0);
	}
	scene_make(&sc);
	set(&sc.caller.home, home);
	set(&sc.caller.home_real, home);
	add_profile(&sc, "@sys", "/sys.profile");
	snprintf(path, sizeof(path), "%s/dot", home);
	add_grant(&sc, GRANT_BIND, GRANT_WRITE, "/d", path, VERB_WRITE);
	snprintf(path, sizeof(path), "%s/keys", home);
	add_grant(&sc, GRANT_BIND, 0, "/k", path, VERB_READ);
	survey_make(&sc);
	ck_assert_int_eq(host_init(&h, &sc.caller, &sc.policy), 0);
	host_look(&h, &sc.policy, &sc.survey);
	host_judge(&h, &sc.caller, &sc.policy, &sc.survey);
	ck_assert_int_eq(h.marks[0], HOST_STARTUP);
	ck_assert_int_eq(h.marks[1], HOST_CREDENTIALS);
	for (i = 0; i < h.ncredentials; i++)
		if (h.credentials[i].exists &&
		    strstr(h.credentials[i].path, "/.ssh") != NULL)
			break;
	ck_assert_uint_lt(i, h.ncredentials);
	ck_assert_int_eq(h.credentials[i].inside, 1); /* and not "outside" */
	host_free(&h);
	scene_free(&sc);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", home, links[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", home, places[i]);
		rmdir(path);
	}
	snprintf(path, sizeof(path), "%s/dot", home);
	rmdir(path);
	ck_assert_int_eq(rmdir(home), 0);
}
END_TEST

START_TEST(test_wire)
{
	uint8_t data[RECORD_MAX];
	struct screen_request q = {0}, got;
	struct wbuf w;
	struct rcur c;
	char *words[SCREEN_WORDS + 1], word[SCREEN_WORD_LEN + 2];
	char name[PATH_MAX_LEN + 2];
	size_t i;

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	for (i = 0; i <= SCREEN_WORDS; i++)
		words[i] = word;
	q.flags = SCREEN_COLOUR | SCREEN_ALLOW_PTRACE;
	q.width = 99;
	q.mode = SCREEN_USER;
	q.landlock = 7;
	q.events = (char[]){"../ev"};
	q.words = words;
	q.nwords = SCREEN_WORDS + 1;
	wbuf_init(&w, data, sizeof(data));
	screen_put(&w, &q);
	ck_assert_int_eq(w.bad, 0);
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), 0);
	ck_assert_uint_eq(got.flags, q.flags | SCREEN_CUT);
	ck_assert_uint_eq(got.width, 99);
	ck_assert_uint_eq(got.landlock, 7);
	ck_assert_str_eq(got.events, "../ev");
	ck_assert_uint_eq(got.nwords, SCREEN_WORDS);
	ck_assert_uint_eq(strlen(got.words[0]), SCREEN_WORD_LEN);
	screen_request_free(&got);
	for (i = 0; i < w.len; i++) { /* every shorter record */
		rcur_init(&c, data, i);
		ck_assert_int_eq(screen_get(&c, &got), -1);
	}
	rcur_init(&c, data, w.len + 1); /* and a longer one */
	ck_assert_int_eq(screen_get(&c, &got), -1);
	data[5] = 0x80; /* a flag outside the mask */
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), -1);
	data[5] = 0;
	data[8] = SCREEN_MODE_LAST + 1;
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), -1);
	data[8] = SCREEN_USER;
	data[0] = SCREEN_VERSION + 1;
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), -1);
	data[0] = SCREEN_VERSION;
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), 0);
	screen_request_free(&got);
	/* as long as somebody likes, and cut */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	q.events = name;
	wbuf_init(&w, data, sizeof(data));
	screen_put(&w, &q);
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(screen_get(&c, &got), 0);
	ck_assert_uint_eq(strlen(got.events), PATH_MAX_LEN);
	screen_request_free(&got);
}
END_TEST

/* A survey that does not belong to the policy is no scene. */
START_TEST(test_stream)
{
	struct scene sc, got;

	ordinary(&sc);
	ck_assert_int_eq(pass(&sc, &got), 0);
	ck_assert_uint_eq(got.policy.ngrants, sc.policy.ngrants);
	ck_assert_str_eq(got.survey.rows[0].real, "/mnt/disk");
	scene_free(&got);

	sc.survey.n = 0; /* none at all: only for a refused policy */
	ck_assert_int_eq(pass(&sc, &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(
	    policy_refuse(&sc.policy, "", "", 0, "", "%s", "no"), 0);
	ck_assert_int_eq(pass(&sc, &got), 0);
	ck_assert_uint_eq(got.survey.n, sc.policy.ngrants);
	free(draw(&got, 80, 0)); /* rows without a path can be drawn */
	scene_free(&got);
	sc.survey.n = sc.policy.ngrants;
	scene_free(&sc);
}
END_TEST

/* Bytes that are no stream, and a stream that stops early. */
START_TEST(test_garbage)
{
	struct scene sc, got;
	struct sender s;
	int fd[2];

	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert_int_eq(send(fd[0], "garbage", 7, 0), 7);
	ck_assert_int_eq(receive_scene(fd[1], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	close(fd[0]);
	close(fd[1]);

	ordinary(&sc);
	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert_int_eq(sender_init(&s, fd[0], -1), 0);
	screen_put(sender_begin(&s, RECORD_SCREEN), &sc.request);
	ck_assert_int_eq(sender_end(&s), 0);
	caller_put(sender_begin(&s, RECORD_CALLER), &sc.caller);
	ck_assert_int_eq(sender_end(&s), 0);
	ck_assert_int_eq(policy_send(&s, &sc.policy), 0);
	sender_free(&s);
	close(fd[0]);
	ck_assert_int_eq(receive_scene(fd[1], &got), -1);
	ck_assert_int_eq(errno, EPIPE);
	close(fd[1]);
	scene_free(&sc);
}
END_TEST

START_TEST(test_quote)
{
	static const struct {
		const char *raw, *shown;
	} rows[] = {{"/usr", "/usr"}, {"", "\"\""}, {"a b", "\"a b\""},
	    {"a\"b", "\"a\\x22b\""}, {"a\\b", "a\\\\b"},
	    {"a\xc2\xa0z", "\"a\xc2\xa0z\""}, {"\xc3\xa9", "\xc3\xa9"}};
	struct cell c = {0};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cell_quote(&c, rows[i].raw);
		ck_assert_str_eq(c.s, rows[i].shown);
		cell_free(&c);
	}
	cell_size(&c, 64 << 20);
	cell_add(&c, ", ");
	cell_size(&c, 1025);
	ck_assert_str_eq(c.s, "64 MiB, 1025 bytes");
	cell_free(&c);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("screen");
	TCase *t = tcase_create("screen");
	SRunner *r;
	int failed;

	tcase_add_test(t, test_columns);
	tcase_add_test(t, test_credentials);
	tcase_add_test(t, test_protected);
	tcase_add_test(t, test_credentials_inside);
	tcase_add_test(t, test_startup);
	tcase_add_test(t, test_real_places);
	tcase_add_test(t, test_wire);
	tcase_add_test(t, test_stream);
	tcase_add_test(t, test_garbage);
	tcase_add_test(t, test_quote);
	tcase_add_test(t, test_addresses);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
