#ifndef CARREL_LOG_H
#define CARREL_LOG_H

#include <stddef.h>

/*
 * Messages for a person on standard error, one line each, in the form
 * "carrel: ...". Every argument may hold untrusted text: the whole line goes
 * through text_escape().
 */

#define EXIT_CARREL 125 /* carrel itself failed or refused */

void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * 1 unless a message would have to wait for its reader: who shares standard
 * error with a payload can be made to.
 */
int log_ready(void);

/* log_warn, and exit(EXIT_CARREL). For rooms only, never below them. */
void fatal(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

struct refusal;

/* "profile NAME (FILE:LINE): WHAT; FIX", raw. Returns buf. */
char *refusal_text(const struct refusal *, char *buf, size_t len);

#endif
