# Tests: make check, or one part of it. See README.md.
#
# Whatever needs a package of regress/deps.sh runs in a make of its own,
# started after the package is there.

JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps run bench bench-many bench-net check check-static check-asan check-unit \
	check-run check-hostile check-chaos check-uml check-long check-cross golden \
	check-package
deps:
	@regress/deps.sh check
# another kernel for some tests, where it can be had
	@regress/deps.sh uml || echo 'no user-mode-linux: uml/*.t are skipped'
run:
	@regress/deps.sh build
	@$(MAKE) --no-print-directory $(JOBS) all
	@regress/first-run.sh $(BUILD)/bin/carrel
bench:
	@regress/deps.sh build
	@regress/deps.sh bench
	@$(MAKE) --no-print-directory all $(BUILD)/regress/floor \
		$(BUILD)/regress/calls
	@regress/bench/start $(BENCH)
bench-many:
	@regress/deps.sh build
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) regress/bench/many $(BENCH)
bench-net:
	@regress/deps.sh build
	@regress/deps.sh bench
	@$(MAKE) --no-print-directory all $(BUILD)/regress/pump \
		$(BUILD)/regress/relay
	@regress/bench/net $(BENCH)

check: deps
	@$(MAKE) --no-print-directory do-static
	@$(MAKE) --no-print-directory $(JOBS) do-analyze
	@$(MAKE) --no-print-directory do-asan
	@$(MAKE) --no-print-directory $(JOBS) do-unit
	@$(MAKE) --no-print-directory do-fuzz
	@$(MAKE) --no-print-directory $(JOBS) do-modes
check-static check-asan check-unit: check-%: deps
	@$(MAKE) --no-print-directory $(JOBS) do-$*
check-run: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove TESTS='run/$(or $(T),*).t'
check-hostile: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove TESTS='hostile/*.t'
check-chaos: export CARREL_T_CHAOS ?= 10000
check-chaos: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove PROVE=-v \
		TESTS='chaos/*.t'
check-uml: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove TESTS='uml/*.t'
# what the tests compare with, written anew: look at the difference
golden: export CARREL_T_GOLDEN = write
golden: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove \
		TESTS='run/golden.t run/messages.t'
	@$(MAKE) --no-print-directory $(BUILD)/regress/unit/test_arch
	@BUILD=$(BUILD) $(BUILD)/regress/unit/test_arch
# Another machine: what can be said of it without one. Its compiler builds the
# privileged program without a warning, the numbers that the filters' tables
# use are the same there, and the program begins to run.
CROSS = aarch64
CROSS_BUILD = build-$(CROSS)
CROSS_CC = $(CROSS)-linux-gnu-gcc
cross = $(MAKE) --no-print-directory BUILD=$(CROSS_BUILD) ARCH=$(CROSS) \
	CC=$(CROSS_CC) HOSTCC=$(CC) MUSL=no
check-cross:
	@regress/deps.sh cross
	@$(cross) $(JOBS) $(CROSS_BUILD)/bin/carrel \
		$(CROSS_BUILD)/regress/constants
	@$(MAKE) --no-print-directory $(BUILD)/regress/constants
	@$(BUILD)/regress/constants > $(CROSS_BUILD)/here
	@qemu-$(CROSS)-static $(CROSS_BUILD)/regress/constants | \
		cmp - $(CROSS_BUILD)/here
	@qemu-$(CROSS)-static $(CROSS_BUILD)/bin/carrel --version
# The Debian package, on a root of its own (root, and a mirror).
check-package:
	@regress/deps.sh build
	@regress/deps.sh package
	@BUILD=$(BUILD) regress/package.sh
# what takes longer than check may: more rounds of the races, a million
# mutated policies, each fuzz target for ten minutes, the slow analyzers
check-long: export CARREL_T_RACE ?= 5000
check-long: export CARREL_T_STORM ?= 20000
check-long: deps
	@$(MAKE) --no-print-directory $(JOBS) do-prove \
		TESTS='hostile/beyond.t hostile/race.t hostile/storm.t'
	@CARREL_T_MODE=hosted $(MAKE) --no-print-directory $(JOBS) do-prove \
		TESTS='hostile/hosted.t'
	@$(MAKE) --no-print-directory do-tidy do-scan do-compilers
	@$(MAKE) --no-print-directory do-mutate
	@$(MAKE) --no-print-directory do-fuzz FUZZ_SECONDS=600

# Unit tests: each is a program of its own, linked with everything of each
# room but its main.c.

