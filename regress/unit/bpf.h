#ifndef CARREL_REGRESS_BPF_H
#define CARREL_REGRESS_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Runs a system-call filter as the kernel does, for the instructions that
 * mkfilter uses. Returns its verdict, or 0xffffffff for a program that the
 * kernel would not take. steps counts instructions if it is not NULL.
 */
static uint32_t
bpf_run(const struct sock_filter *prog, size_t len,
    const struct seccomp_data *data, unsigned *steps)
{
	uint32_t a = 0;
	size_t pc;

	for (pc = 0; pc < len; pc++) {
		const struct sock_filter *i = &prog[pc];

		if (steps != NULL)
			(*steps)++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 != 0 || i->k > sizeof(*data) - 4)
				return UINT32_MAX;
			memcpy(&a, (const char *)data + i->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return UINT32_MAX;
		}
	}
	return UINT32_MAX;
}

#endif
