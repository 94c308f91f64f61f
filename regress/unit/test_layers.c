#include <sys/socket.h>
#include <sys/un.h>

#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "ipc/limits.h"
#include "parse_help.h"

/* The result for a name; what was refused is in *po, to be freed. */
static int
find(struct layout *l, const char *name, struct text_file *f, struct policy *po)
{
	struct place at = {po, name, ""};
	struct layers ls;
	int n;

	memset(po, 0, sizeof(*po));
	layers_open(&ls, &l->q);
	n = layers_find(&ls, &at, name, f);
	ck_assert_int_eq(n == -1, po->nrefusals == 1);
	layers_close(&ls);
	return n;
}

static void
found(struct layout *l, const char *name, enum layer layer, const char *text)
{
	struct text_file f;
	struct policy po;

	ck_assert_msg(find(l, name, &f, &po) == 1, "%s: %s", name,
	    po.nrefusals > 0 ? po.refusals[0].what : "absent");
	ck_assert_int_eq(f.layer, layer);
	ck_assert_uint_eq(f.len, strlen(text));
	ck_assert_str_eq(f.data, text);
	ck_assert(strncmp(f.path, l->root, strlen(l->root)) == 0);
	text_file_free(&f);
}

static void
refused(struct layout *l, const char *name, const char *what)
{
	struct text_file f;
	struct policy po;

	ck_assert_msg(find(l, name, &f, &po) == -1, "%s: %s", name, what);
	expect_refusal(&po, 0, what, "");
	ck_assert_str_ne(po.refusals[0].file, "");
	policy_free(&po);
}

static void
absent(struct layout *l, const char *name)
{
	struct text_file f;
	struct policy po;

	ck_assert_int_eq(find(l, name, &f, &po), 0);
}

START_TEST(where)
{
	struct layout l;

	layout_init(&l);
	put_file(l.user, "mine", "user");
	put_file(l.user, "@mine", "claims an @");
	put_file(l.shipped, "ours", "shipped");
	found(&l, "mine", LAYER_USER, "user");
	found(&l, "@ours", LAYER_SHIPPED, "shipped");
	absent(&l, "@mine");
	absent(&l, "ours");
	absent(&l, "none");
	absent(&l, "@none");
	/* S12: a name of the user's may also be a shipped one */
	put_file(l.user, "ours", "user");
	found(&l, "ours", LAYER_USER, "user");
	found(&l, "@ours", LAYER_SHIPPED, "shipped");
	if (geteuid() == 0) {
		put_file(l.host, "theirs", "host");
		found(&l, "theirs", LAYER_HOST, "host");
		put_file(l.host, "mine", "host");
		refused(&l, "mine", "is defined twice");
		refused(&l, "mine", l.host);
		refused(&l, "mine", l.user);
	}
	layout_free(&l);
}
END_TEST

START_TEST(absent_layers)
{
	struct layout l;
	struct text_file f;
	struct policy po;
	char none[] = "", gone[] = "/nonexistent/x", file[] = "/etc/passwd";

	layout_init(&l);
	l.q.host = l.q.user = none;
	absent(&l, "x");
	l.q.host = l.q.user = gone;
	absent(&l, "x");
	l.q.user = file;
	ck_assert_int_eq(find(&l, "x", &f, &po), -1);
	expect_refusal(&po, 0, "cannot be opened", "");
	policy_free(&po);
	found(&l, "@home", LAYER_SHIPPED, "[fs]\ntmpfs = {home}\n");
	layout_free(&l);
}
END_TEST

/* None of them is waited for, none is followed. */
START_TEST(kinds)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct layout l;
	char path[256];
	int fd;

	layout_init(&l);
	put_file(l.user, "real", "x");
	snprintf(path, sizeof(path), "%s/link.profile", l.user);
	ck_assert(symlink("real.profile", path) == 0);
	refused(&l, "link", "is a symbolic link");
	snprintf(path, sizeof(path), "%s/dangling.profile", l.user);
	ck_assert(symlink("nothing", path) == 0);
	refused(&l, "dangling", "is a symbolic link");
	snprintf(path, sizeof(path), "%s/fifo.profile", l.user);
	ck_assert(mkfifo(path, 0644) == 0);
	refused(&l, "fifo", "is no regular file");
	snprintf(path, sizeof(path), "%s/dir.profile", l.user);
	ck_assert(mkdir(path, 0755) == 0);
	refused(&l, "dir", "is no regular file");
	snprintf(path, sizeof(path), "%s/sock.profile", l.user);
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert(bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0);
	close(fd);
	refused(&l, "sock", "is no regular file");
	snprintf(path, sizeof(path), "%s/sys.profile", l.shipped);
	ck_assert(unlink(path) == 0 && symlink("home.profile", path) == 0);
	refused(&l, "@sys", "is a symbolic link");
	found(&l, "real", LAYER_USER, "x");
	layout_free(&l);
}
END_TEST

