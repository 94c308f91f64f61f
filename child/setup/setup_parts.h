#ifndef CARREL_SETUP_PARTS_H
#define CARREL_SETUP_PARTS_H

struct caller;
struct ceiling;
struct failure;
struct plan;
struct policy;
struct setup;
struct survey;

/* Of the set-up process alone: each ends it, with a word to the monitor. */

/* Its whole life; caller is filled by setup_hear_caller(). */
void setup_main(const struct setup *, struct caller *)
    __attribute__((noreturn));

/* A failed step: the monitor tells the person, the namespaces end here. */
void setup_end(const struct setup *, const struct failure *)
    __attribute__((noreturn));

/* With the policy's refusals. After setup_await_go(). */
void setup_end_refused(const struct setup *, const struct policy *)
    __attribute__((noreturn));

/* In this order; out is only valid after each. */

/* Who calls, from setup_tell(). Free out with caller_free(). */
void setup_hear_caller(const struct setup *, struct caller *out);

/*
 * The policy, judged. If its sender ended too early, how it ended says more
 * than what arrived: the monitor then says that, and ends this process.
 */
void setup_hear_policy(const struct setup *, struct policy *out);

/*
 * The ceiling of the host, where there is one (in hosted mode always, if only
 * the default), and the policy judged by it:
 * what goes beyond ends this process. With the limits that it sets.
 */
void setup_hear_ceiling(
    const struct setup *, struct policy *, struct ceiling *out);

/*
 * From the policy to the plan. Nothing is made yet, but for carrel's own
 * directories in a home that the policy lets the payload write.
 */
void setup_draw(const struct setup *, const struct ceiling *, struct policy *,
    struct survey *, struct plan *out);

/*
 * Waits for the monitor's word that the sender of the policy ended well.
 * Before it nothing of the policy is built.
 */
void setup_await_go(const struct setup *);

/* What a person may want to know of the plan; -v: and what else there is. */
void setup_say_plan(
    const struct setup *, const struct policy *, const struct plan *);

#endif
