/* The exec lock (S72): what is looked at, and what the plan makes of it. */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/setup/elf.h"
#include "child/setup/look.h"
#include "child/setup/look_exec.h"
#include "child/setup/plan.h"
#include "child/shared/survey.h"
#include "ipc/buf.h"
#include "ipc/rule.h"
#include "parent/failure.h"
#include "world.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#define OTHER	EM_386
#else
#define MACHINE EM_AARCH64
#define OTHER	EM_ARM
#endif

static char dir[64];
static struct policy po;
static struct survey sv;
static struct caller ca;
static struct plan pl;

static void
setup(void)
{
	strcpy(dir, "/tmp/carrel-exec-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_policy(&po);
	world_caller(&ca);
	memset(&sv, 0, sizeof(sv));
	memset(&pl, 0, sizeof(pl));
}

static void
teardown(void)
{
	char cmd[256];

	plan_free(&pl);
	survey_free(&sv);
	policy_free(&po);
	caller_free(&ca);
	snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s; rm -rf %s", dir, dir);
	ck_assert_int_eq(system(cmd), 0);
}

static const char *
in(const char *name)
{
	static char buf[8][4300];
	static unsigned next;
	char *s = buf[next++ % 8];

	snprintf(s, sizeof(buf[0]), "%s%s", dir, name);
	return s;
}

static void
rule(enum rule_kind kind, const char *path)
{
	struct rule r = {.kind = (uint8_t)kind,
	    .text = (char *)(uintptr_t)path,
	    .profile = 1,
	    .line = 50 + (uint32_t)po.nrules};

	ck_assert_ptr_nonnull(policy_add_rule(&po, &r));
}

/* ELF */

/* A file of a header, a table of two segments and a loader's path. */
struct file {
	Elf64_Ehdr h;
	Elf64_Phdr p[2];
	char path[64];
};

static struct file
program(const char *loader)
{
	struct file f;

	memset(&f, 0, sizeof(f));
	memcpy(f.h.e_ident, ELFMAG, SELFMAG);
	f.h.e_ident[EI_CLASS] = ELFCLASS64;
	f.h.e_ident[EI_DATA] = ELFDATA2LSB;
	f.h.e_type = ET_DYN;
	f.h.e_machine = MACHINE;
	f.h.e_phentsize = sizeof(f.p[0]);
	f.h.e_phnum = 2;
	f.h.e_phoff = offsetof(struct file, p);
	f.p[0].p_type = PT_LOAD;
	f.p[1].p_type = loader == NULL ? PT_LOAD : PT_INTERP;
	f.p[1].p_offset = offsetof(struct file, path);
	if (loader != NULL) {
		f.p[1].p_filesz = strlen(loader) + 1;
		strcpy(f.path, loader);
	}
	return f;
}

static int
table_of(const struct file *f, size_t n)
{
	struct elf_place p;

	return elf_table((const uint8_t *)f, n, &p);
}

START_TEST(elf_headers)
{
	struct file good = program("/ld.so"), f = good;
	struct elf_place p;

	ck_assert_int_eq(elf_table((const uint8_t *)&f, ELF_HEAD, &p), 1);
	ck_assert_uint_eq(p.at, offsetof(struct file, p));
	ck_assert_uint_eq(p.len, 2 * ELF_SEGMENT);
	ck_assert_int_eq(table_of(&f, 63), -1);
	ck_assert_int_eq(table_of(&f, 3), 0);
	ck_assert_int_eq(table_of(&f, 0), 0);
	ck_assert_int_eq(elf_table((const uint8_t *)"#!/bin/sh\n", 10, &p), 0);
#define BAD(field, value)                                                      \
	f = good;                                                              \
	f.h.field = value;                                                     \
	ck_assert_int_eq(table_of(&f, ELF_HEAD), -1)
	BAD(e_ident[EI_CLASS], ELFCLASS32);
	BAD(e_ident[EI_DATA], ELFDATA2MSB);
	BAD(e_machine, OTHER);
	BAD(e_type, ET_REL);
	BAD(e_type, ET_CORE);
	BAD(e_phentsize, 32);
	BAD(e_phnum, 0);
	BAD(e_phnum, ELF_TABLE + 1);
	BAD(e_phoff, UINT64_MAX);
	f = good;
	f.h.e_type = ET_EXEC;
	f.h.e_phnum = ELF_TABLE;
	ck_assert_int_eq(table_of(&f, ELF_HEAD), 1);
}
END_TEST

START_TEST(elf_loaders)
{
	struct file f = program("/ld.so");
	const uint8_t *t = (const uint8_t *)f.p;
	struct elf_place p;

	ck_assert_int_eq(elf_loader(t, sizeof(f.p), &p), 1);
	ck_assert_uint_eq(p.at, offsetof(struct file, path));
	ck_assert_uint_eq(p.len, 7);
	ck_assert_int_eq(elf_loader(t, ELF_SEGMENT, &p), 0);
	ck_assert_int_eq(elf_loader(t, 0, &p), 0);
	ck_assert_int_eq(elf_loader(t, ELF_SEGMENT + 1, &p), -1);
	f.p[1].p_filesz = 1;
	ck_assert_int_eq(elf_loader(t, sizeof(f.p), &p), -1);
	f.p[1].p_filesz = ELF_PATH + 1;
	ck_assert_int_eq(elf_loader(t, sizeof(f.p), &p), -1);
	f.p[1].p_filesz = 7;
	f.p[1].p_offset = UINT64_MAX;
	ck_assert_int_eq(elf_loader(t, sizeof(f.p), &p), -1);
	f = program(NULL);
	ck_assert_int_eq(elf_loader(t, sizeof(f.p), &p), 0);
}
END_TEST

/* Looking at a small host below dir. */

static void
put(const char *name, const void *data, size_t n, mode_t mode)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, data, n), (ssize_t)n);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void
put_program(const char *name, const char *loader)
{
	struct file f = program(loader);

	put(name, &f, sizeof(f), 0755);
}

