#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/tool.h"
#include "ipc/channel.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "ipc/rule.h"
#include "liar.h"

/*
 * A parser that lies. It is installed in the place of carrel-parse and gets
 * an empty environment, so what to do stands in the file "mode" beside it:
 * one line, a word of the tables below and its arguments. The policy that it
 * starts from is a good one ("honest" sends it as it is): the system's
 * directories, and one more grant, /usr/share at /opt/lie, to be spoilt.
 */

void
broken(const char *what)
{
	fprintf(stderr, "liar: %s: %s\n", what, strerror(errno));
	exit(99);
}

long
arg(const struct liar *l, int i)
{
	if (l->word[i] == NULL)
		broken("an argument is missing");
	return strtol(l->word[i], NULL, 0);
}

static struct grant *
add_bind(struct policy *po, const char *guest, const char *source, uint8_t verb)
{
	struct origin o = {.profile = 0, .verb = verb, .line = 1};
	struct grant *g;

	g = policy_add_grant(po, GRANT_BIND,
	    verb == VERB_TRY_READ ? GRANT_TRY : 0, guest, source, 0);
	if (g == NULL || grant_add_origin(g, &o) == -1)
		broken("grant");
	return g;
}

static void
honest(struct liar *l)
{
	static const char *const dirs[] = {
	    "/bin", "/lib", "/lib64", "/sbin", "/usr"};
	struct policy *po = &l->policy;
	size_t i;

	if (policy_add_profile(po, "@liar", "/liar.profile", LAYER_SHIPPED,
		PROFILE_DEFAULT) == NULL)
		broken("profile");
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		add_bind(po, dirs[i], dirs[i], VERB_TRY_READ);
	add_bind(po, "/opt/lie", "/usr/share", VERB_READ);
	policy_sort(po);
	for (i = 0; i < po->ngrants; i++)
		if (strcmp(po->grants[i].guest, "/opt/lie") == 0)
			l->extra = &po->grants[i];
}

static void
replace(char **s, const char *by)
{
	free(*s);
	if ((*s = strdup(by)) == NULL)
		broken("strdup");
}

/* set FIELD VALUE: one field of the extra grant, or of the profile. */
static int
lie_set(struct liar *l)
{
	const char *f = l->word[1], *v = l->word[2] == NULL ? "" : l->word[2];
	struct profile *p = &l->policy.profiles[0];
	uint8_t n = (uint8_t)strtoul(v, NULL, 0);
	struct grant *g = l->extra;

	if (strcmp(f, "guest") == 0)
		replace(&g->guest, v);
	else if (strcmp(f, "source") == 0)
		replace(&g->source, v);
	else if (strcmp(f, "name") == 0)
		replace(&p->name, v);
	else if (strcmp(f, "file") == 0)
		replace(&p->file, v);
	else if (strcmp(f, "kind") == 0)
		g->kind = n;
	else if (strcmp(f, "flags") == 0)
		g->flags = n;
	else if (strcmp(f, "size") == 0)
		g->size = strtoull(v, NULL, 0);
	else if (strcmp(f, "verb") == 0)
		g->origins[0].verb = n;
	else if (strcmp(f, "profile") == 0)
		g->origins[0].profile = (uint16_t)strtoul(v, NULL, 0);
	else if (strcmp(f, "origins") == 0)
		g->norigins = 0;
	else if (strcmp(f, "layer") == 0)
		p->layer = n;
	else if (strcmp(f, "pflags") == 0)
		p->flags = n;
	else if (strcmp(f, "digest") == 0)
		snprintf(p->digest, sizeof(p->digest), "%s", v);
	else
		return -1;
	if (strcmp(f, "guest") == 0)
		policy_sort(&l->policy);
	return 0;
}

