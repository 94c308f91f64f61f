#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "ipc/limits.h"
#include "ipc/log.h"
#include "parse_help.h"

/*
 * The program itself, as its parent sees it: CARREL_PARSE, or the one of the
 * build directory.
 */

struct run {
	pid_t pid;
	int fd;
	int status;
	struct rusage used;
};

static const char *
program(void)
{
	const char *p = getenv("CARREL_PARSE");

	return p != NULL ? p : "build/libexec/carrel/carrel-parse";
}

/* Starts it with a socket on descriptor 3 and extra, or -1, on 20. */
static void
start(struct run *r, int type, int extra)
{
	char path[] = "carrel-parse", *argv[] = {path, NULL}, *envp[] = {NULL};
	int fd[2];

	ck_assert(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fd) == 0);
	r->pid = fork();
	ck_assert(r->pid != -1);
	if (r->pid == 0) {
		if (extra != -1)
			dup2(extra, 20);
		dup2(fd[1], 3);
		execve(program(), argv, envp);
		_exit(99);
	}
	close(fd[1]);
	r->fd = fd[0];
}

static void
finish(struct run *r)
{
	ck_assert(wait4(r->pid, &r->status, 0, &r->used) == r->pid);
	close(r->fd);
}

static void
converse(struct layout *l, struct run *r, struct policy *po)
{
	struct sender s;
	struct receiver rc;
	char why[TEXT_MAX_LEN] = "";

	start(r, SOCK_SEQPACKET, -1);
	ck_assert(sender_init(&s, r->fd, channel_deadline(10)) == 0);
	ck_assert(request_send(&s, &l->q) == 0);
	ck_assert(receiver_init(
		      &rc, r->fd, channel_deadline(10), record_policy) == 0);
	ck_assert_msg(policy_receive(&rc, po) == 0, "%s", strerror(errno));
	ck_assert_msg(policy_check(po, why, sizeof(why)) == 0, "%s", why);
	sender_free(&s);
	receiver_free(&rc);
	finish(r);
	ck_assert_int_eq(r->status, 0);
}

