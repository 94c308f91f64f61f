#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <check.h>
#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"

/*
 * The filters as they are made for both machines, whichever this one is. A
 * call has the same answer on both, argument by argument, and what the
 * payload's filter says on aarch64 is also in golden/calls-aarch64.txt: a
 * number, the call's name and the answer where all arguments are 0.
 */

#define CALLS  600
#define SHARED 424 /* from here on all machines have the same numbers */
#define INSNS  4096

#define DIR "child/setup/filter/"

/* As GNUmakefile joins them. */
static const struct {
	const char *name, *tables;
} filters[] = {
    {"payload", DIR "payload.table"},
    {"payload_ptrace", DIR "ptrace.table " DIR "payload.table"},
    {"background", DIR "background.table"},
    {"lock", DIR "lock.table"},
    {"spawn", DIR "spawn.table"},
    {"unix", DIR "unix.table"},
    {"exec", DIR "exec.table"},
    {"told", DIR "exec.table " DIR "spawn_told.table " DIR "unix_told.table"},
    {"watch", DIR "exec.table " DIR "watch.table"},
    {"factory", DIR "factory.table"},
    {"parser", "child/parser/parser.table"},
    {"notifier", "child/monitor/notifier.table"},
    {"broker", "child/broker/broker.table"},
};

#define FILTERS (sizeof(filters) / sizeof(filters[0]))

struct program {
	struct sock_filter code[INSNS];
	size_t len;
};

static const struct machine {
	const char *name;
	uint32_t audit, foreign, scmp;
} x86_64 = {"x86_64", AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, SCMP_ARCH_X86_64},
  aarch64 = {"aarch64", AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM, SCMP_ARCH_AARCH64};

static struct program here[FILTERS], there[FILTERS];

static void
make(struct program *p, const struct machine *m, size_t i)
{
	const char *build = getenv("BUILD");
	unsigned code, jt, jf, k;
	char cmd[512], line[512];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "%s/mkfilter -a %s %s %s",
	    build != NULL ? build : "build", m->name, filters[i].name,
	    filters[i].tables);
	p->len = 0;
	ck_assert_ptr_nonnull(f = popen(cmd, "r"));
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, " {%x, %u, %u, %x},", &code, &jt, &jf, &k) ==
		    4) {
			ck_assert_uint_lt(p->len, INSNS);
			p->code[p->len++] = (struct sock_filter){
			    (uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};
		}
	ck_assert_msg(pclose(f) == 0 && p->len > 4, "%s", cmd);
}

static void
make_all(void)
{
	size_t i;

	for (i = 0; i < FILTERS; i++) {
		make(&here[i], &x86_64, i);
		make(&there[i], &aarch64, i);
	}
}

static uint32_t
ask(const struct program *p, uint32_t arch, int nr, const uint64_t args[6])
{
	struct seccomp_data d = {.nr = nr, .arch = arch};

	memcpy(d.args, args, sizeof(d.args));
	return bpf_run(p->code, p->len, &d, NULL);
}

/* The number on aarch64 of the call that has this one on x86_64; or -1. */
static int
other_number(int nr)
{
	char *name;
	int n;

	if (nr >= SHARED)
		return nr;
	name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, nr);
	if (name == NULL)
		return -1;
	n = seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name);
	free(name);
	return n < 0 ? -1 : n;
}

/* Words in which the kernel sees flags, families, requests, or nothing. */
static uint64_t
word(unsigned *seed)
{
	static const uint32_t words[] = {0, 1, 2, 3, 6, 10, 16, 17, 58, 132,
	    0x5401, 0x5410, 0x5412, 0x541c, 0x4b49, 0x540a, 1024, 1026, 1040,
	    0x40, 0x400000, 0410000, 04755, 0100, 020000000, 0755, 0x10000,
	    0x10000000, 0x7e020080, 0x80000, 0xffffffff, 0x1000};
	uint64_t w;

	*seed = *seed * 1103515245 + 12345;
	w = words[*seed >> 16 & 31];
	if ((*seed >> 24 & 3) == 0)
		w |= (uint64_t)words[*seed >> 8 & 31];
	if ((*seed >> 26 & 7) == 0)
		w |= UINT64_C(1) << 32;
	return w;
}

