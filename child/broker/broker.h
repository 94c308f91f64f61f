#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "child/shared/broker.h"
#include "dial.h"
#include "hosts.h"
#include "pipes.h"
#include "report.h"
#include "resolver.h"
#include "servers.h"
#include "tcp.h"
#include "udp.h"

struct loop;
struct observer;

/* All that one broker has; there is one in the process. */
struct broker {
	struct loop *loop;
	struct broker_setup setup;
	struct hosts hosts;
	struct report report;
	struct servers servers;
	struct pipes pipes;
	struct dialer dialer;
	struct tcp tcp;
	struct udp udp;
	struct resolver resolver;
	struct observer *observers;
	int own;     /* own.h */
	int factory; /* -1: there is none */
};

#endif
