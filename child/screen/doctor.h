#ifndef CARREL_SCREEN_DOCTOR_H
#define CARREL_SCREEN_DOCTOR_H

/*
 * Tries in children what a run needs and prints a line for each: returns 0
 * if a run would work on this host, else 1. libexec holds the helpers,
 * profiles the shipped profiles.
 */
int doctor_run(const char *libexec, const char *profiles);

#endif
