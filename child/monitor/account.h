#ifndef CARREL_ACCOUNT_H
#define CARREL_ACCOUNT_H

struct caller;
struct options;
struct start;

/*
 * Who calls, where and for which target: the kernel's ids and groups, the
 * rows of passwd(5) and group(5), in user mode also HOME if it is absolute
 * and the caller's own; home_other is what it stands instead of. A uid without
 * a row is "uidN" with the shell /bin/sh. Ends the program when DIR of -C
 * cannot be a target. The result is to be freed with caller_free().
 */
void account_find(
    const struct start *, const struct options *, struct caller *);

/* The home that the database has for this uid, as it is there; or NULL. */
char *account_home(const struct caller *);

/* "DIR/carrel" below XDG_CONFIG_HOME or ~/.config; a new string. */
char *account_config_dir(const struct start *, const struct caller *);
/* The same below XDG_STATE_HOME or ~/.local/state. */
char *account_state_dir(const struct start *, const struct caller *);

#endif