START_TEST(same_answers)
{
	unsigned seed = 1, known = 0;
	uint64_t args[6];
	size_t i, k, a;
	int nr, other;

	for (nr = 0; nr < CALLS; nr++) {
		if ((other = other_number(nr)) == -1)
			continue;
		known++;
		for (k = 0; k < 200; k++) {
			for (a = 0; a < 6; a++)
				args[a] = word(&seed);
			for (i = 0; i < FILTERS; i++)
				ck_assert_msg(
				    ask(&here[i], x86_64.audit, nr, args) ==
					ask(&there[i], aarch64.audit, other,
					    args),
				    "%s: call %d of x86_64, %d of aarch64",
				    filters[i].name, nr, other);
		}
	}
	/* both have that many in common, or nothing was compared */
	ck_assert_uint_gt(known, 400);
}
END_TEST

/* The other ABIs of each machine, and numbers that nobody has. */
START_TEST(foreign_calls)
{
	const uint64_t args[6] = {0};
	const uint32_t arch[] = {
	    aarch64.foreign, x86_64.audit, x86_64.foreign, 0, UINT32_MAX};
	uint32_t v;
	size_t i, a;
	int nr;

	for (i = 0; i < FILTERS; i++)
		for (nr = -1; nr < CALLS; nr++) {
			for (a = 0; a < sizeof(arch) / sizeof(arch[0]); a++) {
				v = ask(&there[i], arch[a], nr, args);
				ck_assert_msg(
				    v == (SECCOMP_RET_ERRNO | ENOSYS) ||
					v == SECCOMP_RET_KILL_PROCESS,
				    "%s: call %d of 0x%x", filters[i].name, nr,
				    arch[a]);
			}
		}
	for (nr = 0; nr < CALLS; nr++)
		ck_assert_uint_eq(
		    ask(&there[0], aarch64.audit, nr | 0x40000000, args),
		    SECCOMP_RET_ERRNO | ENOSYS);
}
END_TEST

static const char *
verdict(uint32_t v)
{
	switch (v) {
	case SECCOMP_RET_ALLOW:
		return "ok";
	case SECCOMP_RET_ERRNO | EPERM:
		return "EPERM";
	case SECCOMP_RET_ERRNO | ENOSYS:
		return "ENOSYS";
	case SECCOMP_RET_ERRNO | EAFNOSUPPORT:
		return "EAFNOSUPPORT";
	default:
		return "?";
	}
}

START_TEST(golden_table)
{
	static const char golden[] = "regress/golden/calls-aarch64.txt";
	const uint64_t args[6] = {0};
	const char *how = getenv("CARREL_T_GOLDEN");
	int writes = how != NULL && strcmp(how, "write") == 0, nr;
	char line[128], want[128], *name;
	FILE *f;

	ck_assert_ptr_nonnull(f = fopen(golden, writes ? "w" : "r"));
	for (nr = 0; nr < SHARED + 50; nr++) {
		name = seccomp_syscall_resolve_num_arch(aarch64.scmp, nr);
		snprintf(line, sizeof(line), "%d %s %s\n", nr,
		    /* what this version of libseccomp does not know */
		    name == NULL || nr > 450 ? "-" : name,
		    verdict(ask(&there[0], aarch64.audit, nr, args)));
		free(name);
		if (writes) {
			ck_assert_int_ge(fputs(line, f), 0);
			continue;
		}
		ck_assert_ptr_nonnull(fgets(want, sizeof(want), f));
		ck_assert_str_eq(line, want);
	}
	ck_assert(writes || fgets(want, sizeof(want), f) == NULL);
	ck_assert_int_eq(fclose(f), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("arch");
	TCase *c = tcase_create("arch");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(c, 120);
	tcase_add_unchecked_fixture(c, make_all, NULL);
	tcase_add_test(c, same_answers);
	tcase_add_test(c, foreign_calls);
	tcase_add_test(c, golden_table);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
