#ifndef CARREL_REMEMBER_H
#define CARREL_REMEMBER_H

struct event;
struct seen_list;
struct state;
struct tell;

/*
 * Puts into the user's state what later runs warn of and carrel violations
 * lists (child/shared/kept.h).
 */

/* Warns if this version of a profile was violated before. */
void remember_warn(const struct state *, const char *digest, const char *name,
    const char *file);

/*
 * The profiles that are charged with this event. At the first one already: it
 * stays if this process is killed.
 */
void remember_flag(struct state *, struct tell *, const struct seen_list *,
    const struct event *);

/* All of a run, at its end. */
void remember_run(
    struct state *, const struct tell *, const struct seen_list *, int code);

/* The same to a descriptor: 0, or -1 with errno. */
int remember_write(
    int fd, const struct tell *, const struct seen_list *, int code);

/* If something of that could not be done one message says so. */
void remember_end(const struct state *);

#endif
