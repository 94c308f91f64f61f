#ifndef CARREL_PARSER_READER_H
#define CARREL_PARSER_READER_H

#include <stddef.h>
#include <stdint.h>

struct place;

/*
 * The text of a profile or configuration file, line by line. The packaged
 * inih reads lines of 200 bytes, cuts section names at 49, ends a key at ':'
 * too, drops what follows " ;" in a value, continues indented lines, takes an
 * empty key and goes on after an error. So every line is checked and taken
 * apart here, inih is given what it reads correctly (a short number in the
 * place of the value), and both must agree on what it was.
 *
 * What a file is: valid UTF-8 without a BOM, at most FILE_MAX_LEN bytes, lines
 * that end with a newline and hold no control, bidi or invisible character. A
 * tab is a blank around a key or value and refused inside. A line is empty, a
 * comment (it begins with ';' or '#'), "[section]" or "key = value"; the key
 * ends at the first '=', and all of the rest but the blanks around it is the
 * value. No line is indented.
 */

struct reader_line {
	uint32_t line;
	const char *section;
	const char *key;   /* NULL: the line opens the section */
	const char *value; /* at most VALUE_MAX_LEN bytes */
};

/*
 * Calls fn for each section and key until it returns -1 (after it refused).
 * data has len bytes and room for one more, and is written to. 0, or -1 after
 * exactly one refusal: the first fault of the file.
 */
int reader_parse(const struct place *, char *data, size_t len,
    int (*fn)(void *, const struct reader_line *), void *arg);

#endif
