#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caps.h"
#include "parent/factory.h"
#include "failure.h"
#include "hosted.h"
#include "ipc/log.h"
#include "listen.h"
#include "mountapi.h"
#include "nftables.h"
#include "rtnetlink.h"
#include "start.h"

/*
 * The server of hosted mode, which ends as soon as the new root stands.
 * Whoever asks is the user, and may be his own
 * program: what is done here is safe whatever is asked, in any order. Mounts
 * are made and moved in a mount namespace where only processes with
 * no_new_privs are, so no program with privilege ever sees them.
 */

#define ATTRIBUTES                                                             \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |            \
	    MOUNT_ATTR_NOEXEC)
#define TMPFS_MODES 01777U
#define TERMINALS   "256" /* of /dev/pts; the host has one number for all */

struct server {
	const struct served *served;
	int client;  /* the set-up */
	int pending; /* a mount that is not attached; -1 */
	int proc;    /* the same, of birth(); -1: it was taken */
	int alive;   /* a pidfd of the set-up */
	int factory; /* there is one */
	int root;    /* the first that was moved; -1 */
	int pivoted; /* nothing is left to be done with privilege */
	unsigned asked;
};

/* Each returns the answer's number, or -1 with errno; *give: a descriptor. */
typedef int serve_op(struct server *, const struct op *, int fd, int *give);

/* Kept here as well: what is moved is never what the client sends. */
static int
hold(struct server *s, int mount, int *give)
{
	if (mount == -1)
		return -1;
	if (s->pending != -1)
		close(s->pending);
	s->pending = mount;
	*give = mount;
	return 0;
}

/* What is no device gets no devices. */
static int
is_device(int fd, int *device)
{
	mode_t type;

	if (mountapi_type(fd, &type) == -1)
		return -1;
	*device = S_ISCHR(type) || S_ISBLK(type);
	return 0;
}

/* As the flags of a mount are only ever set, nothing of the host's is lost. */
static int
clone_mount(struct server *s, const struct op *q, int fd, int *give)
{
	uint64_t set = (q->flags & ATTRIBUTES) | MOUNT_ATTR_NOSUID;
	int device;

	if (is_device(fd, &device) == -1)
		return -1;
	if (!device)
		set |= MOUNT_ATTR_NODEV;
	return hold(s, mountapi_clone(fd, set), give);
}

static int
set_mount(struct server *s, const struct op *q, int fd, int *give)
{
	(void)s;
	(void)give;
	return mountapi_set(fd, q->flags & ATTRIBUTES);
}

static int
new_tmpfs(const struct served *who, const struct op *q, uint64_t set)
{
	char size[24], inodes[24], mode[8], uid[16], gid[16];
	const char *const opts[] = {"size", size, "nr_inodes", inodes, "mode",
	    mode, "uid", uid, "gid", gid, NULL};

	snprintf(size, sizeof(size), "%llu", (unsigned long long)q->size);
	snprintf(inodes, sizeof(inodes), "%llu", (unsigned long long)q->inodes);
	snprintf(mode, sizeof(mode), "%o", q->mode & TMPFS_MODES);
	snprintf(uid, sizeof(uid), "%u", (unsigned)who->uid);
	snprintf(gid, sizeof(gid), "%u", (unsigned)who->gid);
	return mountapi_new("tmpfs", opts, set | MOUNT_ATTR_NODEV);
}

static int
new_mount(struct server *s, const struct op *q, int fd, int *give)
{
	static const char *const pts[] = {
	    "ptmxmode", "0666", "max", TERMINALS, NULL};
	uint64_t set = (q->flags & ATTRIBUTES) | MOUNT_ATTR_NOSUID;
	int mount = -1;

	(void)fd;
	switch (q->number) {
	case OP_TMPFS:
		mount = new_tmpfs(s->served, q, set);
		break;
	case OP_DEVPTS: /* its nodes are terminals of this instance alone */
		mount = mountapi_new("devpts", pts, set);
		break;
	case OP_PROC:
		errno = EBUSY;
		mount = s->proc;
		s->proc = -1;
		break;
	default:
		errno = EINVAL;
	}
	return hold(s, mount, give);
}

static int
move_mount_there(struct server *s, const struct op *q, int fd, int *give)
{
	int r;

	(void)q;
	(void)give;
	if (s->pending == -1) {
		errno = EINVAL;
		return -1;
	}
	r = mountapi_move(s->pending, fd, "");
	if (r == 0 && s->root == -1)
		s->root = s->pending;
	else
		close(s->pending);
	s->pending = -1;
	return r;
}

static int
pivot(struct server *s, const struct op *q, int fd, int *give)
{
	(void)q;
	(void)fd;
	(void)give;
	if (s->root == -1 || s->pivoted) {
		errno = EINVAL;
		return -1;
	}
	if (fchdir(s->root) == -1 || mountapi_pivot() == -1 || chdir("/") == -1)
		return -1;
	s->pivoted = 1;
	close(s->root);
	return 0;
}

static int
every_local(struct server *s, const struct op *q, int fd, int *give)
{
	struct failure f;
	int v6;

	(void)s;
	(void)q;
	(void)fd;
	(void)give;
	if (rtnetlink_local(&v6, &f) == -1) {
		errno = f.err;
		return -1;
	}
	return v6;
}

static int
listener(struct server *s, const struct op *q, int fd, int *give)
{
	(void)s;
	(void)fd;
	if (q->address.family != AF_INET && q->address.family != AF_INET6) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	*give = q->flags != 0
		    ? listen_all(q->address.family, q->port, q->udp != 0)
		    : listen_at(&q->address, q->port, q->udp != 0);
	return *give == -1 ? -1 : 0;
}

