#ifndef CARREL_PAYLOAD_H
#define CARREL_PAYLOAD_H

struct limits;
struct plan;
struct setup;

/* CONTROL_NO_EXEC: why there is no payload. */
enum payload_fault {
	PAYLOAD_NOT_FOUND = 1, /* text: the sandbox's PATH, or "" */
	PAYLOAD_REFUSED,       /* b: errno, text: the file */
	PAYLOAD_INTERPRETER,   /* text: the interpreter, or the file */
	PAYLOAD_LOCKED,	       /* text: the file, which the exec lock refuses */
	PAYLOAD_SETUP	       /* b: errno, text: the step */
};

/*
 * In pid 1's child of vfork(2), which waits: gives the payload what was the
 * caller's (limits, umask, ignored signals) or what is less of it, its process
 * group and the terminal, and executes it by the sandbox's PATH. On failure
 * tells the monitor, sets *failed and exits.
 */
void payload_exec(const struct setup *, const struct plan *,
    const struct limits *, volatile int *failed) __attribute__((noreturn));

#endif
