/* The plan is pure: here the survey is made up. */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "child/setup/plan.h"
#include "child/shared/survey.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "world.h"

static struct policy po;
static struct survey sv;
static struct caller ca;
static struct plan pl;

static void
setup(void)
{
	world_policy(&po);
	world_caller(&ca);
	memset(&sv, 0, sizeof(sv));
	memset(&pl, 0, sizeof(pl));
}

static void
teardown(void)
{
	plan_free(&pl);
	survey_free(&sv);
	policy_free(&po);
	caller_free(&ca);
}

/* Sorted and judged; every source a directory that is what it is called. */
static void
survey(void)
{
	size_t i;

	world_check(&po);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++) {
		if (!grant_opens(&po.grants[i]))
			continue;
		sv.rows[i].type = SURVEY_DIR;
		sv.rows[i].real = strdup(po.grants[i].source);
	}
}

static size_t
grant_of(const char *guest)
{
	const struct grant *g = policy_find(&po, guest);

	ck_assert_ptr_nonnull(g);
	return (size_t)(g - po.grants);
}

/* The source leads to real by way of this link; NULL: none. */
static void
leads(const char *guest, const char *link, const char *real)
{
	struct survey_row *r = &sv.rows[grant_of(guest)];

	world_replace(&r->real, real);
	if (link == NULL)
		return;
	r->links = realloc(r->links, (r->nlinks + 1) * sizeof(*r->links));
	r->links[r->nlinks++] = strdup(link);
}

static void
gone(const char *guest, int err)
{
	struct survey_row *r = &sv.rows[grant_of(guest)];

	r->type = SURVEY_NONE;
	r->err = err;
	world_replace(&r->real, "");
}

static void
make(void)
{
	int r = plan_make(&po, &sv, &ca, NULL, &pl);

	if (r == -1 && po.nrefusals > 0)
		fprintf(stderr, "refused: %s\n", po.refusals[0].what);
	ck_assert_int_eq(r, 0);
}

/* Refused with one reason that holds these words; returns it. */
static const struct refusal *
refused(const char *words)
{
	ck_assert_int_eq(plan_make(&po, &sv, &ca, NULL, &pl), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_msg(strstr(po.refusals[0].what, words) != NULL, "%s",
	    po.refusals[0].what);
	/* what can be shown is there */
	ck_assert_uint_gt(pl.nsteps, 10);
	ck_assert_uint_gt(pl.nenv, 10);
	return &po.refusals[0];
}

static const struct step *
step(const char *guest)
{
	size_t i;

	for (i = 0; i < pl.nsteps; i++)
		if (strcmp(pl.steps[i].guest, guest) == 0)
			return &pl.steps[i];
	return NULL;
}

static int
kind(const char *guest)
{
	const struct step *s = step(guest);

	return s == NULL ? 0 : s->kind;
}

static const char *
text(const char *guest)
{
	const struct step *s = step(guest);

	return s == NULL ? "(no step)" : s->text;
}

static const struct env_row *
env(const char *name)
{
	size_t i;

	for (i = 0; i < pl.nenv; i++)
		if (strcmp(pl.env[i].name, name) == 0)
			return &pl.env[i];
	return NULL;
}

static const char *
value(const char *name)
{
	const struct env_row *r = env(name);

	return r == NULL || r->value == NULL ? "(unset)" : r->value;
}

/* An element of PATH and its mark. */
static const char *
element(size_t i)
{
	static char line[256];
	const struct env_row *r = env("PATH");

	ck_assert_uint_lt(i, r->nentries);
	snprintf(line, sizeof(line), "%s%s%s", r->entries[i].value,
	    r->entries[i].mark[0] != '\0' ? " " : "", r->entries[i].mark);
	return line;
}

/* In order, nothing twice, and every parent made or mounted before. */
static void
well_formed(void)
{
	char parent[PATH_MAX_LEN + 1], *slash;
	const struct step *s, *in;
	size_t i, k;

	ck_assert_str_eq(pl.steps[0].guest, "/");
	for (i = 1; i < pl.nsteps; i++) {
		s = &pl.steps[i];
		ck_assert_int_lt(path_cmp(pl.steps[i - 1].guest, s->guest), 0);
		ck_assert(path_clean(s->guest));
		for (k = i; k-- > 0;)
			if (path_covers(pl.steps[k].guest, s->guest))
				break;
		in = &pl.steps[k];
		if (in->kind == STEP_TMPFS || in->kind == STEP_DIR) {
			strcpy(parent, s->guest);
			slash = strrchr(parent, '/');
			slash[slash == parent] = '\0';
			ck_assert_str_eq(in->guest, parent);
		} else
			ck_assert(s->kind == STEP_PIN || s->kind == STEP_MASK ||
				  (s->kind == STEP_BIND &&
				      (in->kind == STEP_BIND ||
					  in->kind == STEP_PIN)));
	}
}

START_TEST(base)
{
	survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/"), STEP_TMPFS);
	ck_assert_int_eq(step("/")->flags & STEP_RDONLY, STEP_RDONLY);
	ck_assert_int_eq(step("/")->mode, 0755);
	ck_assert_int_eq(kind("/dev"), STEP_DIR);
	ck_assert_int_eq(kind("/dev/null"), STEP_DEVICE);
	ck_assert_int_eq(step("/dev/null")->flags, STEP_FIXED);
	ck_assert_str_eq(text("/dev/tty"), "/dev/tty");
	ck_assert_int_eq(kind("/dev/pts"), STEP_DEVPTS);
	ck_assert_str_eq(text("/dev/ptmx"), "pts/ptmx");
	ck_assert_int_eq(step("/dev/shm")->mode, 01777);
	ck_assert_int_eq(kind("/proc"), STEP_PROC);
	ck_assert_int_eq(kind("/proc/kcore"), STEP_MASK);
	ck_assert_int_eq(kind("/proc/sys"), STEP_PIN);
	ck_assert_int_eq(step("/proc/sys")->flags & STEP_RDONLY, STEP_RDONLY);
	ck_assert_int_eq(step("/tmp")->mode, 01777);
	ck_assert_int_eq(kind("/home"), 0);
	ck_assert_int_eq(kind("/run"), 0);
}
END_TEST

START_TEST(grants)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	world_add(&po, VERB_TMPFS, "/home/u", NULL);
	world_add(&po, VERB_TMPFS, "/var/tmp", NULL);
	world_add(&po, VERB_SYMLINK, "/a/b/c", "../x");
	world_add(&po, VERB_READ, "/deep/er/file", "/etc/motd");
	survey();
	sv.rows[grant_of("/deep/er/file")].type = SURVEY_FILE;
	make();
	well_formed();
	ck_assert_int_eq(
	    step("/usr")->flags, STEP_RDONLY | STEP_ISDIR | STEP_NODEV);
	ck_assert_int_eq(step("/home/u/proj")->flags, STEP_ISDIR | STEP_NODEV);
	ck_assert_int_eq(
	    step("/deep/er/file")->flags, STEP_RDONLY | STEP_NODEV);
	ck_assert_int_eq(step("/usr")->grant, (int)grant_of("/usr"));
	ck_assert_int_eq(kind("/home"), STEP_DIR);
	ck_assert_int_eq(kind("/home/u"), STEP_TMPFS);
	ck_assert_int_eq(step("/home/u")->mode, 0755);
	ck_assert_uint_eq(step("/home/u")->size, 1 << 20);
	ck_assert_int_eq(step("/var/tmp")->mode, 01777);
	ck_assert_str_eq(text("/a/b/c"), "../x");
	ck_assert_int_eq(step("/deep/er")->grant, -1);
}
END_TEST

