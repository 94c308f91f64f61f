#ifndef CARREL_REGRESS_SCENE_H
#define CARREL_REGRESS_SCENE_H

/* Scenes for the tests of the screen: what the parent could have sent. */

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/screen/explain.h"
#include "child/screen/host.h"
#include "child/screen/out.h"
#include "child/screen/receive.h"
#include "child/setup/plan.h"
#include "ipc/channel.h"
#include "ipc/environ.h"

static inline char *
copy(const char *s)
{
	char *p = strdup(s);

	ck_assert_ptr_nonnull(p);
	return p;
}

static inline void
set(char **p, const char *s)
{
	free(*p);
	*p = copy(s);
}

/* A caller and a command; nothing else. */
static inline void
scene_make(struct scene *sc)
{
	struct caller *c = &sc->caller;

	memset(sc, 0, sizeof(*sc));
	sc->request.mode = SCREEN_USER;
	sc->request.landlock = 7;
	sc->request.events = copy("");
	sc->request.words = calloc(2, sizeof(char *));
	sc->request.words[0] = copy("make");
	sc->request.words[1] = copy("all of it");
	sc->request.nwords = 2;
	c->uid = c->gid = 1000;
	c->user = copy("ada");
	c->home = copy("/home/ada");
	c->home_real = copy("/home/ada");
	c->home_other = copy("");
	c->guest_home = copy("/home/ada");
	c->shell = copy("/bin/sh");
	c->cwd = copy("/home/ada/proj");
	c->target = copy("/home/ada/proj");
	c->term = copy("dumb");
	c->lang = copy("C.UTF-8");
	c->tz = copy("");
	c->groups = calloc(1, sizeof(*c->groups));
	c->groups[0].gid = 1000;
	c->groups[0].name = copy("ada");
	c->ngroups = 1;
}

static inline void
add_profile(struct scene *sc, const char *name, const char *file)
{
	ck_assert_ptr_nonnull(policy_add_profile(&sc->policy, name, file,
	    name[0] == '@' ? LAYER_SHIPPED : LAYER_USER, PROFILE_DEFAULT));
}

static inline struct grant *
add_grant(struct scene *sc, enum grant_kind kind, uint8_t flags,
    const char *guest, const char *source, enum verb verb)
{
	struct origin o = {.profile = 0, .verb = (uint8_t)verb, .line = 12};
	struct grant *g;

	g = policy_add_grant(&sc->policy, kind, flags, guest, source,
	    kind == GRANT_TMPFS ? 1 << 20 : 0);
	ck_assert_ptr_nonnull(g);
	ck_assert_int_eq(grant_add_origin(g, &o), 0);
	return g;
}

/* A claim of profile 0 on a variable; value NULL: none. */
static inline void
add_claim(
    struct scene *sc, enum env_verb verb, const char *name, const char *value)
{
	struct origin o = {.profile = 0, .verb = (uint8_t)verb, .line = 21};
	char *values[1] = {(char *)(uintptr_t)value};
	struct env_claim *c;

	c = policy_add_claim(&sc->policy, verb, name, values, value != NULL);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
}

/* A survey that found a directory at each bind's source. */
static inline void
survey_make(struct scene *sc)
{
	size_t i;

	ck_assert_int_eq(survey_init(&sc->survey, sc->policy.ngrants), 0);
	for (i = 0; i < sc->survey.n; i++) {
		if (!grant_opens(&sc->policy.grants[i]))
			continue;
		sc->survey.rows[i].type = SURVEY_DIR;
		sc->survey.rows[i].dev = 1;
		sc->survey.rows[i].ino = i + 2;
		sc->survey.rows[i].real = copy(sc->policy.grants[i].source);
	}
}

static inline void
ordinary(struct scene *sc)
{
	scene_make(sc);
	add_profile(sc, "@sys", "/usr/share/carrel/profiles/sys.profile");
	add_grant(sc, GRANT_BIND, 0, "/data", "/srv/data", VERB_READ);
	add_grant(sc, GRANT_BIND, GRANT_WRITE, "/home/ada/proj",
	    "/home/ada/proj", VERB_WRITE);
	add_grant(
	    sc, GRANT_BIND, GRANT_TRY, "/opt/gone", "/opt/gone", VERB_TRY_READ);
	add_grant(
	    sc, GRANT_BIND, 0, "/opt/my tools", "/opt/my tools", VERB_READ);
	add_grant(sc, GRANT_TMPFS, 0, "/var/tmp", "", VERB_TMPFS);
	add_grant(sc, GRANT_SYMLINK, 0, "/x", "usr/x", VERB_SYMLINK);
	survey_make(sc);
	set(&sc->survey.rows[0].real, "/mnt/disk");
	set(&sc->survey.rows[2].real, "");
	sc->survey.rows[2].type = SURVEY_NONE;
	sc->survey.rows[2].err = ENOENT;
}

#define WIDE 1000 /* columns: no row of these is broken */

/* Draws; the host is judged but not looked at, so that nothing varies. */
static inline char *
draw(struct scene *sc, unsigned width, int colour)
{
	struct plan plan;
	struct host host;
	struct view v = {.scene = sc, .host = &host};
	struct out o;

	if (sc->policy.nrefusals == 0) {
		ck_assert_int_eq(plan_make(&sc->policy, &sc->survey,
				     &sc->caller, &sc->hostenv, &plan),
		    0);
		v.plan = &plan;
	}
	ck_assert_int_eq(host_init(&host, &sc->caller, &sc->policy), 0);
	host.credentials[0].exists = 1;
	host_judge(&host, &sc->caller, &sc->policy, &sc->survey);
	out_open(&o, width, colour);
	explain_draw(&o, &v);
	out_close(&o);
	host_free(&host);
	if (v.plan != NULL)
		plan_free(&plan);
	return o.text;
}

/* Sends the scene and receives another one: 0, or -1 with errno. */
static inline int
pass(struct scene *in, struct scene *out)
{
	struct sender s;
	int fd[2], n, e;

	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert_int_eq(sender_init(&s, fd[0], -1), 0);
	ck_assert_int_eq(
	    screen_send(&s, &in->request, &in->caller, &in->hostenv,
		&in->ceiling, &in->policy, &in->survey),
	    0);
	sender_free(&s);
	close(fd[0]);
	n = receive_scene(fd[1], out);
	e = errno;
	close(fd[1]);
	errno = e;
	return n;
}

#endif
