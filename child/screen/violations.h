#ifndef CARREL_SCREEN_VIOLATIONS_H
#define CARREL_SCREEN_VIOLATIONS_H

#include "kept_dir.h"

/*
 * The life of carrel-screen for `violations`: what the state directory has,
 * or all of one run if it is not "". Returns the exit code: 0, or 1 if that
 * run is not there or something could not be read.
 */
int violations_run(const char *dir, int json, const char *run);

#define VIOLATIONS_JSON_MAX (32UL << 20) /* of one answer */

/* What is shown of a flag. */
enum violations_now {
	NOW_UNKNOWN, /* the profile cannot be read */
	NOW_SAME,    /* it is this version: each run of it warns */
	NOW_OTHER
};
enum violations_now violations_now(const struct kept_file *);

/* "2026-11-30 12:00:00" of the caller's zone; JSON has UTC. Returns buf. */
#define VIOLATIONS_TIME_LEN 40
char *violations_time(uint64_t ms, char buf[VIOLATIONS_TIME_LEN], int utc);

/* violations_json.c: a document of one line; to be freed. */
char *violations_json_list(
    const struct kept_dir *flagged, const struct kept_dir *runs);
char *violations_json_one(const struct kept *);

#endif
