#ifndef CARREL_PATH_H
#define CARREL_PATH_H

#include <stddef.h>

/* Paths as text: no function here touches a file system. */

/*
 * 1 if the path is absolute and clean: "/" or "/a/b" with no empty, "." or
 * ".." component, no '/' at its end, no component over COMPONENT_MAX and no
 * more than PATH_MAX_LEN bytes.
 */
int path_clean(const char *);

/* 1 if path is dir or lies below it; both clean. "/a" does not cover "/ab". */
int path_covers(const char *dir, const char *path);

/* What follows dir in path: "" or "/x"; NULL if dir does not cover path. */
const char *path_below(const char *dir, const char *path);

/* Byte order, but '/' before every other byte: a parent, then its tree. */
int path_cmp(const char *, const char *);

/*
 * The home inside: the host's, but "/home/USER" for a home of "/" or one
 * that lies in a system directory. Returns a new string, NULL with errno.
 */
char *path_guest_home(const char *home, const char *user);

/*
 * A path at or below a symlink, with the link replaced by the text that it
 * holds, and "." and ".." taken out by name. Writes at most PATH_MAX_LEN + 1
 * bytes: 0, or -1 if that is no clean path. path and out may be the same.
 */
int path_follow(
    const char *link, const char *text, const char *path, char *out);

/* 1 if nothing may be mounted there: "/", /proc, /dev, /sys, /run/carrel. */
int path_reserved(const char *guest);

#endif
