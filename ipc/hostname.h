#ifndef CARREL_HOSTNAME_H
#define CARREL_HOSTNAME_H

#include <stddef.h>

/*
 * Host names (S81): lower-case labels of letters, digits and hyphens, without
 * the trailing dot. What is matched is what is looked up.
 */

#define HOSTNAME_LEN 253 /* of a host name in text (RFC 1035) */

/*
 * The one spelling of len bytes: upper case is made lower, one trailing dot
 * is taken off. -1 for anything that is no host name: an empty or long label,
 * a hyphen at the end of one, any other character, a last label that could
 * be a number, as an address in an odd spelling has.
 */
int hostname_normalise(char dst[HOSTNAME_LEN + 1], const char *src, size_t len);

/*
 * 1 if a normalised name fits a rule's host: the name itself, or "*.SUFFIX"
 * for one or more labels before the suffix. "*" is no pattern of names.
 */
int hostname_match(const char *pattern, const char *name);

#endif
