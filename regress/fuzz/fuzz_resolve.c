#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "child/parser/place.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "child/shared/request.h"
#include "judge.h"
#include "lines.h"

/*
 * Several profiles and a selection of them. An input is a byte that says how
 * they are named, and their texts with a NUL between: the first four are the
 * user's a, b, c and d, the fifth is the shipped s, the sixth the user's
 * configuration. What is resolved passes the parent's check, and any other
 * order of the same names gives the same policy.
 */

#define FILES 6

static char top[] = "/tmp/carrel-fuzz-XXXXXX";
static char user[64], shipped[64], config[64], pack[80];

static void
clean(void)
{
	static const char *const names[] = {"user/a.profile", "user/b.profile",
	    "user/c.profile", "user/d.profile", "shipped/s.profile", "config",
	    "user", "shipped", ""};
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		(void)remove(path);
	}
}

static void
begin(void)
{
	if (user[0] != '\0')
		return;
	umask(022);
	if (mkdtemp(top) == NULL)
		abort();
	snprintf(user, sizeof(user), "%s/user", top);
	snprintf(shipped, sizeof(shipped), "%s/shipped", top);
	snprintf(config, sizeof(config), "%s/config", top);
	snprintf(pack, sizeof(pack), "%s/a.profile", user);
	if (mkdir(user, 0755) == -1 || mkdir(shipped, 0755) == -1)
		abort();
	atexit(clean);
}

static void
write_files(const uint8_t *data, size_t size)
{
	const uint8_t *end;
	char path[128];
	size_t i, n;
	int fd;

	for (i = 0; i < FILES; i++) {
		end = size > 0 ? memchr(data, '\0', size) : NULL;
		n = end == NULL ? size : (size_t)(end - data);
		if (i < 4)
			snprintf(path, sizeof(path), "%s/%c.profile", user,
			    (int)('a' + i));
		else if (i == 4)
			snprintf(path, sizeof(path), "%s/s.profile", shipped);
		else
			snprintf(path, sizeof(path), "%s", config);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (fd == -1 || write(fd, data, n) != (ssize_t)n)
			abort();
		close(fd);
		if (end != NULL)
			n++;
		data += n;
		size -= n;
	}
}

/* All of a policy as text. */
static char *
text_of(const struct policy *po)
{
	const struct grant *g;
	char *text = NULL;
	size_t len, i, k;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		abort();
	for (i = 0; i < po->nprofiles; i++) {
		fprintf(f, "P%s|%s|%s|%s|%d|%d", po->profiles[i].name,
		    po->profiles[i].file, po->profiles[i].description,
		    po->profiles[i].abuse, po->profiles[i].layer,
		    po->profiles[i].flags);
		for (k = 0; k < po->profiles[i].nincludes; k++)
			fprintf(f, ",%d", po->profiles[i].includes[k]);
	}
	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		fprintf(f, "G%d|%d|%s|%s|%llu", g->kind, g->flags, g->guest,
		    g->source, (unsigned long long)g->size);
		for (k = 0; k < g->norigins; k++)
			fprintf(f, ",%d.%d.%u", g->origins[k].profile,
			    g->origins[k].verb, g->origins[k].line);
	}
	fprintf(f, "S%s", po->prompt != NULL ? po->prompt : "-");
	for (i = 0; i < po->nenv; i++) {
		fprintf(f, "E%d|%s", po->env[i].verb, po->env[i].name);
		for (k = 0; k < po->env[i].nvalues; k++)
			fprintf(f, "=%s", po->env[i].values[k]);
		for (k = 0; k < po->env[i].norigins; k++)
			fprintf(f, ",%d.%u", po->env[i].origins[k].profile,
			    po->env[i].origins[k].line);
	}
	for (i = 0; i < po->nrules; i++)
		fprintf(f, "L%s|%d|%llu|%s|%d.%u", rule_key(&po->rules[i]),
		    po->rules[i].what, (unsigned long long)po->rules[i].number,
		    po->rules[i].text, po->rules[i].profile, po->rules[i].line);
	for (i = 0; i < po->nrefusals; i++)
		fprintf(f, "R%s|%s|%u|%s|%s", po->refusals[i].profile,
		    po->refusals[i].file, po->refusals[i].line,
		    po->refusals[i].what, po->refusals[i].fix);
	if (fclose(f) == EOF)
		abort();
	return text;
}

/* As the parser's main() does; the policy as text, to be freed. */
static char *
run(const struct request *q, int plan)
{
	struct policy po;
	struct layers ls;
	struct config c;
	struct selection sel;
	char why[TEXT_MAX_LEN], *text;
	int n = -1;

	memset(&po, 0, sizeof(po));
	layers_open(&ls, q);
	if (config_read(&ls, &po, &c) == 0) {
		po.prompt = c.prompt;
		c.prompt = NULL;
		n = selection_load(q, &c, &ls, &po, &sel);
		if (n == 0) {
			n = resolve(q, &sel, &po);
			selection_free(&sel);
		}
		config_free(&c);
	}
	policy_sort(&po);
	if ((n == 0) != (po.nrefusals == 0))
		broken("resolve", "a refusal and none");
	if (policy_check(&po, why, sizeof(why)) == -1)
		broken("the parent would refuse", why);
	judge_policy(&po);
	text = text_of(&po);
	if (po.nrefusals == 0 && plan)
		(void)judge_plan(0, &po);
	layers_close(&ls);
	policy_free(&po);
	return text;
}

/* The first byte is no text. */
size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return lines_mutate(data, size, max_size, seed, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char names[5][3] = {"a", "b", "c", "d", "@s"};
	static char none[] = "";
	static char *there[] = {
	    names[0], names[1], names[2], names[3], names[4]};
	static char *back[] = {names[4], names[3], names[0], names[2], names[1],
	    names[3], names[4]};
	struct request q;
	char *one, *two, *select[5], *other[7];
	size_t i;

	if (size < 2)
		return 0;
	begin();
	write_files(data + 1, size - 1);
	memset(&q, 0, sizeof(q));
	q.shipped = shipped;
	q.host = q.host_config = none;
	q.user = user;
	q.user_config = config;
	if ((data[0] & 0x20) != 0)
		q.flags = REQUEST_NO_DEFAULTS;
	judge_caller(&q.caller);
	q.caller.uid = geteuid();
	q.caller.gid = getegid();
	if ((data[0] & 0x40) != 0)
		q.caller.target[0] = '\0';
	/* the first file again, as a stranger's */
	if ((data[0] & 0x80) != 0)
		q.pack = pack;
	q.select = select;
	for (i = 0; i < 5; i++)
		if ((data[0] >> i & 1) != 0)
			select[q.nselect++] = there[i];
	one = run(&q, 1);
	q.select = other;
	q.nselect = 0;
	for (i = 0; i < 7; i++)
		if ((data[0] >> (back[i][0] == '@' ? 4 : back[i][0] - 'a') &
			1) != 0)
			other[q.nselect++] = back[i];
	two = run(&q, 0);
	if (strcmp(one, two) != 0)
		broken("the order of the names left a trace", two);
	free(one);
	free(two);
	caller_free(&q.caller);
	return 0;
}
