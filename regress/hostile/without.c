/*
 * without CALL[:FIRST] ERROR COMMAND [ARG...]: runs COMMAND where the kernel
 * does not have a system call, or refuses it with another errno (V027);
 * with FIRST only if that is its first argument.
 */
#include <err.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	scmp_filter_ctx ctx;
	struct scmp_arg_cmp first = SCMP_A0_64(SCMP_CMP_EQ, 0, 0);
	char *colon;
	int call;

	if (argc < 4)
		errx(2, "usage: without CALL[:FIRST] ERROR COMMAND [ARG...]");
	if ((colon = strchr(argv[1], ':')) != NULL) {
		*colon = '\0';
		first.datum_a = strtoull(colon + 1, NULL, 0);
	}
	call = seccomp_syscall_resolve_name(argv[1]);
	if (call == __NR_SCMP_ERROR)
		call = atoi(argv[1]);
	ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (ctx == NULL ||
	    seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)atoi(argv[2])),
		call, colon != NULL, &first) != 0 ||
	    seccomp_load(ctx) != 0)
		errx(2, "seccomp");
	seccomp_release(ctx);
	execv(argv[3], argv + 3);
	err(2, "%s", argv[3]);
}
