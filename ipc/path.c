#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "path.h"

static const char *const system_dirs[] = {"/bin", "/boot", "/dev", "/etc",
    "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/usr"};

static const char *const reserved[] = {"/proc", "/dev", "/sys", "/run/carrel"};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

int
path_clean(const char *p)
{
	size_t n;

	if (p[0] != '/' || strlen(p) > PATH_MAX_LEN)
		return 0;
	if (p[1] == '\0')
		return 1;
	while (*p == '/') {
		p++;
		n = strcspn(p, "/");
		if (n == 0 || n > COMPONENT_MAX || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return 0;
		p += n;
	}
	return 1;
}

const char *
path_below(const char *dir, const char *path)
{
	if (dir[0] == '/' && dir[1] == '\0')
		return strcmp(path, "/") == 0 ? "" : path;
	for (; *dir != '\0'; dir++, path++)
		if (*dir != *path)
			return NULL;
	return *path == '\0' || *path == '/' ? path : NULL;
}

int
path_covers(const char *dir, const char *path)
{
	return path_below(dir, path) != NULL;
}

int
path_cmp(const char *a, const char *b)
{
	int x, y;

	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	/* NUL, then '/', then the other bytes in their order */
	x = *a == '\0' ? 0 : *a == '/' ? 1 : (unsigned char)*a + 2;
	y = *b == '\0' ? 0 : *b == '/' ? 1 : (unsigned char)*b + 2;
	return x - y;
}

/* Takes empty, "." and ".." components out; the path is absolute. */
static void
collapse(char *path)
{
	char *in = path, *out = path;
	size_t n;

	while (*in != '\0') {
		in += strspn(in, "/");
		n = strcspn(in, "/");
		if (n == 2 && in[0] == '.' && in[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (n > 0 && !(n == 1 && in[0] == '.')) {
			*out++ = '/';
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

int
path_follow(const char *link, const char *text, const char *path, char *out)
{
	char to[3 * PATH_MAX_LEN + 4];
	const char *slash = strrchr(link, '/'), *below = path_below(link, path);
	int n;

	if (slash == NULL || below == NULL)
		return -1;
	n = snprintf(to, sizeof(to), "%.*s/%s/%s",
	    text[0] == '/' ? 0 : (int)(slash - link), link, text, below);
	if (n < 0 || (size_t)n >= sizeof(to))
		return -1;
	collapse(to);
	if (!path_clean(to))
		return -1;
	strcpy(out, to);
	return 0;
}

char *
path_guest_home(const char *home, const char *user)
{
	char *p;
	size_t i;

	for (i = 0; i < NITEMS(system_dirs); i++)
		if (path_covers(system_dirs[i], home))
			break;
	if (strcmp(home, "/") != 0 && i == NITEMS(system_dirs))
		return strdup(home);
	if (strchr(user, '/') != NULL || strlen(user) > IDENT_MAX_LEN) {
		errno = EINVAL;
		return NULL;
	}
	p = malloc(sizeof("/home/") + strlen(user));
	if (p != NULL) {
		strcpy(p, "/home/");
		strcat(p, user);
	}
	return p;
}

int
path_reserved(const char *guest)
{
	size_t i;

	if (strcmp(guest, "/") == 0)
		return 1;
	for (i = 0; i < NITEMS(reserved); i++)
		if (path_covers(reserved[i], guest))
			return 1;
	return 0;
}
