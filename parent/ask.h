#ifndef CARREL_ASK_H
#define CARREL_ASK_H

#include <sys/types.h>

struct caller;
struct install;
struct options;
struct start;

/* carrel-parse and the socket on which it is asked and answers. */
struct asked {
	pid_t pid;
	int fd;
};

/* Starts it; it waits for the request. Ends the program if it cannot. */
void ask_start(const struct install *, struct asked *);

/* Sends it what to resolve. Ends the program if that cannot be done. */
void ask_send(const struct asked *, const struct install *,
    const struct options *, const struct start *, const struct caller *);

#endif