/* Any order of the grants gives the same plan. */
START_TEST(order)
{
	static const char *const paths[] = {
	    "/usr", "/w", "/w/a/b", "/w/a/c", "/o", "/t", "/t/x/y"};
	struct plan first = {0};
	size_t i, n = sizeof(paths) / sizeof(paths[0]), turn;

	for (turn = 0; turn < n; turn++) {
		teardown();
		setup();
		for (i = 0; i < n; i++)
			world_add(&po,
			    strcmp(paths[(i + turn) % n], "/w") == 0
				? VERB_WRITE
				: VERB_READ,
			    paths[(i + turn) % n], NULL);
		survey();
		make();
		if (turn == 0) {
			first = pl;
			memset(&pl, 0, sizeof(pl));
			continue;
		}
		ck_assert_uint_eq(pl.nsteps, first.nsteps);
		for (i = 0; i < pl.nsteps; i++) {
			ck_assert_str_eq(
			    pl.steps[i].guest, first.steps[i].guest);
			ck_assert_int_eq(pl.steps[i].kind, first.steps[i].kind);
			ck_assert_int_eq(
			    pl.steps[i].flags, first.steps[i].flags);
		}
	}
	plan_free(&first);
}
END_TEST

START_TEST(many)
{
	char path[64];
	int i;

	for (i = 0; i < 20000; i++) {
		snprintf(
		    path, sizeof(path), "/d%d/e%d/f%d", i % 10, i % 100, i);
		world_add(&po, VERB_READ, path, NULL);
	}
	survey();
	make();
	ck_assert_uint_gt(pl.nsteps, 20000 + 100);
	ck_assert_int_eq(kind("/d9/e99/f19999"), STEP_BIND);
}
END_TEST

/* Merged /usr and its like. */

START_TEST(link_of_merged_usr)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_READ, "/bin", NULL);
	world_add(&po, VERB_TRY_READ, "/lib64", NULL);
	world_add(&po, VERB_READ, "/lib", NULL);
	survey();
	leads("/bin", "/bin", "/usr/bin");
	leads("/lib64", "/lib64", "/usr/lib64");
	make();
	ck_assert_int_eq(kind("/bin"), STEP_SYMLINK);
	ck_assert_str_eq(text("/bin"), "/usr/bin");
	ck_assert_int_eq(step("/bin")->grant, (int)grant_of("/bin"));
	ck_assert_int_eq(kind("/lib64"), STEP_SYMLINK);
	/* a directory stays one */
	ck_assert_int_eq(kind("/lib"), STEP_BIND);
}
END_TEST

START_TEST(link_that_must_be_a_bind)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_READ, "/opt", "/srv/opt");
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/to-write", NULL);
	world_add(&po, VERB_READ, "/to-moved", NULL);
	world_add(&po, VERB_READ, "/to-none", NULL);
	world_add(&po, VERB_READ, "/full", NULL);
	world_add(&po, VERB_READ, "/full/x", NULL);
	world_add(&po, VERB_WRITE, "/write", NULL);
	survey();
	leads("/to-write", "/to-write", "/w/x");
	leads("/to-moved", "/to-moved", "/opt/x");
	leads("/to-none", "/to-none", "/elsewhere");
	leads("/full", "/full", "/usr/full");
	leads("/full/x", "/full", "/usr/full/x");
	make();
	well_formed();
	/* it is read-only there, and here is no place where it is not */
	ck_assert_int_eq(kind("/to-write"), STEP_BIND);
	ck_assert_int_eq(step("/to-write")->flags & STEP_RDONLY, STEP_RDONLY);
	/* inside, /opt/x is not the host's */
	ck_assert_int_eq(kind("/to-moved"), STEP_BIND);
	ck_assert_int_eq(kind("/to-none"), STEP_BIND);
	ck_assert_int_eq(kind("/full"), STEP_BIND);
	ck_assert_int_eq(kind("/full/x"), STEP_BIND);
	ck_assert_int_eq(kind("/write"), STEP_BIND);
}
END_TEST

/* A write grant at a link is refused elsewhere; it never becomes a link. */
START_TEST(link_inside_a_bind)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_READ, "/usr/bin/python3", NULL);
	survey();
	leads("/usr/bin/python3", "/usr/bin/python3", "/usr/bin/python3.11");
	make();
	/* the link itself is in the bind, and works */
	ck_assert_int_eq(kind("/usr/bin/python3"), 0);
	ck_assert_int_eq(pl.absent[grant_of("/usr/bin/python3")], 0);
}
END_TEST

START_TEST(link_inside_a_bind_leads_out)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_READ, "/usr/local", NULL);
	survey();
	leads("/usr/local", "/usr/local", "/data/local");
	refused("nothing can be mounted there");
}
END_TEST

/* What is not there */

