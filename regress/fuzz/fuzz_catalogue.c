#include "child/shared/catalogue.h"
#include "ipc/text.h"
#include "judge.h"
#include "wire.h"

/*
 * What carrel-parse may send of what is installed: a screen decodes it, and
 * what it accepts is in order and has no field outside its range.
 */

static void
good(struct catalogue *c)
{
	static char name[] = "@sys", file[] = "/p/sys.profile", none[] = "";
	static char section[] = "fs", key[] = "read", value[] = "/usr";
	static char what[] = "a \x1b[m word", dir[] = "/p";
	const struct catalogue_item layer = {none, dir, "", 1, 1, 1};
	const struct catalogue_item config = {none, dir, "", 2, 2, 3};
	struct catalogue_item item = {name, file, "", 3, 1, 1};
	const struct catalogue_line lines[] = {
	    {2, 1, 0, section, none, none, none},
	    {2, 2, LINE_WRITES, section, key, value, value},
	    {CATALOGUE_NOWHERE, 0, LINE_COUNTS, section, key, value, none}};
	const struct refusal r = {none, file, 3, what, none};

	memset(item.digest, 'a', SHA256_HEX);
	if (catalogue_add_item(c, &layer) == -1 ||
	    catalogue_add_item(c, &config) == -1 ||
	    catalogue_add_item(c, &item) == -1 ||
	    catalogue_add_line(c, &lines[0]) == -1 ||
	    catalogue_add_line(c, &lines[1]) == -1 ||
	    catalogue_add_line(c, &lines[2]) == -1 ||
	    catalogue_add_fault(c, 0, &r) == -1 ||
	    catalogue_add_fault(c, 1, &r) == -1)
		abort();
}

static int
say(struct sender *s)
{
	struct catalogue c;
	int n;

	memset(&c, 0, sizeof(c));
	good(&c);
	n = catalogue_send(s, &c);
	catalogue_free(&c);
	return n;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t buf[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, buf, sizeof(buf));
	return wire_mutate(data, size, max_size, seed, buf, n);
}

static void
judge(const struct catalogue *c)
{
	size_t i;

	for (i = 0; i < c->nlines; i++)
		if (c->lines[i].item != CATALOGUE_NOWHERE &&
		    (c->lines[i].item >= c->nitems ||
			c->items[c->lines[i].item].state != ITEM_GOOD))
			broken("line", "of no item");
	for (i = 1; i < c->nitems; i++)
		if (c->items[i].kind < c->items[i - 1].kind)
			broken("items", "out of order");
}

static void
decode(unsigned type, struct rcur *c, void *arg)
{
	struct catalogue ca;

	(void)arg;
	memset(&ca, 0, sizeof(ca));
	(void)catalogue_get(type, c, &ca);
	catalogue_free(&ca);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalogue c;
	struct receiver r;
	int fd = wire_say(data, size), accepted = 0;

	if (receiver_init(&r, fd, channel_deadline(1), record_catalogue) == -1)
		abort();
	if (catalogue_receive(&r, &c) == 0) {
		judge(&c);
		catalogue_free(&c);
		accepted = 1;
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, NULL);
	return 0;
}
