#ifndef CARREL_ADVICE_H
#define CARREL_ADVICE_H

#include "ipc/egress.h"

struct event;

/*
 * The line of [egress] that would let through what was refused, as
 * "allow = https://example.org:443", where one would and it is likely that it
 * was meant; NULL where there is none. What is said of the event is the
 * payload's choice, so is the line: it is for a person to judge. Never "*".
 * Pure.
 */
#define ADVICE_MAX (EGRESS_TEXT + 32)
const char *advice_for(const struct event *, char buf[ADVICE_MAX]);

#endif