/* grant KIND GUEST SOURCE SIZE: one more, sorted in, claims and all. */
static int
lie_grant(struct liar *l)
{
	static const uint8_t verbs[GRANT_LAST + 1] = {0, VERB_READ, VERB_TMPFS,
	    VERB_SYMLINK, VERB_COMMAND, VERB_SOCKET, VERB_DEVICE};
	struct origin o = {.profile = 0, .line = 2};
	const char *source = strcmp(l->word[3], "-") == 0 ? "" : l->word[3];
	struct grant *g;
	long kind = arg(l, 1);

	if (kind < GRANT_BIND || kind > GRANT_LAST)
		return -1;
	o.verb = verbs[kind];
	g = policy_add_grant(&l->policy, (enum grant_kind)kind, 0, l->word[2],
	    source, (uint64_t)arg(l, 4));
	if (g == NULL || grant_add_origin(g, &o) == -1)
		return -1;
	policy_sort(&l->policy);
	return 0;
}

/* user KIND GUEST SOURCE SIZE: the same by a profile of the user's. */
static int
lie_user(struct liar *l)
{
	replace(&l->policy.profiles[0].name, "liar");
	l->policy.profiles[0].layer = LAYER_USER;
	return lie_grant(l);
}

static void
add_wish(struct policy *po, long verb, const char *name, const char *value)
{
	struct origin o = {.profile = 0, .verb = (uint8_t)verb, .line = 3};
	char *values[1] = {(char *)(uintptr_t)value};
	struct env_claim *c;

	c = policy_add_claim(
	    po, (enum env_verb)verb, name, values, value != NULL);
	if (c == NULL || environ_add_origin(c, &o) == -1)
		broken("claim");
}

/* wish VERB NAME [VALUE]: a claim on a variable, sorted in. */
static int
lie_wish(struct liar *l)
{
	add_wish(&l->policy, arg(l, 1), l->word[2], l->word[3]);
	policy_sort(&l->policy);
	return 0;
}

/*
 * environ MODE...: the mode, but the honest policy has four claims on
 * variables before its end, records 8 to 11.
 */
static void
add_environ(struct liar *l)
{
	add_wish(&l->policy, ENV_SET, "LC_ALL", "C");
	add_wish(&l->policy, ENV_INHERIT, "NO_COLOR", NULL);
	add_wish(&l->policy, ENV_PREPEND, "PATH", "/opt/lie");
	add_wish(&l->policy, ENV_MERGE, "PATH", "/usr/local/bin");
	policy_sort(&l->policy);
	memmove(&l->word[0], &l->word[1], (WORDS - 1) * sizeof(l->word[0]));
	l->word[WORDS - 1] = NULL;
}

/* rule KIND WHAT NUMBER [TEXT]: a rule, sorted in. */
static int
lie_rule(struct liar *l)
{
	static char none[] = "";
	struct rule r = {.kind = (uint8_t)arg(l, 1),
	    .what = (uint8_t)arg(l, 2),
	    .number = strtoull(l->word[3], NULL, 0),
	    .text = l->word[4] == NULL ? none : l->word[4],
	    .line = 4};

	if (policy_add_rule(&l->policy, &r) == NULL)
		return -1;
	policy_sort(&l->policy);
	return 0;
}

/* pack TARGET [GUEST SOURCE VERB]: a pack in front, whose directory that is. */
static int
lie_pack(struct liar *l)
{
	static char none[] = "";
	struct rule r[] = {{.kind = RULE_NO_UNIX},
	    {.kind = RULE_REPORT, .what = REPORT_FS},
	    {.kind = RULE_VIOLATION, .number = VIOLATION_FAIL}};
	struct policy *po = &l->policy;
	struct profile swap;
	size_t i;

	for (i = 0; i < po->ngrants; i++)
		po->grants[i].origins[0].profile = 1;
	if (policy_add_profile(po, "+liar", "/liar.profile", LAYER_PACK,
		PROFILE_ASKED) == NULL)
		return -1;
	swap = po->profiles[0];
	po->profiles[0] = po->profiles[1];
	po->profiles[1] = swap;
	add_bind(po, "/workdir", l->word[1], VERB_READ);
	if (l->word[2] != NULL) {
		add_bind(po, l->word[2], l->word[3], (enum verb)arg(l, 4));
		if (arg(l, 4) == VERB_WRITE)
			po->grants[po->ngrants - 1].flags |= GRANT_WRITE;
	}
	for (i = 0; i < sizeof(r) / sizeof(r[0]); i++) {
		r[i].text = none;
		if (policy_add_rule(po, &r[i]) == NULL)
			return -1;
	}
	policy_sort(po);
	return 0;
}

