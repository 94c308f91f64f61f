#ifndef CARREL_SCREEN_VIOLATIONS_H
#define CARREL_SCREEN_VIOLATIONS_H

#include "kept_dir.h"

struct catalogue;

/*
 * The life of carrel-screen for `violations`: what the state directory has.
 * Returns the exit code: 0, or 1 if something could not be read.
 */
int violations_run(const char *dir, int json);

/*
 * All of one run, and what its profiles allowed, as far as they are installed
 * in that version. 1 if the run is not there.
 */
int violations_one(
    const char *dir, int json, const char *run, const struct catalogue *);

/* One run, of a directory to be freed then; NULL: it was said that it is not
   there, and nothing is to be freed. */
const struct kept *violations_find(
    struct kept_dir *, const char *dir, const char *run);

/* The item of the catalogue that is this version of a profile, or NULL. */
const struct catalogue_item *violations_version(
    const struct catalogue *, const struct kept_profile *);

#define VIOLATIONS_JSON_MAX (32UL << 20) /* of one answer */

/* 1 for a line that grants or bounds something. */
struct catalogue_line;
int violations_grants(const struct catalogue_line *);

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
char *violations_json_one(const struct kept *, const struct catalogue *);

#endif
