#include <stdint.h>
#include <sys/socket.h>

#include "child/monitor/login.h"
#include "child/monitor/options.h"
#include "child/parser/login.h"
#include "child/shared/login.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "parse_help.h"

/* Command lines of a login shell (S103, B034, B036). */

static struct options
reads(int argc, const char **argv, int want)
{
	char why[TEXT_MAX_LEN] = "";
	const char *say = NULL;
	struct options o;
	int n;

	n = options_read(
	    argc, (char **)(uintptr_t)argv, &o, &say, why, sizeof(why));
	ck_assert_msg(n == want, "%s: %d, %s", argv[0], n, why);
	ck_assert((n == -1) == (why[0] != '\0'));
	return o;
}

#define READS(want, ...)                                                       \
	reads(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),          \
	    (const char *[]){__VA_ARGS__, NULL}, want)

/* What runs, as "word|word|", where the shell is S. */
static void
runs(struct options o, const char *want)
{
	static char shell[] = "S";
	char **v = options_words(&o, shell), got[256] = "";
	size_t i;

	ck_assert(v != NULL);
	for (i = 0; v[i] != NULL; i++) {
		strcat(got, v[i]);
		strcat(got, "|");
	}
	ck_assert_str_eq(got, want);
	free(v);
	options_free(&o);
}

START_TEST(test_named)
{
	ck_assert(login_named("carrel-sh"));
	ck_assert(login_named("-carrel-sh"));
	ck_assert(login_named("/usr/bin/carrel-sh"));
	ck_assert(login_named("-carrel"));
	ck_assert(login_named("-"));
	ck_assert(!login_named("carrel"));
	ck_assert(!login_named("/usr/bin/carrel"));
	ck_assert(!login_named("/opt/carrel-sh/bin/carrel"));
	ck_assert(!login_named("carrel-shell"));
}
END_TEST

START_TEST(test_words)
{
	struct options o;

	runs(READS(0, "-carrel-sh"), "S|-l|");
	runs(READS(0, "-carrel"), "S|-l|");
	runs(READS(0, "carrel-sh"), "S|");
	runs(READS(0, "carrel-sh", "-l"), "S|-l|");
	runs(READS(0, "carrel-sh", "--login"), "S|-l|");
	runs(READS(0, "/usr/bin/carrel-sh", "-i"), "S|");
	runs(READS(0, "carrel-sh", "-c", "date && date"), "S|-c|date && date|");
	runs(READS(0, "-carrel-sh", "-c", "x"), "S|-l|-c|x|");
	runs(READS(0, "carrel-sh", "-lc", "x"), "S|-l|-c|x|");
	runs(READS(0, "carrel-sh", "-cil", "x"), "S|-l|-c|x|");
	runs(READS(0, "carrel-sh", "-c", ""), "S|-c||");
	/* what is behind it is the command's, whatever it looks like */
	runs(READS(0, "carrel-sh", "-c", "x", "-l", "--", "a b"),
	    "S|-c|x|-l|--|a b|");
	runs(READS(0, "carrel-sh", "-c", "--help"), "S|-c|--help|");
	o = READS(0, "carrel-sh", "-c", "x");
	ck_assert(o.no_defaults && o.nselect == 0 && o.login != 0 &&
		  o.command == COMMAND_RUN && o.status_fd == -1 &&
		  !o.user_mode);
	options_free(&o);
	/* control: under its own name it is no login shell */
	o = READS(0, "carrel", "run", "--", "x");
	ck_assert(o.login == 0);
	runs(o, "x|");
	runs(READS(0, "carrel", "shell"), "S|");
}
END_TEST

START_TEST(test_usage)
{
	const char *wrong[][3] = {{"-p", "@net"}, {"--user-mode"},
	    {"--without-landlock"}, {"-c"}, {"-x"}, {"-"}, {"--"}, {"run"},
	    {"-l", "file"}, {"-lp", "x"}, {""}, {"--log"}, {"-n"}, {"-s"}};
	struct options o;
	size_t i;

	for (i = 0; i < NITEMS(wrong); i++) {
		o = wrong[i][1] == NULL
			? READS(-1, "carrel-sh", wrong[i][0])
			: READS(-1, "carrel-sh", wrong[i][0], wrong[i][1]);
		options_free(&o);
	}
	o = READS(1, "carrel-sh", "--version");
	options_free(&o);
	o = READS(1, "-carrel-sh", "--help");
	options_free(&o);
}
END_TEST

