#include "child/monitor/launch.h"
#include "start.h"

int
main(int argc, char **argv, char **envp)
{
	struct start st;

	start_normalise(argc, argv, envp, &st);
	return launch(argc, argv, &st);
}