static int
observer(struct server *s, const struct op *q, int fd, int *give)
{
	(void)s;
	(void)fd;
	if (q->number >= LISTEN_OBSERVERS) {
		errno = EINVAL;
		return -1;
	}
	*give = listen_refused(q->number);
	return *give == -1 ? -1 : 0;
}

static int
divert(struct server *s, const struct op *q, int fd, int *give)
{
	struct failure f;

	(void)s;
	(void)fd;
	(void)give;
	if (nftables_divert(q->port, q->number != 0, &f) == -1) {
		errno = f.err;
		return -1;
	}
	return 0;
}

/* It lives in this network namespace, which is the sandbox's, and no root. */
static int
start_factory(struct server *s, const struct op *q, int fd, int *give)
{
	static const char *const opts[] = {"mode", "500", "size", "4096", NULL};
	int root;
	pid_t pid = -1;

	(void)give;
	errno = EBUSY;
	if (s->factory)
		return -1;
	s->factory = 1;
	root = mountapi_new("tmpfs", opts, MOUNT_ATTR_RDONLY);
	/* the recorder's child, which ends with it and not with this one */
	if (root != -1)
		pid = (pid_t)syscall(
		    SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		if (fchdir(root) == -1 || chroot(".") == -1)
			_exit(1);
		factory_serve(fd, q->number != 0);
	}
	if (root != -1)
		close(root);
	return pid == -1 ? -1 : 0;
}

#define ADMIN CAPS_BIT(CAP_SYS_ADMIN)
#define NET   CAPS_BIT(CAP_NET_ADMIN)
#define BIND  CAPS_BIT(CAP_NET_BIND_SERVICE)

/* What is in effect while each is done, and whether it works on something. */
static const struct {
	serve_op *function;
	uint64_t caps;
	int fd;
} table[OP_LAST + 1] = {
    [OP_CLONE] = {clone_mount, ADMIN, 1},
    [OP_SET] = {set_mount, ADMIN, 1},
    [OP_NEW] = {new_mount, ADMIN, 0},
    [OP_MOVE] = {move_mount_there, ADMIN, 1},
    [OP_PIVOT] = {pivot, ADMIN, 0},
    [OP_LOCAL] = {every_local, NET, 0},
    [OP_LISTEN] = {listener, BIND | NET, 0},
    [OP_OBSERVE] = {observer, CAPS_BIT(CAP_NET_RAW), 0},
    [OP_DIVERT] = {divert, NET, 0},
    [OP_FACTORY] = {start_factory,
	ADMIN | CAPS_BIT(CAP_SYS_CHROOT) | CAPS_BIT(CAP_SETPCAP) | BIND, 1},
};

static int
legal(const struct server *s, const struct op *q, size_t nfds)
{
	return q->type > 0 && q->type <= OP_LAST && s->asked < OP_MAX &&
	       !s->pivoted && nfds == (size_t)table[q->type].fd;
}

/* One question, one answer. 0 when the set-up has no more, or misbehaves. */
static int
answer(struct server *s)
{
	struct op_answer a = {.err = EPERM};
	struct op q;
	int fds[PASS_FDS], give = -1, n;
	size_t nfds;
	ssize_t len;

	len = pass_receive(s->client, &q, sizeof(q), fds, &nfds);
	if (len == sizeof(q) && legal(s, &q, nfds)) {
		s->asked++;
		n = -1;
		if (caps_raise(table[q.type].caps) == 0)
			n = table[q.type].function(
			    s, &q, nfds > 0 ? fds[0] : -1, &give);
		a.err = n == -1 ? errno : 0;
		a.number = n;
		if (caps_raise(0) == -1)
			_exit(EXIT_CARREL);
	} else
		len = -1;
	while (nfds > 0)
		close(fds[--nfds]);
	if (pass_send(s->client, &a, sizeof(a), &give, give != -1) == -1)
		len = -1;
	if (give != -1 && give != s->pending)
		close(give);
	return len > 0;
}

/* The recorder is answered in any case. */
static int
begin(struct server *s, int recorder, struct birth *b)
{
	struct born born = {.err = 0};

	born.pid = birth(s->served, b, recorder, &s->client, &s->proc);
	if (born.pid == -1 ||
	    (s->alive = (int)syscall(SYS_pidfd_open, born.pid, 0)) == -1)
		born.err = errno;
	while (b->nfds > 0)
		close(b->fds[--b->nfds]);
	if (pass_send(
		recorder, &born, sizeof(born), &s->alive, s->alive != -1) == -1)
		return -1;
	return born.err == 0 ? 0 : -1;
}

/* Whether there is a question. Whoever else may ask, it ends with the set-up.
 */
static int
asked(const struct server *s)
{
	struct pollfd p[2] = {{.fd = s->client, .events = POLLIN},
	    {.fd = s->alive, .events = POLLIN}};
	int n;

	do
		n = poll(p, 2, -1);
	while (n == -1 && errno == EINTR);
	return n > 0 && p[1].revents == 0;
}

void
serve(const struct served *served, struct birth *b, int recorder)
{
	static struct server s = {
	    .client = -1, .pending = -1, .proc = -1, .alive = -1, .root = -1};
	int fd;

	s.served = served;
	if (caps_server() == -1 || begin(&s, recorder, b) == -1)
		_exit(EXIT_CARREL);
	close(recorder);
	for (fd = 0; fd <= 2; fd++)
		close(fd); /* the set-up has them now */
	while (!s.pivoted && asked(&s) && answer(&s))
		;
	_exit(0);
}
