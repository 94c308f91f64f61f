#ifndef CARREL_ELF_H
#define CARREL_ELF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Of an ELF file, elf(5), only what says which dynamic loader the kernel
 * opens for it; as load_elf_binary() reads it. Pure: bytes in, places out.
 */

#define ELF_HEAD    64	 /* the header of a 64-bit file */
#define ELF_SEGMENT 56	 /* one entry of its table of segments */
#define ELF_TABLE   128	 /* entries that are looked at */
#define ELF_PATH    4096 /* a loader's path, with its NUL */

/* Where in the file something lies. */
struct elf_place {
	uint64_t at;
	size_t len;
};

/*
 * The table of segments of a file with these first n bytes: 1; 0 if it is no
 * ELF file, -1 if it is one that this machine does not run.
 */
int elf_table(const uint8_t *head, size_t n, struct elf_place *);

/*
 * The path of its loader: 1; 0 if it has none (static); -1 if the table is
 * none.
 */
int elf_loader(const uint8_t *table, size_t n, struct elf_place *);

#endif
