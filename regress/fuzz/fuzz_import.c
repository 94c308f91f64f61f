/* what it prints is looked at */
#define out_write taken
#include "child/screen/import.c"
#undef out_write

#include "imported.h"
#include "judge.h"
#include "wire.h"

/*
 * A command line of bubblewrap: a byte is an option, and its words are the
 * text up to the next NUL. What is printed is a profile that is read without a
 * refusal, whatever the words are.
 */

#define WORDS 64

static char *
next_word(const uint8_t **data, size_t *size)
{
	const uint8_t *end = memchr(*data, '\0', *size);
	size_t n = end != NULL ? (size_t)(end - *data) : *size;
	char *w = malloc(n + 1);

	if (w == NULL)
		abort();
	memcpy(w, *data, n);
	w[n] = '\0';
	*data += n + (end != NULL);
	*size -= n + (end != NULL);
	return w;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS + 4];
	const struct option *o;
	size_t n = 0, i;
	unsigned k, which;

	while (size > 0 && n < WORDS) {
		for (which = 0; options[which].name != NULL; which++)
			;
		o = &options[*data % which];
		data++;
		size--;
		words[n++] = judge_copy(o->name);
		for (k = 0; k < o->words; k++)
			words[n++] = next_word(&data, &size);
	}
	words[n] = NULL;
	if (import_bwrap(words) != 0)
		broken("import", "no profile");
	for (i = 0; i < n; i++)
		free(words[i]);
	return 0;
}
