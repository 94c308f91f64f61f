#include "child/shared/advice.h"
#include "child/shared/kept.h"
#include "ipc/sha256.h"
#include "judge.h"
#include "wire.h"

/*
 * A file of the user's state. The first byte of an input is that of every
 * stream, and no part of it; so what one record can be is changed as there.
 */

#define RUN "0123456789abcdef0123456789abcdef"

static size_t
write_back(const struct kept *k, uint8_t *buf, size_t len)
{
	FILE *f = tmpfile();
	size_t n;

	if (f == NULL || kept_write(fileno(f), k) == -1)
		abort();
	rewind(f);
	n = fread(buf, 1, len, f);
	fclose(f);
	return n;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t good[4096];
	static size_t n;
	struct kept_profile p = {"mine", "/m.profile", RUN RUN, 3, 2};
	struct event e = {.surface = EVENT_EXEC,
	    .profile = EVENT_NO_PROFILE,
	    .count = 2,
	    .action = "exec",
	    .resource = "/bin/sh",
	    .rule = ""};
	const struct kept k = {.run = RUN,
	    .command = "sh",
	    .profiles = &p,
	    .nprofiles = 1,
	    .events = &e,
	    .nevents = 1,
	    .violations = 2};

	if (n == 0)
		n = write_back(&k, good, sizeof(good));
	return wire_mutate(data, size, max_size, seed, good, n);
}

static void
judge(const struct kept *k)
{
	char fix[ADVICE_MAX];
	size_t i;

	if (strlen(k->run) != KEPT_RUN_HEX || k->nprofiles > PROFILES_MAX ||
	    k->nevents > EVENTS_MAX)
		broken("kept", "out of range");
	for (i = 0; i < k->nprofiles; i++)
		if (!sha256_is_hex(k->profiles[i].digest))
			broken("kept", "digest");
	for (i = 0; i < k->nevents; i++)
		if ((k->events[i].profile != EVENT_NO_PROFILE &&
			k->events[i].profile >= k->nprofiles) ||
		    k->events[i].count == 0 ||
		    strlen(k->events[i].resource) > EVENT_RESOURCE_MAX)
			broken("kept", "event");
	for (i = 0; i < k->nevents; i++)
		if (advice_for(&k->events[i], fix) != NULL &&
		    (strncmp(fix, "allow = ", 8) != 0 || fix[8] == '*'))
			broken("kept", "advice");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t back[65536];
	struct kept k;
	int accepted = 0;
	size_t n;

	if (size > 0 && kept_read(data + 1, size - 1, &k) == 0) {
		accepted = 1;
		judge(&k);
		/* one file has one form */
		n = write_back(&k, back, sizeof(back));
		if (n != size - 1 || memcmp(back, data + 1, n) != 0)
			broken("kept", "two forms of a file");
		kept_free(&k);
	}
	wire_must(accepted);
	return 0;
}
