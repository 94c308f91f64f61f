#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/limits.h"
#include "profile.h"

#define LETTERS                                                                \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._- "

/* All of a small file, ended with a NUL; NULL if it cannot be had. */
static char *
load(const char *file)
{
	struct stat st;
	char *data = NULL;
	size_t len = 0;
	ssize_t n = 1;
	int fd;

	fd = open(
	    file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		data = malloc(FILE_MAX_LEN + 1);
	while (data != NULL && len < FILE_MAX_LEN && n != 0) {
		n = read(fd, data + len, FILE_MAX_LEN - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			break;
		len += (size_t)n;
	}
	close(fd);
	if (data != NULL)
		data[len] = '\0';
	return data;
}

/* The letters that may be in a section or key, without blanks behind. */
static void
cut(char *buf, size_t len, const char *p)
{
	size_t n = strspn(p, LETTERS);

	while (n > 0 && p[n - 1] == ' ')
		n--;
	snprintf(buf, len, "%.*s", (int)(n < len ? n : len - 1), p);
}

void
profile_key(const char *file, uint32_t line, char *buf, size_t len)
{
	char section[SECTION_MAX_LEN + 1] = "", key[KEY_MAX_LEN + 1] = "";
	char *data = line == 0 ? NULL : load(file), *p = data;
	uint32_t at;

	/* a NUL ends it early: then the parser has said so */
	for (at = 1; p != NULL && at <= line; at++) {
		if (*p == '[')
			cut(section, sizeof(section), p + 1);
		if (at == line && *p != '[')
			cut(key, sizeof(key), p);
		if ((p = strchr(p, '\n')) != NULL)
			p++;
	}
	free(data);
	if (section[0] == '\0')
		snprintf(buf, len, "profile");
	else
		snprintf(buf, len, "%s%s%s", section, key[0] != '\0' ? "." : "",
		    key);
}
