/*
 * mkfilter [-a ARCH] NAME TABLE... > header
 *
 * A tool of the build: makes the system-call filter filter_NAME out of
 * readable tables. What a table says of one call is tried from top to bottom
 * and the first line that fits decides; earlier tables come first.
 *
 *	default ACTION			# for calls that no line fits
 *	foreign ACTION			# other ABIs of the machine; else kill
 *	ACTION NAME... [CONDITION...]	# all conditions hold
 *
 * ACTION is allow, kill, notify, "errno E" or "pretend" (the call is not made
 * and returns 0); CONDITION is "argN [& M] == V[,V...]" (one of them) or "argN
 * [& M] != V[,V...]" (none of them); a number is in C syntax or one of the
 * names below, or several joined by '|'. Each line ends in a reason. argN is
 * the low 32 bits of an argument, all that the kernel takes of an int; a
 * pointer is NULL when argN and argN.high are 0.
 *
 * libseccomp knows the names and numbers of the calls. The program is made
 * here: neighbours with one answer become a range and the ranges a binary
 * tree, a fifth of the instructions that one comparison a call takes.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define RULES_MAX  1024
#define CONDS_MAX  4
#define VALUES_MAX 32
#define TOKENS_MAX 64
#define LINE_BYTES 256 /* bytes, with the newline */
#define JUMP_MAX   255 /* a conditional jump's reach */
#define UNSET	   0xffffffffU

struct cond {
	unsigned word; /* which half of an argument, counted from 0 */
	int differs;   /* != instead of == */
	uint32_t mask;
	uint32_t value[VALUES_MAX];
	size_t n;
};

struct rule {
	int nr;
	uint32_t action;
	struct cond cond[CONDS_MAX];
	size_t ncond;
	size_t order; /* as read */
	const char *file;
	unsigned line;
};

struct range { /* calls from nr up to the next range */
	uint32_t nr;
	uint32_t action;	 /* if there are no rules */
	const struct rule *rule; /* else the first of them */
	size_t nrule;
};

static struct {
	uint32_t arch;
	uint32_t by_default, foreign;
	struct rule rule[RULES_MAX];
	size_t nrule;
	struct range range[2 * RULES_MAX];
	size_t nrange;
	struct sock_filter code[BPF_MAXINSNS];
	size_t ncode;
	const char *file; /* being read */
	unsigned line;
} t = {.by_default = UNSET, .foreign = SECCOMP_RET_KILL_PROCESS};