START_TEST(sizes)
{
	struct layout l;
	struct text_file f;
	struct policy po;
	char path[256], *data = calloc(1, FILE_MAX_LEN + 10);

	layout_init(&l);
	snprintf(path, sizeof(path), "%s/big.profile", l.user);
	put_bytes(path, data, FILE_MAX_LEN + 10);
	/* one byte too many is enough for the reader to refuse it */
	ck_assert_int_eq(find(&l, "big", &f, &po), 1);
	ck_assert_uint_eq(f.len, FILE_MAX_LEN + 1);
	text_file_free(&f);
	put_file(l.user, "empty", "");
	found(&l, "empty", LAYER_USER, "");
	free(data);
	layout_free(&l);
}
END_TEST

static void
mode_of(struct layout *l, int file_mode, int dir_mode)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/x.profile", l->user);
	ck_assert(chmod(path, (mode_t)file_mode) == 0);
	ck_assert(chmod(l->user, (mode_t)dir_mode) == 0);
}

/* S11: others may not decide. */
START_TEST(modes)
{
	struct layout l;

	layout_init(&l);
	put_file(l.user, "x", "x");
	mode_of(&l, 0600, 0700);
	found(&l, "x", LAYER_USER, "x");
	mode_of(&l, 0646, 0755);
	refused(&l, "x", "can be written by others");
	mode_of(&l, 0644, 0757);
	refused(&l, "x", "can be written by others");
	mode_of(&l, 0664, 0755);
	refused(&l, "x", "can be written by a group");
	mode_of(&l, 0644, 0775);
	refused(&l, "x", "can be written by a group");
	l.q.caller.flags |= CALLER_PRIVATE_GROUP;
	mode_of(&l, 0664, 0775);
	found(&l, "x", LAYER_USER, "x");
	l.q.caller.gid++;
	refused(&l, "x", "can be written by a group");
	l.q.caller.gid--;
	mode_of(&l, 0644, 0755);
	if (geteuid() != 0) {
		l.q.caller.uid++;
		refused(&l, "x", "belongs to another user");
	} else {
		/* root's file in a user's layer is fine, a third one's not */
		l.q.caller.uid = 4711;
		found(&l, "x", LAYER_USER, "x");
		ck_assert(chown(l.user, 4712, 0) == 0);
		refused(&l, "x", "belongs to another user");
		ck_assert(chown(l.user, 4711, 0) == 0);
		found(&l, "x", LAYER_USER, "x");
	}
	layout_free(&l);
}
END_TEST

/* S7: whoever may write the other name writes the profile. */
START_TEST(second_name)
{
	struct layout l;
	char path[256], other[256];

	layout_init(&l);
	put_file(l.user, "x", "x");
	snprintf(path, sizeof(path), "%s/x.profile", l.user);
	snprintf(other, sizeof(other), "%s/other", l.user);
	ck_assert(link(path, other) == 0);
	refused(&l, "x", "has a second name");
	/* one that the caller cannot write is no matter */
	if (geteuid() == 0) {
		l.q.caller.uid = 4711;
		ck_assert(chown(l.user, 4711, 0) == 0);
		found(&l, "x", LAYER_USER, "x");
		ck_assert(chown(l.user, 0, 0) == 0);
		l.q.caller.uid = 0;
	}
	ck_assert(unlink(other) == 0);
	found(&l, "x", LAYER_USER, "x");
	layout_free(&l);
}
END_TEST