/* dir/usr is granted as /usr, and has what a small system has. */
static void
furnish(void)
{
	static const char *const dirs[] = {"/usr", "/usr/bin", "/usr/lib",
	    "/usr/lib/arch", "/usr/lib/arch/glibc-hwcaps", "/usr/lib/python9",
	    "/usr/lib64", "/w", "/w/venv"};
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		ck_assert_int_eq(mkdir(in(dirs[i]), 0755), 0);
	put_program("/usr/bin/python9", "/usr/lib64/ld.so");
	put_program("/usr/bin/tool", "/usr/lib64/ld.so");
	put_program("/usr/bin/static", NULL);
	put("/usr/bin/script", "#!/x\n", 5, 0755);
	put("/usr/lib/arch/ld.so", "x", 1, 0755);
	ck_assert_int_eq(symlink("python9", in("/usr/bin/python")), 0);
	ck_assert_int_eq(
	    symlink("../lib/arch/ld.so", in("/usr/lib64/ld.so")), 0);
	world_add(&po, VERB_READ, "/usr", in("/usr"));
}

static void
look(void)
{
	struct failure f;

	world_check(&po);
	ck_assert_msg(look_survey(&po, &sv, &f) == 0, "%s", f.what);
	ck_assert_msg(look_exec(&po, &sv, &f) == 0, "%s", f.what);
}

/* The row of this kind whose real path ends so; NULL if there is none. */
static const struct survey_exec *
row(enum exec_kind kind, const char *real)
{
	size_t i;

	for (i = 0; i < sv.nexec; i++)
		if (sv.exec[i].kind == kind &&
		    strcmp(sv.exec[i].row.real,
			real[0] == '\0' ? "" : in(real)) == 0)
			return &sv.exec[i];
	return NULL;
}

START_TEST(looks_at_nothing)
{
	furnish();
	rule(RULE_LIBRARY, "/usr/lib/python9"); /* alone it opens nothing */
	rule(RULE_NO_SPAWN, "");
	look();
	ck_assert_uint_eq(sv.nexec, 0);
}
END_TEST

