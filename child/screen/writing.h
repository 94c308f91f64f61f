#ifndef CARREL_SCREEN_WRITING_H
#define CARREL_SCREEN_WRITING_H

#include <stdio.h>

#include "ipc/limits.h"

/* Lines of a profile that a screen makes. */

/*
 * One line, as harmless as a screen's: one that begins with ";" is escaped, of
 * the others writing_unfit() has judged the words.
 */
void writing_line(FILE *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* NULL, or why a word cannot stand in a profile. */
const char *writing_unfit(const char *);

/* "word", in quotes where it needs them. Returns buf. */
#define WRITING_WORD VALUE_MAX_LEN
const char *writing_word(char buf[WRITING_WORD], const char *);

#endif
