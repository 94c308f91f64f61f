#ifndef BROKER_SERVERS_H
#define BROKER_SERVERS_H

#include <stddef.h>
#include <sys/socket.h>

/* The host's name servers (resolv.conf(5)), as they were at the start. */

#define SERVERS_MAX	 3 /* as many as the C library asks */
#define SERVERS_FILE_MAX 65536

struct servers {
	struct sockaddr_storage at[SERVERS_MAX];
	socklen_t len[SERVERS_MAX];
	size_t n; /* at least 1: without a file, this host */
};

/* Reads a file of that form; what cannot be read is as good as empty. */
void servers_read(struct servers *, const char *path);
/* The text of one; pure, but for the names of interfaces. */
void servers_parse(struct servers *, const char *text, size_t len);

#endif
