#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor_parts.h"
#include "ipc/limits.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define WORLD 0002
#define GROUP 0020

/* Who can change it, beside root and the caller. */
static enum judged
judge_owner(
    const struct stat *st, const char *path, struct cell *c, struct cell *fix)
{
	if ((st->st_mode & WORLD) != 0 &&
	    (!S_ISDIR(st->st_mode) || (st->st_mode & S_ISVTX) == 0)) {
		cell_add(c, ": everybody can change it");
		cell_add(fix, "chmod go-w ");
		cell_quote(fix, path);
		return JUDGED_NO;
	}
	if (st->st_uid != 0 && st->st_uid != getuid()) {
		cell_addf(c,
		    ": uid %u, whose it is, can change what a sandbox of "
		    "yours is",
		    (unsigned)st->st_uid);
		cell_add(fix, "as root chown root ");
		cell_quote(fix, path);
		return JUDGED_NOTE;
	}
	if ((st->st_mode & GROUP) != 0 && st->st_gid != 0) {
		cell_addf(c, ": group %u can change it", (unsigned)st->st_gid);
		cell_add(fix, "chmod g-w ");
		cell_quote(fix, path);
		return JUDGED_NOTE;
	}
	return JUDGED_OK;
}

/* type: S_IFREG or S_IFDIR; mode: of access(2). 1 if all is well. */
static int
check(
    struct visit *v, const char *path, const char *what, mode_t type, int mode)
{
	struct cell c = {0}, fix = {0};
	enum judged as = JUDGED_NO;
	struct stat st;
	int err = 0;

	cell_add(&c, what);
	cell_add(&c, " ");
	cell_quote(&c, path);
	if (stat(path, &st) == -1 || access(path, mode) == -1)
		err = errno;
	else if ((st.st_mode & S_IFMT) != type)
		err = type == S_IFDIR ? ENOTDIR : EINVAL;
	/* see child/monitor/helper.c: another name may be writable inside */
	else if (type == S_IFREG && st.st_nlink != 1 && st.st_uid != 0) {
		cell_add(&c, ": it has a second name, a hard link");
		cell_add(&fix, "install carrel again (make install)");
	} else
		as = judge_owner(&st, path, &c, &fix);
	if (err != 0) {
		cell_addf(&c, ": %s", strerror(err));
		cell_add(&fix, "install carrel again (make install)");
	}
	if (as == JUDGED_OK)
		cell_free(&c);
	else
		doctor_say(v, "files", as, &c, &fix);
	return as == JUDGED_OK;
}

static int
check_in(struct visit *v, const char *dir, const char *name, const char *what,
    int mode)
{
	char path[PATH_MAX_LEN + 1];
	struct cell c = {0}, fix = {0};
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	if (n >= 0 && (size_t)n < sizeof(path))
		return check(v, path, what, S_IFREG, mode);
	cell_addf(&c, "%s %s: the path of it is too long", what, name);
	cell_add(&fix, "install carrel where its path is shorter (make "
		       "install PREFIX=DIR)");
	doctor_say(v, "files", JUDGED_NO, &c, &fix);
	return 0;
}

void
doctor_files(struct visit *v)
{
	static const char *const helpers[] = {
	    "carrel-parse", "carrel-screen", "carrel-broker"};
	static const char *const shipped[] = {
	    "sys.profile", "home.profile", "target.profile"};
	struct cell c = {0}, fix = {0};
	size_t i;
	int ok;

	ok = check(v, v->program, "program", S_IFREG, X_OK);
	ok &= check(v, v->libexec, "directory", S_IFDIR, X_OK);
	for (i = 0; i < NITEMS(helpers); i++)
		ok &= check_in(v, v->libexec, helpers[i], "helper", X_OK);
	ok &= check(v, v->shipped, "directory", S_IFDIR, R_OK | X_OK);
	for (i = 0; i < NITEMS(shipped); i++)
		ok &= check_in(
		    v, v->shipped, shipped[i], "shipped profile", R_OK);
	if (!ok)
		return;
	cell_add(&c, "files: ");
	cell_quote(&c, v->program);
	cell_addf(&c,
	    ", its %zu helpers and the shipped profiles are there, "
	    "and nobody else's to change",
	    NITEMS(helpers));
	doctor_say(v, "files", JUDGED_OK, &c, &fix);
}