START_TEST(looks_at_an_interpreter)
{
	const struct survey_exec *e;

	furnish();
	rule(RULE_INTERPRETER, "/usr/bin/python");
	look();
	ck_assert_uint_eq(sv.nexec, 5);
	e = row(EXEC_INTERPRETER, "/usr/bin/python9");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->guest, "/usr/bin/python");
	ck_assert_int_eq(e->row.type, SURVEY_FILE);
	ck_assert_uint_eq(e->row.nlinks, 1);
	ck_assert_int_eq(e->row.fd, -1);
	e = row(EXEC_LOADER, "/usr/lib/arch/ld.so");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->guest, "/usr/lib64/ld.so");
	ck_assert_ptr_nonnull(row(EXEC_SYSTEM, "/usr/lib/arch"));
	ck_assert_ptr_nonnull(row(EXEC_OWN, "/usr/lib/arch/glibc-hwcaps"));
	/* by the file's own name, not by the link's */
	ck_assert_ptr_nonnull(row(EXEC_OWN, "/usr/lib/python9"));
}
END_TEST

START_TEST(looks_once_at_one_loader)
{
	furnish();
	rule(RULE_INTERPRETER, "/usr/bin/python9");
	rule(RULE_INTERPRETER, "/usr/bin/tool");
	look();
	ck_assert_uint_eq(sv.nexec, 6);
	ck_assert_ptr_nonnull(row(EXEC_INTERPRETER, "/usr/bin/tool"));
}
END_TEST

/* Without a loader no directory of shared objects is opened. */
START_TEST(looks_at_static_and_scripts)
{
	furnish();
	rule(RULE_INTERPRETER, "/usr/bin/script");
	rule(RULE_INTERPRETER, "/usr/bin/static");
	look();
	ck_assert_uint_eq(sv.nexec, 2);
	ck_assert_int_eq(sv.exec[0].fault, EXEC_FINE);
	ck_assert_int_eq(sv.exec[1].fault, EXEC_FINE);
}
END_TEST

START_TEST(looks_at_libraries)
{
	furnish();
	rule(RULE_INTERPRETER, "/usr/bin/static");
	rule(RULE_LIBRARY, "/usr/lib/python9");
	rule(RULE_LIBRARY, "/usr/lib/none");
	look();
	ck_assert_uint_eq(sv.nexec, 3);
	ck_assert_ptr_nonnull(row(EXEC_LIBRARY, "/usr/lib/python9"));
	ck_assert_int_eq(row(EXEC_LIBRARY, "")->row.err, ENOENT);
}
END_TEST

START_TEST(looks_through_the_grants)
{
	const struct survey_exec *e;

	furnish();
	world_add(&po, VERB_SYMLINK, "/lib64", "usr/lib64");
	world_add(&po, VERB_READ, "/opt/v", in("/w/venv"));
	world_add(&po, VERB_TMPFS, "/opt/t", NULL);
	world_add(&po, VERB_TRY_READ, "/usr/gone", in("/usr/gone"));
	put_program("/w/venv/a", "/lib64/ld.so");
	put_program("/w/venv/b", "/nowhere/ld.so");
	put_program("/w/venv/c", "not/absolute");
	rule(RULE_INTERPRETER, "/home/x");
	rule(RULE_INTERPRETER, "/lib64/ld.so");
	rule(RULE_INTERPRETER, "/opt/t/x");
	rule(RULE_INTERPRETER, "/opt/v/a");
	rule(RULE_INTERPRETER, "/opt/v/b");
	rule(RULE_INTERPRETER, "/opt/v/c");
	rule(RULE_INTERPRETER, "/usr/gone/x");
	look();
	/* by a symlink of the policy's, whose loader is the same */
	e = row(EXEC_INTERPRETER, "/usr/lib/arch/ld.so");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->guest, "/lib64/ld.so");
	ck_assert_int_eq(row(EXEC_INTERPRETER, "/w/venv/a")->fault, EXEC_FINE);
	e = row(EXEC_LOADER, "/usr/lib/arch/ld.so");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->guest, "/lib64/ld.so");
	/* its loader is in no grant */
	e = row(EXEC_LOADER, "");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->guest, "/nowhere/ld.so");
	ck_assert_int_eq(e->fault, EXEC_NOWHERE);
	ck_assert_int_eq(
	    row(EXEC_INTERPRETER, "/w/venv/c")->fault, EXEC_FOREIGN);
	ck_assert_str_eq(sv.exec[0].guest, "/home/x");
	ck_assert_int_eq(sv.exec[0].fault, EXEC_NOWHERE);
	e = row(EXEC_INTERPRETER, "");
	ck_assert_ptr_eq(e, &sv.exec[0]);
}
END_TEST

