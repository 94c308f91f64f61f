#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "servers.h"
#include "socket.h"

#define DNS_PORT 53

static void
add(struct servers *s, const char *word)
{
	char text[ADDRESS_TEXT + IF_NAMESIZE + 1], *zone;
	struct sockaddr_in6 *in6;
	struct address a;

	if (s->n == SERVERS_MAX || strlen(word) >= sizeof(text))
		return;
	strcpy(text, word);
	if ((zone = strchr(text, '%')) != NULL)
		*zone++ = '\0';
	if (address_read(text, &a) == -1)
		return;
	s->len[s->n] = sockaddr_write(&a, DNS_PORT, &s->at[s->n]);
	if (zone != NULL && a.family == AF_INET6) {
		in6 = (struct sockaddr_in6 *)&s->at[s->n];
		if ((in6->sin6_scope_id = if_nametoindex(zone)) == 0)
			return;
	}
	s->n++;
}

static void
one_line(struct servers *s, char *line)
{
	char *save, *word = strtok_r(line, " \t\r", &save);

	if (word != NULL && strcmp(word, "nameserver") == 0 &&
	    (word = strtok_r(NULL, " \t\r", &save)) != NULL)
		add(s, word);
}

void
servers_parse(struct servers *s, const char *text, size_t len)
{
	char line[512];
	const char *nl;
	size_t n;

	memset(s, 0, sizeof(*s));
	while (len > 0) {
		nl = memchr(text, '\n', len);
		n = nl == NULL ? len : (size_t)(nl - text);
		if (n < sizeof(line)) {
			memcpy(line, text, n);
			line[n] = '\0';
			one_line(s, line);
		}
		n += nl != NULL;
		text += n;
		len -= n;
	}
	if (s->n == 0)
		add(s, "127.0.0.1");
}

void
servers_read(struct servers *s, const char *path)
{
	char *text = malloc(SERVERS_FILE_MAX);
	ssize_t n = 0;
	size_t len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	while (text != NULL && fd != -1 && len < SERVERS_FILE_MAX) {
		n = read(fd, text + len, SERVERS_FILE_MAX - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (fd != -1)
		close(fd);
	servers_parse(s, text, len);
	free(text);
}
