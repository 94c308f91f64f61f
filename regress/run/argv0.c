#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * argv0 MODE PROGRAM [ARG...]: executes PROGRAM with an argument list that
 * no shell can make. MODE none: no argument at all; empty: one empty string;
 * empties: three of them; name=X: X and ARG.... The environment is passed
 * on as it is.
 */
int
main(int argc, char **argv)
{
	char nil[] = "", *none[] = {NULL}, *empty[] = {nil, NULL};
	char *empties[] = {nil, nil, nil, NULL};
	char **list = NULL, *program;

	program = argc >= 3 ? argv[2] : NULL;
	if (argc >= 3 && strcmp(argv[1], "none") == 0)
		list = none;
	else if (argc >= 3 && strcmp(argv[1], "empty") == 0)
		list = empty;
	else if (argc >= 3 && strcmp(argv[1], "empties") == 0)
		list = empties;
	else if (argc >= 3 && strncmp(argv[1], "name=", 5) == 0) {
		list = argv + 2;
		list[0] = argv[1] + 5;
	}
	if (list == NULL) {
		fprintf(stderr, "usage: argv0 MODE PROGRAM [ARG...]\n");
		return 2;
	}
	execv(program, list);
	perror(program);
	return 2;
}
