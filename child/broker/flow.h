#ifndef BROKER_FLOW_H
#define BROKER_FLOW_H

#include <stdint.h>

#include "hosts.h"

struct broker;

/*
 * One connection from its acceptance on. to is the address that it went to
 * inside, and counts where no host stands there. Takes fd in any case; when it
 * is over, tcp_flow_ended() is called, perhaps before this returns.
 */
void flow_start(struct broker *, int fd, struct host *,
    const struct address *to, uint16_t port, const struct allowed *);

void tcp_flow_ended(struct broker *);

#endif
