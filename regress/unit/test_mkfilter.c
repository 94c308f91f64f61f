#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"

/* The tool that makes filters, run on tables of the test's own. */

#ifdef __x86_64__
#define HERE AUDIT_ARCH_X86_64
#else
#define HERE AUDIT_ARCH_AARCH64
#endif

#define ALLOW SECCOMP_RET_ALLOW
#define KILL  SECCOMP_RET_KILL_PROCESS
#define E(n)  (SECCOMP_RET_ERRNO | (n))

struct made {
	int status; /* exit code of the tool */
	struct sock_filter code[4096];
	size_t len;
	char message[512]; /* what it printed before any instruction */
};

static char table_file[] = "/tmp/test_mkfilter.XXXXXX";

static void
make(struct made *m, const char *options, const char *table)
{
	const char *build = getenv("BUILD");
	unsigned code, jt, jf, k;
	char cmd[512], line[512];
	FILE *f;
	int rc;

	ck_assert_ptr_nonnull(f = fopen(table_file, "w"));
	ck_assert(fputs(table, f) >= 0 && fclose(f) == 0);
	snprintf(cmd, sizeof(cmd), "%s/mkfilter %s test %s 2>&1",
	    build != NULL ? build : "build", options, table_file);
	memset(m, 0, sizeof(*m));
	ck_assert_ptr_nonnull(f = popen(cmd, "r"));
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, " {%x, %u, %u, %x},", &code, &jt, &jf, &k) ==
		    4) {
			ck_assert_uint_lt(m->len, 4096);
			m->code[m->len++] = (struct sock_filter){
			    (uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};
		} else if (m->message[0] == '\0')
			strcpy(m->message, line);
	rc = pclose(f);
	ck_assert(WIFEXITED(rc));
	m->status = WEXITSTATUS(rc);
}

static uint32_t
judge(const struct made *m, uint32_t arch, int nr, uint64_t a0, uint64_t a1)
{
	struct seccomp_data d = {.nr = nr, .arch = arch, .args = {a0, a1}};

	return bpf_run(m->code, m->len, &d, NULL);
}

static void
refused(const char *table, const char *why)
{
	static struct made m;

	make(&m, "", table);
	ck_assert_msg(m.status == 1 && m.len == 0, "accepted: %s", table);
	ck_assert_msg(
	    strstr(m.message, why) != NULL, "%s: not %s", m.message, why);
}

START_TEST(refusals)
{
	char long_line[400];

	refused("", "default");
	refused("allow read # r\n", "default");
	refused("default kill\n", "reason");
	refused("default kill #\n", "reason");
	refused("default kill # r\nallow read\n", ":2: ");
	refused("default kill read # r\n", "nothing may follow");
	refused("default errno # r\n", "an action is");
	refused("default errno 0 # r\n", "no errno");
	refused("default errno 5000 # r\n", "no errno");
	refused("default errno EPERM,ENOSYS # r\n", "no errno");
	refused("default errno EWHAT # r\n", "EWHAT");
	refused("permit read # r\n", "an action is");
	refused("allow # r\n", "no call");
	refused("allow arg0 == 1 # r\n", "no call");
	refused("allow reed # r\n", "reed");
	refused("allow read arg6 == 1 # r\n", "arg6");
	refused("allow read arg0 # r\n", "== or !=");
	refused("allow read arg0 = 1 # r\n", "== or !=");
	refused("allow read arg0 & # r\n", "no mask");
	refused("allow read arg0 & 1,2 == 1 # r\n", "mask");
	refused("allow read arg0 == # r\n", "no value");
	refused("allow read arg0 == 1, # r\n", "no number");
	refused("allow read arg0 == -1 # r\n", "-1");
	refused("allow read arg0 == 08 # r\n", "08");
	refused("allow read arg0 == 0x100000000 # r\n", "32 bits");
	refused("allow read arg0 & 1 == 2 # r\n", "outside the mask");
	refused("allow read arg0 == 1 write # r\n", "write");
	refused("allow read # r\nerrno EPERM read # r\n", "line 1");
	refused("allow read # r", "newline");
	memset(long_line, 'x', sizeof(long_line));
	memcpy(long_line, "allow ", 6);
	memcpy(long_line + 390, " # r\n", 6);
	refused(long_line, "newline");
}
END_TEST

START_TEST(one_table_two_machines)
{
	static struct made m;
	const char *table = "default errno ENOSYS # r\n"
			    "allow open openat iopl # r\n"
			    "errno EPERM read # r\n";

	make(&m, "-a x86_64", table);
	ck_assert_int_eq(m.status, 0);
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_X86_64, 2, 0, 0), ALLOW);
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_X86_64, 257, 0, 0), ALLOW);
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_X86_64, 0, 0, 0), E(EPERM));
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_AARCH64, 2, 0, 0), KILL);
	make(&m, "-a aarch64", table);
	ck_assert_int_eq(m.status, 0);
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_AARCH64, 2, 0, 0), E(ENOSYS));
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_AARCH64, 56, 0, 0), ALLOW);
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_AARCH64, 63, 0, 0), E(EPERM));
	ck_assert_uint_eq(judge(&m, AUDIT_ARCH_X86_64, 56, 0, 0), KILL);
	make(&m, "-a mips", table);
	ck_assert_int_eq(m.status, 1);
}
END_TEST

