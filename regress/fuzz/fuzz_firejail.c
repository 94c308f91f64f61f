/* what it prints is looked at */
#define out_write taken
#include "child/screen/import_firejail.c"
#undef out_write

#include <sys/mman.h>

#include "imported.h"
#include "judge.h"
#include "wire.h"

/*
 * A profile of firejail: a byte is a directive, and what stands behind it is
 * the text up to the next newline.
 */

static void
put_line(FILE *f, const uint8_t *data, size_t size)
{
	unsigned n;
	size_t i;

	for (n = 0; directives[n].name != NULL; n++)
		;
	fprintf(f, "%s ", directives[*data % n].name);
	for (i = 1; i < size; i++)
		fputc(data[i] == '\0' ? ' ' : data[i], f);
	fputc('\n', f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[32];
	static FILE *f;
	const uint8_t *end;
	size_t n;

	if (f == NULL) {
		int fd = memfd_create("firejail", 0);

		if (fd == -1 || (f = fdopen(fd, "w")) == NULL)
			abort();
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	}
	rewind(f);
	if (ftruncate(fileno(f), 0) == -1)
		abort();
	for (; size > 0; data += n, size -= n) {
		end = memchr(data, '\n', size);
		n = end != NULL ? (size_t)(end - data) : size;
		if (n > 0)
			put_line(f, data, n);
		n += end != NULL;
	}
	if (fflush(f) == EOF)
		abort();
	if (ftell(f) < FILE_MAX_LEN && import_firejail(name) != 0)
		broken("firejail", "no profile");
	return 0;
}
