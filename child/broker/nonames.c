#include <netdb.h>
#include <stddef.h>

/*
 * libevent's core can look up names, and with a static C library that would
 * link the whole name service, which loads modules. This program has its own
 * look-up and does not call them; these take the place of the C library's.
 */

int
getaddrinfo(const char *restrict name, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	(void)name;
	(void)service;
	(void)hints;
	*out = NULL;
	return EAI_FAIL;
}

void
freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

const char *
gai_strerror(int code)
{
	(void)code;
	return "no name service";
}

struct servent *
getservbyname(const char *name, const char *proto)
{
	(void)name;
	(void)proto;
	return NULL;
}

struct protoent *
getprotobynumber(int proto)
{
	(void)proto;
	return NULL;
}