UNIT = $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard regress/unit/test_*.c)))
rest = $(call obj,$(BUILD)/obj,$(filter $(1)/%,$(filter-out %/main.c,$(2))))
LIBS = $(patsubst %,$(BUILD)/obj/lib%.a,broker ipc monitor parent parser screen \
	setup shared)
$(BUILD)/obj/libbroker.a: $(call rest,child/broker,$(BROKER_SRCS))
$(BUILD)/obj/libipc.a: $(call rest,ipc,$(IPC_SRCS))
$(BUILD)/obj/libparent.a: $(call rest,parent,$(PARENT_SRCS))
$(BUILD)/obj/libmonitor.a: $(call rest,child/monitor,$(MONITOR_SRCS))
$(BUILD)/obj/libsetup.a: $(call rest,child/setup,$(SETUP_SRCS))
$(BUILD)/obj/libshared.a: $(call rest,child/shared,$(SHARED_SRCS))
$(BUILD)/obj/libparser.a: $(call rest,child/parser,$(PARSER_SRCS))
$(BUILD)/obj/libscreen.a: $(call rest,child/screen,$(SCREEN_SRCS))
$(LIBS):
	@rm -f $@
	@ar -rcs $@ $^

$(BUILD)/regress/unit/%: regress/unit/%.c $(BUILD)/gen/config.h $(LIBS)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) -MMD -MP $(LINK_SAN) $(LDFLAGS) -o $@ $< -Wl,--start-group \
		$(LIBS) -Wl,--end-group -linih $(LIBEVENT) -lseccomp \
		$$(pkg-config --cflags --libs check)

# Helpers of the tests.

HELPERS = $(patsubst %,$(BUILD)/regress/%,argv0 badbroker classic confined \
	grab hosted inject liar prober pump race relay report watched without)
$(BUILD)/regress/argv0: regress/run/argv0.c
$(BUILD)/regress/pump: regress/bench/pump.c
$(BUILD)/regress/relay: regress/bench/relay.c
$(BUILD)/regress/classic: regress/uml/classic.c regress/uml/tunables.h
$(BUILD)/regress/liar: regress/hostile/liar.c regress/hostile/liar_raw.c \
	$(BUILD)/obj/libshared.a $(BUILD)/obj/libipc.a
$(BUILD)/regress/constants: regress/unit/constants.c child/setup/filter/names.h
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) $(LDFLAGS) -static -o $@ $<
$(BUILD)/regress/badbroker: regress/hostile/badbroker.c \
	$(BUILD)/obj/libshared.a $(BUILD)/obj/libipc.a
$(BUILD)/regress/prober: regress/hostile/prober.c
$(BUILD)/regress/race: regress/hostile/race.c
$(BUILD)/regress/report: regress/hostile/report.c
$(BUILD)/regress/inject: regress/hostile/inject.c
$(BUILD)/regress/grab: regress/hostile/grab.c
# hosted mode itself, but for what is the user's in it
$(BUILD)/regress/hosted: regress/hostile/hosted.c $(BUILD)/obj/parent/main.o \
	$(BUILD)/obj/libparent.a $(BUILD)/obj/child/setup/op.o \
	$(BUILD)/obj/libipc.a
$(BUILD)/regress/without: regress/hostile/without.c
$(BUILD)/regress/watched: regress/hostile/watched.c
$(BUILD)/regress/confined: regress/hostile/confined.c \
	$(BUILD)/obj/libsetup.a $(BUILD)/obj/libparent.a $(BUILD)/obj/libipc.a
$(HELPERS): $(BUILD)/gen/config.h
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) -MMD -MP $(LDFLAGS) -static-pie -o $@ $(filter %.c %.o %.a,$^) \
		-lseccomp

# The ruler is built as carrel itself is.
$(BUILD)/regress/floor: $(call obj,$(LAUNCH),regress/bench/floor.c)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(LAUNCH_LINK)

$(BUILD)/regress/calls: regress/bench/calls.c
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) $(LDFLAGS) -static -o $@ $<

.PHONY: do-unit do-asan do-prove do-static units helpers
helpers: $(HELPERS) $(BUILD)/regress/floor $(BUILD)/regress/calls
units: $(UNIT)
	@test -n '$(UNIT)' || { echo 'no unit tests' >&2; exit 1; }
PARSE = $(BUILD)/libexec/carrel/carrel-parse
do-unit: export BUILD := $(BUILD)
do-unit: export CARREL_PARSE = $(PARSE)
# Check gives a test 4 seconds, which a busy machine may need for anything
do-unit: export CK_DEFAULT_TIMEOUT ?= 60
do-unit: $(PARSE) units
	@bad=; for t in $(UNIT); do $$t || bad="$$bad $$t"; done; \
	test -z "$$bad" || { echo "failed:$$bad" >&2; exit 1; }
