#ifndef CARREL_AUDIT_H
#define CARREL_AUDIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Records for the host's log: facility authpriv, a datagram each to /dev/log,
 * in the form that syslog(3) of the C libraries has and every local daemon
 * reads (RFC 3164, 4.1). What follows the tag is key="value" and blanks; in a
 * value what could end it or deceive is \xHH (text_quote()), so that nothing
 * can look like a second record, key or line.
 */

#define AUDIT_LINE_MAX 4096 /* a record, with all */
#define AUDIT_VALUE_MAX                                                        \
	1024 /* a value in it, escaped; what is longer is cut                  \
	      */

enum audit_severity { /* syslog(3) */
	AUDIT_WARNING = 4,
	AUDIT_INFO = 6
};

struct audit {
	int there;     /* there was one when the run began */
	int fd;	       /* -1: it is gone, or never was */
	uint64_t lost; /* records that it did not take */
	int err;       /* why, at last */
	int waited;    /* ms, for all records so far */
	int recorder;  /* fd leads to hosted mode's (parent/record.h) */
};

/*
 * Connects, without waiting; recorder: the socket to it, or -1. 0, or -1 with
 * errno and no log: then everything below does nothing.
 */
int audit_open(struct audit *, int recorder);
void audit_close(struct audit *);

/* A record being put together. */
struct audit_line {
	char text[AUDIT_LINE_MAX];
	size_t len;
	size_t event; /* where what is carrel's own to say begins */
	enum audit_severity severity;
};

void audit_begin(struct audit_line *, enum audit_severity, const char *event);
void audit_text(struct audit_line *, const char *key, const char *raw);
void audit_number(struct audit_line *, const char *key, uint64_t);
/*
 * Words of a command: a blank between them, and in a word it is \x20, as a
 * quote of either kind is \xHH; an empty word is ''.
 */
void audit_words(struct audit_line *, const char *key, char *const *words);

/* 0, or -1: it is counted as lost. Waits that many milliseconds for room. */
int audit_send(struct audit *, const struct audit_line *, int wait);

#endif
