#ifndef CARREL_REQUEST_H
#define CARREL_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "caller.h"

struct sender;
struct receiver;

#define REQUEST_VERSION		 1
#define REQUEST_NO_DEFAULTS	 0x01 /* --no-defaults */
#define REQUEST_WITHOUT_LANDLOCK 0x02 /* --without-landlock */
#define REQUEST_DESCRIBE	 0x04 /* the answer is record_described */
#define REQUEST_CATALOGUE	 0x08 /* the answer is record_catalogue */
#define REQUEST_CEILING		 0x10 /* descriptor 4; record_ceiling */
#define REQUEST_LOGIN		 0x20 /* descriptor 4; record_login */
#define REQUEST_FLAGS		 0x3f

/* What the parser is asked to resolve. "" for a directory that is not used. */
struct request {
	uint32_t flags;
	char *shipped;	   /* directory of the shipped profiles */
	char *host;	   /* /etc/carrel/profiles.d */
	char *user;	   /* ~/.config/carrel/profiles.d */
	char *host_config; /* /etc/carrel/carrel.conf; or ceiling.conf */
	char *user_config; /* ~/.config/carrel/config */
	char *pack;	   /* the file given with -f, a clean path; or "" */
	char **select;	   /* names given with -p, as typed */
	size_t nselect;
	struct caller caller;
};

void request_free(struct request *);

/* The whole stream record_request, flushed. 0, or -1 with errno. */
int request_send(struct sender *, const struct request *);

/* The whole stream. 0 and a request to be freed, or -1 and nothing. */
int request_receive(struct receiver *, struct request *);

#endif
