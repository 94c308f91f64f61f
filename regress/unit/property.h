#ifndef CARREL_REGRESS_PROPERTY_H
#define CARREL_REGRESS_PROPERTY_H

/* What holds for every selection of profiles: what its tests share. */

#include <errno.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "answer.h"
#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "ipc/limits.h"
#include "parse_help.h"

#define TEXT_MAX 8192 /* of a profile that was made up */

/* The bytes that leave the parser. */
struct bytes {
	uint8_t data[4 * DATAGRAM_MAX];
	size_t len;
};

static inline unsigned
pick(unsigned n)
{
	return (unsigned)random() % n;
}

static inline unsigned
seed(void)
{
	const char *s = getenv("CARREL_T_SEED");
	unsigned n = s != NULL ? (unsigned)strtoul(s, NULL, 10) : 1;

	printf("property: CARREL_T_SEED=%u repeats it\n", n);
	fflush(stdout);
	srandom(n);
	return n;
}

static inline void __attribute__((format(printf, 2, 3)))
add(char *text, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, TEXT_MAX - n, fmt, ap);
	va_end(ap);
}

/* What the parser makes of a selection */

/* As the parent receives it, refusals and all. */
static inline void
wire(const struct policy *po, struct bytes *b)
{
	struct sender s;
	ssize_t n;
	int fd[2];

	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert_int_eq(sender_init(&s, fd[0], -1), 0);
	ck_assert_int_eq(policy_send(&s, po), 0);
	sender_free(&s);
	close(fd[0]);
	b->len = 0;
	while ((n = recv(fd[1], b->data + b->len, sizeof(b->data) - b->len,
		    MSG_DONTWAIT)) > 0)
		b->len += (size_t)n;
	ck_assert(b->len > 0 && b->len < sizeof(b->data));
	close(fd[1]);
}

static inline void
select_names(struct layout *l, const char *const *names, size_t n)
{
	size_t i;

	l->q.nselect = 0;
	for (i = 0; i < n; i++)
		ask(l, names[i]);
}

/* The names in another order; n is how many. */
static inline void
shuffle(const char **names, size_t n)
{
	const char *t;
	size_t i, k;

	for (i = n; i > 1; i--) {
		k = pick((unsigned)i);
		t = names[i - 1];
		names[i - 1] = names[k];
		names[k] = t;
	}
}

#endif
