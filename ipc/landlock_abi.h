#ifndef CARREL_LANDLOCK_ABI_H
#define CARREL_LANDLOCK_ABI_H

#include <stdint.h>
#include <sys/syscall.h>

/*
 * Landlock (kernel: Documentation/userspace-api/landlock.rst) as far as the
 * headers of a build may be older than the kernel that runs.
 */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

/* struct landlock_ruleset_attr of ABI 6; older ones end after fs or net. */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};

/* The rights of struct ruleset_attr beyond those of ABI 1, by their ABI. */
#define ACCESS_TRUNCATE	      (1ULL << 14) /* ABI 3 */
#define ACCESS_IOCTL_DEV      (1ULL << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_SOCKET (1ULL << 0)  /* ABI 6 */
#define SCOPE_SIGNAL	      (1ULL << 1)

/* All that an ABI version can take away; a newer one counts as the last. */
static inline struct ruleset_attr
landlock_abi_all(long abi)
{
	static const struct ruleset_attr all[] = {
	    {0, 0, 0}, {(1ULL << 13) - 1, 0, 0}, /* 1: Linux 5.13 */
	    {(1ULL << 14) - 1, 0, 0},		 /* 2: refer */
	    {(1ULL << 15) - 1, 0, 0},		 /* 3: truncate */
	    {(1ULL << 15) - 1, 3, 0},		 /* 4: bind, connect by TCP */
	    {(1ULL << 16) - 1, 3, 0},		 /* 5: ioctl of devices */
	    {(1ULL << 16) - 1, 3, 3},		 /* 6: both scopes */
	};
	const long last = (long)(sizeof(all) / sizeof(all[0])) - 1;

	return all[abi < 0 ? 0 : abi > last ? last : abi];
}

#endif
