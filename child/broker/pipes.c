#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipes.h"

int
pipes_init(struct pipes *p)
{
	memset(p, 0, sizeof(*p));
	p->kept = calloc(PIPES_LARGE, sizeof(*p->kept));
	return p->kept == NULL ? -1 : 0;
}

int
pipes_lend(struct pipes *p, struct lent *l)
{
	l->large = p->nkept > 0 || p->nlarge < PIPES_LARGE;
	if (p->nkept > 0) {
		memcpy(l->fd, p->kept[--p->nkept], sizeof(l->fd));
		return 0;
	}
	if (pipe2(l->fd, O_NONBLOCK | O_CLOEXEC) == -1) {
		l->fd[0] = l->fd[1] = -1;
		return -1;
	}
	/* refused beyond the user's share: it is then as large as it is */
	(void)fcntl(l->fd[1], F_SETPIPE_SZ, l->large ? PIPE_BYTES : PIPE_SMALL);
	p->nlarge += l->large != 0;
	return 0;
}

void
pipes_take_back(struct pipes *p, struct lent *l, int is_empty)
{
	if (l->fd[0] == -1)
		return;
	if (l->large && is_empty) {
		memcpy(p->kept[p->nkept++], l->fd, sizeof(l->fd));
	} else {
		close(l->fd[0]);
		close(l->fd[1]);
		p->nlarge -= l->large != 0;
	}
	l->fd[0] = l->fd[1] = -1;
}
