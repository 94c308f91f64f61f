#ifndef CARREL_INIT_H
#define CARREL_INIT_H

struct limits;
struct plan;
struct setup;

/*
 * Pid 1 inside (pid_namespaces(7)): starts the payload, reaps whatever is
 * orphaned, does what the monitor says, and ends with the payload or when
 * the monitor is gone or the wall time is over. With it the kernel ends
 * everything inside. It can do no more than the payload by the time it gets
 * here.
 */
void init_run(const struct setup *, const struct plan *, const struct limits *)
    __attribute__((noreturn));

#endif
