#include "child/parser/ceiling.h"
#include "child/parser/place.h"
#include "child/shared/ceiling.h"
#include "wire.h"

/*
 * The bytes of ceiling.conf: a ceiling or exactly one refusal, and what is
 * read here is accepted where it is received, with the same lines.
 */

#define FILE_NAME "/etc/carrel/ceiling.conf"

static void
pass(const struct ceiling *in)
{
	struct ceiling out;
	struct receiver r;
	struct sender s;
	size_t i;
	int fd[2];

	if (channel_pair(fd) == -1 || sender_init(&s, fd[0], -1) == -1 ||
	    receiver_init(&r, fd[1], channel_deadline(1), record_ceiling) == -1)
		abort();
	if (ceiling_send(&s, in) == -1)
		broken("send", strerror(errno));
	close(fd[0]);
	if (ceiling_receive(&r, &out) == -1)
		broken("receive", strerror(errno));
	if (out.n != in->n)
		broken("lines", "other ones");
	for (i = 0; i < out.n; i++)
		if (strcmp(out.lines[i].text, in->lines[i].text) != 0 ||
		    strcmp(out.lines[i].name, in->lines[i].name) != 0 ||
		    out.lines[i].number != in->lines[i].number)
			broken("line", in->lines[i].text);
	ceiling_free(&out);
	receiver_free(&r);
	sender_free(&s);
	close(fd[1]);
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy faults;
	struct place at = {&faults, "", FILE_NAME};
	struct caller ca;
	struct ceiling c;
	char *text = malloc(size + 1);
	int n;

	if (text == NULL)
		abort();
	memset(&faults, 0, sizeof(faults));
	judge_caller(&ca);
	memcpy(text, data, size);
	n = ceiling_parse(&at, &ca, text, size, &c);
	if (faults.nrefusals != (n == -1 ? 1U : 0U))
		broken("ceiling", "other than one refusal");
	/* more lines would wait for who reads them */
	if (n == 0 && c.n <= 512)
		pass(&c);
	if (n == 0)
		ceiling_free(&c);
	wire_must(n == 0);
	policy_free(&faults);
	caller_free(&ca);
	free(text);
	return 0;
}
