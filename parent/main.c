#include "child/monitor/launch.h"
#include "hosted.h"
#include "start.h"

int
main(int argc, char **argv, char **envp)
{
	struct start st;
	pid_t pid;
	int server;

	start_normalise(argc, argv, envp, &st);
	server = hosted_split(argc, argv, &st, &pid);
	return launch(argc, argv, &st, server, pid);
}
