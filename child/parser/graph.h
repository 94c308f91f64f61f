#ifndef CARREL_PARSER_GRAPH_H
#define CARREL_PARSER_GRAPH_H

struct policy;
struct selection;

/*
 * Judges the includes of a sorted selection in which each is found: no cycle
 * and no chain over INCLUDE_DEPTH. What is told depends on the set alone: a
 * cycle is printed from its first name in the alphabet on. 0, or -1 after
 * refusals.
 */
int graph_check(const struct selection *, struct policy *);

#endif
