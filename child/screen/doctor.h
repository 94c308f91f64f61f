#ifndef CARREL_SCREEN_DOCTOR_H
#define CARREL_SCREEN_DOCTOR_H

#define DOCTOR_WORDS 10

/*
 * Tries what a run needs of this host and says what is missing, and what
 * mends it. The arguments behind "doctor": carrel's own path, the directories
 * of its helpers and of the shipped profiles, "json" or "text", the columns
 * (0: not known), "colour" or "", "hosted" or "", HOME, XDG_CONFIG_HOME and
 * PATH as NAME=VALUE, or NAME alone if it is not set. Returns the exit code: 0
 * if a run works here, or 1.
 */
int doctor_run(char *const argv[DOCTOR_WORDS]);

#endif
