#ifndef BROKER_LOOP_H
#define BROKER_LOOP_H

/*
 * The event loop of the broker: libevent, kept behind these names (its own
 * struct event is another than child/shared/event.h's). One thread; a callback
 * may free the watch that it is called for.
 */

#define LOOP_READ    0x01U
#define LOOP_WRITE   0x02U
#define LOOP_EDGE    0x04U /* told once for each change (EPOLLET) */
#define LOOP_TIMEOUT 0x08U

struct loop;
struct watch;

struct loop *loop_new(void); /* NULL: errno */
void loop_free(struct loop *);
/* Until loop_stop(): 0; or -1. */
int loop_run(struct loop *);
void loop_stop(struct loop *);

/* Not started. fd -1: a timer alone. NULL: no memory. */
struct watch *watch_new(struct loop *, int fd, unsigned what,
    void (*call)(unsigned what, void *arg), void *arg);
/* Somebody else is called from now on. */
void watch_give(
    struct watch *, void (*call)(unsigned what, void *arg), void *arg);
void watch_free(struct watch *); /* stops; NULL is nothing. Not the fd. */
/* Until it is stopped, or for a timer once. ms of a timeout, -1: none. 0, -1 */
int watch_start(struct watch *, int ms);
void watch_stop(struct watch *);
/* Once more, after what is waiting now. */
void watch_again(struct watch *, unsigned what);

#endif
