#include <stdio.h>
#include <unistd.h>

#include "status.h"

void
status_start(int fd, const char *run)
{
	if (fd != -1)
		dprintf(
		    fd, "{\"v\":1,\"event\":\"start\",\"run\":\"%s\"}\n", run);
}

void
status_end(int fd, const char *run, const char *by, int code, int sig)
{
	char signal[32] = "";

	if (fd == -1)
		return;
	if (sig != 0)
		snprintf(signal, sizeof(signal), ",\"signal\":%d", sig);
	dprintf(fd,
	    "{\"v\":1,\"event\":\"end\",\"run\":\"%s\",\"by\":\"%s\","
	    "\"code\":%d%s}\n",
	    run, by, code, signal);
}
