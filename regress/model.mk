# An independent model of resolution, held against the real objects; see
# regress/model/README.md. make check-model compares N selections.

.PHONY: check-model check-model-short do-model
check-model: deps
	@$(MAKE) --no-print-directory $(JOBS) do-model N=$(or $(N),100000)
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