/* described KIND,EFFECT,EXPECT NAME TEXT NEED [COUNT]: with a tool behind. */
static int
describe(struct liar *l)
{
	struct need need = {.verb = (uint8_t)arg(l, 4), .line = 5};
	struct tool t = {.name = l->word[2],
	    .text = l->word[3],
	    .needs = &need,
	    .nneeds = 1,
	    .line = 4};
	struct sender s;
	long n = l->word[5] == NULL ? 1 : arg(l, 5);
	unsigned kind, effect, expect;

	if (sscanf(l->word[1], "%u,%u,%u", &kind, &effect, &expect) != 3)
		broken("described");
	t.kind = (uint8_t)kind;
	t.effect = (uint8_t)effect;
	t.expect = (uint8_t)expect;
	l->policy.profiles[0].flags = PROFILE_ASKED;

	need.text = (char[]){"/usr"};
	t.input = (char[]){""};
	if (sender_init(&s, PEER, channel_deadline(60)) == -1 ||
	    policy_send(&s, &l->policy) == -1)
		return 98;
	tool_put(sender_begin(&s, RECORD_TOOL), &t);
	if (sender_end(&s) == -1)
		return 98;
	wbuf_u32(sender_begin(&s, RECORD_DESCRIBED_END), (uint32_t)n);
	return sender_end(&s) == -1 || sender_flush(&s) == -1 ? 98 : 0;
}

/* unsorted: two neighbours change places. */
static int
lie_unsorted(struct liar *l)
{
	struct grant *g = l->policy.grants, swap = g[0];

	g[0] = g[1];
	g[1] = swap;
	return 0;
}

/* many WHAT N: that many profiles, grants or refusals more. */
static int
lie_many(struct liar *l)
{
	struct policy *po = &l->policy;
	char text[4096], name[64];
	long i, n = arg(l, 2);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/zz%06ld", i);
		if (strcmp(l->word[1], "grants") == 0)
			add_bind(po, name, "/usr/share", VERB_READ);
		else if (policy_refuse(po, "@liar", "/liar.profile",
			     (uint32_t)i, "fix", "%s", text) == -1)
			return -1;
	}
	return 0;
}

/* refuse TEXT: an honest refusal with a dishonest text; %xx is a byte. */
static int
lie_refuse(struct liar *l)
{
	char *s = l->word[1], *out = s;

	for (; *s != '\0'; s++)
		if (*s == '%') {
			char hex[3] = {s[1], s[2], '\0'};

			*out++ = (char)strtoul(hex, NULL, 16);
			s += 2;
		} else
			*out++ = *s;
	*out = '\0';
	return policy_refuse(&l->policy, l->word[1], "/liar.profile", 1,
	    l->word[1], "%s", l->word[1]);
}

/*
 * ceiling MODE...: to who asks for the ceiling; the policy is an honest one.
 * The honest ceiling covers it: records 0 to 4, of which 1 to 3 are lines.
 */
static void
honest_ceiling(struct liar *l)
{
	static char none[] = "", root[] = "/", group[] = "lab";
	const struct ceiling_line lines[] = {
	    {CEILING_EVERYONE, CEILING_PATH, VERB_WRITE, 0, none, root, 2},
	    {CEILING_GROUP, CEILING_PATH, VERB_DEVICE, 0, group, root, 4},
	    {CEILING_EVERYONE, CEILING_LIMIT, LIMIT_OPEN_FILES, 64, none, none,
		5}};
	size_t i;

	if ((l->ceiling.file = strdup("/etc/carrel/ceiling.conf")) == NULL)
		broken("ceiling");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (ceiling_add(&l->ceiling, &lines[i]) == -1)
			broken("ceiling");
}

/* line WHO KIND WHAT NUMBER [NAME [TEXT]]: one more, "-" is empty. */
static int
lie_line(struct liar *l)
{
	static char none[] = "";
	struct ceiling_line c = {.who = (uint8_t)arg(l, 1),
	    .kind = (uint8_t)arg(l, 2),
	    .what = (uint8_t)arg(l, 3),
	    .number = strtoull(l->word[4], NULL, 0),
	    .name = l->word[5],
	    .text = l->word[6],
	    .line = 9};

	if (c.name == NULL || strcmp(c.name, "-") == 0)
		c.name = none;
	if (c.text == NULL)
		c.text = none;
	return ceiling_add(&l->ceiling, &c);
}