START_TEST(looks_at_what_cannot_be_read)
{
	struct file f = program("/usr/lib64/ld.so");

	furnish();
	f.h.e_machine = OTHER;
	put("/usr/bin/other", &f, sizeof(f), 0755);
	put("/usr/bin/short", &f, ELF_HEAD, 0755);
	put_program("/usr/bin/secret", NULL);
	ck_assert_int_eq(chmod(in("/usr/bin/secret"), 0111), 0);
	f = program("/usr/lib64/ld.so");
	f.h.e_phoff = 1 << 20;
	put("/usr/bin/far", &f, sizeof(f), 0755);
	f = program("/usr/lib64/ld.so");
	f.p[1].p_filesz--; /* no NUL at its end */
	put("/usr/bin/unended", &f, sizeof(f), 0755);
	rule(RULE_INTERPRETER, "/usr/bin/far");
	rule(RULE_INTERPRETER, "/usr/bin/other");
	rule(RULE_INTERPRETER, "/usr/bin/secret");
	rule(RULE_INTERPRETER, "/usr/bin/short");
	rule(RULE_INTERPRETER, "/usr/bin/unended");
	look();
	ck_assert_uint_eq(sv.nexec, 5);
	ck_assert_int_eq(sv.exec[0].fault, EXEC_FOREIGN);
	ck_assert_int_eq(sv.exec[1].fault, EXEC_FOREIGN);
	/* root reads everything */
	ck_assert_int_eq(
	    sv.exec[2].fault, geteuid() == 0 ? EXEC_FINE : EXEC_UNREADABLE);
	ck_assert_int_eq(sv.exec[3].fault, EXEC_FOREIGN);
	ck_assert_int_eq(sv.exec[4].fault, EXEC_FOREIGN);
}
END_TEST

/* The plan: here the survey is made up. */

static struct survey_exec *
found(enum exec_kind kind, uint8_t type, const char *guest, const char *real)
{
	enum rule_kind want =
	    kind == EXEC_LIBRARY ? RULE_LIBRARY : RULE_INTERPRETER;
	struct survey_exec *e;
	size_t i, by = 0;

	/* of the rule that says so, else of the last of its kind */
	for (i = 0; i < po.nrules; i++)
		if (po.rules[i].kind == want) {
			by = i;
			if (strcmp(po.rules[i].text, guest) == 0)
				break;
		}
	e = survey_add_exec(&sv, kind, by, guest);
	ck_assert_ptr_nonnull(e);
	e->row.type = type;
	e->row.mode = 0755;
	e->row.real = strdup(real);
	return e;
}

static void
survey(void)
{
	size_t i;

	world_check(&po);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++) {
		if (!grant_opens(&po.grants[i]))
			continue;
		sv.rows[i].type = po.grants[i].kind == GRANT_COMMAND
				      ? SURVEY_FILE
				      : SURVEY_DIR;
		sv.rows[i].mode = 0755;
		sv.rows[i].real = strdup(po.grants[i].source);
	}
}

static void
make(void)
{
	int r = plan_make(&po, &sv, &ca, NULL, &pl);

	ck_assert_msg(r == 0, "%s",
	    po.nrefusals > 0 ? po.refusals[0].what : strerror(errno));
}

static const struct refusal *
refused(const char *words)
{
	ck_assert_int_eq(plan_make(&po, &sv, &ca, NULL, &pl), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_msg(strstr(po.refusals[0].what, words) != NULL, "%s",
	    po.refusals[0].what);
	ck_assert_str_ne(po.refusals[0].fix, "");
	return &po.refusals[0];
}

static const struct step *
exec_step(const char *guest)
{
	size_t i;

	for (i = 0; i < pl.nexec; i++)
		if (strcmp(pl.exec[i].guest, guest) == 0)
			return &pl.exec[i];
	return NULL;
}

/* Everything that can be mounted without noexec, or in spite of it. */
static size_t
runnable(void)
{
	size_t i, n = 0;

	for (i = 0; i < pl.nsteps; i++)
		switch (pl.steps[i].kind) {
		case STEP_TMPFS:
		case STEP_BIND:
		case STEP_PIN:
		case STEP_PROC:
		case STEP_DEVPTS:
		case STEP_DEVICE:
		case STEP_MASK:
			n += (pl.steps[i].flags & STEP_NOEXEC) == 0;
			break;
		default:
			break;
		}
	return n;
}

START_TEST(plan_without_a_lock)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	survey();
	make();
	ck_assert_int_eq(pl.locked, 0);
	ck_assert_uint_eq(pl.nexec, 0);
	ck_assert_uint_gt(runnable(), 2);
	ck_assert_int_eq(pl.no_spawn | pl.no_unix | pl.once, 0);
}
END_TEST

