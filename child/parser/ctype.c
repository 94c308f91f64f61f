#include <ctype.h>

/*
 * Only in a build with musl. The packaged inih was compiled against glibc,
 * whose isspace(3) reads a table through __ctype_b_loc(): 384 classes of
 * characters, from -128 on (LSB, libc: __ctype_b_loc). inih asks for nothing
 * but white space, so that class alone is filled in, for the C locale.
 */

#define TABLE	    384
#define ZERO	    128	   /* where the character 0 stands */
#define WHITE_SPACE 0x2000 /* _ISspace, little-endian */

const unsigned short **__ctype_b_loc(void);

const unsigned short **
__ctype_b_loc(void)
{
	static unsigned short table[TABLE];
	static const unsigned short *zero = table + ZERO;
	const char *c;

	for (c = " \t\n\v\f\r"; *c != '\0'; c++)
		table[ZERO + (unsigned char)*c] = WHITE_SPACE;
	return &zero;
}
