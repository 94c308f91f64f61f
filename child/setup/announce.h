#ifndef CARREL_ANNOUNCE_H
#define CARREL_ANNOUNCE_H

struct policy;

/*
 * In the set-up: tells the monitor what it has to know of a policy to say
 * whose violations they are, before there is a payload (CONTROL_PROFILE,
 * CONTROL_POLICY). po NULL: there is none. learn: all that refuses is named.
 * 0, or -1 with errno.
 */
int announce_policy(
    int control, const struct policy *po, const char *digest, int learn);

#endif
