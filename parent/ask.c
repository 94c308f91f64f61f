#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "config.h"
#include "helper.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/request.h"
#include "options.h"

#define PARSER "carrel-parse"

static char *
join(const char *dir, const char *name)
{
	char *p;

	if (asprintf(&p, "%s/%s", dir, name) == -1)
		fatal("out of memory");
	return p;
}

static void
send_request(int fd, const struct request *q)
{
	struct sender s;

	if (sender_init(&s, fd, channel_deadline(PARSER_SECONDS)) == -1 ||
	    request_send(&s, q) == -1)
		fatal("cannot ask " PARSER ": %s", strerror(errno));
	sender_free(&s);
}

void
ask_start(const struct install *in, struct asked *a)
{
	char *argv[] = {(char[]){PARSER}, NULL};
	int pair[2];

	if (channel_pair(pair) == -1)
		fatal("socketpair: %s", strerror(errno));
	a->pid = helper_start(in, PARSER, argv, pair[1]);
	a->fd = pair[0];
	close(pair[1]);
}

void
ask_send(const struct asked *a, const struct install *in,
    const struct options *o, const struct start *st, const struct caller *c)
{
	char *config = account_config_dir(st, c);
	struct request q;

	memset(&q, 0, sizeof(q));
	q.flags = (o->no_defaults ? REQUEST_NO_DEFAULTS : 0) |
		  (o->without_landlock ? REQUEST_WITHOUT_LANDLOCK : 0);
	q.shipped = (char *)in->shipped; /* borrowed, as select and caller */
	q.host = join(CARREL_SYSCONFDIR, "profiles.d");
	q.host_config = join(CARREL_SYSCONFDIR, "carrel.conf");
	q.user = join(config, "profiles.d");
	q.user_config = join(config, "config");
	q.select = o->select;
	q.nselect = o->nselect;
	q.caller = *c;
	send_request(a->fd, &q);
	free(q.host);
	free(q.host_config);
	free(q.user);
	free(q.user_config);
	free(config);
}