START_TEST(missing)
{
	const struct refusal *r;

	world_add(&po, VERB_READ, "/opt/x", NULL);
	survey();
	gone("/opt/x", ENOENT);
	r = refused("read = /opt/x: No such file or directory");
	ck_assert_str_eq(r->profile, "mine");
	ck_assert_str_eq(r->file, "/c/mine.profile");
	ck_assert_uint_eq(r->line, 1);
	ck_assert_ptr_nonnull(strstr(r->fix, "try-read"));
	ck_assert_int_eq(kind("/opt/x"), 0);
}
END_TEST

START_TEST(missing_names_all_claims)
{
	struct origin o = {0, VERB_TRY_READ, 7};
	const struct refusal *r;

	ck_assert_int_eq(
	    grant_add_origin(world_add(&po, VERB_READ, "/opt/x", NULL), &o), 0);
	survey();
	gone("/opt/x", ENOENT);
	r = refused("try-read of @sys, /p/sys.profile:7");
	/* the one that insists stands in front */
	ck_assert_str_eq(r->profile, "mine");
}
END_TEST

START_TEST(missing_by_link)
{
	world_add(&po, VERB_WRITE, "/opt/x", NULL);
	survey();
	leads("/opt/x", "/opt/x", "");
	gone("/opt/x", ENOENT);
	refused("by way of the symlink /opt/x");
}
END_TEST

START_TEST(unreachable)
{
	world_add(&po, VERB_READ, "/root/x", NULL);
	survey();
	gone("/root/x", EACCES);
	refused("Permission denied");
}
END_TEST

START_TEST(try_absent)
{
	static const int errs[] = {ENOENT, ENOTDIR, EACCES};
	char path[8];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/t%zu", i);
		world_add(
		    &po, i == 1 ? VERB_TRY_WRITE : VERB_TRY_READ, path, NULL);
	}
	world_add(&po, VERB_TRY_READ, "/there", NULL);
	survey();
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/t%zu", i);
		gone(path, errs[i]);
	}
	make();
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/t%zu", i);
		ck_assert_int_eq(kind(path), 0);
		ck_assert_int_eq(pl.absent[grant_of(path)], 1);
	}
	ck_assert_int_eq(kind("/there"), STEP_BIND);
	ck_assert_int_eq(pl.absent[grant_of("/there")], 0);
}
END_TEST

START_TEST(try_with_another_error)
{
	world_add(&po, VERB_TRY_READ, "/x", NULL);
	survey();
	gone("/x", EIO);
	refused("try-read = /x: ");
}
END_TEST

START_TEST(kinds_of_source)
{
	static const int types[] = {
	    SURVEY_SOCKET, SURVEY_FIFO, SURVEY_DEVICE, SURVEY_NONE};
	static const char *const words[] = {
	    "is a socket", "is a FIFO", "is a device", "of no known kind"};

	world_add(&po, VERB_TRY_READ, "/x", NULL);
	survey();
	sv.rows[0].type = (uint8_t)types[_i];
	refused(words[_i]);
}
END_TEST

START_TEST(leads_to_what_is_reserved)
{
	static const char *const real[] = {"/", "/proc/1", "/sys", "/dev/shm"};

	world_add(&po, VERB_READ, "/x", NULL);
	survey();
	leads("/x", "/x", real[_i]);
	refused("leads to ");
}
END_TEST

/* Diverting links (S36) */

START_TEST(link_below_a_write_grant)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/other", "/w/data");
	survey();
	leads("/other", "/w/data", "/home/u/.ssh");
	refused("the symlink /w/data leads it to /home/u/.ssh");
	ck_assert_ptr_nonnull(
	    strstr(po.refusals[0].what, "write of mine, /c/mine.profile:1"));
	ck_assert_uint_eq(po.refusals[0].line, 2);
}
END_TEST

START_TEST(link_below_a_write_grants_real_path)
{
	world_add(&po, VERB_WRITE, "/w", "/home/w");
	world_add(&po, VERB_READ, "/other", NULL);
	survey();
	leads("/w", "/home", "/var/home/w");
	leads("/other", "/var/home/w/l", "/x");
	refused("/var/home/w/l");
}
END_TEST

/* Nested, so that two rules are broken; one reason is enough. */
START_TEST(link_in_the_same_tree)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_WRITE, "/w/data", NULL);
	survey();
	leads("/w/data", "/w/data", "/home/u/.ssh");
	refused("an earlier run may have made it");
}
END_TEST

START_TEST(link_at_a_write_grant)
{
	world_add(&po, VERB_WRITE, "/w/data", NULL);
	survey();
	leads("/w/data", "/w/data", "/home/u/.ssh");
	refused("an earlier run may have made it");
}
END_TEST

START_TEST(links_elsewhere)
{
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	world_add(&po, VERB_READ, "/home/u/.cargo", NULL);
	world_add(&po, VERB_READ, "/w-evil", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	survey();
	leads("/home/u/proj", "/home", "/var/home/u/proj");
	leads("/home/u/.cargo", "/home", "/data/cargo");
	leads("/home/u/.cargo", "/var/home/u/.cargo", "/data/cargo");
	leads("/w-evil", "/w-evil", "/data/x");
	make();
	ck_assert_int_eq(kind("/home/u/.cargo"), STEP_BIND);
}
END_TEST

START_TEST(home_that_is_a_link)
{
	world_replace(&ca.home_real, "/data/u");
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	survey();
	leads("/home/u", "/home/u", "/data/u");
	make();
	ck_assert_int_eq(kind("/home/u"), STEP_BIND);
	/* the other spelling leads there */
	ck_assert_str_eq(text("/data/u"), "/home/u");
}
END_TEST

/* Pins (S33b) */

START_TEST(pins)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/w/a/b/c", NULL);
	world_add(&po, VERB_READ, "/w/a/d", NULL);
	world_add(&po, VERB_READ, "/w/top", NULL);
	world_add(&po, VERB_WRITE, "/w/a/b/w2", NULL);
	world_add(&po, VERB_READ, "/w/a/b/w2/x/y", NULL);
	world_add(&po, VERB_READ, "/w/a/d/in/read", NULL);
	world_add(&po, VERB_WRITE, "/w/free/dir/w3", NULL);
	survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/w/a"), STEP_PIN);
	ck_assert_int_eq(step("/w/a")->flags, STEP_ISDIR | STEP_NODEV);
	ck_assert_int_eq(kind("/w/a/b"), STEP_PIN);
	ck_assert_int_eq(kind("/w/a/b/w2/x"), STEP_PIN);
	/* a read mount's own tree cannot be renamed */
	ck_assert_int_eq(kind("/w/a/d/in"), 0);
	/* what may be written need not stay */
	ck_assert_int_eq(kind("/w/free"), 0);
}
END_TEST