static int
send_it(struct sender *s, const struct liar *l)
{
	return l->ceiling.file != NULL ? ceiling_send(s, &l->ceiling)
				       : policy_send(s, &l->policy);
}

/* What the answer looks like on the wire, record by record. */
static void
record(struct liar *l)
{
	uint8_t *data = malloc(DATAGRAM_MAX);
	struct sender s;
	uint32_t size;
	ssize_t n, off;
	int pair[2];

	if (data == NULL || channel_pair(pair) == -1 ||
	    sender_init(&s, pair[0], -1) == -1 || send_it(&s, l) == -1)
		broken("record");
	n = recv(pair[1], data, DATAGRAM_MAX, 0);
	for (off = 0; off < n && l->n < RECORDS; l->n++) {
		memcpy(&size, data + off + sizeof(uint16_t), sizeof(size));
		size += RECORD_HEADER;
		l->len[l->n] = size;
		if ((l->rec[l->n] = malloc(RECORD_MAX * 2)) == NULL)
			broken("malloc");
		memset(l->rec[l->n], 'A', RECORD_MAX * 2);
		memcpy(l->rec[l->n], data + off, size);
		off += size;
	}
	free(data);
	sender_free(&s);
	close(pair[0]);
	close(pair[1]);
}

static size_t
index_of(const struct liar *l, int i)
{
	return (size_t)arg(l, i) % l->n;
}

/* wire OP RECORD [A [B]] */
static int
lie_wire(struct liar *l)
{
	const char *op = l->word[1];
	size_t i = index_of(l, 2), k, n = l->len[i];
	uint32_t size;
	uint16_t type;
	uint8_t *p = l->rec[i], *swap;

	if (strcmp(op, "cut") == 0) {
		l->len[i] = (size_t)arg(l, 3) < n ? (size_t)arg(l, 3) : n - 1;
	} else if (strcmp(op, "grow") == 0) {
		l->len[i] += (size_t)arg(l, 3);
	} else if (strcmp(op, "size") == 0) {
		size = (uint32_t)arg(l, 3);
		memcpy(p + sizeof(uint16_t), &size, sizeof(size));
	} else if (strcmp(op, "type") == 0) {
		type = (uint16_t)arg(l, 3);
		memcpy(p, &type, sizeof(type));
	} else if (strcmp(op, "byte") == 0) {
		p[(size_t)arg(l, 3) % n] = (uint8_t)arg(l, 4);
	} else if (strcmp(op, "swap") == 0) {
		k = index_of(l, 3);
		swap = l->rec[k];
		l->rec[k] = p;
		l->rec[i] = swap;
		l->len[i] = l->len[k];
		l->len[k] = n;
	} else if (strcmp(op, "drop") == 0) {
		for (k = i; k + 1 < l->n; k++) {
			l->rec[k] = l->rec[k + 1];
			l->len[k] = l->len[k + 1];
		}
		l->n--;
	} else if (strcmp(op, "dup") == 0) {
		for (k = l->n++; k > i; k--) {
			l->rec[k] = l->rec[k - 1];
			l->len[k] = l->len[k - 1];
		}
	} else {
		return -1;
	}
	return 0;
}

