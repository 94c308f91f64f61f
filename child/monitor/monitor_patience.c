#include <unistd.h>

#include "child/shared/patient.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "monitor_parts.h"
#include "options.h"
#include "patience.h"

/* What takes long, in the order in which it comes. */
enum stage {
	STAGE_NONE,
	STAGE_PROFILES, /* carrel-parse has not ended */
	STAGE_FILES,	/* the set-up builds */
	STAGE_END	/* the payload was told to end */
};

static enum stage
stage_of(const struct monitor *m)
{
	if (m->kill_at != -1 && m->started)
		return STAGE_END;
	if (m->started || m->code != -1)
		return STAGE_NONE;
	return m->going ? STAGE_FILES : STAGE_PROFILES;
}

/* The next of these of which there is more left. */
static int64_t
mark_below(int64_t left)
{
	static const int64_t marks[] = {
	    3600, 600, 60, 30, 10, 5, 4, 3, 2, 1, -1};
	size_t i;

	for (i = 0; marks[i] * 1000 >= left && marks[i] != -1; i++)
		;
	return marks[i] == -1 ? -1 : marks[i] * 1000;
}

static int
counts_down(const struct monitor *m)
{
	return m->w->options->verbose && m->started && m->code == -1 &&
	       m->bounds.wall_by != -1;
}

/* By pid 1's clock. */
static int64_t
left_of(const struct monitor *m)
{
	return m->bounds.wall_by - BOUND_BEHIND - channel_now();
}

int64_t
monitor_patience_by(const struct monitor *m)
{
	int64_t by = m->said_by;

	if (!counts_down(m) || m->left <= 0 || !isatty(STDERR_FILENO))
		return by;
	if (by == -1 || m->bounds.wall_by - BOUND_BEHIND - m->left < by)
		by = m->bounds.wall_by - BOUND_BEHIND - m->left;
	return by;
}

static void
count_down(struct monitor *m)
{
	if (!counts_down(m))
		return;
	if (m->left == 0)
		m->left = mark_below(left_of(m));
	if (m->left == -1 || left_of(m) > m->left)
		return;
	log_warn("%lld s of the wall time are left", (long long)m->left / 1000);
	m->left = mark_below(m->left);
}

static void
say(struct monitor *m, enum stage stage)
{
	if (stage == STAGE_END)
		log_warn("the payload was told to end; it is killed in %lld s",
		    (long long)(m->kill_at - channel_now() + 999) / 1000);
	else
		log_warn("%s; ^C ends it",
		    patience_text(stage == STAGE_PROFILES ? PATIENCE_PROFILES
							  : PATIENCE_FILES));
}

/*
 * Once for each stage, if it takes more than a second; and with -v how much
 * of the wall time is left. Nobody is kept waiting by a reader that stopped.
 */
void
monitor_patience(struct monitor *m)
{
	enum stage stage = stage_of(m);

	if (!isatty(STDERR_FILENO))
		return;
	if (log_ready())
		count_down(m);
	if (stage != (enum stage)m->said) {
		m->said = stage;
		m->said_by =
		    stage == STAGE_NONE ? -1 : channel_now() + PATIENT_MS;
	}
	if (m->said_by == -1 || channel_now() < m->said_by)
		return;
	m->said_by = -1;
	if (log_ready())
		say(m, stage);
}
