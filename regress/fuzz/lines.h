#ifndef CARREL_FUZZ_LINES_H
#define CARREL_FUZZ_LINES_H

/*
 * Profiles for the fuzzer, made by their grammar. The mutator puts a line that
 * a person could have written where its section is, or changes one line of
 * those that are there: what it makes is mostly read, and gets to what comes
 * after reading. A line ends at a newline, or at the NUL between two files.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wire.h"

/* In brackets: a word of that list. */
static const char *const line_lists[][12] = {
    ['p'] = {"/usr", "/usr/lib", "{home}", "{home}/a", "{target}", "/etc",
	"{target}/src", "{target-parent}", "{tmp}", "/srv/\x61 b", "/w/a",
	"/proc/1"},
    ['n'] = {"@s", "a", "b", "c", "d", "@A", "../x", "e"},
    ['v'] = {"EDITOR", "PATH", "MANPATH", "LD_PRELOAD", "LANG", "HOME",
	"GIT_SSH", "TERM", "PYTHONPATH", "X_Y", "CARREL_RUN", "TZ"},
    ['w'] = {"yes", "no", "a b", "/usr/bin/x", "kill", "exec", "fs", "1",
	"read-only", "{user}", "~", "unrestricted"},
    ['s'] = {"0", "1", "64", "4K", "64M", "2G", "2s", "5m", "50%", "none",
	"18446744073709551615", "-1"},
    ['h'] = {"https://example.org", "tcp://192.0.2.1:22", "*", "http://a.b:81",
	"udp://*.example.org:53", "https://[2001:db8::1]", "tls://x:443",
	"private tcp://10.0.0.1:80", "https://localhost", "tcp://a", "x", ""},
};

static const struct line_form {
	const char *section, *text;
} line_forms[] = {
    {"profile", "description = <w>"},
    {"profile", "abuse = <w>"},
    {"profile", "include = <n>"},
    {"profile", "include = <n> <n>"},
    {"profile", "tier = <w>"},
    {"profile", "packs = yes"},
    {"fs", "read = <p>"},
    {"fs", "read = <p> -> <p>"},
    {"fs", "write = <p>"},
    {"fs", "write = <p> -> <p>"},
    {"fs", "try-read = <p>"},
    {"fs", "try-write = <p>"},
    {"fs", "tmpfs = <p>"},
    {"fs", "tmpfs = <p> size=<s>"},
    {"fs", "symlink = <p> -> <p>"},
    {"fs", "command = <p>"},
    {"fs", "command = <p> -> x"},
    {"fs", "socket = <p>"},
    {"fs", "device = /dev/kvm"},
    {"environ.set", "<v> = <w>"},
    {"environ.merge", "<v> = <p>"},
    {"environ.prepend", "<v> = <p>"},
    {"environ.inherit", "<v> = yes"},
    {"environ.sanitise", "<v> = yes"},
    {"egress", "allow = <h>"},
    {"exec", "interpreter = <p>"},
    {"exec", "library = <p>"},
    {"exec", "spawn = <w>"},
    {"exec", "unix = no"},
    {"exec", "once = yes"},
    {"limits", "memory = <s>"},
    {"limits", "processes = <s>"},
    {"limits", "cpu = <s>"},
    {"limits", "cpu-time = <s>"},
    {"limits", "wall-time = <s>"},
    {"limits", "open-files = <s>"},
    {"limits", "file-size = <s>"},
    {"limits", "core-size = <s>"},
    {"limits", "tmpfs = <s>"},
    {"audit", "report = <w>"},
    {"audit", "on-violation = <w>"},
    {"tool x", "description = <w>"},
    {"tool x", "effect = write <p>"},
    {"tool x", "needs = egress"},
    {"example x", "run = x <w>"},
    {"example x", "expect-exit = <s>"},
    {"carrel", "defaults = <n>"},
    {"carrel", "prompt = <w>"},
};

