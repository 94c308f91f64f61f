#include <string.h>

#include "hostname.h"

#define LABEL_LEN 63

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* What inet_aton(3) might take for the end of an address. */
static int
could_be_number(const char *s, size_t n)
{
	size_t i = 0;
	int hex = n >= 2 && s[0] == '0' && s[1] == 'x';

	for (i = hex ? 2 : 0; i < n; i++)
		if (hex ? !is_hex(s[i]) : !is_digit(s[i]))
			return 0;
	return 1;
}

static int
is_label(const char *s, size_t n)
{
	size_t i;

	if (n == 0 || n > LABEL_LEN || s[0] == '-' || s[n - 1] == '-')
		return 0;
	for (i = 0; i < n; i++)
		if (!is_digit(s[i]) && s[i] != '-' &&
		    !(s[i] >= 'a' && s[i] <= 'z'))
			return 0;
	return 1;
}

int
hostname_normalise(char dst[HOSTNAME_LEN + 1], const char *src, size_t len)
{
	const char *s, *dot;
	size_t i;

	if (len > 0 && src[len - 1] == '.')
		len--;
	if (len == 0 || len > HOSTNAME_LEN)
		return -1;
	for (i = 0; i < len; i++)
		dst[i] = src[i] >= 'A' && src[i] <= 'Z'
			     ? (char)(src[i] - 'A' + 'a')
			     : src[i];
	dst[len] = '\0';
	/* a NUL inside is in no label, so strchr cannot stop short of it */
	for (s = dst; (dot = memchr(s, '.', len - (size_t)(s - dst))) != NULL;
	     s = dot + 1)
		if (!is_label(s, (size_t)(dot - s)))
			return -1;
	i = len - (size_t)(s - dst);
	return is_label(s, i) && !could_be_number(s, i) ? 0 : -1;
}

int
hostname_match(const char *pattern, const char *name)
{
	size_t n = strlen(name), p;

	if (pattern[0] != '*')
		return strcmp(pattern, name) == 0;
	if (pattern[1] != '.')
		return 0;
	/* the dot belongs to what must be equal, and something is before it */
	p = strlen(++pattern);
	return n > p && strcmp(name + n - p, pattern) == 0;
}