/* login.conf */

static struct caller_group groups[3];
static struct caller ann;

static void
setup(void)
{
	static char user[] = "ann", own[] = "ann", dev[] = "dev", ops[] = "ops";

	memset(&ann, 0, sizeof(ann));
	ann.user = user;
	groups[0].name = own;
	groups[1].name = dev;
	groups[2].name = ops;
	ann.groups = groups;
	ann.ngroups = 3;
}

/* "SHELL name name @LINE", or "LINE: what" of a refusal. */
static void
says_bytes(const char *text, size_t len, const char *want)
{
	char got[TEXT_MAX_LEN + 64], *data = malloc(len + 1);
	struct policy po;
	struct place at = {&po, "", ""};
	struct login l;
	size_t i;
	int n;

	memset(&po, 0, sizeof(po));
	ck_assert(data != NULL);
	memcpy(data, text, len);
	n = login_parse(&at, data, len, &ann, &l);
	if (n == 0) {
		snprintf(got, sizeof(got), "%s", l.shell);
		for (i = 0; i < l.nprofiles; i++) {
			strcat(got, " ");
			strcat(got, l.profiles[i]);
		}
		snprintf(got + strlen(got), sizeof(got) - strlen(got), " @%u",
		    l.line);
		ck_assert(po.nrefusals == 0 && l.what[0] == '\0');
		login_free(&l);
		ck_assert_str_eq(got, want);
	} else {
		ck_assert_uint_eq(po.nrefusals, 1);
		snprintf(got, sizeof(got), "%u: %s", po.refusals[0].line,
		    po.refusals[0].what);
		ck_assert_msg(strstr(got, want) == got,
		    "got \"%s\", want \"%s\"", got, want);
	}
	policy_free(&po);
	free(data);
}

static void
says(const char *text, const char *want)
{
	says_bytes(text, strlen(text), want);
}

START_TEST(test_who)
{
	says("[default]\nprofile = @sys\n", "/bin/sh @sys @1");
	says("[default]\nprofile = @sys\nshell = /bin/bash\nprofile = dev\n",
	    "/bin/bash @sys dev @1");
	/* the user's own alone, wherever it stands */
	says("[user ann]\nprofile = a\n[group dev]\nprofile = d\n[default]\n"
	     "profile = z\nshell = /bin/zsh\n",
	    "/bin/sh a @1");
	says("[default]\nprofile = z\n[group dev]\nprofile = d\n[user ann]\n"
	     "profile = a\n",
	    "/bin/sh a @5");
	/* all of the groups, each profile once */
	says("[group ops]\nprofile = o\nprofile = @sys\n[group dev]\n"
	     "profile = @sys\nprofile = d\nshell = /bin/bash\n[default]\n"
	     "profile = z\n",
	    "/bin/bash o @sys d @1");
	says("[group ops]\nprofile = o\nshell = /bin/bash\n[group dev]\n"
	     "profile = d\nshell = /bin/bash\n",
	    "/bin/bash o d @1");
	/* and nobody else's */
	says("[group wheel]\nprofile = w\n[user bob]\nprofile = b\n[default]\n"
	     "profile = z\n",
	    "/bin/sh z @5");
	says("[user an]\nprofile = x\n[user annn]\nprofile = y\n[default]\n"
	     "profile = z\n",
	    "/bin/sh z @5");
	/* a group of that name is no user, and a user no group */
	says("[group an]\nprofile = x\n[user dev]\nprofile = y\n[default]\n"
	     "profile = z\n",
	    "/bin/sh z @5");
	says("; nothing\n\n# at all\n", "0: it has no section for ann");
	says("", "0: it has no section for ann");
	says("[user bob]\nprofile = b\n", "0: it has no section for ann");
}
END_TEST

