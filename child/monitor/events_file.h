#ifndef CARREL_EVENTS_FILE_H
#define CARREL_EVENTS_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * --events FILE: lines of JSON, appended, each with one write(2). It is a
 * regular file of the user's with one name, and no symlink. Whether a payload
 * could write it is the set-up's to judge, which knows the grants.
 */
struct events_file {
	int fd;	  /* -1: none, or given up */
	int dir;  /* where it lies, O_PATH */
	int made; /* it was not there before */
	int torn; /* the last line is incomplete */
	char name[NAME_MAX + 1];
	char path[PATH_MAX];  /* without symlinks */
	char named[PATH_MAX]; /* as it was named, from "/" on */
	uint64_t lost;	      /* lines that could not be written */
	int err;	      /* why, at last */
};

/* 0, or -1 and why, with the fix, raw. */
int events_file_open(
    struct events_file *, const char *path, uid_t uid, char *why, size_t len);

/* One line, which ends in a newline: 0, or -1 and it is counted. */
int events_file_write(struct events_file *, const char *line, size_t n);

/*
 * The payload has it, too: one of its standard descriptors is open on the same
 * file. Even one for reading, which /proc/self/fd opens anew.
 */
struct stat;
int events_file_shared(const struct stat *);

/* Closes. With undo a file that was made, and is still the same, goes too. */
void events_file_close(struct events_file *, int undo);

#endif
