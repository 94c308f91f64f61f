#ifndef CARREL_PARSER_SANDBOX_H
#define CARREL_PARSER_SANDBOX_H

struct layers;
struct place;

/*
 * A sanitizer's run time needs a shadow of the whole address space, threads
 * and system calls of its own to tell what it found. Such a build can be
 * traced and has neither limits nor filter; it is for tests, and is never
 * installed.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZED 1
#else
#define SANDBOX_SANITIZED 0
#endif

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
