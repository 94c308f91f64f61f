#include "child/monitor/options.h"
#include "judge.h"
#include "wire.h"

/*
 * The command line: words that end with a newline or the input's end. One that
 * begins with '@' is a login shell's.
 */

#define ARGS_MAX 400

static void
judge_options(const struct options *o)
{
	size_t i;

	if (o->command < COMMAND_RUN || o->command > COMMAND_LAST)
		broken("options", "no command");
	if (o->login != 0 && (!o->shell || !o->no_defaults || o->nselect != 0 ||
				 o->user_mode || o->without_landlock ||
				 o->allow_ptrace || o->command != COMMAND_RUN))
		broken("options", "a login that is more");
	if (o->argv != NULL && o->shell && o->login == 0)
		broken("options", "a shell and a payload");
	if ((o->command == COMMAND_RUN || o->command == COMMAND_EXPLAIN) &&
	    o->argv == NULL && !o->shell)
		broken("options", "neither a shell nor a payload");
	if (o->command == COMMAND_WHY && o->subject == NULL && o->run == NULL)
		broken("options", "why of nothing");
	if (o->argv != NULL && o->login == 0 &&
	    (o->argv[0] == NULL || o->argv[0][0] == '\0'))
		broken("options", "an empty payload");
	if (o->learn && o->command != COMMAND_RUN)
		broken("options", "learn that does not run");
	if (o->run != NULL && o->command != COMMAND_WHY &&
	    o->command != COMMAND_VIOLATIONS)
		broken("options", "a past run of another command");
	if (o->command == COMMAND_IMPORT &&
	    (o->verb == NULL || o->argv == NULL))
		broken("options", "import of nothing");
	if (o->output != NULL && (!o->learn || o->output[0] == '\0'))
		broken("options", "an output of nothing");
	if (o->nselect > SELECT_MAX || o->status_fd < -1)
		broken("options", "out of range");
	for (i = 0; i < o->nselect; i++)
		if (strlen(o->select[i]) > VALUE_MAX_LEN)
			broken("options", "a long name");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[ARGS_MAX + 2], *p, *nl;
	char why[TEXT_MAX_LEN] = "";
	const char *say = NULL;
	struct options o;
	int argc = 0, n;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	p = text;
	argv[argc++] =
	    judge_copy(*p == '@' ? "/usr/bin/carrel-sh" : "/usr/bin/carrel");
	p += *p == '@';
	for (; *p != '\0' && argc <= ARGS_MAX; p = nl) {
		nl = p + strcspn(p, "\n");
		if (*nl != '\0')
			*nl++ = '\0';
		/* its own memory each: reading past a word shows */
		argv[argc++] = judge_copy(p);
	}
	argv[argc] = NULL;
	n = options_read(argc, argv, &o, &say, why, sizeof(why));
	if (n == 0)
		judge_options(&o);
	if ((n == 1) != (say != NULL) || (n == -1) != (why[0] != '\0') ||
	    n < -1 || n > 1)
		broken("options", why);
	options_free(&o);
	while (argc > 0)
		free(argv[--argc]);
	free(text);
	return 0;
}
