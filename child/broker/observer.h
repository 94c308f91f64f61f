#ifndef BROKER_OBSERVER_H
#define BROKER_OBSERVER_H

struct broker;
struct observer;

/*
 * Reports what the kernel refused inside (S75, S82). fd is a raw socket of the
 * sandbox's network with a filter for that, one for each protocol; takes it
 * in any case. 0 or -1.
 */
int observer_add(struct broker *, int fd);

/* What is still waiting, at the end of a run. */
void observer_drain(struct broker *);

#endif
