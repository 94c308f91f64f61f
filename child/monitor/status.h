#ifndef CARREL_STATUS_H
#define CARREL_STATUS_H

#include <stdint.h>

/*
 * --status-fd: how the run started and ended, and that it violated something,
 * one JSON object a line. What is written holds no text that anybody chose.
 * The payload may share the file, and fill it: what there is no room for is
 * kept, and written by one of the calls that follow. Only the end, when nothing
 * is left inside, waits for the reader, or for a SIGTERM.
 */

/*
 * From now on the end is told, even if carrel fails before there is a run:
 * this process writes it at its exit(3). fd -1: nothing is written.
 */
void status_open(int fd);

/* In the set-up: closes what is the monitor's. */
void status_forget(void);

/* {"v":1,"event":"start","run":"..."}; run is hex. */
void status_start(const char *run);

/*
 * {"v":1,"event":"violation","run":"...","surface":"exec"}, once for each
 * surface. Bit N: enum event_surface N. Once more with the same ones it only
 * writes what is still owed.
 */
void status_surfaces(const char *run, unsigned surfaces);

/*
 * {"v":1,"event":"end","run":"...","by":"payload","code":N,"violations":N},
 * and "signal":N if sig is not 0; by is "carrel" if not by_payload.
 */
void status_end(
    const char *run, int by_payload, int code, int sig, uint64_t violations);

#endif
