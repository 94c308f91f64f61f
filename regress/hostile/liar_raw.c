#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/limits.h"
#include "liar.h"

/*
 * Lies below the level of the policy: datagrams, descriptors, lists that no
 * honest sender could make, and what a process can do beside sending.
 */

/* rights TYPE COUNT RECORD: that record comes with descriptors. */
static int
a_descriptor(const char *type)
{
	int pair[2];

	if (strcmp(type, "null") == 0)
		return open("/dev/null", O_RDWR);
	if (strcmp(type, "dir") == 0)
		return open("/", O_RDONLY | O_DIRECTORY);
	if (strcmp(type, "path") == 0)
		return open("/etc", O_PATH);
	if (strcmp(type, "memfd") == 0)
		return memfd_create("lie", 0);
	if (strcmp(type, "peer") == 0)
		return PEER;
	if (strcmp(type, "self") == 0)
		return (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (strcmp(type, "socket") == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		return pair[0];
	if (strcmp(type, "pipe") == 0 && pipe(pair) == 0)
		return pair[0];
	return -1;
}

static void
rights(const struct liar *l)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(253 * sizeof(int))];
	} ctl;
	size_t at = (size_t)arg(l, 3) % l->n, n = (size_t)arg(l, 2) % 254;
	struct iovec iov = {.iov_base = l->rec[at], .iov_len = l->len[at]};
	struct msghdr m = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = ctl.space,
	    .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c;
	int fd = a_descriptor(l->word[1]);
	size_t i;

	memset(&ctl, 0, sizeof(ctl));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	if (fd == -1)
		broken(l->word[1]);
	put_records(l, 0, at, 0);
	if (sendmsg(PEER, &m, MSG_NOSIGNAL) == -1)
		broken("sendmsg");
	put_records(l, at + 1, l->n, 0);
}

/* All records in one datagram; returns its length. */
static size_t
joined(const struct liar *l, uint8_t *data)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		memcpy(data + n, l->rec[i], l->len[i]);
		n += l->len[i];
	}
	return n;
}

/* stop N: the first N bytes of the stream, as one datagram. */
static void
stop_at(const struct liar *l)
{
	static uint8_t data[DATAGRAM_MAX];
	size_t n = joined(l, data);

	if ((size_t)arg(l, 1) >= n)
		_exit(77); /* the test asks until there is no more */
	put(data, (size_t)arg(l, 1));
}

/* again TYPE, in END's own datagram or after it: the first of that type. */
static void
again(const struct liar *l, int together)
{
	static uint8_t data[2 * DATAGRAM_MAX];
	size_t i, n = joined(l, data);
	uint16_t type;

	for (i = 0; i < l->n; i++) {
		memcpy(&type, l->rec[i], sizeof(type));
		if (type == (uint16_t)arg(l, 1))
			break;
	}
	if (i == l->n)
		broken("no such record");
	if (together) {
		memcpy(data + n, l->rec[i], l->len[i]);
		put(data, n + l->len[i]);
	} else {
		put(data, n);
		put(l->rec[i], l->len[i]);
	}
}

/* hollow WHEN: an empty datagram first, after END, or there with more. */
static void
hollow(const struct liar *l)
{
	long when = arg(l, 1);

	if (when == 0 && send(PEER, "", 0, MSG_NOSIGNAL) == -1)
		broken("send");
	put_records(l, 0, l->n, 0);
	if (when > 0 && send(PEER, "", 0, MSG_NOSIGNAL) == -1)
		broken("send");
	if (when > 1)
		put_records(l, 1, 2, 0);
	if (when > 2)
		sleep(60);
}

/* Where string k of a record begins: its length; 0 if it has none. */
static size_t
string_at(const struct liar *l, size_t i, long k)
{
	/* fields in front of the first string; the number after the second */
	static const size_t first[] = {
	    [RECORD_PROFILE] = 0, [RECORD_GRANT] = 2, [RECORD_REFUSAL] = 0};
	const uint8_t *p = l->rec[i];
	size_t at;
	uint16_t n, type;
	long s;

	memcpy(&type, p, sizeof(type));
	if (type < RECORD_PROFILE || type > RECORD_REFUSAL)
		broken("a record without strings");
	at = RECORD_HEADER + first[type];
	for (s = 0; s < k; s++) {
		memcpy(&n, p + at, sizeof(n));
		at += sizeof(n) + n + 1U;
		if (type == RECORD_REFUSAL && s == 1)
			at += sizeof(uint32_t);
	}
	return at + sizeof(n) < l->len[i] ? at : 0;
}

