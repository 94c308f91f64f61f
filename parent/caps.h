#ifndef CARREL_CAPS_H
#define CARREL_CAPS_H

#include <stdint.h>

struct failure;

/* capabilities(7). Each is checked: 0, or -1 with the failure. */

/* Removes capabilities that reading files needs from the effective set. */
int caps_no_dac(struct failure *);
/*
 * Bounding, inheritable, ambient, permitted and effective set empty, and
 * no_new_privs; read back and proved.
 */
int caps_drop(struct failure *);
/* The same, but for CAP_NET_BIND_SERVICE: of the socket factory. */
int caps_keep_bind(struct failure *);

/*
 * 1 if executing the program gave it privilege: set-user-id, set-group-id or
 * file capabilities (AT_SECURE, getauxval(3)). A caller who is root, or has
 * capabilities of his own, gained nothing by it.
 */
int caps_privileged(void);

/*
 * Hosted mode: all that its server ever has in effect, one step at a time.
 * caps_serve makes it the bounding set, and with what the recorder needs once
 * (CAP_SYS_RESOURCE, CAP_SYS_NICE) the permitted one, and every other set
 * empty; caps_raise makes a part of it effective, and 0 takes it back.
 * caps_raise_recorder does so with these two, as far as they are there;
 * caps_server gives them up. 0 or -1.
 */
#define CAPS_BIT(cap) (UINT64_C(1) << (cap))
int caps_serve(struct failure *);
int caps_server(void);
int caps_raise_recorder(void);
int caps_raise(uint64_t);

/*
 * Becomes the user for good: all capabilities and bounding set gone,
 * no_new_privs set, not dumpable, and uid 0 out of reach; proved. Keeps the
 * groups, which are the caller's in every mode. Ends with what is missing.
 */
int caps_become(unsigned uid, unsigned gid, struct failure *);

#endif
