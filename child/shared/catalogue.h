#ifndef CARREL_CATALOGUE_H
#define CARREL_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/policy.h"
#include "ipc/sha256.h"

struct rcur;
struct receiver;
struct sender;
struct wbuf;

/*
 * What is installed: every profile of every layer and the configuration, line
 * by line as they are written, for a screen that starts nothing. A file that
 * cannot be read or does not parse is an item with a fault, and no line. The
 * parser sends it instead of a policy (REQUEST_CATALOGUE), and it is no input
 * to anything but screens.
 */

#define CATALOGUE_VERSION 1

enum item_kind {
	ITEM_LAYER = 1, /* a directory of profiles */
	ITEM_CONFIG,
	ITEM_PROFILE,
	ITEM_LAST = ITEM_PROFILE
};

enum item_state {
	ITEM_GOOD = 1,
	ITEM_ABSENT, /* of a layer or configuration: it is not there */
	ITEM_BAD,    /* a fault says why */
	ITEM_STATE_LAST = ITEM_BAD
};

struct catalogue_item {
	char *name;		     /* of a profile, '@' and all; else "" */
	char *file;		     /* where it lies */
	char digest[SHA256_HEX + 1]; /* of a profile that was read; or "" */
	uint8_t kind, state, layer;
};

#define CATALOGUE_NOWHERE 0xffffffffU /* what carrel has built in */

#define LINE_COUNTS 0x01 /* a preference that is in force */
#define LINE_WRITES 0x02 /* of [fs]: it may be written inside */
#define LINE_FLAGS  0x03

/* A line of an item; one without a key opens its section. */
struct catalogue_line {
	uint32_t item; /* index, or CATALOGUE_NOWHERE */
	uint32_t number;
	uint8_t flags;
	char *section, *key, *value;
	/*
	 * What it comes to for this caller: of [fs] the path inside, of
	 * [egress] the rule as egress_text() has it; "" if it has none, or
	 * cannot be said without a target.
	 */
	char *inside;
};

struct catalogue_fault {
	uint8_t verdict; /* 0: of a file; 1: of the profiles asked for */
	struct refusal refusal;
};

struct catalogue {
	struct catalogue_item *items; /* by kind; profiles by name and layer */
	size_t nitems;
	struct catalogue_line *lines; /* by item and number; NOWHERE last */
	size_t nlines;
	struct catalogue_fault *faults;
	size_t nfaults;
};

void catalogue_free(struct catalogue *); /* the contents */

/*
 * Appends copies: 0, or -1 with errno and nothing was added; E2BIG: it is
 * full.
 */
int catalogue_add_item(struct catalogue *, const struct catalogue_item *);
int catalogue_add_line(struct catalogue *, const struct catalogue_line *);
int catalogue_add_fault(
    struct catalogue *, unsigned verdict, const struct refusal *);

/*
 * The stream record_catalogue. send flushes. receive: 0 and a catalogue to be
 * freed, whose every field was checked, or -1 with errno and nothing.
 */
int catalogue_send(struct sender *, const struct catalogue *);
int catalogue_receive(struct receiver *, struct catalogue *);

/* One record of the stream, into the catalogue. 0 or -1. */
int catalogue_get(unsigned type, struct rcur *, struct catalogue *);

#endif