/* string OP RECORD K [VALUE] */
static int
lie_string(struct liar *l)
{
	size_t i = (size_t)arg(l, 2) % l->n, at = string_at(l, i, arg(l, 3));
	uint8_t *p = l->rec[i] + at;
	uint16_t n;

	memcpy(&n, p, sizeof(n));
	if (at == 0 || (n == 0 && strcmp(l->word[1], "length") != 0))
		broken("no such string");
	if (strcmp(l->word[1], "nul") == 0) {
		p[sizeof(n) + n / 2] = '\0';
	} else if (strcmp(l->word[1], "unended") == 0) {
		p[sizeof(n) + n] = 'x';
	} else if (strcmp(l->word[1], "length") == 0) {
		n = (uint16_t)arg(l, 4);
		memcpy(p, &n, sizeof(n));
	} else {
		return -1;
	}
	return 0;
}

/* count RECORD VALUE: the length of its list (no include, one claim). */
static void
lie_count(struct liar *l)
{
	size_t i = (size_t)arg(l, 1) % l->n;
	uint16_t n = (uint16_t)arg(l, 2), type;
	size_t back = sizeof(n);

	memcpy(&type, l->rec[i], sizeof(type));
	if (type == RECORD_GRANT)
		back += 7; /* profile, verb, line */
	memcpy(l->rec[i] + l->len[i] - back, &n, sizeof(n));
}

/* Streams that are made here, because no honest sender could. */

static void
one_profile(struct sender *s, unsigned i, unsigned includes)
{
	struct wbuf *w = sender_begin(s, RECORD_PROFILE);
	char name[NAME_MAX_LEN + 1];
	unsigned k;

	snprintf(name, sizeof(name), "p%08u", i);
	wbuf_str(w, name);
	wbuf_str(w, "/p.profile");
	wbuf_str(w, "");
	wbuf_str(w, "");
	wbuf_str(w, "0123456789abcdef0123456789abcdef"
		    "0123456789abcdef0123456789abcdef");
	wbuf_u8(w, LAYER_USER);
	wbuf_u8(w, PROFILE_ASKED);
	wbuf_u16(w, (uint16_t)includes);
	for (k = 0; k < includes; k++)
		wbuf_u16(w, (uint16_t)k);
	(void)sender_end(s);
}

static void
one_grant(struct sender *s, const char *guest, unsigned kind, unsigned origins)
{
	static const uint8_t verbs[] = {0, VERB_READ, VERB_TMPFS, VERB_SYMLINK};
	struct wbuf *w = sender_begin(s, RECORD_GRANT);
	unsigned k;

	wbuf_u8(w, (uint8_t)kind);
	wbuf_u8(w, 0);
	wbuf_str(w, guest);
	wbuf_str(w, "/usr/share");
	wbuf_u64(w, 0);
	wbuf_u16(w, (uint16_t)origins);
	for (k = 0; k < origins; k++) {
		wbuf_u16(w, 0);
		wbuf_u8(w, verbs[kind]);
		wbuf_u32(w, k + 1);
	}
	(void)sender_end(s);
}

static void
one_refusal(struct sender *s, unsigned i)
{
	struct wbuf *w = sender_begin(s, RECORD_REFUSAL);

	wbuf_str(w, "p");
	wbuf_str(w, "/p.profile");
	wbuf_u32(w, i);
	wbuf_str(w, "no");
	wbuf_str(w, "stop it");
	(void)sender_end(s);
}

static void
end(struct sender *s, unsigned profiles, unsigned grants, unsigned refusals)
{
	struct wbuf *w = sender_begin(s, RECORD_POLICY_END);

	wbuf_u8(w, refusals > 0);
	wbuf_u32(w, profiles);
	wbuf_u32(w, grants);
	wbuf_u32(w, 0); /* claims on variables */
	wbuf_u32(w, 0); /* rules */
	wbuf_u32(w, refusals);
	wbuf_u32(w, 0); /* reasons that were not kept */
	if (sender_end(s) == -1 || sender_flush(s) == -1)
		exit(0); /* the parent has heard enough */
}

static void
begin(struct sender *s)
{
	struct wbuf *w;

	if (sender_init(s, PEER, channel_deadline(60)) == -1)
		broken("sender");
	w = sender_begin(s, RECORD_POLICY);
	wbuf_u16(w, POLICY_VERSION);
	wbuf_str(w, ""); /* the prompt */
	(void)sender_end(s);
}

/* lots WHAT N: a list of that length, in a policy that is fine otherwise. */
static int
lots(const struct liar *l)
{
	const char *w = l->word[1];
	unsigned i, n = (unsigned)arg(l, 2);
	unsigned profiles = 1, grants = 0, refusals = 0;
	char guest[64];
	struct sender s;

	begin(&s);
	if (strcmp(w, "profiles") == 0)
		profiles = n;
	for (i = 0; i < profiles; i++)
		one_profile(&s, i, strcmp(w, "includes") == 0 ? n : 0);
	if (strcmp(w, "origins") == 0) {
		one_grant(&s, "/zz", GRANT_BIND, n);
		grants = 1;
	} else if (strcmp(w, "grants") == 0) {
		for (; grants < n; grants++) {
			snprintf(guest, sizeof(guest), "/zz%08u", grants);
			one_grant(&s, guest, GRANT_BIND, 1);
		}
	} else if (strcmp(w, "refusals") == 0) {
		for (; refusals < n; refusals++)
			one_refusal(&s, refusals);
	}
	end(&s, profiles, grants, refusals);
	return 0;
}