static void die(const char *, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static void
die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "mkfilter: ");
	if (t.file != NULL)
		fprintf(stderr, "%s:%u: ", t.file, t.line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* Reading a table. */

static uint32_t
number(const char *s, size_t len)
{
	char buf[32], *end;
	unsigned long v;
	size_t i;

	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (strlen(constants[i].name) == len &&
		    strncmp(constants[i].name, s, len) == 0)
			return constants[i].value;
	if (len == 0 || len >= sizeof(buf) || s[0] < '0' || s[0] > '9')
		die("%.*s is no number that I know", (int)len, s);
	memcpy(buf, s, len);
	buf[len] = '\0';
	errno = 0;
	v = strtoul(buf, &end, 0);
	if (errno != 0 || *end != '\0' || v > UINT32_MAX)
		die("%s is no number of 32 bits", buf);
	return v;
}

/* Alternatives joined by '|', up to a comma or the end; moves *s there. */
static uint32_t
numbers(const char **s)
{
	uint32_t v = 0;
	size_t len;

	for (;;) {
		len = strcspn(*s, "|,");
		v |= number(*s, len);
		*s += len;
		if (**s != '|')
			return v;
		(*s)++;
	}
}

static uint32_t
action(char ***tok)
{
	const char *word = *(*tok)++, *s;
	uint32_t e;

	if (word != NULL && strcmp(word, "allow") == 0)
		return SECCOMP_RET_ALLOW;
	if (word != NULL && strcmp(word, "kill") == 0)
		return SECCOMP_RET_KILL_PROCESS;
	if (word != NULL && strcmp(word, "notify") == 0)
		return SECCOMP_RET_USER_NOTIF;
	if (word != NULL && strcmp(word, "pretend") == 0)
		return SECCOMP_RET_ERRNO | 0;
	if (word == NULL || strcmp(word, "errno") != 0 || **tok == NULL)
		die("an action is allow, kill, notify, pretend or errno E");
	s = *(*tok)++;
	e = numbers(&s);
	if (*s != '\0' || e == 0 || e > 4095)
		die("no errno");
	return SECCOMP_RET_ERRNO | e;
}

static int
is_condition(const char *s)
{
	return strncmp(s, "arg", 3) == 0 && s[3] >= '0' && s[3] <= '5' &&
	       (s[4] == '\0' || strcmp(s + 4, ".high") == 0);
}

static void
condition(char ***tok, struct cond *c)
{
	const char *s = *(*tok)++;

	if (!is_condition(s))
		die("%s: expected arg0 to arg5, or .high", s);
	c->word = 2 * (unsigned)(s[3] - '0') + (s[4] != '\0');
	c->mask = UINT32_MAX;
	if (**tok != NULL && strcmp(**tok, "&") == 0) {
		if ((s = *++*tok) == NULL)
			die("no mask");
		c->mask = numbers(&s);
		if (*s != '\0')
			die("a mask is one number");
		(*tok)++;
	}
	if (**tok == NULL ||
	    (strcmp(**tok, "==") != 0 && strcmp(**tok, "!=") != 0))
		die("a condition needs == or !=");
	c->differs = ***tok == '!';
	if ((s = *++*tok) == NULL)
		die("no value");
	for (c->n = 0;; s++) {
		if (c->n == VALUES_MAX)
			die("more than %d values", VALUES_MAX);
		c->value[c->n] = numbers(&s);
		if ((c->value[c->n++] & ~c->mask) != 0)
			die("a value has bits outside the mask");
		if (*s == '\0')
			break;
	}
	(*tok)++;
}

/* The number of a call here; -1 if only other architectures have it. */
static int
call_number(const char *name)
{
	size_t i;
	int nr;

	for (i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (strcmp(newer[i].name, name) == 0)
			return t.arch == SCMP_ARCH_X86_64 ? newer[i].x86_64
							  : newer[i].others;
	nr = seccomp_syscall_resolve_name_arch(t.arch, name);
	if (nr == __NR_SCMP_ERROR)
		die("no system call is named %s", name);
	return nr < 0 ? -1 : nr;
}

static void
add(const struct rule *r, const char *name)
{
	const struct rule *o;
	int nr = call_number(name);

	if (nr == -1)
		return;
	for (o = t.rule; o < t.rule + t.nrule; o++)
		if (o->nr == nr && o->ncond == 0 && o->file == t.file)
			die("line %u decides %s already", o->line, name);
	if (t.nrule == RULES_MAX)
		die("more than %d rules", RULES_MAX);
	t.rule[t.nrule] = *r;
	t.rule[t.nrule].nr = nr;
	t.rule[t.nrule].order = t.nrule;
	t.nrule++;
}

static void
rule(char **tok)
{
	struct rule r = {.file = t.file, .line = t.line};
	char **names;

	r.action = action(&tok);
	for (names = tok; *tok != NULL && !is_condition(*tok); tok++)
		;
	if (tok == names)
		die("no call is named");
	while (*tok != NULL) {
		if (r.ncond == CONDS_MAX)
			die("more than %d conditions", CONDS_MAX);
		condition(&tok, &r.cond[r.ncond++]);
	}
	for (; *names != NULL && !is_condition(*names); names++)
		add(&r, *names);
}

static void
statement(char **tok)
{
	uint32_t *where = strcmp(*tok, "default") == 0	 ? &t.by_default
			  : strcmp(*tok, "foreign") == 0 ? &t.foreign
							 : NULL;

	if (where == NULL) {
		rule(tok);
		return;
	}
	tok++;
	*where = action(&tok);
	if (*tok != NULL)
		die("%s: nothing may follow the action", *tok);
}

static void
read_table(const char *file)
{
	char line[LINE_BYTES], *tok[TOKENS_MAX + 1], *reason, *save, *s;
	size_t n;
	FILE *f;

	t.file = file;
	if ((f = fopen(file, "r")) == NULL)
		die("%s", strerror(errno));
	for (t.line = 1; fgets(line, sizeof(line), f) != NULL; t.line++) {
		if (strchr(line, '\n') == NULL)
			die("no newline, or a line over %d bytes", LINE_BYTES);
		reason = strchr(line, '#');
		if (reason != NULL)
			*reason++ = '\0';
		n = 0;
		for (s = strtok_r(line, " \t\n", &save); s != NULL;
		     s = strtok_r(NULL, " \t\n", &save)) {
			if (n == TOKENS_MAX)
				die("more than %d words", TOKENS_MAX);
			tok[n++] = s;
		}
		if (n == 0)
			continue;
		tok[n] = NULL;
		if (reason == NULL || reason[strspn(reason, " \t\n")] == '\0')
			die("a line needs its reason");
		statement(tok);
	}
	if (ferror(f))
		die("cannot be read");
	fclose(f);
	t.file = NULL;
}

/* From rules to ranges. */

static int
by_number(const void *a, const void *b)
{
	const struct rule *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Begins a range at nr, unless the one before it gives the same answer. */
static void
range(uint32_t nr, uint32_t act, const struct rule *r, size_t n)
{
	struct range *last = &t.range[t.nrange];

	if (t.nrange > 0 && last[-1].nr == nr)
		t.nrange--, last--;
	if (t.nrange > 0 && n == 0 && last[-1].nrule == 0 &&
	    last[-1].action == act)
		return;
	*last = (struct range){nr, act, r, n};
	t.nrange++;
}

static void
make_ranges(void)
{
	size_t i, n;
	int nr;

	qsort(t.rule, t.nrule, sizeof(t.rule[0]), by_number);
	range(0, t.by_default, NULL, 0);
	for (i = 0; i < t.nrule; i += n) {
		nr = t.rule[i].nr;
		for (n = 1; i + n < t.nrule && t.rule[i + n].nr == nr; n++)
			;
		if (t.rule[i].ncond == 0)
			range(nr, t.rule[i].action, NULL, 0);
		else
			range(nr, 0, &t.rule[i], n);
		range(nr + 1, t.by_default, NULL, 0);
	}
}

/* From ranges to instructions. */

static size_t
emit(uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	if (t.ncode == BPF_MAXINSNS || jt > JUMP_MAX || jf > JUMP_MAX)
		die("the program is too long");
	t.code[t.ncode] = (struct sock_filter){code, jt, jf, k};
	return t.ncode++;
}

static void
emit_load(size_t offset)
{
	emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

/* A jump to the end of its rule, set when the rule's length is known. */
struct miss {
	size_t at;
	int equal; /* jumps when the values are equal */
};

/* held is the condition whose operand is in the accumulator, or NULL. */
static void
emit_condition(const struct cond *c, const struct cond *held, struct miss *miss,
    size_t *nmiss)
{
	size_t i, last = c->n - 1;

	if (held == NULL || held->word != c->word || held->mask != c->mask) {
		/* both architectures are little-endian */
		emit_load(offsetof(struct seccomp_data, args) + 4 * c->word);
		if (c->mask != UINT32_MAX)
			emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
	}
	for (i = 0; i < c->n; i++) {
		if (c->differs || i == last)
			miss[(*nmiss)++] = (struct miss){t.ncode, c->differs};
		emit(BPF_JMP | BPF_JEQ | BPF_K, c->differs ? 0 : last - i, 0,
		    c->value[i]);
	}
}

static void
emit_rule(const struct rule *r, const struct cond *held)
{
	struct miss miss[CONDS_MAX * VALUES_MAX];
	size_t nmiss = 0, i, far;

	for (i = 0; i < r->ncond; i++) {
		emit_condition(&r->cond[i], held, miss, &nmiss);
		held = &r->cond[i];
	}
	emit(BPF_RET | BPF_K, 0, 0, r->action);
	for (i = 0; i < nmiss; i++) {
		if ((far = t.ncode - miss[i].at - 1) > JUMP_MAX)
			die("a rule is too long");
		if (miss[i].equal)
			t.code[miss[i].at].jt = far;
		else
			t.code[miss[i].at].jf = far;
	}
}

static void
emit_range(const struct range *g)
{
	const struct cond *held = NULL;
	const struct rule *r;

	if (g->nrule == 0) {
		emit(BPF_RET | BPF_K, 0, 0, g->action);
		return;
	}
	for (r = g->rule; r < g->rule + g->nrule; r++) {
		emit_rule(r, held);
		if (r->ncond == 0)
			return;
		/* after several conditions it may be any of their operands */
		held = r->ncond == 1 ? &r->cond[0] : NULL;
	}
	emit(BPF_RET | BPF_K, 0, 0, t.by_default);
}

static void
emit_tree(const struct range *g, size_t n)
{
	size_t at, len;

	if (n == 1) {
		emit_range(g);
		return;
	}
	at = emit(BPF_JMP | BPF_JGE | BPF_K, 0, 0, g[n / 2].nr);
	emit_tree(g, n / 2);
	len = t.ncode - at - 1;
	if (len <= JUMP_MAX) {
		t.code[at].jt = len;
	} else { /* out of reach: over a long jump */
		emit(0, 0, 0, 0);
		memmove(
		    &t.code[at + 2], &t.code[at + 1], len * sizeof(t.code[0]));
		t.code[at].jf = 1;
		t.code[at + 1] =
		    (struct sock_filter){BPF_JMP | BPF_JA, 0, 0, len};
	}
	emit_tree(g + n / 2, n - n / 2);
}

static void
emit_program(void)
{
	emit_load(offsetof(struct seccomp_data, arch));
	emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, t.arch);
	emit(BPF_RET | BPF_K, 0, 0, t.foreign);
	emit_load(offsetof(struct seccomp_data, nr));
	emit_tree(t.range, t.nrange);
}

static void
write_header(const char *name)
{
	const struct sock_filter *i;

	printf("/* Made by mkfilter: %zu rules, %zu ranges. */\n", t.nrule,
	    t.nrange);
	printf("#include <linux/filter.h>\n\n");
	printf("static const struct sock_filter filter_%s[] = {\n", name);
	for (i = t.code; i < t.code + t.ncode; i++)
		printf("    {0x%02x, %u, %u, 0x%08x},\n", i->code, i->jt, i->jf,
		    i->k);
	printf("};\n\nstatic const unsigned short filter_%s_len = %zu;\n", name,
	    t.ncode);
	if (fflush(stdout) != 0 || ferror(stdout))
		die("cannot write: %s", strerror(errno));
}

int
main(int argc, char *argv[])
{
	const char *name;

	t.arch = seccomp_arch_native();
	if (argc > 2 && strcmp(argv[1], "-a") == 0) {
		t.arch = seccomp_arch_resolve_name(argv[2]);
		argc -= 2, argv += 2;
	}
	if (argc < 3)
		die("usage: mkfilter [-a ARCH] NAME TABLE...");
	if (t.arch != SCMP_ARCH_X86_64 && t.arch != SCMP_ARCH_AARCH64)
		die("only x86_64 and aarch64 are known");
	name = argv[1];
	for (argv += 2; *argv != NULL; argv++)
		read_table(*argv);
	if (t.by_default == UNSET)
		die("no table has a default");
	make_ranges();
	emit_program();
	write_header(name);
	return 0;
}