START_TEST(plan_locks)
{
	const struct step *s;

	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/w/a/b", NULL); /* pinned */
	world_add(&po, VERB_TMPFS, "/scratch", NULL);
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/tool", "/opt/tool");
	rule(RULE_INTERPRETER, "/usr/bin/py");
	rule(RULE_LIBRARY, "/w/a/b/lib");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py9");
	found(EXEC_LOADER, SURVEY_FILE, "/lib64/ld.so", "/usr/lib/arch/ld.so");
	found(EXEC_SYSTEM, SURVEY_DIR, "", "/usr/lib/arch");
	found(EXEC_OWN, SURVEY_DIR, "", "/usr/lib/py9");
	found(EXEC_LIBRARY, SURVEY_DIR, "/w/a/b/lib", "/w/a/b/lib");
	make();
	ck_assert_int_eq(pl.locked, 1);
	ck_assert_uint_eq(runnable(), 0);
	ck_assert_uint_eq(pl.nexec, 5);
	/* a directory before what is in it */
	ck_assert_str_eq(pl.exec[1].guest, "/usr/lib/arch");
	ck_assert_str_eq(pl.exec[2].guest, "/usr/lib/arch/ld.so");
	s = exec_step("/usr/bin/py9");
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(s->kind, STEP_EXEC);
	ck_assert_int_eq(s->flags, STEP_RDONLY | STEP_NODEV);
	ck_assert_int_eq(s->grant, 0);
	ck_assert_int_eq(exec_step("/usr/lib/arch")->flags,
	    STEP_RDONLY | STEP_NODEV | STEP_ISDIR | STEP_FLAT);
	ck_assert_int_eq(exec_step("/usr/lib/py9")->flags,
	    STEP_RDONLY | STEP_NODEV | STEP_ISDIR);
	ck_assert_ptr_nonnull(exec_step("/w/a/b/lib"));
}
END_TEST

/* What was taken before there was a policy differs by nothing else. */
START_TEST(plan_fixed_but_noexec)
{
	struct plan fixed;
	const struct step *s;
	size_t i, k = 0;

	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_INTERPRETER, "/usr/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py");
	make();
	ck_assert_int_eq(plan_make_fixed(&fixed), 0);
	for (i = 0; i < pl.nsteps; i++) {
		s = &pl.steps[i];
		if ((s->flags & STEP_FIXED) == 0)
			continue;
		ck_assert_str_eq(s->guest, fixed.steps[k].guest);
		ck_assert_int_eq(s->flags & ~STEP_NOEXEC,
		    fixed.steps[k++].flags & ~STEP_NOEXEC);
	}
	ck_assert_uint_eq(k, fixed.nsteps);
	plan_free(&fixed);
}
END_TEST

/* A directory that holds the loader or an interpreter opens only its files. */
START_TEST(plan_flattens)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_INTERPRETER, "/usr/bin/py");
	rule(RULE_LIBRARY, "/usr");
	rule(RULE_LIBRARY, "/usr/lib");
	rule(RULE_LIBRARY, "/usr/lib/arch");
	rule(RULE_LIBRARY, "/usr/lib/deep");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py");
	found(EXEC_LOADER, SURVEY_FILE, "/lib/ld.so", "/usr/lib/arch/ld.so");
	found(EXEC_SYSTEM, SURVEY_DIR, "", "/usr/lib/arch");
	found(EXEC_LIBRARY, SURVEY_DIR, "/usr", "/usr");
	found(EXEC_LIBRARY, SURVEY_DIR, "/usr/lib", "/usr/lib");
	found(EXEC_LIBRARY, SURVEY_DIR, "/usr/lib/arch", "/usr/lib/arch");
	found(EXEC_LIBRARY, SURVEY_DIR, "/usr/lib/deep", "/usr/lib/deep");
	make();
	ck_assert_uint_eq(pl.nexec, 6);
	ck_assert(exec_step("/usr")->flags & STEP_FLAT);
	ck_assert(exec_step("/usr/lib")->flags & STEP_FLAT);
	ck_assert(exec_step("/usr/lib/arch")->flags & STEP_FLAT);
	ck_assert(!(exec_step("/usr/lib/deep")->flags & STEP_FLAT));
}
END_TEST

