#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/kept.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "learn.h"
#include "out.h"

static void
read_all(int fd, struct kept *k)
{
	size_t len = 0;
	ssize_t n;
	char *data = malloc(STATE_FILE_MAX);

	if (data == NULL)
		fatal("out of memory");
	while (len < STATE_FILE_MAX &&
	       (n = read(fd, data + len, STATE_FILE_MAX - len)) != 0) {
		if (n == -1 && errno != EINTR)
			fatal("what was learned: %s", strerror(errno));
		len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	/* k points into the data, for the rest of this process */
	if (kept_read(data, len, k) == -1)
		fatal("what was learned: it is torn");
}

/* Where it goes; standard output is the payload's. */
static void
turn_to(int fd)
{
	if (dup2(fd, STDOUT_FILENO) == -1)
		fatal("what was learned: %s", strerror(errno));
}

static void
say(const struct learned *l, const struct kept *k, const char *name, int out)
{
	size_t rest = l->n - l->proposed;

	if (l->n == 0 && k->lost == 0)
		log_warn("nothing was refused, and nothing was missing that "
			 "this host has: there is nothing to add");
	else if (out != -1)
		log_warn("%zu line%s proposed, and %zu more that are for you "
			 "to judge: %s",
		    l->proposed, l->proposed == 1 ? " is" : "s are", rest,
		    SHOWN(name));
}

int
learn_run(int fd, int json, const struct learn_place *place, int out,
    const char *name)
{
	struct learned l;
	struct kept k;
	char *text;

	read_all(fd, &k);
	learn_lines(&l, &k, place);
	turn_to(out != -1 ? out : STDERR_FILENO);
	if (json || l.n > 0 || k.lost > 0) {
		text = json ? learn_json(&l, &k) : learn_profile(&l, &k);
		out_write(text, strlen(text));
		free(text);
	}
	if (!json || out != -1)
		say(&l, &k, name, out);
	learn_free(&l);
	kept_free(&k);
	return 0;
}
