#ifndef CARREL_MISSING_H
#define CARREL_MISSING_H

struct caller;
struct options;
struct start;

/*
 * Tells the person that the command was not found inside, on which PATH
 * (raw; "" when the command was a path), whether this host has it, and what
 * would grant it. For the monitor: looks at the host without privilege.
 */
void missing_tell(const struct options *, const struct caller *,
    const struct start *, const char *path);

/* If the command is a debugger: that it needs --allow-ptrace. */
void missing_ptrace(const struct options *);

#endif
