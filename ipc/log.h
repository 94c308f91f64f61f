#ifndef CARREL_LOG_H
#define CARREL_LOG_H

/*
 * Messages for a person on standard error, one line each, in the form
 * "carrel: ...". Every argument may hold untrusted text: the whole line goes
 * through text_escape().
 */

#define EXIT_CARREL 125 /* carrel itself failed or refused */

void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* log_warn, and exit(EXIT_CARREL). For rooms only, never below them. */
void fatal(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

struct refusal;

/* "carrel: PROFILE (FILE:LINE): WHAT; FIX" */
void log_refusal(const struct refusal *);

#endif
