#include <elf.h>
#include <string.h>

#include "elf.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

_Static_assert(sizeof(Elf64_Ehdr) == ELF_HEAD, "a header");
_Static_assert(sizeof(Elf64_Phdr) == ELF_SEGMENT, "a segment");

int
elf_table(const uint8_t *head, size_t n, struct elf_place *p)
{
	Elf64_Ehdr h;

	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	if (n < sizeof(h))
		return -1;
	memcpy(&h, head, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != MACHINE ||
	    (h.e_type != ET_EXEC && h.e_type != ET_DYN) ||
	    h.e_phentsize != ELF_SEGMENT || h.e_phnum == 0 ||
	    h.e_phnum > ELF_TABLE || h.e_phoff > INT64_MAX)
		return -1;
	p->at = h.e_phoff;
	p->len = (size_t)h.e_phnum * ELF_SEGMENT;
	return 1;
}

int
elf_loader(const uint8_t *table, size_t n, struct elf_place *p)
{
	Elf64_Phdr s;
	size_t i;

	if (n % sizeof(s) != 0)
		return -1;
	for (i = 0; i < n; i += sizeof(s)) {
		memcpy(&s, table + i, sizeof(s));
		if (s.p_type != PT_INTERP)
			continue;
		if (s.p_filesz < 2 || s.p_filesz > ELF_PATH ||
		    s.p_offset > INT64_MAX)
			return -1;
		p->at = s.p_offset;
		p->len = (size_t)s.p_filesz;
		return 1;
	}
	return 0;
}
