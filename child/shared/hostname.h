#ifndef CARREL_HOSTNAME_H
#define CARREL_HOSTNAME_H

#include <stddef.h>

#include "ipc/egress.h"

/*
 * Host names (S81): lower-case labels of letters, digits and hyphens, without
 * the trailing dot. What is matched is what is looked up.
 */

/*
 * The one spelling of len bytes: upper case is made lower, one trailing dot
 * is taken off. -1 for anything that is no host name: an empty or long label,
 * a hyphen at the end of one, any other character, a last label that could
 * be a number, as an address in an odd spelling has.
 */
int hostname_normalise(
    char dst[EGRESS_HOST_MAX + 1], const char *src, size_t len);

#endif