/* mutate SEED: one to four small changes anywhere. */
static int
lie_mutate(struct liar *l)
{
	static const uint32_t odd[] = {0, 1, 5, 0x7f, 0xff, 0x7fff, 0xffff,
	    0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
	size_t i, k, at, times;
	uint32_t v;
	uint8_t *p;

	srandom((unsigned)arg(l, 1));
	for (times = 1 + (size_t)random() % 4; times > 0; times--) {
		i = (size_t)random() % l->n;
		p = l->rec[i];
		if (l->len[i] == 0) /* left out before */
			continue;
		at = (size_t)random() % l->len[i];
		v = odd[(size_t)random() % (sizeof(odd) / sizeof(odd[0]))];
		switch (random() % 7) {
		case 0:
			p[at] ^= (uint8_t)(1U << (random() % 8));
			break;
		case 1:
			p[at] = (uint8_t)random();
			break;
		case 2:
			k = 1 + (size_t)random() % 4;
			memcpy(p + at, &v, k);
			break;
		case 3: /* bytes come in, and the header says so or not */
			k = 1 + (size_t)random() % 300;
			memmove(p + at + k, p + at, l->len[i] - at);
			l->len[i] += k;
			v = (uint32_t)l->len[i] - RECORD_HEADER;
			if (random() % 2 == 0)
				memcpy(p + sizeof(uint16_t), &v, sizeof(v));
			break;
		case 4: /* the end goes */
			l->len[i] = at + 1;
			v = (uint32_t)at + 1 - RECORD_HEADER;
			if (random() % 2 == 0 && at >= RECORD_HEADER)
				memcpy(p + sizeof(uint16_t), &v, sizeof(v));
			break;
		case 5: /* two change places */
			k = (size_t)random() % l->n;
			l->rec[i] = l->rec[k];
			l->rec[k] = p;
			at = l->len[i];
			l->len[i] = l->len[k];
			l->len[k] = at;
			break;
		default: /* one is left out */
			l->len[i] = 0;
			break;
		}
	}
	return 0;
}

void
put(const void *p, size_t n)
{
	int flags = fcntl(PEER, F_GETFL);

	(void)fcntl(PEER, F_SETFL, flags & ~O_NONBLOCK);
	if (n > 0 && send(PEER, p, n, MSG_NOSIGNAL) == -1 && errno != EPIPE &&
	    errno != ECONNRESET && errno != EMSGSIZE)
		broken("send");
}

void
put_records(const struct liar *l, size_t from, size_t to, int pause)
{
	size_t i;

	for (i = from; i < to; i++) {
		put(l->rec[i], l->len[i]);
		if (pause > 0)
			sleep((unsigned)pause);
	}
}

/* Sending in other ways than record by record. 0 if it was done here. */
static int
send_otherwise(struct liar *l)
{
	const char *w = l->word[0];
	static uint8_t big[256 * 1024];
	long i;

	if (strcmp(w, "silence") == 0) {
		sleep(60);
	} else if (strcmp(w, "half") == 0) {
		put_records(l, 0, l->n / 2, 0);
		sleep(60);
	} else if (strcmp(w, "trickle") == 0) {
		put_records(l, 0, l->n, 3);
	} else if (strcmp(w, "stay") == 0) {
		put_records(l, 0, l->n, 0);
		sleep(60);
	} else if (strcmp(w, "hangup") == 0) { /* closed, but not ended */
		put_records(l, 0, l->n, 0);
		close(PEER);
		sleep(60);
	} else if (strcmp(w, "orphan") == 0) { /* ended, but not closed */
		put_records(l, 0, l->n, 0);
		if (fork() == 0) {
			close(0);
			close(1);
			close(2);
			sleep(PARSER_SECONDS + 2);
		}
	} else if (strcmp(w, "late") == 0) { /* more after the end */
		put_records(l, 0, l->n, 0);
		put_records(l, l->n - 1, l->n, 0);
	} else if (strcmp(w, "early") == 0) { /* ends before the end */
		put_records(l, 0, (size_t)arg(l, 1) % l->n, 0);
		exit((int)arg(l, 2));
	} else if (strcmp(w, "exit") == 0) {
		put_records(l, 0, l->n, 0);
		exit((int)arg(l, 1));
	} else if (strcmp(w, "signal") == 0) {
		put_records(l, 0, l->n, 0);
		(void)raise((int)arg(l, 1));
	} else if (strcmp(w, "huge") == 0) {
		memcpy(big, l->rec[0], l->len[0]);
		put(big, (size_t)arg(l, 1) % sizeof(big));
	} else if (strcmp(w, "empty") == 0) {
		put_records(l, 0, 2, 0);
		if (send(PEER, "", 0, MSG_NOSIGNAL) == -1)
			broken("send");
		put_records(l, 2, l->n, 0);
	} else if (strcmp(w, "flood") == 0) { /* far more than is allowed */
		put_records(l, 0, 2, 0);
		for (i = 0; i < arg(l, 1); i++)
			put_records(l, 2, l->n - 1, 0);
	} else {
		return -1;
	}
	return 0;
}

static const struct {
	const char *word;
	int (*lie)(struct liar *);
	int on_wire; /* needs the records; then they are sent one by one */
} lies[] = {
    {"set", lie_set, 0},
    {"grant", lie_grant, 0},
    {"user", lie_user, 0},
    {"unsorted", lie_unsorted, 0},
    {"many", lie_many, 0},
    {"refuse", lie_refuse, 0},
    {"wish", lie_wish, 0},
    {"rule", lie_rule, 0},
    {"pack", lie_pack, 0},
    {"line", lie_line, 0},
    {"wire", lie_wire, 1},
    {"mutate", lie_mutate, 1},
};

static void
read_mode(struct liar *l)
{
	static char line[8192];
	char exe[PATH_MAX_LEN + 1], *slash, *save = NULL;
	ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX_LEN - 8);
	FILE *f;
	int i;

	if (n <= 0)
		broken("readlink");
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	strcpy(slash + 1, "mode");
	if ((f = fopen(exe, "r")) == NULL ||
	    fgets(line, sizeof(line), f) == NULL)
		broken(exe);
	fclose(f);
	l->word[0] = strtok_r(line, " \n", &save);
	for (i = 1; i < WORDS - 1; i++)
		l->word[i] = strtok_r(NULL, " \n", &save);
	if (l->word[0] == NULL)
		broken("mode");
}