START_TEST(test_two_shells)
{
	says("[group ops]\nprofile = o\nshell = /bin/sh\n[group dev]\n"
	     "profile = d\nshell = /bin/bash\n",
	    "6: ann is of two groups with two shells: /bin/sh in [group ops], "
	    "line 3, and /bin/bash in [group dev]");
	ann.ngroups = GROUPS_MAX_LEN; /* never looked at: a user's section */
	says("[user ann]\nprofile = a\n", "/bin/sh a @1");
}
END_TEST

START_TEST(test_groups_many)
{
	static struct caller_group many[GROUPS_MAX_LEN];
	static char none[] = "";
	size_t i;

	for (i = 0; i < GROUPS_MAX_LEN; i++)
		many[i].name = none;
	ann.groups = many;
	ann.ngroups = GROUPS_MAX_LEN;
	says("[default]\nprofile = z\n", "0: ann is of too many groups");
	ann.ngroups--;
	says("[default]\nprofile = z\n", "/bin/sh z @1");
}
END_TEST

/* Whatever is wrong is wrong for everybody: the guards of S14 to S17. */
START_TEST(test_broken)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {"[users]\nprofile = a\n", "1: unknown section [users]"},
	    {"[user ]\nprofile = a\n", "1: \"[user ]\" is not a section"},
	    {"[user  ann]\nprofile = a\n", "1: unknown section"},
	    {"[user]\nprofile = a\n", "1: unknown section [user]"},
	    {"[default x]\nprofile = a\n", "1: unknown section"},
	    {"profile = a\n", "1: \"profile\" stands outside a section"},
	    {"[default]\n", "1: [default] names no profile"},
	    {"[default]\n[user bob]\nprofile = b\n", "1: [default] names no"},
	    {"[user bob]\nshell = /bin/sh\n[default]\nprofile = a\n",
		"1: [user bob] names no profile"},
	    {"[default]\nprofile = a\n[default]\nprofile = b\n",
		"3: [default] stands a second time"},
	    {"[default]\nprofile =\n", "2: profile = \"\" is not the name"},
	    {"[default]\nprofile = a b\n", "2: profile = \"a b\" is not"},
	    {"[default]\nprofile = ../x\n", "2: profile = \"../x\" is not"},
	    {"[default]\nprofile = +pack\n", "2: profile = \"+pack\" is not"},
	    {"[default]\nprofile = a ; b\n", "2: profile = \"a ; b\" is not"},
	    {"[default]\nprofile = a\nshell = sh\n", "3: shell = \"sh\" is no"},
	    {"[default]\nprofile = a\nshell =\n", "3: shell = \"\" is no"},
	    {"[default]\nprofile = a\nshell = /\n", "3: shell = \"/\" is no"},
	    {"[default]\nprofile = a\nshell = /a/../b\n", "3: shell = "},
	    {"[default]\nprofile = a\nshell = /usr/bin/carrel-sh\n",
		"3: shell = \"/usr/bin/carrel-sh\" would be carrel"},
	    {"[default]\nprofile = a\nshell = /bin/sh\nshell = /bin/sh\n",
		"4: \"shell\" in [default] stands a second time"},
	    {"[default]\nprofiles = a\n", "2: unknown key \"profiles\""},
	    {"[default]\ndeny = a\n", "2: unknown key \"deny\""},
	    {"[user bob]\nprofile = b\nbad = x\n[default]\nprofile = a\n",
		"3: unknown key \"bad\" in [user bob]"},
	    {"[default]\n profile = a\n", "2: the line is indented"},
	    {"[default]\nprofile: a\n", "2: \"profile: a\" has no \"=\""},
	    {"[default]\nprofile = a\r\n", "2: the line holds a carriage"},
	    {"\xef\xbb\xbf[default]\nprofile = a\n", "1: the file begins with"},
	    {"[default]\nprofile = a\xff\n", "2: the line is not valid UTF-8"},
	    {"[default]\n# \xe2\x80\xae\nprofile = a\n",
		"2: there is a control"},
	};
	char *big;
	size_t i;

	for (i = 0; i < NITEMS(bad); i++)
		says(bad[i].text, bad[i].want);
	says_bytes(
	    "[default]\nprofile = a\0b\n", 24, "2: the line holds a NUL");
	big = malloc(FILE_MAX_LEN + 2);
	ck_assert(big != NULL);
	memset(big, '#', FILE_MAX_LEN + 1);
	big[FILE_MAX_LEN + 1] = '\0';
	says(big, "0: the file has more than 256 KiB");
	free(big);
}
END_TEST