START_TEST(pins_only_in_write_binds)
{
	world_add(&po, VERB_TMPFS, "/t", NULL);
	world_add(&po, VERB_READ, "/t/a/b", NULL);
	world_add(&po, VERB_READ, "/r", NULL);
	world_add(&po, VERB_READ, "/r/a/b", NULL);
	survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/t/a"), STEP_DIR);
	ck_assert_int_eq(kind("/r/a"), 0);
}
END_TEST

START_TEST(try_read_in_write)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_TRY_READ, "/w/x", NULL);
	survey();
	gone("/w/x", ENOENT);
	refused("try-read = /w/x: is absent, and the sandbox could create it");
}
END_TEST

START_TEST(try_elsewhere)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_TRY_WRITE, "/w/x", NULL);
	world_add(&po, VERB_READ, "/w/r", NULL);
	world_add(&po, VERB_TRY_READ, "/w/r/x", NULL);
	survey();
	gone("/w/x", ENOENT);
	gone("/w/r/x", ENOENT);
	make();
	ck_assert_int_eq(kind("/w/x"), 0);
}
END_TEST

/* carrel's own */

START_TEST(tmpfs_sum)
{
	world_add(&po, VERB_TMPFS, "/t1", NULL)->size = 512ULL << 20;
	world_add(&po, VERB_TMPFS, "/t2", NULL)->size =
	    (1024ULL - 512 - 256 - 64 - 16) << 20;
	survey();
	make();
	plan_free(&pl);
	po.grants[grant_of("/t2")].size += 4096;
	refused("/t1 512 MiB (tmpfs of mine, /c/mine.profile:1)");
	ck_assert_ptr_nonnull(
	    strstr(po.refusals[0].what, "(tmpfs of mine, /c/mine.profile:2)"));
	ck_assert_str_eq(po.refusals[0].profile, "mine");
	ck_assert_ptr_nonnull(strstr(po.refusals[0].what, "/dev/shm 64 MiB"));
}
END_TEST

START_TEST(own_tmp_gives_way)
{
	world_add(&po, VERB_WRITE, "/tmp", "/home/u/tmp");
	survey();
	make();
	ck_assert_int_eq(kind("/tmp"), STEP_BIND);
	well_formed();
}
END_TEST

START_TEST(granted_tmpfs_at_tmp)
{
	world_add(&po, VERB_TMPFS, "/tmp", NULL);
	world_add(&po, VERB_READ, "/tmp/x/y", NULL);
	survey();
	make();
	ck_assert_int_eq(step("/tmp")->mode, 01777);
	ck_assert_uint_eq(step("/tmp")->size, 1 << 20);
	well_formed();
}
END_TEST

