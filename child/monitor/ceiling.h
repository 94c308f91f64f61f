#ifndef CARREL_MONITOR_CEILING_H
#define CARREL_MONITOR_CEILING_H

#include <stddef.h>
#include <stdint.h>

struct asked;
struct caller;
struct ceiling;
struct install;
struct options;

#define CEILING_FILE CARREL_SYSCONFDIR "/ceiling.conf"

/*
 * The ceiling of this host (S102), read by a carrel-parse of its own, which
 * gets the open file and sees nothing else. Each of these ends the program
 * where the file is there and cannot be trusted, read or asked for.
 */

/* The open file, or -1: this host has none. */
int ceiling_open(void);

/*
 * Starts who reads it; file is closed. It is told who calls, but for what the
 * environment says of that: {home} is the database's. In hosted mode the
 * program must not be readable, or its caller could trace it from the start.
 */
void ceiling_ask(struct asked *, const struct install *, const struct options *,
    const struct caller *, int file);

/* Its whole answer, and how it ended. To be freed. */
void ceiling_hear(const struct asked *, struct ceiling *);

/* 0 and the answer, or an errno. The socket is closed. */
int ceiling_take(int fd, int64_t deadline, struct ceiling *);

/*
 * For a person: that it ended with this wait status, or that ceiling_take()
 * gave this errno. Returns buf.
 */
const char *ceiling_ended(int status, char *buf, size_t len);
const char *ceiling_broken(int err, char *buf, size_t len);

#endif