/* Where it is inside: as the profile says, else by the host's own name. */
START_TEST(plan_places)
{
	world_add(&po, VERB_READ, "/a", "/data");
	world_add(&po, VERB_READ, "/data", "/data");
	world_add(&po, VERB_READ, "/z", "/data");
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/tool", "/opt/tool");
	rule(RULE_INTERPRETER, "/run/carrel/bin/tool");
	rule(RULE_INTERPRETER, "/z/link");
	rule(RULE_INTERPRETER, "/z/py");
	survey();
	found(
	    EXEC_INTERPRETER, SURVEY_FILE, "/run/carrel/bin/tool", "/opt/tool");
	found(EXEC_INTERPRETER, SURVEY_FILE, "/z/link", "/data/other");
	found(EXEC_INTERPRETER, SURVEY_FILE, "/z/py", "/data/py");
	make();
	ck_assert_uint_eq(pl.nexec, 3);
	ck_assert_ptr_nonnull(exec_step("/data/other"));
	ck_assert_ptr_nonnull(exec_step("/z/py"));
	ck_assert_ptr_nonnull(exec_step("/run/carrel/bin/tool"));
}
END_TEST

START_TEST(plan_refuses_writable)
{
	const struct refusal *r;

	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	rule(RULE_INTERPRETER, "/w/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/w/bin/py", "/w/bin/py");
	r = refused("interpreter = /w/bin/py: lies in /w, which is granted for "
		    "writing (write of mine, /c/mine.profile:2)");
	ck_assert_str_eq(r->profile, "mine");
	ck_assert_uint_eq(r->line, 50);
	ck_assert_ptr_nonnull(strstr(r->fix, "pins it"));
}
END_TEST

START_TEST(plan_takes_pinned)
{
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/w/bin", NULL);
	rule(RULE_INTERPRETER, "/w/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/w/bin/py", "/w/bin/py");
	make();
	ck_assert_ptr_nonnull(exec_step("/w/bin/py"));
}
END_TEST

START_TEST(plan_refuses_writable_library)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	rule(RULE_INTERPRETER, "/usr/bin/py");
	rule(RULE_LIBRARY, "/w/lib");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py");
	found(EXEC_LIBRARY, SURVEY_DIR, "/w/lib", "/w/lib");
	refused("library = /w/lib: lies in /w");
}
END_TEST

/* A part of it under another name is as bad. */
START_TEST(plan_refuses_written_elsewhere)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_READ, "/opt", NULL);
	world_add(&po, VERB_WRITE, "/w", "/opt/lib/deep");
	rule(RULE_INTERPRETER, "/usr/bin/py");
	rule(RULE_LIBRARY, "/opt/lib");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py");
	found(EXEC_LIBRARY, SURVEY_DIR, "/opt/lib", "/opt/lib");
	refused("write = /opt/lib/deep: would make /opt/lib writable inside, "
		"which is executable for \"library = /opt/lib\" of mine");
}
END_TEST

START_TEST(plan_refuses_program_written_elsewhere)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", "/usr/bin");
	rule(RULE_INTERPRETER, "/usr/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/usr/bin/py");
	refused("would make /usr/bin/py writable");
}
END_TEST

/* A directory that nobody named stays noexec where it could be written. */
START_TEST(plan_leaves_out_own)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/w/bin", NULL);
	rule(RULE_INTERPRETER, "/w/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/w/bin/py", "/w/bin/py");
	found(EXEC_OWN, SURVEY_DIR, "", "/w/lib/py");
	found(EXEC_OWN, SURVEY_DIR, "", "/not/inside");
	make();
	ck_assert_uint_eq(pl.nexec, 1);
}
END_TEST

