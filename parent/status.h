#ifndef CARREL_STATUS_H
#define CARREL_STATUS_H

/*
 * --status-fd: how the run started and ended, one JSON object a line. fd -1
 * writes nothing. What is written holds no text that anybody chose.
 */

/* {"v":1,"event":"start","run":"..."}; run is hex. */
void status_start(int fd, const char *run);

/*
 * {"v":1,"event":"end","run":"...","by":"payload","code":N}, and
 * "signal":N if sig is not 0. by is "payload" or "carrel".
 */
void status_end(int fd, const char *run, const char *by, int code, int sig);

#endif