/* The text of a form with its words in it; how long. */
static inline size_t
lines_fill(char *to, size_t cap, const char *form, unsigned *st)
{
	const char *const *list;
	size_t n = 0, k;

	for (; *form != '\0' && n + 64 < cap; form++) {
		if (form[0] != '<' || form[2] != '>') {
			to[n++] = *form;
			continue;
		}
		list = line_lists[(unsigned char)form[1]];
		for (k = 0; k < 12 && list[k] != NULL; k++)
			;
		n += (size_t)snprintf(
		    to + n, cap - n, "%s", list[wire_below(st, k)]);
		form += 2;
	}
	to[n] = '\0';
	return n;
}

static inline size_t
lines_end(const uint8_t *data, size_t size, size_t at)
{
	while (at < size && data[at] != '\n' && data[at] != '\0')
		at++;
	return at;
}

/* Puts n bytes in place of those from..to; the new size, or the old one. */
static inline size_t
lines_put(uint8_t *data, size_t size, size_t max, size_t from, size_t to,
    const char *text, size_t n)
{
	if (size - (to - from) + n > max)
		return size;
	memmove(data + from + n, data + to, size - to);
	memcpy(data + from, text, n);
	return size - (to - from) + n;
}

/* The start of a line, beyond the first skip bytes. */
static inline size_t
lines_any(const uint8_t *data, size_t size, size_t skip, unsigned *st)
{
	size_t at = skip + wire_below(st, size - skip + 1);

	while (at > skip && data[at - 1] != '\n' && data[at - 1] != '\0')
		at--;
	return at;
}

/* A line of the grammar, behind a header of its section. */
static inline size_t
lines_add(uint8_t *data, size_t size, size_t max, size_t skip, unsigned *st)
{
	const struct line_form *f = &line_forms[wire_below(
	    st, sizeof(line_forms) / sizeof(line_forms[0]))];
	char head[64], text[512];
	size_t n, at = lines_any(data, size, skip, st), len, end;

	len = (size_t)snprintf(head, sizeof(head), "[%s]", f->section);
	n = lines_fill(text, sizeof(text) - 1, f->text, st);
	text[n++] = '\n';
	for (; at < size; at = end + 1) {
		end = lines_end(data, size, at);
		if (end < size && end - at == len &&
		    memcmp(data + at, head, len) == 0)
			return lines_put(
			    data, size, max, end + 1, end + 1, text, n);
		if (end < size && data[end] == '\0')
			break; /* in this file there is none */
	}
	if (at > size)
		at = size;
	else
		at = lines_end(data, size, at);
	head[len++] = '\n';
	memmove(text + len, text, n);
	memcpy(text, head, len);
	/* what stands before it is ended */
	if (at > skip && data[at - 1] != '\n' && data[at - 1] != '\0') {
		memmove(text + 1, text, n + len);
		text[0] = '\n';
		n++;
	}
	return lines_put(data, size, max, at, at, text, n + len);
}

static inline size_t
lines_mutate(uint8_t *data, size_t size, size_t max, unsigned seed, size_t skip)
{
	unsigned st = seed, times;
	char text[512];
	size_t at, end, n;

	if (size < skip || wire_below(&st, 5) == 0)
		return LLVMFuzzerMutate(data, size, max);
	for (times = 1 + wire_below(&st, 3); times > 0; times--) {
		at = lines_any(data, size, skip, &st);
		end = lines_end(data, size, at);
		switch (wire_below(&st, 8)) {
		case 0: /* gone */
			if (end < size && data[end] == '\n')
				end++;
			size = lines_put(data, size, max, at, end, "", 0);
			break;
		case 1: /* twice, or elsewhere */
			n = end - at;
			if (n >= sizeof(text))
				break;
			memcpy(text, data + at, n);
			text[n++] = '\n';
			at = lines_any(data, size, skip, &st);
			size = lines_put(data, size, max, at, at, text, n);
			break;
		case 2: /* another value */
			while (at < end && data[at] != '=')
				at++;
			n = lines_fill(text, sizeof(text),
			    wire_below(&st, 2) != 0 ? "= <p>" : "= <w>", &st);
			if (at < end)
				size = lines_put(
				    data, size, max, at, end, text, n);
			break;
		default:
			size = lines_add(data, size, max, skip, &st);
		}
	}
	return size;
}

#endif
