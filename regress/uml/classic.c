/*
 * classic: stands where a program did that is now called NAME.real, and runs
 * it with a C library that leaves the wide registers alone. A kernel of
 * user-mode-linux that knows only the classic ones loses the others at each
 * page fault; the programs of carrel get an empty environment, so this is the
 * way to tell them. No call of the C library here uses those registers.
 */
#include <stddef.h>
#include <unistd.h>

#include "tunables.h"

int
main(int argc, char **argv)
{
	static char tunables[] = "GLIBC_TUNABLES=" TUNABLES;
	static char path[4096 + sizeof(".real")];
	static const char real[] = ".real";
	char *env[] = {tunables, NULL};
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	size_t i;

	(void)argc;
	for (i = 0; n > 0 && i < sizeof(real); i++)
		path[(size_t)n + i] = real[i];
	execve(path, argv, env);
	return 125;
}
