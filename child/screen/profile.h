#ifndef CARREL_SCREEN_PROFILE_H
#define CARREL_SCREEN_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/policy.h"

struct findings;
struct json;
struct out;

/* profile validate, lint and test: one profile is looked at. */
struct profiled {
	const char *verb;
	int strict, json;
	const char *what;    /* the NAME or the FILE, as it was asked for */
	const char *program; /* carrel, for the runs of test */
	const char *target;
	char *const *settings; /* NAME=value or NAME: HOME and others */
	struct policy policy;
	size_t subject; /* the index of the profile; SIZE_MAX: there is none */
};

/*
 * The arguments behind "profile": VERB, the pid of carrel-parse, which is this
 * process's child and answers on fd, "strict" or "", "json" or "text", what,
 * program, target, settings. Returns the exit code: 1 if there is an error.
 */
int profile_run(int argc, char *const *argv, int fd);

/*
 * The key of a line of a profile, for a person who looks for it: "fs.read",
 * "tool fmt.needs"; "profile" if there is no such line. Of what this reads
 * nothing but the key's own letters is in buf.
 */
void profile_key(const char *file, uint32_t line, char *buf, size_t len);

/* What is told, for a person or for a program: the other one is NULL. */
struct profile_report {
	struct out *o;
	struct json *j;
	size_t errors, warnings;
};

/* A message: word is "err", "warn" or "ok". It is counted. */
void profile_say(struct profile_report *, const char *word, const char *key,
    const char *file, uint32_t line, const char *text);

/* profile test: runs the examples. What is wrong is added. */
void profile_test(
    const struct profiled *, struct profile_report *, struct findings *);

#endif
