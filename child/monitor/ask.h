#ifndef CARREL_ASK_H
#define CARREL_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct caller;
struct install;
struct options;
struct request;
struct start;

/* carrel-parse and the socket on which it is asked and answers. */
struct asked {
	pid_t pid;
	int fd;
	int peer;	  /* its end, until it is started */
	int file;	  /* login.conf, for REQUEST_LOGIN; or -1 */
	uint32_t flags;	  /* REQUEST_*, beside what the options say */
	int64_t deadline; /* PARSER_SECONDS from ask_open(), for everything */
};

/* Makes the socket. Ends this program if it cannot, as those below. */
void ask_open(struct asked *);

/*
 * Sends what to resolve: before the program starts, which then never waits
 * for this process; or, if it is more than a socket holds, after.
 */
void ask_send(struct asked *, const struct install *, const struct options *,
    const struct start *, const struct caller *);

/* The same with a request of one's own. */
void ask_tell(const struct asked *, const struct request *);

/* Starts the program, unless ask_send() did. */
void ask_start(const struct install *, struct asked *);

/* Waits for its end: 0 and its status, or -1 with errno (ETIMEDOUT). */
int ask_wait(const struct asked *, int *status);

/*
 * For a person: what it means that it ended with this wait status, or that
 * policy_receive() gave this errno, and what to do. Returns buf.
 */
const char *ask_ended(int status, char *buf, size_t len);
const char *ask_broken(int err, char *buf, size_t len);

#endif
