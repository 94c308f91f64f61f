#ifndef CARREL_PASS_H
#define CARREL_PASS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * One datagram of a fixed form, and descriptors beside it, unix(7): for
 * processes with privilege, which read no records.
 */

#define PASS_FDS 4 /* beside one datagram */

/*
 * Sends len bytes and n descriptors, which stay open here. 0 or -1. Never
 * waits: who asks does it once at a time, and who does not read is left.
 */
int pass_send(int fd, const void *, size_t len, const int *fds, size_t n);

/*
 * Receives one datagram of at most cap bytes, and at most PASS_FDS descriptors,
 * close-on-exec. Returns its length, 0 when the other end is gone, or -1 with
 * errno: EBADMSG when it is longer, or holds anything else. *n: how many.
 */
ssize_t pass_receive(int fd, void *, size_t cap, int fds[PASS_FDS], size_t *n);

#endif