START_TEST(first_line_decides)
{
	static struct made m;

	make(&m, "",
	    "foreign errno EACCES # r\n"
	    "default kill # r\n"
	    "allow dup arg0 & 0xf0|2 == 0x20,0x32 # r\n"
	    "errno EPERM dup arg0 != 7 arg1 != 1,2,3 # r\n"
	    "errno 5 dup arg1 == 1 # r\n");
	ck_assert_int_eq(m.status, 0);
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 0x20, 1), ALLOW);
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 0xf000000d, 1), E(5));
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 0x3f, 9), ALLOW);
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 0x22, 0), E(EPERM));
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 8, 3), KILL);
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 8, 1), E(5));
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 7, 4), KILL);
	ck_assert_uint_eq(judge(&m, HERE, SYS_dup, 7 | 1ULL << 40, 4), KILL);
	ck_assert_uint_eq(judge(&m, HERE ^ 1, SYS_dup, 8, 1), E(EACCES));
}
END_TEST

/* Random tables against a plain reading of their rules. */

static const struct {
	const char *name;
	int nr;
} calls[] = {
#define N(name)                                                                \
	{                                                                      \
#name, SYS_##name                                              \
	}
    N(read),
    N(write),
    N(close),
    N(fstat),
    N(lseek),
    N(mmap),
    N(mprotect),
    N(munmap),
    N(brk),
    N(ioctl),
    N(readv),
    N(writev),
    N(dup),
    N(dup3),
    N(getpid),
    N(socket),
    N(connect),
    N(clone),
    N(execve),
    N(exit),
    N(fcntl),
    N(fsync),
    N(getcwd),
    N(chdir),
    N(fchmod),
    N(umask),
    N(ptrace),
    N(getuid),
    N(sync),
    N(acct),
    N(mount),
    N(reboot),
    N(gettid),
    N(futex),
    N(openat),
    N(unshare),
    N(bpf),
    N(statx),
    N(clone3),
    N(openat2),
#undef N
};
#define NCALLS (sizeof(calls) / sizeof(calls[0]))

struct drawn {
	size_t call;
	uint32_t action, mask[2], value[2][16];
	int ncond, arg[2], n[2], differs[2];
};

static unsigned long seed;

static unsigned
draw(unsigned below)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(seed >> 33) % below;
}

static int
append(char *buf, int o, size_t size, struct drawn *d)
{
	static const char *const actions[] = {
	    "allow", "kill", "errno 1", "errno 38"};
	static const uint32_t verdict[] = {ALLOW, KILL, E(1), E(38)};
	unsigned a = draw(4);
	int c, v;

	d->call = draw(NCALLS);
	d->action = verdict[a];
	d->ncond = (int)draw(12) == 0 ? 0 : 1 + (int)draw(2);
	o += snprintf(buf + o, size - (size_t)o, "%s %s", actions[a],
	    calls[d->call].name);
	for (c = 0; c < d->ncond; c++) {
		d->arg[c] = (int)draw(2);
		d->mask[c] = draw(2) ? UINT32_MAX : draw(16);
		d->differs[c] = (int)draw(2);
		d->n[c] = 1 + (int)draw(16);
		o += snprintf(buf + o, size - (size_t)o, " arg%d", d->arg[c]);
		if (d->mask[c] != UINT32_MAX)
			o += snprintf(
			    buf + o, size - (size_t)o, " & %u", d->mask[c]);
		o += snprintf(buf + o, size - (size_t)o, " %s ",
		    d->differs[c] ? "!=" : "==");
		for (v = 0; v < d->n[c]; v++) {
			d->value[c][v] = draw(24) & d->mask[c];
			o += snprintf(buf + o, size - (size_t)o, "%s%u",
			    v == 0 ? "" : ",", d->value[c][v]);
		}
	}
	return o + snprintf(buf + o, size - (size_t)o, " # r\n");
}

static int
fits(const struct drawn *d, const uint32_t args[2])
{
	int c, v, hit;

	for (c = 0; c < d->ncond; c++) {
		for (hit = 0, v = 0; v < d->n[c]; v++)
			hit |= (args[d->arg[c]] & d->mask[c]) == d->value[c][v];
		if (hit == d->differs[c])
			return 0;
	}
	return 1;
}

static uint32_t
wanted(const struct drawn *d, size_t n, int nr, const uint32_t args[2])
{
	size_t i;

	for (i = 0; i < n; i++)
		if (calls[d[i].call].nr == nr && fits(&d[i], args))
			return d[i].action;
	return E(13);
}

START_TEST(random_tables)
{
	static char table[64 * 1024];
	static struct drawn d[300];
	static struct made m;
	size_t n, i;
	uint32_t args[2];
	int o, next, nr, k, hidden;

	seed = (unsigned long)_i;
	o = snprintf(table, sizeof(table), "default errno 13 # r\n");
	for (n = 0, k = 0; k < 20 + 12 * _i; k++) {
		next = append(table, o, sizeof(table), &d[n]);
		for (hidden = 0, i = 0; i < n; i++)
			hidden |= d[i].call == d[n].call && d[i].ncond == 0;
		table[hidden ? o : next] = '\0';
		o = hidden ? o : next;
		n += !hidden; /* one that is never reached would be refused */
	}
	make(&m, "", table);
	ck_assert_msg(m.status == 0, "%s", m.message);
	for (nr = -2; nr < 500; nr++)
		for (k = 0; k < 200; k++) {
			args[0] = draw(26);
			args[1] = draw(26);
			ck_assert_uint_eq(
			    judge(&m, HERE, nr,
				args[0] | (uint64_t)draw(2) << 32, args[1]),
			    wanted(d, n, nr, args));
		}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mkfilter");
	TCase *c = tcase_create("tool");
	SRunner *r = srunner_create(s);
	int failed, fd;

	if ((fd = mkstemp(table_file)) == -1)
		return 1;
	close(fd);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, refusals);
	tcase_add_test(c, one_table_two_machines);
	tcase_add_test(c, first_line_decides);
	tcase_add_loop_test(c, random_tables, 0, 20);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	unlink(table_file);
	return failed != 0;
}