START_TEST(plan_refuses_links)
{
	struct survey_exec *e;

	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/w", NULL);
	world_add(&po, VERB_READ, "/w/venv", NULL);
	rule(RULE_INTERPRETER, "/w/venv/py");
	survey();
	e = found(EXEC_INTERPRETER, SURVEY_FILE, "/w/venv/py", "/usr/bin/perl");
	e->row.links = calloc(1, sizeof(*e->row.links));
	e->row.links[0] = strdup("/w/venv/py");
	e->row.nlinks = 1;
	refused("led to /usr/bin/perl by the symlink /w/venv/py");
}
END_TEST

/* One row, and what is said of it. */
static void
one(enum exec_kind kind, uint8_t type, uint16_t mode, int err, uint8_t fault,
    const char *words)
{
	struct survey_exec *e;

	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_INTERPRETER, "/usr/x");
	rule(RULE_LIBRARY, "/usr/l");
	survey();
	e = found(kind, type,
	    kind == EXEC_LIBRARY  ? "/usr/l"
	    : kind == EXEC_LOADER ? "/usr/ld.so"
				  : "/usr/x",
	    err != 0 ? "" : "/usr/x");
	e->row.mode = mode;
	e->row.err = err;
	e->fault = fault;
	refused(words);
	plan_free(&pl);
	survey_free(&sv);
	policy_free(&po);
	world_policy(&po);
}

START_TEST(plan_refuses)
{
	one(EXEC_INTERPRETER, SURVEY_NONE, 0, ENOENT, EXEC_NOWHERE,
	    "interpreter = /usr/x: is not inside");
	one(EXEC_INTERPRETER, SURVEY_NONE, 0, ENOENT, EXEC_FINE,
	    "interpreter = /usr/x: No such file");
	one(EXEC_INTERPRETER, SURVEY_DIR, 0755, 0, EXEC_FINE, "is no file");
	one(EXEC_INTERPRETER, SURVEY_FILE, 0644, 0, EXEC_FINE,
	    "is not executable");
	one(EXEC_INTERPRETER, SURVEY_FILE, 0711, 0, EXEC_UNREADABLE,
	    "cannot be read");
	one(EXEC_INTERPRETER, SURVEY_FILE, 0755, 0, EXEC_FOREIGN,
	    "this machine does not run");
	one(EXEC_LOADER, SURVEY_NONE, 0, ENOENT, EXEC_NOWHERE,
	    "interpreter = /usr/x: its loader /usr/ld.so is not inside");
	one(EXEC_LIBRARY, SURVEY_FILE, 0644, 0, EXEC_FINE,
	    "library = /usr/l: is no directory");
	one(EXEC_LIBRARY, SURVEY_NONE, 0, EACCES, EXEC_FINE,
	    "library = /usr/l: Permission denied");
}
END_TEST

START_TEST(plan_refuses_what_is_outside)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_INTERPRETER, "/usr/bin/py");
	survey();
	found(EXEC_INTERPRETER, SURVEY_FILE, "/usr/bin/py", "/data/py");
	refused("leads to /data/py, which is not inside");
}
END_TEST

/* A survey without rows leaves nothing executable, and is no refusal. */
START_TEST(plan_without_rows)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_INTERPRETER, "/usr/bin/py");
	survey();
	make();
	ck_assert_int_eq(pl.locked, 1);
	ck_assert_uint_eq(runnable(), 0);
	ck_assert_uint_eq(pl.nexec, 0);
}
END_TEST

START_TEST(plan_narrows)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	rule(RULE_NO_SPAWN, "");
	rule(RULE_NO_UNIX, "");
	rule(RULE_ONCE, "");
	survey();
	make();
	ck_assert_int_eq(pl.no_spawn & pl.no_unix & pl.once, 1);
	ck_assert_int_eq(pl.locked, 0);
}
END_TEST

/* The record */

