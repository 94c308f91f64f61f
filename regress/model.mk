# An independent model of resolution, held against the real objects; see
# regress/model/README.md. make check-model compares N selections, and 1,000
# policies with what the kernel makes of them (run/same.t).

.PHONY: check-model check-model-short do-model
check-model: deps
	@$(MAKE) --no-print-directory $(JOBS) do-model N=$(or $(N),100000)
	@CARREL_T_SAME=1000 $(MAKE) --no-print-directory $(JOBS) do-prove \
		TESTS=run/same.t
# a part of make check
check: check-model-short
check-model-short: deps
	@$(MAKE) --no-print-directory $(JOBS) do-model N=4000
do-model: $(BUILD)/regress/model/driver
	@regress/model/differ --count $(or $(N),4000) --jobs 2 $<

$(BUILD)/regress/model/driver: regress/model/answer.c \
	regress/model/driver.c regress/model/world.c \
	$(BUILD)/gen/config.h $(LIBS)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) -MMD -MP $(LINK_SAN) $(LDFLAGS) -o $@ \
		$(filter %.c,$^) -Wl,--start-group $(LIBS) -Wl,--end-group -linih

# What a payload tells of itself.
helpers: $(BUILD)/regress/inside
$(BUILD)/regress/inside: regress/run/inside.c $(BUILD)/gen/config.h
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(COMPILE) -MMD -MP $(LDFLAGS) -static-pie -o $@ $<
