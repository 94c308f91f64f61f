#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "elf.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "look.h"
#include "look_exec.h"
#include "parent/failure.h"
#include "parent/mountapi.h"

struct looking {
	const struct policy *po;
	struct survey *sv;
	struct failure *fail;
};

/* The deepest grant at or above a guest path that has something to show. */
static const struct grant *
holder(const struct looking *l, const char *guest)
{
	const struct grant *g = policy_find(l->po, guest);

	if (g == NULL)
		g = policy_above(l->po, guest);
	while (g != NULL && grant_opens(g) &&
	       l->sv->rows[g - l->po->grants].err != 0)
		g = policy_above(l->po, g->guest);
	return g;
}

/*
 * Where on the host a guest path is by the grants: 0, or -1 if it is in none.
 * What the grants' own symlinks lead to is taken by name.
 */
static int
on_host(const struct looking *l, const char *guest, char *host)
{
	char at[PATH_MAX_LEN + 1];
	const struct grant *g;
	const char *real;
	int i, n;

	strcpy(at, guest);
	for (i = 0; i <= LINKS_MAX; i++) {
		if ((g = holder(l, at)) == NULL)
			return -1;
		if (g->kind == GRANT_SYMLINK) {
			if (path_follow(g->guest, g->source, at, at) == -1)
				return -1;
			continue;
		}
		if (!grant_opens(g))
			return -1;
		real = l->sv->rows[g - l->po->grants].real;
		n = snprintf(host, PATH_MAX_LEN + 1, "%s%s", real,
		    path_below(g->guest, at));
		return n <= PATH_MAX_LEN && path_clean(host) ? 0 : -1;
	}
	return -1;
}

/* The row of one guest path; NULL after failure_set(). */
static struct survey_exec *
look_guest(
    struct looking *l, enum exec_kind kind, size_t rule, const char *guest)
{
	struct survey_exec *e = survey_add_exec(l->sv, kind, rule, guest);
	char host[PATH_MAX_LEN + 1];

	if (e != NULL && on_host(l, guest, host) == -1) {
		e->fault = EXEC_NOWHERE;
		e->row.err = ENOENT;
		return (e->row.real = strdup("")) == NULL ? NULL : e;
	}
	if (e == NULL || look_one(host, &e->row) == -1) {
		failure_set(l->fail, CAUSE_OTHER, "look at %s", guest);
		return NULL;
	}
	/* not kept: there may be many, and they are opened again */
	if (e->row.fd != -1)
		close(e->row.fd);
	e->row.fd = -1;
	return e;
}

/* The rule's directory of the host, if it is there. */
static int
look_dir(struct looking *l, enum exec_kind kind, size_t rule, const char *host)
{
	struct survey_exec *e;
	struct survey_row row;
	size_t i;

	memset(&row, 0, sizeof(row));
	row.fd = -1;
	if (!path_clean(host) || look_one(host, &row) == -1)
		return path_clean(host) ? -1 : 0;
	if (row.fd != -1)
		close(row.fd);
	row.fd = -1;
	for (i = 0; i < l->sv->nexec && row.type == SURVEY_DIR; i++)
		if (l->sv->exec[i].kind == kind &&
		    strcmp(l->sv->exec[i].row.real, row.real) == 0)
			row.type = SURVEY_NONE; /* it is known already */
	if (row.type == SURVEY_DIR) {
		if ((e = survey_add_exec(l->sv, kind, rule, "")) == NULL)
			return -1;
		survey_row_move(&e->row, &row);
		return 0;
	}
	survey_row_free(&row);
	return 0;
}

/*
 * The directory that holds the loader, and the same below /usr where these
 * are not one: ld.so(8) looks there without being told. What is in other
 * directories of ld.so.conf needs a "library".
 */
static int
look_system(struct looking *l, size_t rule, const char *loader)
{
	static const char *const tops[] = {"", "/usr"};
	char dir[2 * PATH_MAX_LEN];
	int len = (int)(strrchr(loader, '/') - loader);
	size_t i, n = strncmp(loader, "/usr/", 5) == 0 ? 1 : 2;

	for (i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "%s%.*s", tops[i], len, loader);
		if (look_dir(l, EXEC_SYSTEM, rule, dir) == -1)
			return -1;
		/* taken before what they stand for, and no second choice */
		strcat(dir, "/glibc-hwcaps");
		if (look_dir(l, EXEC_OWN, rule, dir) == -1)
			return -1;
	}
	return 0;
}