START_TEST(record_there_and_back)
{
	static uint8_t data[RECORD_MAX];
	struct survey out;
	struct survey_exec *e;
	struct wbuf w;
	struct rcur c;

	ck_assert_int_eq(survey_init(&out, 0), 0);
	ck_assert_int_eq(survey_init(&sv, 0), 0);
	e = survey_add_exec(&sv, EXEC_LOADER, 7, "/lib64/ld.so");
	e->fault = EXEC_UNREADABLE;
	e->row.type = SURVEY_FILE;
	e->row.mode = 0711;
	e->row.ino = 99;
	e->row.real = strdup("/usr/lib/ld.so");
	wbuf_init(&w, data, sizeof(data));
	survey_exec_put(&w, e);
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(survey_exec_get(&c, &out), 0);
	ck_assert_uint_eq(out.nexec, 1);
	ck_assert_int_eq(out.exec[0].kind, EXEC_LOADER);
	ck_assert_int_eq(out.exec[0].fault, EXEC_UNREADABLE);
	ck_assert_uint_eq(out.exec[0].rule, 7);
	ck_assert_str_eq(out.exec[0].guest, "/lib64/ld.so");
	ck_assert_str_eq(out.exec[0].row.real, "/usr/lib/ld.so");
	ck_assert_uint_eq(out.exec[0].row.ino, 99);
	ck_assert_int_eq(out.exec[0].row.fd, -1);
	/* each byte fewer, and one more */
	while (w.len-- > 0) {
		rcur_init(&c, data, w.len);
		ck_assert_int_eq(survey_exec_get(&c, &out), -1);
	}
	survey_free(&out);
}
END_TEST

START_TEST(record_refuses)
{
	static const struct {
		uint8_t kind, fault;
		const char *guest;
	} bad[] = {{0, 0, "/a"}, {EXEC_LAST + 1, 0, "/a"},
	    {EXEC_LOADER, EXEC_FAULT_LAST + 1, "/a"}, {EXEC_LOADER, 0, "a"},
	    {EXEC_LOADER, 0, "/a/../b"}};
	struct survey_exec e = {.row.real = (char[]){""}};
	uint8_t data[256];
	struct wbuf w;
	struct rcur c;
	size_t i;

	ck_assert_int_eq(survey_init(&sv, 0), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.kind = bad[i].kind;
		e.fault = bad[i].fault;
		e.guest = (char *)(uintptr_t)bad[i].guest;
		wbuf_init(&w, data, sizeof(data));
		survey_exec_put(&w, &e);
		rcur_init(&c, data, w.len);
		ck_assert_int_eq(survey_exec_get(&c, &sv), -1);
	}
	for (i = sv.nexec; i < EXEC_MAX; i++)
		ck_assert_ptr_nonnull(survey_add_exec(&sv, EXEC_OWN, 0, "/a"));
	ck_assert_ptr_null(survey_add_exec(&sv, EXEC_OWN, 0, "/a"));
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("exec");
	TCase *t = tcase_create("exec");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, elf_headers);
	tcase_add_test(t, elf_loaders);
	tcase_add_test(t, looks_at_nothing);
	tcase_add_test(t, looks_at_an_interpreter);
	tcase_add_test(t, looks_once_at_one_loader);
	tcase_add_test(t, looks_at_static_and_scripts);
	tcase_add_test(t, looks_at_libraries);
	tcase_add_test(t, looks_through_the_grants);
	tcase_add_test(t, looks_at_what_cannot_be_read);
	tcase_add_test(t, plan_without_a_lock);
	tcase_add_test(t, plan_locks);
	tcase_add_test(t, plan_fixed_but_noexec);
	tcase_add_test(t, plan_flattens);
	tcase_add_test(t, plan_places);
	tcase_add_test(t, plan_refuses_writable);
	tcase_add_test(t, plan_takes_pinned);
	tcase_add_test(t, plan_refuses_writable_library);
	tcase_add_test(t, plan_refuses_written_elsewhere);
	tcase_add_test(t, plan_refuses_program_written_elsewhere);
	tcase_add_test(t, plan_leaves_out_own);
	tcase_add_test(t, plan_refuses_links);
	tcase_add_test(t, plan_refuses);
	tcase_add_test(t, plan_refuses_what_is_outside);
	tcase_add_test(t, plan_without_rows);
	tcase_add_test(t, plan_narrows);
	tcase_add_test(t, record_there_and_back);
	tcase_add_test(t, record_refuses);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