START_TEST(etc_generated)
{
	world_replace(&ca.shell, "/bin/bash");
	ca.groups = realloc(ca.groups, 4 * sizeof(*ca.groups));
	ca.groups[1] = (struct caller_group){27, strdup("sudo")};
	ca.groups[2] = (struct caller_group){28, strdup("bad:name")};
	ca.groups[3] = (struct caller_group){29, strdup("bad\nroot2:x:0:")};
	ca.ngroups = 4;
	world_add(&po, VERB_READ, "/etc/ssl/certs", NULL);
	world_add(&po, VERB_TRY_READ, "/etc/hosts", NULL);
	survey();
	gone("/etc/hosts", ENOENT);
	make();
	well_formed();
	ck_assert_int_eq(kind("/etc"), STEP_DIR);
	ck_assert_str_eq(text("/etc/passwd"),
	    "u:x:1000:1000::/home/u:/bin/bash\n"
	    "root:x:0:0:root:/root:/bin/sh\n"
	    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
	ck_assert_str_eq(text("/etc/group"),
	    "root:x:0:\nu:x:1000:\nsudo:x:27:u\nnogroup:x:65534:\n");
	ck_assert_str_eq(text("/etc/hostname"), "carrel\n");
	ck_assert_int_eq(text("/etc/resolv.conf")[0], '#');
	ck_assert_int_eq(kind("/etc/hosts"), STEP_FILE);
	ck_assert_int_eq(step("/etc/passwd")->mode, 0444);
}
END_TEST

START_TEST(etc_bad_user)
{
	world_replace(&ca.user, "u:x:0:0::/:/bin/sh\nu");
	survey();
	make();
	ck_assert_ptr_null(strstr(text("/etc/passwd"), "u:x"));
	ck_assert_ptr_nonnull(strstr(text("/etc/passwd"), "root:x:0:0:"));
}
END_TEST

START_TEST(etc_of_the_host)
{
	world_add(&po, VERB_READ, "/etc/hosts", NULL);
	world_add(&po, VERB_SYMLINK, "/etc/hostname", "/x");
	world_add(&po, VERB_TMPFS, "/etc/group", NULL);
	world_add(&po, VERB_READ, "/etc/resolv.conf/odd", "/x");
	survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/etc/hosts"), STEP_BIND);
	ck_assert_int_eq(kind("/etc/hostname"), STEP_SYMLINK);
	ck_assert_int_eq(kind("/etc/group"), STEP_TMPFS);
	ck_assert_int_eq(kind("/etc/resolv.conf"), STEP_DIR);
	ck_assert_int_eq(kind("/etc/passwd"), STEP_FILE);
}
END_TEST

START_TEST(etc_as_a_whole)
{
	world_add(&po, VERB_READ, "/etc", NULL);
	survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/etc"), STEP_BIND);
	ck_assert_int_eq(kind("/etc/passwd"), 0);
}
END_TEST

START_TEST(two_spellings_of_home)
{
	world_replace(&ca.home_real, "/data/u");
	world_replace(&ca.target, "/data/u/proj");
	world_add(&po, VERB_TMPFS, "/home/u", NULL);
	world_add(&po, VERB_WRITE, "/data/u/proj", NULL);
	world_add(&po, VERB_READ, "/data/u/proj/x", NULL);
	world_add(&po, VERB_READ, "/home/u/.cargo", NULL);
	world_add(&po, VERB_READ, "/home/u/both", "/data/both");
	world_add(&po, VERB_READ, "/data/u/both", "/data/both");
	survey();
	make();
	well_formed();
	ck_assert_str_eq(text("/home/u/proj"), "/data/u/proj");
	ck_assert_str_eq(text("/data/u/.cargo"), "/home/u/.cargo");
	ck_assert_int_eq(kind("/home/u/both"), STEP_BIND);
	ck_assert_int_eq(kind("/data/u/both"), STEP_BIND);
	ck_assert_int_eq(kind("/data/u"), STEP_DIR);
	ck_assert_int_eq(step("/home/u/proj")->grant, -1);
}
END_TEST

/* The environment */

/* Exactly the names that the table calls written (S47). */
START_TEST(env_names)
{
	const struct owned *o;
	size_t i, n = 0;

	world_replace(&ca.tz, "Europe/Berlin");
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	survey();
	make();
	for (i = 0; i < pl.nenv; i++) {
		o = owned_find(pl.env[i].name);
		ck_assert_ptr_nonnull(o);
		ck_assert_int_eq(o->written, 1);
		ck_assert_str_eq(pl.env[i].who, "(carrel)");
		if (i > 0)
			ck_assert_int_lt(
			    strcmp(pl.env[i - 1].name, pl.env[i].name), 0);
	}
	for (o = owned_names; o->name != NULL; o++)
		n += o->written;
	ck_assert_uint_eq(pl.nenv, n);
}
END_TEST

START_TEST(env_values)
{
	world_add(&po, VERB_READ, "/bin", NULL);
	world_add(&po, VERB_TMPFS, "/home/u", NULL);
	world_add(&po, VERB_WRITE, "/workdir", "/home/u/proj");
	survey();
	make();
	ck_assert_str_eq(value("HOME"), "/home/u");
	ck_assert_str_eq(env("HOME")->mark, "");
	ck_assert_str_eq(value("SHELL"), "/bin/sh");
	ck_assert_str_eq(env("SHELL")->mark, "");
	ck_assert_str_eq(value("USER"), "u");
	ck_assert_str_eq(value("LOGNAME"), "u");
	ck_assert_str_eq(value("TMPDIR"), "/tmp");
	ck_assert_str_eq(value("PATH"), "/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(element(1), "/bin");
	ck_assert_uint_eq(pl.npath, 4);
	ck_assert_str_eq(pl.path[3], "/sbin");
	ck_assert_str_eq(value("TERM"), "xterm");
	ck_assert_str_eq(value("LANG"), "C.UTF-8");
	ck_assert_str_eq(value("TZ"), "(unset)");
	ck_assert_str_eq(value("CARREL"), "1");
	ck_assert_str_eq(value("CARREL_PROFILES"), "@sys mine");
	ck_assert_str_eq(value("CARREL_TARGET"), "/workdir");
	ck_assert_str_eq(value("CARREL_RUN"), PLAN_RUN_UNKNOWN);
	ck_assert_int_eq(plan_setenv(&pl, "CARREL_RUN", "0123"), 0);
	ck_assert_str_eq(value("CARREL_RUN"), "0123");
	ck_assert_int_eq(plan_setenv(&pl, "NONE", "0123"), -1);
}
END_TEST

START_TEST(env_marks)
{
	world_add(&po, VERB_WRITE, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	world_replace(&ca.term, "");
	world_replace(&ca.user, "");
	po.profiles[0].flags = PROFILE_IMPLIED;
	survey();
	make();
	/* a directory on the way is no grant */
	ck_assert_int_eq(kind("/home/u"), STEP_DIR);
	ck_assert_str_eq(env("HOME")->mark, "<- not granted (1 grant inside)");
	ck_assert_str_eq(
	    env("SHELL")->mark, "<- not granted (0 grants inside)");
	ck_assert_str_eq(element(0), "/usr/bin <- writable from inside");
	ck_assert_str_eq(element(1), "/bin <- not granted (0 grants inside)");
	ck_assert_str_eq(element(2), "/usr/sbin <- writable from inside");
	ck_assert_str_eq(value("TERM"), "dumb");
	ck_assert_str_eq(value("USER"), "1000");
	ck_assert_str_eq(value("CARREL_PROFILES"), "mine");
}
END_TEST

START_TEST(path_that_nothing_grants)
{
	world_add(&po, VERB_READ, "/usr/bin/x", "/srv/x");
	world_add(&po, VERB_READ, "/usr/bin/y", "/srv/y");
	world_add(&po, VERB_READ, "/sbin/z", "/srv/z");
	survey();
	make();
	ck_assert_str_eq(
	    element(0), "/usr/bin <- not granted (2 grants inside)");
	ck_assert_str_eq(element(1), "/bin <- not granted (0 grants inside)");
	ck_assert_str_eq(element(3), "/sbin <- not granted (1 grant inside)");
}
END_TEST

/* Staged commands (S55), sockets and devices */

static void
node(const char *guest, int type, uint16_t mode)
{
	sv.rows[grant_of(guest)].type = (uint8_t)type;
	sv.rows[grant_of(guest)].mode = mode;
}

START_TEST(nothing_staged)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	survey();
	make();
	ck_assert_int_eq(kind("/run/carrel"), 0);
	ck_assert_str_eq(value("PATH"), "/usr/bin:/bin:/usr/sbin:/sbin");
}
END_TEST

START_TEST(staged)
{
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/zig", "/opt/zig/zig");
	/* also in a /run that the payload may write */
	world_add(&po, VERB_TMPFS, "/run", NULL);
	survey();
	node("/run/carrel/bin/zig", SURVEY_FILE, 0755);
	make();
	well_formed();
	ck_assert_int_eq(kind("/run/carrel"), STEP_TMPFS);
	ck_assert_int_eq(step("/run/carrel")->flags, STEP_RDONLY | STEP_NODEV);
	ck_assert_int_eq(kind("/run/carrel/bin"), STEP_DIR);
	ck_assert_int_eq(kind("/run/carrel/bin/zig"), STEP_BIND);
	ck_assert_int_eq(
	    step("/run/carrel/bin/zig")->flags, STEP_RDONLY | STEP_NODEV);
	ck_assert_str_eq(
	    value("PATH"), "/run/carrel/bin:/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(env("PATH")->mark, "");
}
END_TEST

START_TEST(socket_and_device)
{
	world_add(&po, VERB_SOCKET, "/run/s", "/srv/s");
	world_add(&po, VERB_DEVICE, "/dev/dri/card0", NULL);
	world_add(&po, VERB_DEVICE, "/dev/aaa", NULL);
	survey();
	node("/run/s", SURVEY_SOCKET, 0777);
	node("/dev/dri/card0", SURVEY_DEVICE, 0666);
	node("/dev/aaa", SURVEY_DEVICE, 0666);
	make();
	well_formed();
	ck_assert_int_eq(
	    step("/run/s")->flags, STEP_RDONLY | STEP_NODEV | STEP_NOEXEC);
	ck_assert_int_eq(
	    step("/dev/dri/card0")->flags, STEP_RDONLY | STEP_NOEXEC);
	ck_assert_int_eq(kind("/dev/dri"), STEP_DIR);
	/* /dev stands before there is a policy, and not twice */
	ck_assert_int_eq(step("/dev")->flags, STEP_FIXED);
	ck_assert_int_eq(step("/dev/dri")->flags, 0);
}
END_TEST

/* What is there against what was asked for; each names a way on. */
static const struct {
	enum verb verb;
	const char *guest, *source;
	int type, mode;
	const char *real; /* NULL: the source */
	unsigned rdev;
	const char *what, *fix; /* NULL: it is fine */
} nodes[] = {
    {VERB_COMMAND, "/run/carrel/bin/x", "/x", SURVEY_FILE, 0700, NULL, 0, NULL,
	NULL},
    {VERB_COMMAND, "/run/carrel/bin/x", "/x", SURVEY_FILE, 0644, NULL, 0,
	"not executable", "chmod +x"},
    {VERB_COMMAND, "/run/carrel/bin/x", "/x", SURVEY_DIR, 0755, NULL, 0,
	"a directory", "the program itself"},
    {VERB_COMMAND, "/run/carrel/bin/x", "/x", SURVEY_SOCKET, 0755, NULL, 0,
	"a socket", "socket = /x"},
    {VERB_COMMAND, "/run/carrel/bin/x", "/x", SURVEY_FILE, 0755, "/proc/1/exe",
	0, "leads to /proc/1/exe", "grant"},
    {VERB_SOCKET, "/s", "/x", SURVEY_SOCKET, 0, NULL, 0, NULL, NULL},
    {VERB_SOCKET, "/s", "/x", SURVEY_FILE, 0, NULL, 0, "is a file",
	"read = /x"},
    {VERB_SOCKET, "/s", "/x", SURVEY_DIR, 0, NULL, 0, "is a directory",
	"read = /x"},
    {VERB_SOCKET, "/s", "/x", SURVEY_DEVICE, 0, "/dev/kvm", 0, "is a device",
	"device = /dev/kvm"},
    {VERB_SOCKET, "/s", "/x", SURVEY_SOCKET, 0, "/dev/log", 0,
	"leads to /dev/log", "grant"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_DEVICE, 0, NULL, 0, NULL, NULL},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_BLOCK, 0, NULL, 0, "a block device",
	"only character devices"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_DIR, 0, NULL, 0, "a directory",
	"each character device"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_FILE, 0, NULL, 0, "is a file",
	"read = /dev/x"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_SOCKET, 0, NULL, 0, "is a socket",
	"socket = /dev/x"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_DEVICE, 0, "/dev/mem", 0,
	"the memory of this host", "take it out"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_DEVICE, 0, "/home/u/node", 0,
	"not below /dev", "take it out"},
    {VERB_DEVICE, "/dev/x", NULL, SURVEY_DEVICE, 0, NULL, 0x104,
	"the memory of this host", "take it out"},
    {VERB_READ, "/s", "/x", SURVEY_SOCKET, 0, NULL, 0, "is a socket",
	"socket = /x"},
    {VERB_WRITE, "/s", "/x", SURVEY_DEVICE, 0, "/dev/kvm", 0, "is a device",
	"device = /dev/kvm"},
    {VERB_READ, "/s", "/x", SURVEY_DEVICE, 0, "/dev/null", 0, "is a device",
	"in every sandbox already"},
    {VERB_READ, "/s", "/x", SURVEY_FIFO, 0, NULL, 0, "is a FIFO", "\"socket\""},
    {VERB_TRY_WRITE, "/s", "/x", SURVEY_BLOCK, 0, NULL, 0, "is a block device",
	"take it out"},
};

START_TEST(kinds_of_nodes)
{
	struct survey_row *r;

	world_add(&po, nodes[_i].verb, nodes[_i].guest, nodes[_i].source);
	survey();
	node(nodes[_i].guest, nodes[_i].type, (uint16_t)nodes[_i].mode);
	r = &sv.rows[grant_of(nodes[_i].guest)];
	r->rdev = nodes[_i].rdev;
	if (nodes[_i].real != NULL)
		world_replace(&r->real, nodes[_i].real);
	if (nodes[_i].what == NULL) {
		make();
		return;
	}
	refused(nodes[_i].what);
	ck_assert_msg(strstr(po.refusals[0].fix, nodes[_i].fix) != NULL, "%s",
	    po.refusals[0].fix);
}
END_TEST

START_TEST(absent_nodes)
{
	static const char *const fixes[] = {"install", "listens", "driver"};
	static const enum verb verbs[] = {
	    VERB_COMMAND, VERB_SOCKET, VERB_DEVICE};
	static const char *const guests[] = {
	    "/run/carrel/bin/x", "/s", "/dev/x"};

	world_add(&po, verbs[_i], guests[_i], _i == 2 ? NULL : "/x");
	survey();
	gone(guests[_i], ENOENT);
	refused("No such file");
	ck_assert_ptr_nonnull(strstr(po.refusals[0].fix, fixes[_i]));
}
END_TEST

START_TEST(nodes_by_links_a_payload_could_make)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, _i == 0 ? VERB_COMMAND : VERB_SOCKET,
	    _i == 0 ? "/run/carrel/bin/x" : "/s", "/w/x");
	survey();
	node(_i == 0 ? "/run/carrel/bin/x" : "/s",
	    _i == 0 ? SURVEY_FILE : SURVEY_SOCKET, 0755);
	leads(_i == 0 ? "/run/carrel/bin/x" : "/s", "/w/x", "/srv/x");
	refused("the symlink /w/x leads it to /srv/x");
}
END_TEST