/* PREFIX/lib/NAME of PREFIX/bin/NAME, where language runtimes keep theirs. */
static int
look_own(struct looking *l, size_t rule, const char *program)
{
	static const char *const libs[] = {"lib", "lib64"};
	const char *name = strrchr(program, '/') + 1;
	char dir[2 * PATH_MAX_LEN];
	size_t i, top = (size_t)(name - program);

	if (top < 5 || strncmp(name - 5, "/bin/", 5) != 0)
		return 0;
	for (i = 0; i < 2; i++) {
		snprintf(dir, sizeof(dir), "%.*s/%s/%s", (int)(top - 5),
		    program, libs[i], name);
		if (look_dir(l, EXEC_OWN, rule, dir) == -1)
			return -1;
	}
	return 0;
}

/* The file that was looked at, for reading; -1 if it cannot be. */
static int
reopen(const struct survey_row *r)
{
	struct stat st;
	int fd;

	fd = mountapi_openat2(AT_FDCWD, r->real,
	    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, RESOLVE_NO_SYMLINKS);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM))
		fd = open(r->real,
		    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == r->dev &&
	    st.st_ino == r->ino)
		return fd;
	close(fd);
	return -1;
}

/* 1 and the path of its loader, 0 if it has none, -1 if it is not for here. */
static int
read_loader(int fd, char path[ELF_PATH])
{
	uint8_t head[ELF_HEAD], table[ELF_TABLE * ELF_SEGMENT];
	struct elf_place p;
	ssize_t n;
	int r;

	n = pread(fd, head, sizeof(head), 0);
	if (n < 0 || (r = elf_table(head, (size_t)n, &p)) == -1)
		return -1;
	if (r == 0)
		return 0;
	if (pread(fd, table, p.len, (off_t)p.at) != (ssize_t)p.len)
		return -1;
	if ((r = elf_loader(table, p.len, &p)) != 1)
		return r;
	if (pread(fd, path, p.len, (off_t)p.at) != (ssize_t)p.len ||
	    strnlen(path, p.len) != p.len - 1 || !path_clean(path))
		return -1;
	return 1;
}

static int
is_known_loader(const struct looking *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->sv->nexec; i++)
		if (l->sv->exec[i].kind == EXEC_LOADER &&
		    strcmp(l->sv->exec[i].guest, path) == 0)
			return 1;
	return 0;
}

static int
look_interpreter(struct looking *l, size_t rule)
{
	struct survey_exec *e;
	char path[ELF_PATH], program[PATH_MAX_LEN + 1];
	int fd, has;

	e = look_guest(l, EXEC_INTERPRETER, rule, l->po->rules[rule].text);
	if (e == NULL || e->row.type != SURVEY_FILE)
		return e == NULL ? -1 : 0;
	if ((fd = reopen(&e->row)) == -1) {
		e->fault = EXEC_UNREADABLE;
		return 0;
	}
	has = read_loader(fd, path);
	close(fd);
	if (has == -1)
		e->fault = EXEC_FOREIGN;
	if (has != 1)
		return 0;
	strcpy(program, e->row.real); /* the rows may move */
	if (!is_known_loader(l, path)) {
		if ((e = look_guest(l, EXEC_LOADER, rule, path)) == NULL)
			return -1;
		if (e->row.type == SURVEY_FILE) {
			strcpy(path, e->row.real);
			if (look_system(l, rule, path) == -1)
				return -1;
		}
	}
	return look_own(l, rule, program);
}

int
look_exec(const struct policy *po, struct survey *sv, struct failure *f)
{
	struct looking l = {po, sv, f};
	struct confine c;
	size_t i;
	int r = 0;

	f->what[0] = '\0';
	if (confine_join(po, &c) == -1)
		return failure_set(f, CAUSE_OTHER, "the exec lock");
	for (i = 0; i < c.ninterpreters && r == 0; i++)
		r = look_interpreter(
		    &l, (size_t)(c.interpreters[i] - po->rules));
	for (i = 0; i < c.nlibraries && c.interpreters != NULL && r == 0; i++)
		if (look_guest(&l, EXEC_LIBRARY,
			(size_t)(c.libraries[i] - po->rules),
			c.libraries[i]->text) == NULL)
			r = -1;
	confine_free(&c);
	if (r == -1 && f->what[0] == '\0')
		failure_set(f, CAUSE_OTHER, "the exec lock");
	return r;
}
