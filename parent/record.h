#ifndef CARREL_RECORD_LOG_H
#define CARREL_RECORD_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rusage;

/*
 * Records of hosted mode's recorder for the host's log, which the kernel stamps
 * with uid 0: /dev/log (facility authpriv, RFC 3164), and where nobody listens
 * there the kernel's own log, /dev/kmsg (kernel: Documentation/ABI/testing/
 * dev-kmsg). Each has the user's uid in front.
 */

#define RECORD_TEXT_MAX 4096  /* bytes of a record of the monitor's */
#define RECORDS_MAX	10000 /* that it may have written in one run */
#define RECORD_WAIT_MS	2000  /* for room in a log, in all of a run */
#define RECORD_ROUND	64
#define RECORD_KMSG_MAX 900 /* bytes that the kernel takes for one */

struct record {
	uid_t uid;
	int log;    /* /dev/log, or -1 */
	int kmsg;   /* -1: there is /dev/log */
	int waited; /* ms */
	unsigned written;
	uint64_t lost;
};

/* 0; or -1, and there is no log to write to. */
int record_open(struct record *, uid_t);
void record_close(struct record *);

/* One record of the monitor's, as below. */
void record_take(struct record *, const char *, size_t len);

/*
 * What came from the monitor: a severity of syslog(3), a digit, and the rest of
 * the record, all printable ASCII and not like record_end()'s; else it is not
 * written, but counted as lost. At most RECORD_ROUND at once. 0 when there will
 * be no more (fd -1: likewise), else 1. Never waits for fd.
 */
int record_from(struct record *, int fd);

/* Milliseconds of a clock that only goes forward. */
int64_t record_now(void);

/*
 * That the run is over, with its wait status and what it used. It waits as
 * long as all others of the run may, and goes to /dev/kmsg if that was in vain.
 */
void record_end(struct record *, int status, const struct rusage *);

#endif