# the sanitizers' own calls are not on the parser's list: it stays as it is
do-asan: $(PARSE)
	@$(MAKE) --no-print-directory BUILD=build-asan \
		SANITIZE=address,undefined PARSE=$(PARSE) $(JOBS) do-unit

# The same objects, but for those that know where carrel lies.
.PHONY: hosted
hosted: all
	@test -d $(BUILD)-hosted || { cp -a $(BUILD) $(BUILD)-hosted.new && \
		find $(BUILD)-hosted.new -type f -name '*.d' -exec \
			sed -i 's|$(BUILD)/|$(BUILD)-hosted/|g' {} + && \
		mv $(BUILD)-hosted.new $(BUILD)-hosted; }
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)-hosted \
		PREFIX=$(HOSTED) $(JOBS) all

# What is the same in both modes since it starts no sandbox, looks at sources,
# or works on copies of its own; and what hosted.t has in another form: who
# writes records, and calls that fail in processes that no user can trace.
NOT_HOSTED = run/audit.t run/golden.t run/import.t run/install.t \
	run/installed.t run/json.t run/manual.t run/messages.t run/profiles.t \
	run/readme.t hostile/badbroker.t hostile/broker.t hostile/failclosed.t \
	hostile/failnet.t hostile/filter.t hostile/liar.t hostile/lies.t \
	hostile/storm.t hostile/stuck.t
HOSTED_TESTS = $(filter-out $(NOT_HOSTED),$(patsubst regress/%,%,$(sort \
	$(wildcard regress/run/*.t regress/hostile/*.t) regress/uml/hosted.t)))
.PHONY: do-hosted check-hosted do-modes
# Both modes beside each other: most of a test is waiting.
do-modes: all helpers
	+@$(MAKE) --no-print-directory do-hosted > $(BUILD)/hosted.log 2>&1 & \
	hosted=$$!; bad=0; \
	$(MAKE) --no-print-directory do-prove \
		TESTS='hostile/*.t run/*.t chaos/*.t uml/*.t' || bad=1; \
	wait $$hosted || bad=1; \
	echo 'in hosted mode:'; cat $(BUILD)/hosted.log; exit $$bad
check-hosted: deps
	@$(MAKE) --no-print-directory $(JOBS) do-hosted
do-hosted: export CARREL_T_MODE = hosted
do-hosted: export CARREL_TEST_USER := \
	$(if $(CARREL_TEST_USER),$(CARREL_TEST_USER)h,carrel-t2)
do-hosted:
	@if [ "$$(id -u)" -ne 0 ]; then \
		echo 'hosted mode takes root: not tested'; \
	else $(MAKE) --no-print-directory do-prove \
		TESTS='$(or $(T:%=run/%.t),$(HOSTED_TESTS))'; fi

# End to end, as an unprivileged user, over an installed copy.
do-prove: export MAKE := $(MAKE)
do-prove: export BUILD := $(BUILD)
do-prove: export PREFIX := $(PREFIX)
do-prove: all helpers
	+@regress/stage.sh sh -c \
		'cd "$$CARREL_T_STAGE" && exec prove $(PROVE) $(TESTS)'

include regress/fuzz.mk
include regress/static.mk

# What can be said without running anything.

C_FILES = $(sort $(wildcard parent/*.[ch] child/setup/filter/*.[ch] ipc/*.[ch] \
	child/*/*.[ch] regress/*/*.[ch]))
# ctuuninitvar takes filling a structure by its pointer for reading it
CPPCHECK = cppcheck --quiet --error-exitcode=1 --enable=warning,portability \
	--inline-suppr --suppress=missingIncludeSystem --suppress=ctuuninitvar \
	-D_GNU_SOURCE -I.
do-static: $(MANUALS)
	mandoc -Tlint -W warning $(MANUALS)
	clang-format --dry-run -Werror $(C_FILES)
	shellcheck .ci/run $(wildcard regress/*.sh regress/package/*.sh) \
		regress/fuzz/run etc/completions/carrel $(addprefix debian/carrel.,\
		config postinst postrm)
	prove -Q regress/cases.t
	regress/ipc-manual.py
	regress/messages.py
	$(CPPCHECK) $(filter-out regress/unit/%,$(filter %.c,$(C_FILES)))
	@$(MAKE) --no-print-directory BUILD=build-clang CC=clang MUSL=no \
		$(JOBS) all units helpers
	regress/privileged build-clang
