#ifndef CARREL_PARSER_LAYERS_H
#define CARREL_PARSER_LAYERS_H

#include <stddef.h>

#include "ipc/policy.h"

struct caller;
struct place;
struct request;

/*
 * The directories that profiles come from. They are opened by name before the
 * sandbox, and after that a profile is opened by its own name in them: no
 * directory is ever listed, so files that nobody names cost nothing.
 */

/* A layer's directory (O_PATH), or a configuration file. */
struct layer_fd {
	const char *path; /* the request's; "" for one that is not used */
	int fd;		  /* -1: absent, or it cannot be opened */
	int err;	  /* why it cannot; 0 if it is only absent */
	const char *bad;  /* why its directory cannot be trusted, or NULL */
};

struct layers {
	struct layer_fd dir[LAYER_LAST + 1]; /* by enum layer */
	/* shipped: unused; pack: the pack itself */
	struct layer_fd config[LAYER_LAST + 1];
	const struct caller *caller; /* the request's */
};

/* None of them: nothing can be opened. */
void layers_none(struct layers *, const struct caller *);
/* Opens what is there. The request must live as long as the layers. */
void layers_open(struct layers *, const struct request *);
void layers_close(struct layers *);

/* A file read. */
struct text_file {
	enum layer layer;
	char *path;
	char *data; /* len bytes and a NUL */
	size_t len;
};

void text_file_free(struct text_file *);

/*
 * The profile of this (legal) name: 1 and a file to be freed, 0 if there is
 * none, -1 after a refusal (or none when memory is out): in two layers at
 * once, unreadable, too long, no regular file, or writable by somebody who
 * may not decide (S11, S12).
 */
int layers_find(const struct layers *, const struct place *, const char *name,
    struct text_file *);

/* The same for the pack of the request. */
int layers_pack(
    const struct layers *, const struct place *, struct text_file *);

/*
 * The host's ceiling, which somebody else has opened: the same, into a file
 * that has its path. It is closed.
 */
int layers_ceiling(
    const struct layers *, const struct place *, int fd, struct text_file *);

/* 1 if there is anything of this name. */
int layers_has(const struct layers *, const char *name);

/* The same as layers_find() for carrel.conf (host) or config (user). */
int layers_config(const struct layers *, const struct place *, enum layer,
    struct text_file *);

#endif
