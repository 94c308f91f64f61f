#include "child/setup/elf.h"
#include "judge.h"
#include "wire.h"

/* The first bytes of a file, as look_exec() reads them. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_place t, p;
	uint8_t table[ELF_TABLE * ELF_SEGMENT];
	int r;

	r = elf_table(data, size < ELF_HEAD ? size : ELF_HEAD, &t);
	if (r < -1 || r > 1)
		broken("elf", "no answer");
	if (r != 1) {
		wire_must(0);
		return 0;
	}
	if (t.len == 0 || t.len > sizeof(table) || t.len % ELF_SEGMENT != 0)
		broken("elf", "a table that is too long");
	if (t.at > size || t.len > size - t.at)
		return 0;
	memcpy(table, data + t.at, t.len);
	r = elf_loader(table, t.len, &p);
	if (r < -1 || r > 1)
		broken("elf", "no answer");
	if (r == 1 && (p.len < 2 || p.len > ELF_PATH))
		broken("elf", "a path that is too long");
	wire_must(r == 1);
	return 0;
}