/* The request is what an honest parser reads first. */
static uint32_t
hear(void)
{
	uint32_t flags;

	struct receiver r;
	struct request q;

	if (receiver_init(&r, PEER, channel_deadline(PARSER_SECONDS),
		record_request) == -1 ||
	    request_receive(&r, &q) == -1)
		broken("request");
	flags = q.flags;
	request_free(&q);
	receiver_free(&r);
	return flags;
}

int
main(void)
{
	static char truth[] = "honest";
	struct liar l;
	struct sender s;
	uint32_t asked = 0;
	size_t i;

	memset(&l, 0, sizeof(l));
	read_mode(&l);
	if (strcmp(l.word[0], "slow") == 0) {
		sleep((unsigned)arg(&l, 1));
		(void)hear();
		sleep(60);
	}
	if (strcmp(l.word[0], "deaf") != 0)
		asked = hear();
	honest(&l);
	if ((asked & REQUEST_CEILING) != 0)
		honest_ceiling(&l);
	if (strcmp(l.word[0], "ceiling") == 0) {
		memmove(l.word, l.word + 1, sizeof(l.word) - sizeof(*l.word));
		if ((asked & REQUEST_CEILING) == 0)
			l.word[0] = truth;
	} else if (l.ceiling.file != NULL)
		l.word[0] = truth;
	if (strcmp(l.word[0], "refused") == 0) { /* and then the lie */
		if (policy_refuse(&l.policy, "@liar", "/liar.profile", 1,
			"ask again", "an honest no") == -1)
			broken("refuse");
		memmove(l.word, l.word + 1, sizeof(l.word) - sizeof(*l.word));
	}
	if (strcmp(l.word[0], "described") == 0)
		return describe(&l);
	if (strcmp(l.word[0], "environ") == 0)
		add_environ(&l);
	if (strcmp(l.word[0], "honest") == 0 ||
	    strcmp(l.word[0], "deaf") == 0) {
		record(&l);
		put_records(&l, 0, l.n, 0);
		return 0;
	}
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		if (strcmp(lies[i].word, l.word[0]) != 0)
			continue;
		if (lies[i].on_wire)
			record(&l);
		if (lies[i].lie(&l) == -1)
			broken("no such lie");
		if (lies[i].on_wire)
			put_records(&l, 0, l.n, 0);
		else if (sender_init(&s, PEER, channel_deadline(60)) == -1 ||
			 send_it(&s, &l) == -1)
			return errno == EPIPE || errno == ECONNRESET ? 0 : 98;
		return 0;
	}
	record(&l);
	if (liar_raw(&l) == -1 && send_otherwise(&l) == -1)
		broken("no such mode");
	return 0;
}