START_TEST(host_modes)
{
	struct layout l;
	char path[256];

	if (geteuid() != 0)
		return; /* the host's layer must belong to root */
	layout_init(&l);
	put_file(l.host, "h", "h");
	snprintf(path, sizeof(path), "%s/h.profile", l.host);
	found(&l, "h", LAYER_HOST, "h");
	l.q.caller.flags |= CALLER_PRIVATE_GROUP;
	ck_assert(chmod(path, 0664) == 0);
	refused(&l, "h", "must belong to root");
	ck_assert(chmod(path, 0644) == 0 && chown(path, 1, 0) == 0);
	refused(&l, "h", "must belong to root");
	ck_assert(chown(path, 0, 0) == 0 && chmod(l.host, 0775) == 0);
	refused(&l, "h", "must belong to root");
	ck_assert(chmod(l.host, 0755) == 0);
	found(&l, "h", LAYER_HOST, "h");
	layout_free(&l);
}
END_TEST

/* The configuration: 0 and a config, or -1 and what was refused. */
static int
configure(struct layout *l, struct config *c, struct policy *po)
{
	struct layers ls;
	int n;

	memset(po, 0, sizeof(*po));
	memset(c, 0, sizeof(*c));
	layers_open(&ls, &l->q);
	n = config_read(&ls, po, c);
	ck_assert_int_eq(n == -1, po->nrefusals > 0);
	layers_close(&ls);
	return n;
}

static void
config_refused(
    struct layout *l, const char *text, uint32_t line, const char *what)
{
	struct config c;
	struct policy po;

	put_bytes(l->uconf, text, strlen(text));
	ck_assert_int_eq(configure(l, &c, &po), -1);
	expect_refusal(&po, line, what, "");
	ck_assert_str_eq(po.refusals[0].file, l->uconf);
	policy_free(&po);
}

static void
config_is(
    struct layout *l, const char *text, int set, size_t n, const char *first)
{
	struct config c;
	struct policy po;

	if (text != NULL)
		put_bytes(l->uconf, text, strlen(text));
	ck_assert_msg(configure(l, &c, &po) == 0, "%s",
	    po.nrefusals > 0 ? po.refusals[0].what : "");
	ck_assert_int_eq(c.set, set);
	ck_assert_uint_eq(c.n, n);
	if (n > 0)
		ck_assert_str_eq(c.names[0].name, first);
	config_free(&c);
}

START_TEST(configuration)
{
	struct layout l;

	layout_init(&l);
	config_is(&l, NULL, 0, 0, NULL);
	config_is(&l, "[carrel]\n", 0, 0, NULL);
	config_is(
	    &l, "[carrel]\ndefaults = @sys\ndefaults = x\n", 1, 2, "@sys");
	config_is(&l, "[carrel]\ndefaults =\n", 1, 0, NULL);
	config_refused(
	    &l, "[carrel]\ndefaults =\ndefaults = x\n", 3, "an empty list");
	config_refused(
	    &l, "[carrel]\ndefaults = x\ndefaults =\n", 3, "an empty list");
	config_refused(
	    &l, "[carrel]\nprompt = {home}\n", 2, "belongs to no placeholder");
	config_refused(&l, "[carrel]\nread = /\n", 2, "unknown key");
	config_refused(&l, "[fs]\nread = /\n", 1, "unknown section [fs]");
	config_refused(
	    &l, "[carrel]\ndefaults = @sys @home\n", 2, "is not the name");
	config_refused(&l, "defaults = @sys\n", 1, "outside a section");
	put_bytes(l.uconf, "", 0);
	ck_assert(chmod(l.uconf, 0666) == 0);
	config_refused(&l, "[carrel]\n", 0, "can be written by others");
	ck_assert(unlink(l.uconf) == 0 && mkdir(l.uconf, 0755) == 0);
	{
		struct config c;
		struct policy po;

		ck_assert_int_eq(configure(&l, &c, &po), -1);
		expect_refusal(&po, 0, "is no regular file", "");
		policy_free(&po);
	}
	layout_free(&l);
}
END_TEST

START_TEST(whose_configuration)
{
	struct layout l;
	static const char host[] = "[carrel]\ndefaults = a\ndefaults = b\n";

	if (geteuid() != 0)
		return; /* the host's file must belong to root */
	layout_init(&l);
	put_bytes(l.hconf, host, strlen(host));
	config_is(&l, NULL, 1, 2, "a");
	config_is(&l, "[carrel]\n", 1, 2, "a");
	config_is(&l, "[carrel]\ndefaults = c\n", 1, 1, "c");
	config_is(&l, "[carrel]\ndefaults =\n", 1, 0, NULL);
	layout_free(&l);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {where, absent_layers, kinds, sizes, modes,
	    second_name, host_modes, configuration, whose_configuration};

	return run_suite("layers", tests, NITEMS(tests));
}