/* What crosses. */

static int
cross(const struct login *in, struct login *out)
{
	struct receiver r;
	struct sender s;
	int fd[2], n;

	ck_assert(channel_pair(fd) == 0);
	ck_assert(sender_init(&s, fd[0], channel_deadline(5)) == 0);
	ck_assert(login_send(&s, in) == 0);
	sender_free(&s);
	close(fd[0]);
	ck_assert(
	    receiver_init(&r, fd[1], channel_deadline(5), record_login) == 0);
	n = login_receive(&r, out);
	receiver_free(&r);
	close(fd[1]);
	return n;
}

START_TEST(test_wire)
{
	static char sh[] = "/bin/sh", none[] = "", a[] = "a", sys[] = "@sys",
		    bad[] = "../x", rel[] = "sh", why[] = "it \x1b[2J is bad";
	char *names[] = {a, sys};
	struct login in = {3, sh, none, none, names, 2}, out;

	ck_assert(cross(&in, &out) == 0);
	ck_assert(out.line == 3 && out.nprofiles == 2 &&
		  strcmp(out.profiles[1], "@sys") == 0 &&
		  strcmp(out.shell, "/bin/sh") == 0);
	login_free(&out);
	/* neither an answer nor a reason, and both */
	in.nprofiles = 0;
	ck_assert(cross(&in, &out) == -1);
	in.nprofiles = 2;
	in.what = why;
	ck_assert(cross(&in, &out) == -1);
	in.nprofiles = 0;
	ck_assert(cross(&in, &out) == -1);
	in.shell = none;
	ck_assert(cross(&in, &out) == 0);
	ck_assert_str_eq(out.what, why);
	login_free(&out);
	in.what = none;
	in.nprofiles = 2;
	ck_assert(cross(&in, &out) == -1);
	in.shell = rel;
	ck_assert(cross(&in, &out) == -1);
	in.shell = sh;
	names[1] = bad;
	ck_assert(cross(&in, &out) == -1);
}
END_TEST

/* The file itself, by descriptor. */
START_TEST(test_file)
{
	char path[] = "/tmp/carrel-login-XXXXXX";
	struct policy po;
	struct login l;
	int fd = mkstemp(path), pipefd[2];

	memset(&po, 0, sizeof(po));
	ck_assert(fd != -1);
	ck_assert(write(fd, "[default]\nprofile = a\n", 22) == 22);
	ck_assert(fchmod(fd, 0644) == 0);
	ck_assert(login_read(&po, fd, &ann, &l) == 0);
	if (geteuid() == 0)
		ck_assert_str_eq(l.profiles[0], "a");
	else
		ck_assert(strstr(l.what, "must belong to root") != NULL);
	login_free(&l);
	policy_free(&po);
	if (geteuid() == 0) {
		ck_assert(fchmod(fd, 0664) == 0);
		ck_assert(login_read(&po, fd, &ann, &l) == 0);
		ck_assert(strstr(l.what, "writable by nobody else") != NULL);
		login_free(&l);
		policy_free(&po);
		ck_assert(fchmod(fd, 0644) == 0 && fchown(fd, 1, 0) == 0);
		ck_assert(login_read(&po, fd, &ann, &l) == 0);
		ck_assert(strstr(l.what, "must belong to root") != NULL);
		login_free(&l);
		policy_free(&po);
	}
	ck_assert(pipe(pipefd) == 0);
	ck_assert(login_read(&po, pipefd[0], &ann, &l) == 0);
	ck_assert(strstr(l.what, "no regular file") != NULL);
	login_free(&l);
	policy_free(&po);
	close(fd);
	unlink(path);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("login");
	TCase *t = tcase_create("login");
	SRunner *r;
	int n;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, test_named);
	tcase_add_test(t, test_words);
	tcase_add_test(t, test_usage);
	tcase_add_test(t, test_who);
	tcase_add_test(t, test_two_shells);
	tcase_add_test(t, test_groups_many);
	tcase_add_test(t, test_broken);
	tcase_add_test(t, test_wire);
	tcase_add_test(t, test_file);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? 0 : 1;
}
