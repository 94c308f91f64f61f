#include "child/screen/explain.h"
#include "child/screen/host.h"
#include "child/screen/out.h"
#include "child/screen/receive.h"
#include "ipc/text.h"
#include "judge.h"
#include "wire.h"

/*
 * What carrel-screen is sent, drawn into memory: whatever it was, nothing on
 * the page can move a cursor but the colours.
 */

static int
say(struct sender *s)
{
	static char word[] = "/usr/xyz";
	static char *words[] = {word, word + 2};
	struct screen_request q = {.flags = SCREEN_COLOUR,
	    .width = 80,
	    .mode = SCREEN_USER,
	    .landlock = 6,
	    .words = words,
	    .nwords = 2};
	struct origin o = {.profile = 0, .verb = VERB_READ, .line = 3};
	const struct rule rules[] = {
	    {.kind = RULE_INTERPRETER, .text = word, .line = 4},
	    {.kind = RULE_LIBRARY, .text = word, .line = 5},
	    {.kind = RULE_ONCE, .text = word + 8, .line = 6}};
	struct policy po;
	struct caller caller;
	struct survey survey;
	struct hostenv host = {.n = 0};
	const struct ceiling ceiling = {.file = NULL};
	size_t i;
	int n;

	memset(&po, 0, sizeof(po));
	judge_caller(&caller);
	(void)policy_add_profile(
	    &po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT);
	(void)grant_add_origin(
	    policy_add_grant(&po, GRANT_BIND, 0, "/usr", "/usr", 0), &o);
	(void)grant_add_origin(
	    policy_add_grant(&po, GRANT_BIND, 0, "/x", "/home/u/.ssh", 0), &o);
	for (i = 0; i < 3; i++)
		(void)policy_add_rule(&po, &rules[i]);
	judge_survey(0, &po, &survey);
	n = screen_send(s, &q, &caller, &host, &ceiling, &po, &survey);
	survey_free(&survey);
	caller_free(&caller);
	policy_free(&po);
	return n;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t good[8192];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, good, sizeof(good));
	return wire_mutate(data, size, max_size, seed, good, n);
}

/* The page without its newlines and, if they may be there, its colours. */
static void
judge_page(const struct out *o)
{
	static const char *const colours[] = {
	    "\033[0m", "\033[1m", "\033[31m", "\033[33m"};
	char *text = judge_copy(o->text), *to = text;
	const char *p = o->text;
	size_t i, n;

	if (strlen(p) != o->len)
		broken("page", "a NUL byte");
	while (*p != '\0') {
		n = *p == '\n';
		for (i = 0; i < 4 && o->colour && n == 0; i++)
			if (strncmp(p, colours[i], strlen(colours[i])) == 0)
				n = strlen(colours[i]);
		if (n == 0)
			*to++ = *p++;
		p += n;
	}
	*to = '\0';
	if (!text_utf8(text, strlen(text)) || text_unsafe(text, strlen(text)))
		broken("page", "a raw byte");
	for (p = text; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f ||
		    ((unsigned char)*p == 0xc2 && (unsigned char)p[1] < 0xa0))
			broken("page", "a raw control");
	free(text);
}

static void
draw(struct scene *sc)
{
	struct plan plan;
	struct host host;
	struct view v = {.scene = sc, .host = &host};
	struct out o;

	if (sc->policy.nrefusals == 0) {
		if (plan_make(&sc->policy, &sc->survey, &sc->caller,
			&sc->hostenv, &plan) == -1 &&
		    errno != EPERM)
			broken("plan", strerror(errno));
		v.plan = &plan;
	}
	if (host_init(&host, &sc->caller, &sc->policy) == -1)
		abort();
	if (host.ncredentials > 0)
		host.credentials[0].exists = 1;
	host_judge(&host, &sc->caller, &sc->policy, &sc->survey);
	out_open(
	    &o, sc->request.width, (sc->request.flags & SCREEN_COLOUR) != 0);
	explain_draw(&o, &v);
	out_close(&o);
	judge_page(&o);
	out_free(&o);
	host_free(&host);
	if (v.plan != NULL)
		plan_free(&plan);
}

static void
decode(unsigned type, struct rcur *c, void *arg)
{
	struct screen_request q;
	struct survey sv;

	(void)arg;
	if (type == RECORD_SCREEN && screen_get(c, &q) == 0)
		screen_request_free(&q);
	if (type != RECORD_SURVEY && type != RECORD_EXEC)
		return;
	if (survey_init(&sv, 1) == -1)
		abort();
	if (type == RECORD_EXEC)
		(void)survey_exec_get(c, &sv);
	else
		(void)survey_get(c, &sv.rows[0]);
	survey_free(&sv);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scene sc;
	char why[TEXT_MAX_LEN];
	int accepted = 0, fd = wire_say(data, size);

	if (receive_scene(fd, &sc) == 0) {
		/* as explain_run() does */
		if (policy_check(&sc.policy, why, sizeof(why)) == 0) {
			draw(&sc);
			accepted = 1;
		}
		scene_free(&sc);
	}
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, NULL);
	return 0;
}
