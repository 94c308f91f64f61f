#include "child/parser/format.h"
#include "child/parser/place.h"
#include "child/parser/reader.h"
#include "judge.h"
#include "lines.h"

/* The bytes of a profile, as lines and as a draft. */

static int
line(void *arg, const struct reader_line *l)
{
	unsigned *last = arg;

	if (l->line <= *last)
		broken("line", "twice");
	*last = l->line;
	if (strlen(l->section) > SECTION_MAX_LEN || l->section[0] == '\0')
		broken("section", l->section);
	if (l->key != NULL &&
	    (l->key[0] == '\0' || strlen(l->key) > KEY_MAX_LEN ||
		strlen(l->value) > VALUE_MAX_LEN ||
		strpbrk(l->value, "\t\n\r") != NULL))
		broken("key", l->key);
	return 0;
}

/* Exactly as long as promised, so that a sanitizer sees more. */
static char *
copy(const uint8_t *data, size_t size)
{
	char *p = malloc(size + 1);

	if (p == NULL)
		abort();
	memcpy(p, data, size);
	return p;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return lines_mutate(data, size, max_size, seed, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy po;
	struct place at = {&po, "p", "/p.profile"};
	struct draft d;
	unsigned last = 0;
	enum layer layer;
	int n, lines;
	char *text;

	memset(&po, 0, sizeof(po));
	text = copy(data, size);
	lines = reader_parse(&at, text, size, line, &last);
	if (po.nrefusals != (lines == -1 ? 1U : 0U))
		broken("reader", "other than one refusal");
	free(text);
	policy_free(&po);
	for (layer = LAYER_SHIPPED; layer <= LAYER_LAST; layer++) {
		text = copy(data, size);
		n = draft_parse(&at, layer, text, size, &d);
		if (po.nrefusals != (n == -1 ? 1U : 0U))
			broken("format", "other than one refusal");
		if (n == 0 && lines == -1)
			broken("format", "more than the reader read");
		if (n == 0)
			draft_free(&d);
		free(text);
		policy_free(&po);
	}
	return 0;
}
