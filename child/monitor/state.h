#ifndef CARREL_STATE_H
#define CARREL_STATE_H

#include <sys/types.h>

/*
 * The user's state, DIR/carrel below XDG_STATE_HOME or ~/.local/state: which
 * versions of profiles were violated (S76), and by what. A version that was is
 * a file of the name of its digest in flagged/; a run that had violations is
 * one in runs/. Nothing there is ever read here, so that no state file can
 * stop a run or make it err: carrel-screen reads them, without privilege.
 */
struct state {
	const char *path; /* DIR/carrel */
	const char *run;  /* of this process, hex */
	uid_t uid;
	int err; /* why it cannot be kept; 0: it can */
};

/* 1 if this version was violated before. */
int state_flagged(const struct state *, const char *digest);

/*
 * A file in DIR/carrel/SUB, whole or not at all. begin makes what is missing,
 * and of the files that are there leaves the youngest max - 1. Returns a
 * descriptor to write to, or -1 with errno; end with good gives it its name,
 * in place of an older one. 0, or -1 with errno. Before that it has none, so a
 * run that is killed leaves nothing; but where the file system has no
 * O_TMPFILE, or two system calls from replacing a file, it leaves temp. Such a
 * one goes with a later begin.
 */
struct state_file {
	int fd, dir;
	int named; /* as temp */
	char temp[80], name[80];
};
int state_begin(const struct state *, const char *sub, const char *name,
    size_t max, struct state_file *);
int state_end(struct state_file *, int good);

#endif
