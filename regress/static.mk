# Static analysis: no finding, or a reason in place. make check has gcc's
# analyzer (40 s), check-long the slower ones (minutes each) and the compilers.

ANALYZED = $(filter parent/%.c ipc/%.c child/%.c,$(C_FILES))
ONE_BY_ONE = printf '%s\n' $(ANALYZED) | xargs -P2 -n8 sh -c

.PHONY: tidy do-tidy analyze do-analyze scan do-scan do-compilers
tidy analyze scan: deps
	@$(MAKE) --no-print-directory $(JOBS) do-$@

# .clang-tidy says what it looks for, and what not and why; NOLINT in a
# comment has its reason beside it.
do-tidy: $(BUILD)/gen/config.h $(FILTERS)
	$(Q)$(ONE_BY_ONE) 'clang-tidy --quiet "$$@" -- $(FLAGS_STD)' sh

# Without optimisation it reads the code as it is written. malloc-leak calls
# lost what is kept in an array of structures that the caller owns; leaks are
# LeakSanitizer's (check-asan, the fuzz targets).
ANALYZE = gcc $(FLAGS_STD) -O0 -Werror -fanalyzer -Wno-analyzer-malloc-leak
do-analyze: $(BUILD)/gen/config.h $(FILTERS)
	$(Q)$(ONE_BY_ONE) 'for f; do $(ANALYZE) -c -o /dev/null "$$f" || \
		exit 1; done' sh

# The same analyzer as clang-tidy's, one process a file, so va_list is judged
# as well. It knows no NOLINT: checkers with a finding that is answered in
# place are clang-tidy's alone.
SCAN_WITHOUT = security.insecureAPI.vfork unix.Vfork unix.Malloc \
	core.NonNullParamChecker
do-scan:
	@rm -rf build-scan
	scan-build -o build-scan/report --status-bugs \
		$(SCAN_WITHOUT:%=-disable-checker %) --use-cc=gcc \
		$(MAKE) -s --no-print-directory BUILD=build-scan MUSL=no \
		$(JOBS) all

# Every compiler with and without optimisation, each C library: no warning.
# musl has all programs but carrel-screen, clang builds with glibc.
COMPILER = rm -rf build-compiler && $(MAKE) -s --no-print-directory \
	BUILD=build-compiler $(JOBS)
do-compilers:
	@for o in -O0 -O2; do \
		$(COMPILER) CC=gcc CFLAGS="$$o" MUSL=no all && \
		$(COMPILER) CC=clang CFLAGS="$$o" MUSL=no all && \
		{ test -z '$(MUSL_ROOT)' || \
		$(COMPILER) CC=gcc CFLAGS="$$o" MUSL=yes all; } || exit 1; \
	done; rm -rf build-compiler
