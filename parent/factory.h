#ifndef CARREL_PARENT_FACTORY_H
#define CARREL_PARENT_FACTORY_H

/*
 * The life of the socket factory, in a process of its own: it goes where it
 * is told on this socket (ipc/factory.h), gives up all but binding to low
 * ports there, and makes sockets for the broker. Does not return.
 */
void factory_run(int fd) __attribute__((noreturn));

/*
 * The same of hosted mode's server, whose process is in that network already,
 * and has been locked into an empty root.
 */
void factory_serve(int fd, int any) __attribute__((noreturn));

/* seccomp(2): all that it does from now on is in factory.table. 0 or -1. */
int factory_filter(void);

#endif
