/*
 * Bytes over TCP, for measurements and for the tests of connections that last.
 *
 *	pump serve ADDRESS PORT			until it is killed
 *	pump up|down ADDRESS PORT SECONDS N	N streams: MB/s
 *	pump conn ADDRESS PORT SECONDS N	N at a time: connections a
 *second pump ping ADDRESS PORT SECONDS N	one byte and back: median in us
 *	pump put|get ADDRESS PORT SECONDS N	N MiB in one stream, each word
 *of which says where it stands pump hold ADDRESS PORT SECONDS N	N
 *connections, one byte over each; then silence until stdin ends
 *
 * Prints "ready" when it serves or holds, else one number, or for put and get
 * the bytes that were right; after SECONDS it gives up with 1. Nobody but its
 * own server is spoken to.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM	(128 * 1024) /* bytes at a time */
#define STREAMS 1024
#define SHORT	1024	      /* bytes of a connection of "conn" */
#define PINGS	(1 << 20)     /* that are remembered */
#define STACK	(2048 * 1024) /* of a thread: several ROOMs */

/* The first byte of a connection says what it is. */
enum {
	UP = 'u',
	DOWN = 'd',
	CONN = 'c',
	PING = 'p',
	PUT = 'P',
	GET = 'G'
};

static struct sockaddr_storage target;
static socklen_t target_len;
static double seconds;
static volatile sig_atomic_t over; /* time is up */
static double speeds[STREAMS];

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int
set_target(const char *address, const char *port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&target;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&target;

	if (inet_pton(AF_INET, address, &in->sin_addr) == 1) {
		target.ss_family = AF_INET;
		in->sin_port = htons((uint16_t)atoi(port));
		target_len = sizeof(*in);
		return 0;
	}
	target.ss_family = AF_INET6;
	in6->sin6_port = htons((uint16_t)atoi(port));
	target_len = sizeof(*in6);
	return inet_pton(AF_INET6, address, &in6->sin6_addr) == 1 ? 0 : -1;
}

static int
send_all(int fd, const void *data, size_t n)
{
	const char *p = data;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k)
		if ((k = send(fd, p, n, MSG_NOSIGNAL)) == -1)
			return -1;
	return 0;
}

static int
receive_all(int fd, void *data, size_t n)
{
	char *p = data;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k)
		if ((k = recv(fd, p, n, 0)) <= 0)
			return -1;
	return 0;
}

/* Words that say where they stand, from the offset at on. */
static void
fill(uint64_t *words, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		words[i] = (at / 8 + i) * 0x9e3779b97f4a7c15ULL;
}

/* 0 if n bytes went out. */
static int
send_words(int fd, uint64_t n)
{
	uint64_t words[ROOM / 8], at, part;

	for (at = 0; at < n; at += part) {
		part = n - at < ROOM ? n - at : ROOM;
		fill(words, sizeof(words) / 8, at);
		if (send_all(fd, words, part) == -1)
			return -1;
	}
	return 0;
}

/* How many came until the end or the first that is wrong. */
static uint64_t
receive_words(int fd)
{
	uint64_t words[ROOM / 8], want[ROOM / 8], at = 0;
	ssize_t k;

	while ((k = recv(fd, words, sizeof(words), MSG_WAITALL)) > 0) {
		fill(want, sizeof(want) / 8, at);
		if (memcmp(words, want, (size_t)k) != 0)
			break;
		at += (uint64_t)k;
	}
	return at;
}

static uint64_t
count_bytes(int fd)
{
	char data[ROOM];
	uint64_t n = 0;
	ssize_t k;

	while ((k = recv(fd, data, sizeof(data), 0)) > 0)
		n += (uint64_t)k;
	return n;
}

static void
serve_ping(int fd)
{
	char c;

	while (recv(fd, &c, 1, 0) == 1 && send(fd, &c, 1, MSG_NOSIGNAL) == 1)
		;
}

static void *
serve_one(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char kind, data[ROOM] = {0};
	uint64_t n;

	if (receive_all(fd, &kind, 1) == -1)
		kind = 0;
	switch (kind) {
	case UP:
	case PUT:
		n = kind == UP ? count_bytes(fd) : receive_words(fd);
		(void)send_all(fd, &n, sizeof(n));
		break;
	case DOWN:
		while (send_all(fd, data, sizeof(data)) == 0)
			;
		break;
	case GET:
		if (receive_all(fd, &n, sizeof(n)) == 0)
			(void)send_words(fd, n);
		break;
	case CONN:
		if (receive_all(fd, data, SHORT - 1) == 0)
			(void)send_all(fd, data, SHORT);
		break;
	case PING:
		serve_ping(fd);
		break;
	}
	close(fd);
	return NULL;
}

static void
thread(pthread_t *t, void *(*f)(void *), intptr_t arg)
{
	pthread_attr_t a;
	pthread_t own;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK);
	if (t == NULL)
		pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	if (pthread_create(t == NULL ? &own : t, &a, f, (void *)arg) != 0)
		errx(1, "no more threads");
	pthread_attr_destroy(&a);
}

