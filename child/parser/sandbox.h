#ifndef CARREL_PARSER_SANDBOX_H
#define CARREL_PARSER_SANDBOX_H

struct layers;
struct place;

/*
 * From here on the process can read files beneath the layers' directories,
 * take memory, and talk to descriptor 3. In order: the standard descriptors
 * are closed, no_new_privs, rlimits, Landlock (left out when told so), and
 * the system-call filter made of parser.table; a call that is not in it
 * kills. 0, or -1 after a refusal: then nothing may be read.
 */
int sandbox_enter(
    const struct layers *, int without_landlock, const struct place *);

#endif
