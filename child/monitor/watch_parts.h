#ifndef CARREL_WATCH_PARTS_H
#define CARREL_WATCH_PARTS_H

/* What the files of watch.h share; nobody else includes this. */

#include <linux/seccomp.h>
#include <stdint.h>

#include "watch.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* What a call does to what it names. */
enum what {
	OPENS = 1, /* flags: those of open(2) */
	CREATES,   /* the same, as creat(2) */
	MAKES,	   /* a new name */
	LINKS,	   /* the same for what another path names */
	RENAMES,
	REMOVES,
	TRUNCATES,
	CHANGES,      /* attributes of what a path names */
	CHANGES_LINK, /* without following it */
	CHANGES_OPEN, /* of a descriptor */
	BINDS,	      /* a unix socket */
	TIMES,	      /* as CHANGES, but of dir where there is no path */
	EXECUTES,
	LOOKS, /* for what a path names: of learn alone */
	LOOKS_LINK,
	CONNECTS /* to a unix socket, likewise */
};

#define CWD  (-1) /* no argument: the working directory */
#define NONE (-1)

/*
 * dir, path, flags: the number of the argument. LINKS, RENAMES: of the first
 * path; of the second they are as many behind as one path has.
 */
struct call {
	long nr;
	uint8_t what;
	int8_t dir, path, flags;
	const char *action;
};

/* A call that is being looked at. */
struct look {
	struct notify_view *view;
	const struct notify *n;
	pid_t pid;
	const struct seccomp_data *d;
	const struct call *call;
	struct watched *out;
};

/* A path as it was asked for. */
struct asked {
	int dir;
	char path[NOTIFY_PATH_LEN];
};

/* The first path (0) or the second (1). -1: there is none to read. */
int watch_read(const struct look *, int which, struct asked *);
/* The same of bind(2): what a unix socket would be called. */
int watch_read_socket(const struct look *, struct asked *);

/* O_PATH; flags: O_NOFOLLOW, O_DIRECTORY. -1 with errno. */
int watch_open(const struct look *, const struct asked *, int flags);
/* The same by links of procfs, where the kernel does not follow them. */
int watch_magic(const struct look *, const struct asked *, int flags);
int watch_exists(const struct look *, const struct asked *); /* 1 or 0 */
/*
 * The directory that the last component is in, O_PATH. -1 if there is none
 * that could be made or removed.
 */
int watch_parent(const struct look *, const struct asked *);
/*
 * A symlink that leads to nothing: the file would be made there. 1 and that
 * place, or 0.
 */
int watch_follow(const struct look *, struct asked *);

/*
 * What a write to this file, or a new name in this directory, would get from
 * the mount: EROFS, or EACCES if a mode comes first; else 0.
 */
int watch_read_only(int fd);

/* What was asked for, as an absolute path, to out->resource. 0 or -1. */
int watch_say(const struct look *, const struct asked *);
/*
 * The mount refuses: 1 if that was the plan, and not the host, and what it is.
 * fd: the file, or the directory that it would be in; asked NULL: by a
 * descriptor; err 0: it does not.
 */
int watch_found(const struct look *, const struct asked *, int fd, int err,
    const char *action);

/*
 * learn: what the path names is not there inside, but on this host, and what
 * it is there. 1 or 0. flags: those of open(2), or 0.
 */
int watch_missing(const struct look *, int flags);

/* How an O_PATH descriptor is called inside, and is that object there. 0, -1 */
int watch_name(const struct look *, int fd, char name[NOTIFY_PATH_LEN]);
/* watch_use() of a call that is known. */
int watch_used(const struct look *, struct watch_uses *, int which, int flags);
int watch_used_first(const struct look *, struct watch_uses *);

#endif