/* S7 by what was opened */

static void
protected_survey(void)
{
	size_t i;

	world_check(&po);
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	ck_assert_uint_eq(po.nrefusals, 0);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++) {
		sv.rows[i].type = SURVEY_DIR;
		sv.rows[i].real = strdup(po.grants[i].source);
	}
}

START_TEST(trusted_is_pinned)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/h", "/home/u");
	protected_survey();
	make();
	well_formed();
	ck_assert_int_eq(kind("/h/.config"), STEP_PIN);
	ck_assert_int_eq(kind("/h/.config/carrel"), STEP_BIND);
	ck_assert_int_ne(step("/h/.config/carrel")->flags & STEP_RDONLY, 0);
}
END_TEST

/* The write grant leads to a place whose own name is protected. */
START_TEST(trusted_by_another_name)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/h", "/srv/link");
	protected_survey();
	leads("/h", "/srv/link", "/home/u");
	/* the link is at a write grant: S36 goes before */
	refused("symlink");
}
END_TEST

START_TEST(trusted_by_a_link_above)
{
	static const char *const real[] = {"/home/u", "/home",
	    "/home/u/.config/carrel", "/home/u/.config/carrel/profiles.d"};

	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/h", "/srv/link/x");
	protected_survey();
	leads("/h", "/srv/link", real[_i]);
	refused("/home/u/.config/carrel");
	ck_assert_ptr_nonnull(
	    strstr(po.refusals[0].what, "carrel trusts in the next run"));
	ck_assert_str_eq(po.refusals[0].profile, "mine");
}
END_TEST

