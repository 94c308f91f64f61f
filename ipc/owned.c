#include <stddef.h>
#include <string.h>

#include "owned.h"

#define PLAIN_MAX 64
#define PLAIN                                                                  \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@+-"

const struct owned owned_names[] = {
    {"CARREL", 1},
    {"CARREL_PROFILES", 1},
    {"CARREL_RUN", 1},
    {"CARREL_TARGET", 1},
    {"CONTAINER_HOST", 0},
    {"DOCKER_BUILDKIT", 0},
    {"DOCKER_HOST", 0},
    {"GH_CONFIG_DIR", 0},
    {"GH_HOST", 0},
    {"GIT_CONFIG_GLOBAL", 0},
    {"HOME", 1},
    {"LANG", 1},
    {"LOGNAME", 1},
    {"PATH", 1},
    {"PS1", 1},
    {"SHELL", 1},
    {"SSH_AUTH_SOCK", 0},
    {"TERM", 1},
    {"TMPDIR", 1},
    {"TZ", 1},
    {"USER", 1},
    {NULL, 0},
};

const char *const owned_path[] = {
    "/usr/bin", "/bin", "/usr/sbin", "/sbin", NULL};

const struct owned *
owned_find(const char *name)
{
	const struct owned *o;

	for (o = owned_names; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static int
form(const char *v, const char *set)
{
	size_t n = strlen(v);

	return n > 0 && n <= PLAIN_MAX && strspn(v, set) == n;
}

int
owned_plain(const char *v)
{
	return form(v, PLAIN);
}

int
owned_zone(const char *v)
{
	return form(v, PLAIN "/:,") && v[0] != '/' && v[0] != ':' &&
	       strstr(v, "..") == NULL;
}
