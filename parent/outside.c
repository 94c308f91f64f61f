#include <errno.h>
#include <unistd.h>

#include "factory.h"
#include "helper.h"
#include "ipc/channel.h"
#include "outside.h"

#define BROKER "carrel-broker"

int
outside_broker(struct outside *o, const struct install *in, int broker)
{
	char *argv[] = {(char[]){BROKER}, NULL};
	int pair[2];

	if (channel_pair(pair) == -1)
		return -1;
	o->broker = helper_serve(in, BROKER, argv, broker, pair[1]);
	o->events = pair[0];
	close(pair[1]);
	return 0;
}

int
outside_factory(struct outside *o, int factory)
{
	if ((o->factory = fork()) == -1)
		return -1;
	if (o->factory == 0) {
		if (setpgid(0, 0) == -1)
			_exit(1);
		factory_run(factory);
	}
	return 0;
}