START_TEST(trusted_elsewhere)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/h", "/srv/link/x");
	protected_survey();
	leads("/h", "/srv/link", "/home/u/.config/carrel2");
	make();
}
END_TEST

/* The same tree by both names: what protects one protects it under both. */
START_TEST(trusted_home_by_a_link_above)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_protect(&ca, "/var/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	protected_survey();
	leads("/home/u", "/home", "/var/home/u");
	leads("/home/u/.config/carrel", "/home", "/var/home/u/.config/carrel");
	make();
	ck_assert_int_eq(kind("/home/u/.config"), STEP_PIN);
}
END_TEST

START_TEST(trusted_by_a_link_inside)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	protected_survey();
	leads(
	    "/home/u/.config/carrel", "/home/u/.config", "/home/u/dot/carrel");
	refused("the symlink /home/u/.config");
	ck_assert_str_eq(po.refusals[0].profile, "mine");
	ck_assert_uint_eq(po.refusals[0].line, 1);
}
END_TEST

START_TEST(trusted_absent)
{
	struct survey_row *r;

	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	protected_survey();
	r = &sv.rows[grant_of("/home/u/.config/carrel")];
	gone("/home/u/.config/carrel", ENOENT);
	if (_i == 0) {
		refused("a payload could make it");
		ck_assert_ptr_nonnull(
		    strstr(po.refusals[0].fix, "mkdir -p /home/u/.config/"));
		return;
	}
	r->shut = 1; /* nobody can */
	make();
	ck_assert_int_eq(kind("/home/u/.config"), 0);
}
END_TEST

START_TEST(trusted_in_an_absent_grant)
{
	world_protect(&ca, "/home/u/.config/carrel");
	world_add(&po, VERB_TRY_WRITE, "/home/u", NULL);
	protected_survey();
	gone("/home/u/.config/carrel", ENOENT);
	gone("/home/u", ENOENT);
	make();
}
END_TEST

/* What is staged must not be writable by the place it leads to. */
START_TEST(command_that_leads_into_a_write_grant)
{
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/t", "/opt/t");
	world_add(&po, VERB_WRITE, "/srv", NULL);
	protected_survey();
	node("/run/carrel/bin/t", SURVEY_FILE, 0755);
	if (_i == 0) {
		make();
		return;
	}
	leads("/run/carrel/bin/t", "/opt/t", "/srv/bin/t");
	refused("/srv/bin/t writable inside, which is staged as a command");
}
END_TEST

/* A pin holds one name of a file that has two. */
START_TEST(command_of_two_names)
{
	const struct grant *g;

	world_add(&po, VERB_COMMAND, "/run/carrel/bin/t", "/srv/bin/t");
	world_add(&po, VERB_WRITE, _i == 0 ? "/opt" : "/srv", NULL);
	protected_survey();
	node("/run/carrel/bin/t", SURVEY_FILE, 0755);
	if (_i > 0)
		node("/srv/bin/t", SURVEY_FILE, 0755);
	g = policy_find(&po, "/run/carrel/bin/t");
	ck_assert_ptr_nonnull(g);
	sv.rows[g - po.grants].twice = _i < 2;
	if (_i == 1)
		refused("has a second name, a hard link, and /srv is granted");
	else
		make();
}
END_TEST

START_TEST(path_through_a_link_is_writable)
{
	world_add(&po, VERB_WRITE, "/opt", NULL);
	world_add(&po, VERB_SYMLINK, "/sbin", "/opt/sbin");
	survey();
	make();
	ck_assert_str_eq(element(3), "/sbin <- writable from inside");
}
END_TEST

/* Where it starts */

START_TEST(start)
{
	world_replace(&ca.cwd, "/home/u/proj/sub");
	world_add(&po, VERB_WRITE, "/workdir", "/home/u/proj");
	survey();
	make();
	ck_assert_uint_eq(pl.ncwd, 3);
	ck_assert_str_eq(pl.cwd[0], "/workdir/sub");
	ck_assert_str_eq(pl.cwd[1], "/workdir");
	ck_assert_str_eq(pl.cwd[2], "/");
	ck_assert_str_eq(pl.none_mounted, "");
}
END_TEST

START_TEST(start_where_the_caller_is)
{
	world_replace(&ca.cwd, "/usr/share");
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	survey();
	make();
	ck_assert_uint_eq(pl.ncwd, 3);
	ck_assert_str_eq(pl.cwd[0], "/usr/share");
	ck_assert_str_eq(pl.cwd[1], "/home/u/proj");
}
END_TEST

