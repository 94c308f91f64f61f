#ifndef CARREL_SCREEN_RECEIVE_H
#define CARREL_SCREEN_RECEIVE_H

#include "child/shared/ceiling.h"
#include "child/shared/hostenv.h"
#include "child/shared/screen.h"
#include "child/shared/survey.h"
#include "child/shared/caller.h"
#include "ipc/policy.h"

/* What the parent found out and a screen draws. */
struct scene {
	struct screen_request request;
	struct caller caller;
	struct hostenv hostenv;
	struct ceiling ceiling; /* its file is NULL: there is none */
	struct policy policy;
	struct survey survey; /* a row for each grant */
};

/*
 * The whole stream record_screen from the socket: 0 and a scene to be freed,
 * or -1 with errno. The policy was judged, and holds the grants that
 * policy_protect() and ceiling_impose() add.
 */
int receive_scene(int fd, struct scene *);
void scene_free(struct scene *);

#endif
