#ifndef CARREL_PARSER_CATALOGUE_H
#define CARREL_PARSER_CATALOGUE_H

struct catalogue;
struct layers;
struct listing;
struct request;

/*
 * All that is installed (child/shared/catalogue.h), each file by itself, so
 * that one which does not parse takes no other one down (S22). What the request
 * selects is judged besides as a run without defaults would, at a target that
 * stands for any: its refusals are the verdict. 0, or -1 without memory.
 */
int catalogue_make(const struct request *, const struct layers *,
    const struct listing *, struct catalogue *);

#endif
