#include <stdlib.h>
#include <string.h>

#include "expand.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "place.h"
#include "value.h"

/* A value taken apart; the words lie in text. */
struct words {
	const struct place *at;
	uint32_t line;
	const char *key, *value; /* for the refusals */
	char text[VALUE_MAX_LEN + 1];
	char *word[WORDS_MAX];
	int quoted[WORDS_MAX];
	int n;
};

void
value_free(struct value *v)
{
	free(v->left);
	free(v->right);
	memset(v, 0, sizeof(*v));
}

static int
refuse(const struct words *w, const char *fix, const char *why)
{
	return place_refuse(w->at, w->line, fix, "%s = \"%s\" %s", w->key,
	    SHOWN(w->value), why);
}

/* One word at *p; *p then stands behind it. */
static int
take_word(struct words *w, char **p)
{
	char *s = *p, *end;
	int quoted = *s == '"';

	if (quoted) {
		end = strchr(++s, '"');
		if (end == NULL || (end[1] != '\0' && end[1] != ' '))
			return refuse(w,
			    "put the whole path between two double quotes; "
			    "one that holds a quote itself cannot be granted",
			    "has an odd double quote");
	} else {
		end = s + strcspn(s, " ");
		if (memchr(s, '"', (size_t)(end - s)) != NULL)
			return refuse(w,
			    "put the whole path between two double quotes; "
			    "one that holds a quote itself cannot be granted",
			    "has a double quote inside a path");
	}
	*p = *end == '\0' ? end : end + 1;
	*end = '\0';
	if (!quoted && strcmp(s, "->") != 0 && strstr(s, "->") != NULL)
		return refuse(w,
		    "put a space on both sides of the arrow, or the path in "
		    "double quotes",
		    "has an arrow inside a path");
	if (w->n == WORDS_MAX)
		return refuse(w,
		    "put a path with a space in double quotes, and each path "
		    "on a line of its own",
		    "has too many words");
	w->word[w->n] = s;
	w->quoted[w->n++] = quoted;
	return 0;
}

static int
take_words(struct words *w, const struct place *at, uint32_t line,
    const char *key, const char *text)
{
	char *p = w->text;

	w->at = at;
	w->line = line;
	w->key = key;
	w->value = text;
	w->n = 0;
	if (strlen(text) > VALUE_MAX_LEN)
		return refuse(w, "shorten it", "is too long");
	strcpy(w->text, text);
	for (;;) {
		p += strspn(p, " ");
		if (*p == '\0')
			return 0;
		if (take_word(w, &p) == -1)
			return -1;
	}
}

static int
is_arrow(const struct words *w, int i)
{
	return i < w->n && !w->quoted[i] && strcmp(w->word[i], "->") == 0;
}

/* Word i is what a path may be; its placeholders are known ones. */
static int
check_word(const struct words *w, int i)
{
	if (is_arrow(w, i))
		return refuse(w, "write a path on each side of the arrow",
		    "has an arrow in the wrong place");
	if (w->word[i][0] == '\0')
		return refuse(w, "write a path", "has an empty path");
	return expand_check(w->at, w->line, w->word[i]);
}

static int
copy(struct value *v, const char *left, const char *right)
{
	memset(v, 0, sizeof(*v));
	v->left = strdup(left);
	v->right = right != NULL ? strdup(right) : NULL;
	if (v->left == NULL || (right != NULL && v->right == NULL)) {
		value_free(v);
		return -1;
	}
	return 0;
}

/* One word, or two with an arrow between; fix says what they are. */
static int
take_pair(struct words *w, const char *fix, struct value *v)
{
	if (w->n == 1)
		return check_word(w, 0) == -1 ? -1 : copy(v, w->word[0], NULL);
	if (w->n == 0)
		return refuse(w, "write a path", "is empty");
	if (w->n != 3 || !is_arrow(w, 1))
		return refuse(
		    w, fix, "is not one path, nor two with an arrow between");
	if (check_word(w, 0) == -1 || check_word(w, 2) == -1)
		return -1;
	return copy(v, w->word[0], w->word[2]);
}

int
value_bind(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	return take_pair(&w,
	    "write HOST or HOST -> GUEST; a path with a space goes in double "
	    "quotes",
	    v);
}

int
value_command(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	return take_pair(&w,
	    "write HOST or HOST -> NAME; a path with a space goes in double "
	    "quotes",
	    v);
}

/* Exactly one; fix says what it is. */
static int
take_one(struct words *w, const char *fix, struct value *v)
{
	if (w->n != 1)
		return refuse(w, fix, "is not one path");
	return check_word(w, 0) == -1 ? -1 : copy(v, w->word[0], NULL);
}

int
value_device(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	return take_one(
	    &w, "write the path of one device: inside it has the same name", v);
}

int
value_path(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	return take_one(&w,
	    "write one path, as it is inside; one with a space goes in double "
	    "quotes",
	    v);
}

int
value_host(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	return take_one(&w,
	    "write one path of the host, for itself and all below it; one with "
	    "a space goes in double quotes",
	    v);
}

int
value_symlink(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	if (w.n != 3 || !is_arrow(&w, 1))
		return refuse(&w,
		    "write GUEST -> TEXT; a path with a space goes in double "
		    "quotes",
		    "is not two paths with an arrow between");
	if (check_word(&w, 0) == -1 || check_word(&w, 2) == -1)
		return -1;
	return copy(v, w.word[0], w.word[2]);
}

/* "64M" and the like into bytes; 0 if it is no size or not a possible one. */
static uint64_t
size_of(const char *s)
{
	uint64_t n = 0;
	int shift = 0;

	if (*s < '0' || *s > '9')
		return 0;
	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (uint64_t)(*s - '0');
		if (n > TMPFS_SIZE_MAX)
			return 0;
	}
	if (*s != '\0') {
		shift = *s == 'K' ? 10 : *s == 'M' ? 20 : *s == 'G' ? 30 : 0;
		if (shift == 0 || s[1] != '\0' || n > TMPFS_SIZE_MAX >> shift)
			return 0;
	}
	n <<= shift;
	return n < TMPFS_SIZE_MIN ? 0 : n;
}

int
value_tmpfs(const struct place *at, uint32_t line, const char *key,
    const char *text, struct value *v)
{
	struct words w;
	uint64_t size = TMPFS_SIZE;

	if (take_words(&w, at, line, key, text) == -1)
		return -1;
	if (w.n != 1 && w.n != 2)
		return refuse(&w,
		    "write GUEST or GUEST size=64M; a path with a space goes "
		    "in double quotes",
		    "is not one path");
	if (check_word(&w, 0) == -1)
		return -1;
	if (w.n == 2) {
		if (w.quoted[1] || strncmp(w.word[1], "size=", 5) != 0)
			return refuse(&w,
			    "write GUEST or GUEST size=64M; a path with a "
			    "space goes in double quotes",
			    "has a second word that is not size=");
		if ((size = size_of(w.word[1] + 5)) == 0)
			return refuse(&w,
			    "write size=N, N from 4K to 1024G in bytes or with "
			    "K, "
			    "M or G behind it",
			    "has an impossible size");
	}
	if (copy(v, w.word[0], NULL) == -1)
		return -1;
	v->size = size;
	return 0;
}