START_TEST(policy_comes)
{
	struct layout l;
	struct policy po;
	struct run r;

	layout_init(&l);
	converse(&l, &r, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	ck_assert_uint_eq(po.nprofiles, 3);
	ck_assert(policy_find(&po, "/srv/proj") != NULL);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

START_TEST(refusal_comes)
{
	struct layout l;
	struct policy po;
	struct run r;

	layout_init(&l);
	ask(&l, "sys");
	converse(&l, &r, &po);
	expect_refusal(&po, 0, "unknown profile \"sys\"", "write @sys");
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* Without Landlock, too, when a person says so. */
START_TEST(without_landlock)
{
	struct layout l;
	struct policy po;
	struct run r;

	layout_init(&l);
	l.q.flags = REQUEST_WITHOUT_LANDLOCK;
	converse(&l, &r, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* Every kind of refusal and every call that a file can lead to. */
START_TEST(much_text)
{
	struct layout l;
	struct policy po;
	struct run r;
	FILE *f;
	char path[256];
	int i, k;

	layout_init(&l);
	l.q.flags = REQUEST_NO_DEFAULTS;
	for (k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), "%s/%c.profile", l.user, 'a' + k);
		f = fopen(path, "w");
		fprintf(f, "[fs]\n");
		for (i = 0; i < 7000; i++)
			fprintf(f, "read = /srv/data/%d/%d\n", k, i);
		fclose(f);
	}
	ask(&l, "a");
	ask(&l, "b");
	ask(&l, "c");
	converse(&l, &r, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	ck_assert_uint_eq(po.ngrants, 21000);
	policy_free(&po);
	put_file(l.user, "d",
	    "[fs]\ntmpfs = /srv\nread = /x -> /srv/data/0/1\n"
	    "tmpfs = /srv/data/0/2/3\ntmpfs = /proc\n");
	ask(&l, "d");
	converse(&l, &r, &po);
	ck_assert_uint_eq(po.nrefusals, 3);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* A layer may be reached by a link; what the rules hold is the directory. */
START_TEST(linked_layer)
{
	struct layout l;
	struct policy po;
	struct run r;
	char dir[256];

	layout_init(&l);
	put_file(l.user, "a", "[fs]\nread = /x\n");
	snprintf(dir, sizeof(dir), "%s/moved", l.root);
	ck_assert(rename(l.user, dir) == 0 && symlink(dir, l.user) == 0);
	ask(&l, "a");
	converse(&l, &r, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	ck_assert(policy_find(&po, "/x") != NULL);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* A peer that is no parent: it ends, soon and with carrel's own code. */
START_TEST(bad_peers)
{
	static const char junk[] = "no record at all";
	struct run r;

	start(&r, SOCK_SEQPACKET, -1);
	close(r.fd);
	r.fd = dup(0);
	finish(&r);
	ck_assert_int_eq(WEXITSTATUS(r.status), EXIT_CARREL);
	start(&r, SOCK_SEQPACKET, -1);
	ck_assert(send(r.fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0);
	finish(&r);
	ck_assert_int_eq(WEXITSTATUS(r.status), EXIT_CARREL);
}
END_TEST

/* What the parent left open is closed at once, before any request. */
START_TEST(descriptors)
{
	struct run r;
	struct pollfd p;
	int fd[2];

	ck_assert(pipe2(fd, O_CLOEXEC) == 0);
	start(&r, SOCK_SEQPACKET, fd[1]);
	close(fd[1]);
	p.fd = fd[0];
	p.events = POLLIN;
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	ck_assert((p.revents & POLLHUP) != 0);
	ck_assert_int_eq(waitpid(r.pid, &r.status, WNOHANG), 0);
	shutdown(r.fd, SHUT_RDWR);
	finish(&r);
	close(fd[0]);
}
END_TEST

/* A stream does not keep records apart: not even a good request counts. */
START_TEST(wrong_socket)
{
	struct layout l;
	struct sender s;
	struct run r;

	layout_init(&l);
	start(&r, SOCK_STREAM, -1);
	ck_assert(sender_init(&s, r.fd, channel_deadline(10)) == 0);
	request_send(&s, &l.q); /* it may be gone already */
	sender_free(&s);
	shutdown(r.fd, SHUT_WR);
	finish(&r);
	ck_assert_int_eq(WEXITSTATUS(r.status), EXIT_CARREL);
	layout_free(&l);
}
END_TEST

START_TEST(no_socket)
{
	char path[] = "carrel-parse", *argv[] = {path, NULL}, *envp[] = {NULL};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		close(3);
		execve(program(), argv, envp);
		_exit(99);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_int_eq(WEXITSTATUS(status), EXIT_CARREL);
	pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_RDWR);

		dup2(fd, 3);
		execve(program(), argv, envp);
		_exit(99);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_int_eq(WEXITSTATUS(status), EXIT_CARREL);
}
END_TEST

/* COUNT profiles "p0" ..., each made by write_one. */
static void
put_many(struct layout *l, int count, void (*write_one)(FILE *, int, int))
{
	char path[256];
	FILE *f;
	int i;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/p%d.profile", l->user, i);
		ck_assert_ptr_nonnull(f = fopen(path, "w"));
		fprintf(f, "[profile]\n");
		write_one(f, i, count);
		fclose(f);
	}
}

static void
mutual(FILE *f, int i, int count)
{
	int k;

	for (k = 0; k < count; k++)
		if (k != i)
			fprintf(f, "include = p%d\n", k);
}

static void
downward(FILE *f, int i, int count)
{
	for (i++; i < count; i++)
		fprintf(f, "include = p%d\n", i);
}

static void
repeated(FILE *f, int i, int count)
{
	int k;

	for (k = 0; k < 17000; k++)
		fprintf(f, "include = p%d\n", (i + 1) % count);
}

static void
distinct(FILE *f, int i, int count)
{
	int k;

	(void)i;
	(void)count;
	for (k = 0; k < 10000; k++)
		fprintf(f, "include = q%d\n", k);
}

static void
claims(FILE *f, int i, int count)
{
	int k;

	if (i == 0)
		downward(f, i, count);
	fprintf(f, "[fs]\n");
	for (k = 0; k < 9000; k++)
		fprintf(f, "read = /h%d -> /g%d\n", i, k);
}

static void
long_values(FILE *f, int i, int count)
{
	char path[4000];
	int k;

	if (i == 0)
		downward(f, i, count);
	memset(path, 'x', sizeof(path));
	for (k = 0; k < (int)sizeof(path); k += 200)
		path[k] = '/';
	path[sizeof(path) - 1] = '\0';
	fprintf(f, "[fs]\n");
	for (k = 0; k < 60; k++)
		fprintf(f, "read = %s%d\n", path, k + 100 * i);
}

/* However much there is: an answer within a second of work and 64 MiB. */
START_TEST(amounts)
{
	static const struct {
		const char *name;
		int count;
		void (*fn)(FILE *, int, int);
		const char *what; /* NULL: not refused */
	} cases[] = {
	    {"mutual", 500, mutual, "includes form a cycle: p0 -> p1 -> p0"},
	    {"downward", 500, downward, "in a chain"},
	    {"repeated", 500, repeated, "KiB together"},
	    {"distinct", 1, distinct, "includes more than 512 others"},
	    {"claims", 5, claims, "is claimed by profiles that disagree"},
	    {"more claims", 15, claims, "lines in [fs] together"},
	    {"long values", 15, long_values, NULL},
	};
	struct layout l;
	struct policy po;
	struct run r;
	double used;
	size_t i, k;

	for (i = 0; i < NITEMS(cases); i++) {
		layout_init(&l);
		l.q.flags = REQUEST_NO_DEFAULTS;
		put_many(&l, cases[i].count, cases[i].fn);
		ask(&l, "p0");
		converse(&l, &r, &po);
		for (k = 0; cases[i].what != NULL && k < po.nrefusals; k++)
			if (strstr(po.refusals[k].what, cases[i].what) != NULL)
				break;
		ck_assert_msg(
		    cases[i].what == NULL ? po.nrefusals == 0
		    : k<po.nrefusals, "%s: %s", cases[i].name, po.nrefusals> 0
			? po.refusals[0].what
			: "not refused");
		used =
		    (double)(r.used.ru_utime.tv_sec + r.used.ru_stime.tv_sec) +
		    (double)(r.used.ru_utime.tv_usec +
			     r.used.ru_stime.tv_usec) /
			1e6;
		ck_assert_msg(used < 1 && r.used.ru_maxrss < 64 * 1024,
		    "%s: %.2f s, %ld KiB", cases[i].name, used,
		    r.used.ru_maxrss);
		if (getenv("CARREL_T_VERBOSE") != NULL)
			fprintf(stderr, "%s: %.2f s, %ld KiB\n", cases[i].name,
			    used, r.used.ru_maxrss);
		policy_free(&po);
		layout_free(&l);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {policy_comes, refusal_comes,
	    without_landlock, much_text, linked_layer, bad_peers, descriptors,
	    wrong_socket, no_socket, amounts};

	return run_suite("parse", tests, NITEMS(tests));
}
