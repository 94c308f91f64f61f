/*
 * The words of mkfilter's tables and their numbers, as the compiler that made
 * this program has them. mkfilter itself runs where the build does.
 */
#include <stdio.h>

#include "child/setup/filter/names.h"

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		printf("%s 0x%x\n", constants[i].name,
		    (unsigned)constants[i].value);
	return sizeof(newer) > 0 ? 0 : 1;
}
