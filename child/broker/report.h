#ifndef BROKER_REPORT_H
#define BROKER_REPORT_H

#include <stdint.h>

struct broker_rule;
struct loop;
struct watch;

/*
 * What the payload was refused, told to the monitor (child/shared/event.h).
 * Never waits: what finds no room is counted, and the count is told when there
 * is room.
 */
struct report {
	int fd;
	uint32_t lost;
	struct watch *again; /* started while lost is not 0 */
	char **used;	     /* what was told; NULL: none is to be */
	size_t nused;
};

/* 0 or -1. fd stays the caller's. */
int report_init(struct report *, struct loop *, int fd);

/* rule: whose it was, NULL if none matched. err: what the payload got. */
void report_refused(struct report *, const struct broker_rule *rule,
    const char *action, int err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* What a rule allows did not work, and why: no violation. */
void report_unreached(struct report *, const struct broker_rule *rule,
    const char *action, int err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* --uses: what is allowed and used, each resource once; USES_TOLD of them. */
#define USES_TOLD 1024
int report_uses(struct report *); /* it is wanted: 0, or -1 */
void report_used(struct report *, const struct broker_rule *rule,
    const char *action, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A quota made the payload wait, or lose something. */
void report_limit(struct report *, const char *action, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* So many refusals were never seen. */
void report_lost(struct report *, uint32_t);

#endif
