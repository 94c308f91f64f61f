#ifndef CARREL_PROTECT_H
#define CARREL_PROTECT_H

struct caller;
struct failure;
struct install;
struct policy;
struct start;
struct survey;

/*
 * S7: the places that the next run trusts. Fills caller->protect: the
 * directories of profiles and configuration, of the host and of the user (as
 * this environment has it, and as one without XDG_CONFIG_HOME would),
 * carrel's programs, and the file given with -f (or NULL); each also without
 * symlinks.
 */
void protect_find(const struct install *, const struct start *,
    const char *pack, struct caller *);

/*
 * The same for a login (S103): what the host itself runs for this user, or
 * takes for his word, outside of any sandbox.
 */
void protect_login(struct caller *);

/*
 * After look_survey(): judges each GRANT_OWN that is absent, for what is not
 * there cannot be protected. With make, the user's own directory is made, as
 * the user, so that no payload can; without, its row says what would be
 * made (ino 0). What nobody with these credentials can make is marked shut;
 * all else stays absent, and the plan refuses it. 0 or -1.
 */
int protect_missing(const struct policy *, struct survey *,
    const struct caller *, int make, struct failure *);

/* 1 if protect_missing() may make something. */
int protect_makes(
    const struct policy *, const struct survey *, const struct caller *);

#endif
