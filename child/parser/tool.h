#ifndef CARREL_PARSER_TOOL_H
#define CARREL_PARSER_TOOL_H

struct draft;
struct draft_grant;
struct key;
struct place;
struct policy;
struct reader_line;
struct request;
struct selection;
struct tool;

/*
 * [tool NAME] and [example NAME], see ipc/tool.h. A need is one line,
 *
 *	needs = read PATH | write PATH | socket PATH | device PATH
 *	needs = command NAME
 *	needs = allow SCHEME://HOST:PORT | allow *
 *
 * whose paths are those inside, placeholders and all.
 */

/* A line that opens such a section: 0, or -1 after a refusal. */
int tool_open(const struct place *, const struct key *,
    const struct reader_line *, struct draft *);

/* A line of the section that was opened last; likewise. */
int tool_line(const struct place *, const struct key *,
    const struct reader_line *, struct draft *);

/* All of a file was read: each example has a command. */
int tools_complete(const struct place *, const struct draft *);

/* All of a selection, expanded, into the policy; -1 after refusals. */
int tools_resolve(
    const struct request *, const struct selection *, struct policy *);

#endif
