#ifndef CARREL_SCREEN_H
#define CARREL_SCREEN_H

#include <stddef.h>
#include <stdint.h>

struct caller;
struct ceiling;
struct hostenv;
struct policy;
struct rcur;
struct sender;
struct survey;
struct wbuf;

#define SCREEN_VERSION 1

#define SCREEN_COLOUR		0x01 /* the terminal shows colours */
#define SCREEN_WITHOUT_LANDLOCK 0x02 /* --without-landlock */
#define SCREEN_ALLOW_PTRACE	0x04 /* --allow-ptrace */
#define SCREEN_CUT		0x08 /* there were more words than are here */
#define SCREEN_REQUIRE_AUDIT	0x10 /* --require-audit */
#define SCREEN_FLAGS		0x1f

enum screen_mode {
	SCREEN_USER = 1, /* unprivileged user namespaces */
	SCREEN_HOSTED,	 /* installed with privilege */
	SCREEN_MODE_LAST = SCREEN_HOSTED
};

/* How a plan is to be drawn, and what belongs to it beside the policy. */
struct screen_request {
	uint32_t flags;
	uint16_t width; /* columns; 0: not known, for it is no terminal */
	uint8_t mode;
	uint16_t landlock; /* ABI of the kernel, 0 if it has none */
	char *events;	   /* --events, as it was named; "": none */
	char **words;	   /* the payload's command; none: the user's shell */
	size_t nwords;
};

void screen_request_free(struct screen_request *); /* the contents */

/* RECORD_SCREEN. get: 0 and a request to be freed, or -1 and nothing. */
void screen_put(struct wbuf *, const struct screen_request *);
int screen_get(struct rcur *, struct screen_request *);

/*
 * The whole stream record_screen, flushed: 0, or -1 with errno. The survey
 * has a row for each grant, or none at all when the policy was refused before
 * anything was looked at. More than SCREEN_WORDS words, and what is longer
 * than SCREEN_WORD_LEN in one, are cut. Of a ceiling without a file, which is
 * none, nothing is sent; what it imposes is added by the receiver.
 */
int screen_send(struct sender *, const struct screen_request *,
    const struct caller *, const struct hostenv *, const struct ceiling *,
    const struct policy *, const struct survey *);

#endif