START_TEST(start_at_the_root)
{
	world_replace(&ca.cwd, "/home/other");
	world_add(&po, VERB_READ, "/home/u/x", NULL);
	survey();
	make();
	ck_assert_uint_eq(pl.ncwd, 1);
	ck_assert_str_eq(pl.cwd[0], "/");
	ck_assert_str_eq(value("CARREL_TARGET"), "(unset)");
}
END_TEST

/* The home, what holds it, and the home that HOME stands instead of. */
START_TEST(no_target)
{
	static const char *const targets[] = {
	    "/home/u", "/home", "/srv/other", "/srv"};

	ca.flags |= CALLER_IMPLIED;
	world_replace(&ca.home_other, "/srv/other");
	world_replace(&ca.target, targets[_i]);
	world_add(&po, VERB_TMPFS, "/home/u", NULL);
	survey();
	make();
	ck_assert_ptr_nonnull(strstr(pl.none_mounted, "no target is mounted"));
	ck_assert_ptr_nonnull(strstr(pl.none_mounted, ca.target));
	ck_assert_ptr_null(strchr(pl.none_mounted, '\n'));
	/* nothing is said to who chose every profile */
	plan_free(&pl);
	po.profiles[0].flags = PROFILE_ASKED;
	make();
	ck_assert_str_eq(pl.none_mounted, "");
}
END_TEST

/* Of a policy that the parser refused only the fields were judged. */
START_TEST(refused_before)
{
	struct origin o = {1, VERB_READ, 1};
	static const char *const guests[] = {"", "relative", "/", "//",
	    "/a/../b", "/proc/self", "/dev", "/x", "/x", "/x/y", "/file/below"};
	size_t i;

	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++)
		ck_assert_int_eq(
		    grant_add_origin(policy_add_grant(&po, GRANT_BIND, 0,
					 guests[i], "bad", 0),
			&o),
		    0);
	policy_add_grant(&po, GRANT_SYMLINK, 0, "/file", "x", 0);
	policy_add_grant(&po, GRANT_TMPFS, 0, "/x/y/z", "", 4096);
	ck_assert_int_eq(
	    policy_refuse(&po, "mine", "/c/mine.profile", 1, "", "no"), 0);
	policy_sort(&po);
	/* and the survey need not even have all rows */
	ck_assert_int_eq(survey_init(&sv, 2), 0);
	ck_assert_int_eq(plan_make(&po, &sv, &ca, NULL, &pl), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_gt(po.nrefusals, 1);
	ck_assert_uint_gt(pl.nsteps, 10);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("plan");
	TCase *c = tcase_create("plan");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 30);
	tcase_add_test(c, base);
	tcase_add_test(c, grants);
	tcase_add_test(c, order);
	tcase_add_test(c, many);
	tcase_add_test(c, link_of_merged_usr);
	tcase_add_test(c, link_that_must_be_a_bind);
	tcase_add_test(c, link_inside_a_bind);
	tcase_add_test(c, link_inside_a_bind_leads_out);
	tcase_add_test(c, missing);
	tcase_add_test(c, missing_names_all_claims);
	tcase_add_test(c, missing_by_link);
	tcase_add_test(c, unreachable);
	tcase_add_test(c, try_absent);
	tcase_add_test(c, try_with_another_error);
	tcase_add_loop_test(c, kinds_of_source, 0, 4);
	tcase_add_loop_test(c, leads_to_what_is_reserved, 0, 4);
	tcase_add_test(c, link_below_a_write_grant);
	tcase_add_test(c, link_below_a_write_grants_real_path);
	tcase_add_test(c, link_in_the_same_tree);
	tcase_add_test(c, link_at_a_write_grant);
	tcase_add_test(c, links_elsewhere);
	tcase_add_test(c, home_that_is_a_link);
	tcase_add_test(c, pins);
	tcase_add_test(c, pins_only_in_write_binds);
	tcase_add_test(c, try_read_in_write);
	tcase_add_test(c, try_elsewhere);
	tcase_add_test(c, tmpfs_sum);
	tcase_add_test(c, own_tmp_gives_way);
	tcase_add_test(c, granted_tmpfs_at_tmp);
	tcase_add_test(c, etc_generated);
	tcase_add_test(c, etc_bad_user);
	tcase_add_test(c, etc_of_the_host);
	tcase_add_test(c, etc_as_a_whole);
	tcase_add_test(c, two_spellings_of_home);
	tcase_add_test(c, env_names);
	tcase_add_test(c, env_values);
	tcase_add_test(c, env_marks);
	tcase_add_test(c, path_through_a_link_is_writable);
	tcase_add_test(c, path_that_nothing_grants);
	tcase_add_test(c, nothing_staged);
	tcase_add_test(c, staged);
	tcase_add_test(c, socket_and_device);
	tcase_add_loop_test(
	    c, kinds_of_nodes, 0, (int)(sizeof(nodes) / sizeof(nodes[0])));
	tcase_add_loop_test(c, absent_nodes, 0, 3);
	tcase_add_loop_test(c, nodes_by_links_a_payload_could_make, 0, 2);
	tcase_add_test(c, trusted_is_pinned);
	tcase_add_test(c, trusted_by_another_name);
	tcase_add_loop_test(c, trusted_by_a_link_above, 0, 4);
	tcase_add_test(c, trusted_elsewhere);
	tcase_add_test(c, trusted_home_by_a_link_above);
	tcase_add_test(c, trusted_by_a_link_inside);
	tcase_add_loop_test(c, trusted_absent, 0, 2);
	tcase_add_test(c, trusted_in_an_absent_grant);
	tcase_add_loop_test(c, command_that_leads_into_a_write_grant, 0, 2);
	tcase_add_loop_test(c, command_of_two_names, 0, 3);
	tcase_add_test(c, start);
	tcase_add_test(c, start_where_the_caller_is);
	tcase_add_test(c, start_at_the_root);
	tcase_add_loop_test(c, no_target, 0, 4);
	tcase_add_test(c, refused_before);
	suite_add_tcase(s, c);
	return s;
}

int
main(void)
{
	SRunner *sr = srunner_create(suite());
	int failed;

	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
