# Fuzzing: one libFuzzer target for each decoder (clang). make fuzz (in
# GNUmakefile) runs each for a minute, T=600 for that many seconds, T='dns tls'
# or FUZZ='dns tls' only those; make check runs the corpora and FUZZ_SECONDS
# more of each, two at a time. What they find beyond the corpora stays in
# build-fuzz/corpus; a crash is left as build-fuzz/crash-TARGET-*.

FUZZ_SECONDS ?= 20
FUZZ_CC      ?= clang
FUZZ_JOBS    ?= 2
FUZZ += broker
FUZZ += catalogue
FUZZ += ceiling
FUZZ += ceilingconf
FUZZ += control
FUZZ += described
FUZZ += dns
FUZZ += elf
FUZZ += event
FUZZ += firejail
FUZZ += http
FUZZ += import
FUZZ += kept
FUZZ += login
FUZZ += options
FUZZ += pass
FUZZ += policy
FUZZ += reader
FUZZ += refusal
FUZZ += request
FUZZ += resolve
FUZZ += screen
FUZZ += servers
FUZZ += tls
FUZZ += told
FUZZ_MAKE = $(MAKE) --no-print-directory BUILD=build-fuzz CC=$(FUZZ_CC) \
	SANITIZE=fuzzer-no-link,address,undefined fuzzers

.PHONY: fuzz check-fuzz do-fuzz fuzzers do-mutate
# of T: names of targets, and seconds
FUZZ_KNOWN = $(patsubst regress/fuzz/fuzz_%.c,%,\
	$(wildcard regress/fuzz/fuzz_*.c))
FUZZ_NAMES = $(or $(filter $(FUZZ_KNOWN),$(T)),$(FUZZ))
FUZZ_TIME  = $(or $(filter-out $(FUZZ_KNOWN),$(T)),\
	$(if $(filter file,$(origin FUZZ_SECONDS)),60,$(FUZZ_SECONDS)))
fuzz: deps
	@$(MAKE) --no-print-directory do-fuzz FUZZ='$(FUZZ_NAMES)' \
		FUZZ_SECONDS='$(FUZZ_TIME)'
check-fuzz: deps
	@$(MAKE) --no-print-directory do-fuzz
do-fuzz:
	@$(FUZZ_MAKE) $(JOBS)
	@printf '%s\n' $(FUZZ) | xargs -P $(FUZZ_JOBS) -I NAME \
		regress/fuzz/run NAME $(FUZZ_SECONDS)

do-mutate: $(BUILD)/regress/unit/test_mutate
	CARREL_T_MUTATIONS=1000000 $<

# in a make of its own: BUILD is build-fuzz
fuzzers: $(patsubst %,$(BUILD)/regress/fuzz/fuzz_%,$(FUZZ))
$(BUILD)/regress/fuzz/%: regress/fuzz/%.c $(BUILD)/gen/config.h $(LIBS)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) -MMD -MP -fsanitize=fuzzer,address,undefined \
		-o $@ $< -Wl,--start-group $(LIBS) -Wl,--end-group -linih $(LIBEVENT)

include regress/model.mk
