#ifndef CARREL_PARSER_CLAIM_H
#define CARREL_PARSER_CLAIM_H

#include <stddef.h>
#include <stdint.h>

struct policy;
struct request;
struct selection;

/* One line of one profile, expanded: what it wants at a guest path. */
struct claim {
	char *guest;
	char *source; /* as in struct grant */
	uint64_t size;
	uint32_t line;
	uint16_t profile; /* index in the selection and in the policy */
	uint8_t kind, verb;
	uint8_t output; /* a tool of the profile declares it (tier.h) */
};

struct claims {
	struct claim *list;
	size_t n;
};

void claims_free(struct claims *);

/*
 * All claims of a selection, sorted by guest, what they want, and who wants
 * it. 0, or -1 after refusals: then the list (to be freed all the same) holds
 * those that could be made.
 */
int claims_gather(const struct request *, const struct selection *,
    struct policy *, struct claims *);

/* 1 if two claims want the same thing at the same guest path. */
int claims_agree(const struct claim *, const struct claim *);

#endif
