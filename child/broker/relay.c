#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "relay.h"

#define SCARCE 4096  /* at a time, where there is no pipe */
#define FEW    65536 /* after fewer bytes there are hardly any more */

void
relay_init(struct half *h, struct end *from, struct end *to)
{
	memset(h, 0, sizeof(*h));
	h->from = from;
	h->to = to;
	h->pipe.fd[0] = h->pipe.fd[1] = -1;
}

void
relay_free(struct half *h, struct pipes *p)
{
	pipes_take_back(p, &h->pipe, h->piped == 0);
	free(h->buf);
	h->buf = NULL;
}

static int
is_busy(int *ready)
{
	if (errno == EAGAIN)
		*ready = 0;
	return errno == EAGAIN || errno == EINTR;
}

static enum relay
send_buffer(struct half *h)
{
	ssize_t n = send(h->to->fd, h->buf, h->pass, MSG_NOSIGNAL);

	if (n == -1)
		return is_busy(&h->to->writable) ? RELAY_MORE : RELAY_RESET;
	h->pass -= (size_t)n;
	h->have -= (size_t)n;
	memmove(h->buf, h->buf + n, h->have);
	if (h->have == 0 && h->look == NULL) {
		free(h->buf);
		h->buf = NULL;
	}
	return RELAY_MORE;
}

static enum relay
send_pipe(struct half *h, struct pipes *p)
{
	ssize_t n = splice(h->pipe.fd[0], NULL, h->to->fd, NULL, h->piped,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n == -1)
		return is_busy(&h->to->writable) ? RELAY_MORE : RELAY_RESET;
	h->piped -= (size_t)n;
	if (h->piped == 0)
		pipes_take_back(p, &h->pipe, 1);
	return RELAY_MORE;
}

static void
went(struct half *h, size_t n)
{
	if (h->unseen_went != NULL)
		h->unseen_went(h, n, h->arg);
}

/*
 * Without a pipe: peeked at, sent, and only what was sent is taken. An urgent
 * byte (MSG_OOB) is passed over.
 */
static enum relay
copy(struct half *h, size_t max)
{
	uint8_t data[SCARCE];
	ssize_t n;

	if (!h->to->writable)
		return RELAY_WAIT;
	n = recv(h->from->fd, data, max < SCARCE ? max : SCARCE, MSG_PEEK);
	if (n == -1)
		return is_busy(&h->from->readable) ? RELAY_MORE : RELAY_RESET;
	if (n == 0) {
		h->eof = 1;
		return RELAY_MORE;
	}
	n = send(h->to->fd, data, (size_t)n, MSG_NOSIGNAL);
	if (n == -1)
		return is_busy(&h->to->writable) ? RELAY_MORE : RELAY_RESET;
	went(h, (size_t)n);
	return recv(h->from->fd, data, (size_t)n, 0) == n ? RELAY_MORE
							  : RELAY_RESET;
}

/*
 * Whether there is more to read, where there is hardly: recv(2) asks for less
 * than splice(2), which would leave the question open, see below.
 */
static enum relay
look_for_more(struct half *h)
{
	uint8_t c;
	ssize_t n = recv(h->from->fd, &c, 1, MSG_PEEK);

	h->few = 0;
	if (n == -1)
		return is_busy(&h->from->readable) ? RELAY_MORE : RELAY_RESET;
	h->eof = n == 0;
	return RELAY_MORE;
}

static enum relay
read_pipe(struct half *h, struct pipes *p, size_t max)
{
	ssize_t n;

	if (h->few)
		return look_for_more(h);
	if (pipes_lend(p, &h->pipe) == -1)
		return copy(h, max);
	n = splice(h->from->fd, NULL, h->pipe.fd[1], NULL,
	    max < PIPE_BYTES ? max : PIPE_BYTES,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n > 0) {
		h->piped = (size_t)n;
		h->few = n < FEW;
		went(h, (size_t)n);
		return RELAY_MORE;
	}
	n = n == -1 && errno != EAGAIN && errno != EINTR ? -1 : 0;
	pipes_take_back(p, &h->pipe, 1);
	/* an urgent byte looks to splice(2) like the end, or like nothing */
	return n == -1 ? RELAY_RESET : copy(h, max);
}

static enum relay
read_buffer(struct half *h)
{
	ssize_t n;

	if (h->have == RELAY_BUFFER)
		return RELAY_BAD; /* whoever looks has smaller bounds */
	n = recv(h->from->fd, h->buf + h->have, RELAY_BUFFER - h->have, 0);
	if (n == -1)
		return is_busy(&h->from->readable) ? RELAY_MORE : RELAY_RESET;
	h->eof = n == 0;
	h->have += (size_t)n;
	return RELAY_MORE;
}

static enum relay
end_of_it(struct half *h)
{
	h->shut = 1;
	/* what the other side has closed already is at its end, too */
	if (shutdown(h->to->fd, SHUT_WR) == -1 && errno != ENOTCONN)
		return RELAY_RESET;
	return RELAY_DONE;
}

/* One step: RELAY_MORE if there may be another. */
static enum relay
step(struct half *h, struct pipes *p)
{
	size_t unseen = SIZE_MAX;
	enum look look = LOOK_MORE;

	if (h->pass > 0 || h->piped > 0) {
		if (!h->to->writable)
			return RELAY_WAIT;
		return h->pass > 0 ? send_buffer(h) : send_pipe(h, p);
	}
	if (h->shut)
		return RELAY_DONE;
	if (h->unseen != NULL)
		unseen = h->unseen(h, h->arg);
	if (h->have > 0) {
		look = h->look(h, h->arg);
		if (look == LOOK_PASS)
			return RELAY_MORE;
		h->pass = 0;
		if (look == LOOK_BAD)
			return RELAY_BAD;
	}
	if (h->eof)
		return end_of_it(h);
	if (!h->from->readable || look == LOOK_WAIT)
		return RELAY_WAIT;
	return unseen > 0 && h->have == 0 ? read_pipe(h, p, unseen)
					  : read_buffer(h);
}

enum relay
relay_run(struct half *h, struct pipes *p)
{
	enum relay r = RELAY_MORE;
	int i;

	for (i = 0; i < RELAY_ROUNDS && r == RELAY_MORE; i++)
		r = step(h, p);
	return r;
}