/*
 * deep N ORIGINS: as many grants with paths as long as they may be, none of
 * them wrong but the last one.
 */
static void
deep(const struct liar *l)
{
	char guest[PATH_MAX_LEN + 1];
	unsigned i, n = (unsigned)arg(l, 1);
	size_t k;
	struct sender s;

	for (k = 0; k + 16 < PATH_MAX_LEN; k += 2)
		memcpy(guest + k, "/a", 2);
	begin(&s);
	one_profile(&s, 0, 0);
	for (i = 0; i < n; i++) {
		snprintf(guest + k, sizeof(guest) - k, "/%08u", i);
		one_grant(&s, guest, GRANT_BIND, (unsigned)arg(l, 2));
	}
	one_grant(&s, "/proc/x", GRANT_BIND, 1);
	end(&s, 1, n + 1, 0);
}

/* bushy N: that many links, each below directories of its own. */
static void
bushy(const struct liar *l)
{
	char guest[PATH_MAX_LEN + 1];
	unsigned i, n = (unsigned)arg(l, 1);
	size_t k;
	struct sender s;

	begin(&s);
	one_profile(&s, 0, 0);
	for (i = 0; i < n; i++) {
		k = (size_t)snprintf(guest, sizeof(guest), "/%08u", i);
		for (; k + 3 < PATH_MAX_LEN; k += 2)
			memcpy(guest + k, "/a", 3);
		one_grant(&s, guest, GRANT_SYMLINK, 1);
	}
	end(&s, 1, n, 0);
}

/* kill WHOM SIGNAL: the parent itself, or its other children. */
static void
kill_whom(const struct liar *l)
{
	char path[64], line[512], *p;
	pid_t parent = getppid(), pid;
	struct dirent *e;
	DIR *d;
	FILE *f;

	usleep(200000); /* until there is somebody */
	if (strcmp(l->word[1], "parent") == 0) {
		(void)kill(parent, (int)arg(l, 2));
		sleep(1);
	}
	if ((d = opendir("/proc")) == NULL)
		broken("/proc");
	while ((e = readdir(d)) != NULL) {
		pid = (pid_t)atoi(e->d_name);
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (pid <= 0 || pid == getpid() ||
		    (f = fopen(path, "r")) == NULL)
			continue;
		if (fgets(line, sizeof(line), f) != NULL &&
		    (p = strrchr(line, ')')) != NULL &&
		    atoi(p + 4) == (int)parent)
			(void)kill(pid, (int)arg(l, 2));
		fclose(f);
	}
	closedir(d);
	put_records(l, 0, l->n, 0);
}

/* quiet N CLOSE: N records, then nothing more, with the socket shut or not */
static void
quiet(const struct liar *l)
{
	put_records(l, 0, (size_t)arg(l, 1) % (l->n + 1), 0);
	if (arg(l, 2) == 1)
		close(PEER);
	if (arg(l, 2) == 2)
		(void)shutdown(PEER, SHUT_RDWR);
	sleep(60);
}

/*
 * die HOW ORDER N: after N records it ends by signal HOW, or with exit code
 * -HOW. ORDER 1: a child keeps the socket open, so that the parent hears of
 * the end first; 2: the socket closes first.
 */
static void
die(const struct liar *l)
{
	int how = (int)arg(l, 1);

	put_records(l, 0, (size_t)arg(l, 3) % (l->n + 1), 0);
	if (arg(l, 2) == 1 && fork() == 0) {
		close(0);
		close(1);
		close(2);
		usleep(500000);
		_exit(0);
	}
	if (arg(l, 2) == 2) {
		close(PEER);
		usleep(300000);
	}
	if (how > 0)
		(void)raise(how);
	_exit(-how);
}

int
liar_raw(struct liar *l)
{
	const char *w = l->word[0];

	if (strcmp(w, "rights") == 0)
		rights(l);
	else if (strcmp(w, "stop") == 0)
		stop_at(l);
	else if (strcmp(w, "again") == 0 || strcmp(w, "again-joined") == 0)
		again(l, w[5] != '\0');
	else if (strcmp(w, "hollow") == 0)
		hollow(l);
	else if (strcmp(w, "lots") == 0)
		return lots(l);
	else if (strcmp(w, "deep") == 0)
		deep(l);
	else if (strcmp(w, "bushy") == 0)
		bushy(l);
	else if (strcmp(w, "kill") == 0)
		kill_whom(l);
	else if (strcmp(w, "die") == 0)
		die(l);
	else if (strcmp(w, "quiet") == 0)
		quiet(l);
	else if (strcmp(w, "string") == 0 && lie_string(l) == 0)
		put_records(l, 0, l->n, 0);
	else if (strcmp(w, "count") == 0) {
		lie_count(l);
		put_records(l, 0, l->n, 0);
	} else
		return -1;
	return 0;
}