static void
no_delay(int fd)
{
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static _Noreturn void
serve(void)
{
	int fd, on = 1, s = socket(target.ss_family, SOCK_STREAM, 0);

	if (s == -1 ||
	    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    bind(s, (struct sockaddr *)&target, target_len) == -1 ||
	    listen(s, 4096) == -1)
		err(1, "listen");
	puts("ready");
	fflush(stdout);
	for (;;) {
		if ((fd = accept(s, NULL, NULL)) == -1)
			err(1, "accept");
		no_delay(fd);
		thread(NULL, serve_one, fd);
	}
}

static int
dial(char kind)
{
	int fd = socket(target.ss_family, SOCK_STREAM, 0);

	if (fd == -1 ||
	    connect(fd, (struct sockaddr *)&target, target_len) == -1)
		err(1, "connect");
	no_delay(fd);
	if (send_all(fd, &kind, 1) == -1)
		err(1, "send");
	return fd;
}

static void *
up(void *arg)
{
	int fd = dial(UP);
	char data[ROOM] = {0};
	double began = now();
	uint64_t n = 0;

	while (!over)
		if (send_all(fd, data, sizeof(data)) == -1)
			err(1, "send");
	shutdown(fd, SHUT_WR);
	if (receive_all(fd, &n, sizeof(n)) == -1)
		err(1, "no count came back");
	speeds[(intptr_t)arg] = (double)n / (now() - began);
	close(fd);
	return NULL;
}

static void *
down(void *arg)
{
	int fd = dial(DOWN);
	char data[ROOM];
	double began = now();
	uint64_t n = 0;
	ssize_t k;

	while (!over) {
		if ((k = recv(fd, data, sizeof(data), 0)) <= 0 && !over)
			err(1, "recv");
		n += (uint64_t)(k > 0 ? k : 0);
	}
	speeds[(intptr_t)arg] = (double)n / (now() - began);
	close(fd);
	return NULL;
}

static void *
conn(void *arg)
{
	char data[SHORT] = {0}, end;
	double began = now();
	uint64_t n;
	int fd;

	for (n = 0; !over; n++) {
		fd = dial(CONN);
		if (send_all(fd, data, SHORT - 1) == -1 ||
		    receive_all(fd, data, SHORT) == -1 ||
		    recv(fd, &end, 1, 0) != 0)
			err(1, "a short connection");
		close(fd);
	}
	speeds[(intptr_t)arg] = (double)n / (now() - began);
	return NULL;
}

static double
streams(void *(*f)(void *), int n)
{
	pthread_t t[STREAMS];
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		thread(&t[i], f, i);
	usleep((useconds_t)(seconds * 1e6));
	over = 1;
	for (i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += speeds[i];
	}
	return f == conn ? sum : sum / 1e6;
}

static int
smaller(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
ping(void)
{
	float *took = malloc(PINGS * sizeof(*took));
	double end = now() + seconds, t;
	int fd = dial(PING);
	size_t n = 0;
	char c = 0;

	if (took == NULL)
		errx(1, "out of memory");
	while ((t = now()) < end && n < PINGS) {
		if (send_all(fd, &c, 1) == -1 || receive_all(fd, &c, 1) == -1)
			err(1, "ping");
		took[n++] = (float)((now() - t) * 1e6);
	}
	qsort(took, n, sizeof(*took), smaller);
	t = took[n / 2];
	free(took);
	return t;
}

static uint64_t
put(uint64_t n)
{
	int fd = dial(PUT);
	uint64_t got = 0;

	if (send_words(fd, n) == -1 || shutdown(fd, SHUT_WR) == -1 ||
	    receive_all(fd, &got, sizeof(got)) == -1)
		err(1, "put");
	return got;
}

static uint64_t
get(uint64_t n)
{
	int fd = dial(GET);

	if (send_all(fd, &n, sizeof(n)) == -1)
		err(1, "get");
	return receive_words(fd);
}

static void
hold(int n)
{
	char c = 0;
	int i, fd;

	for (i = 0; i < n; i++) {
		fd = dial(PING);
		if (send_all(fd, &c, 1) == -1 || receive_all(fd, &c, 1) == -1)
			err(1, "connection %d", i);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

int
main(int argc, char *argv[])
{
	struct rlimit r;
	int n = argc == 6 ? atoi(argv[5]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (argc < 4 || set_target(argv[2], argv[3]) == -1 || n < 0)
		errx(2, "see the head of pump.c");
	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
	if (strcmp(what, "serve") == 0)
		serve();
	if (argc != 6)
		errx(2, "see the head of pump.c");
	seconds = atof(argv[4]);
	if (strcmp(what, "put") == 0 || strcmp(what, "get") == 0) {
		alarm((unsigned)seconds);
		printf("%llu\n", (unsigned long long)(*what == 'p' ? put : get)(
				     (uint64_t)n << 20));
	} else if (strcmp(what, "hold") == 0) {
		alarm((unsigned)seconds);
		hold(n);
	} else if (strcmp(what, "ping") == 0)
		printf("%.2f\n", ping());
	else if (n > 0 && n <= STREAMS)
		printf("%.2f\n", streams(*what == 'u'	? up
					 : *what == 'd' ? down
							: conn,
				     n));
	return 0;
}
