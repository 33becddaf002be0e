# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Builds the test programs, the programs that they start, and what they share. Read inside the
# lab's root file system, where the kernel's own kselftest headers are.

SHELL := /bin/bash
KSELFTEST ?= $(shell . lab/lib.sh && \
	echo "$$lab_dir")/source/tools/testing/selftests

ST_OUT := build/selftests
ST_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow \
	-Wno-sign-compare -Wno-unused-parameter -Iselftests/lib -Iselftests \
	-Iselftests/programs -Iuapi -Iuserlib/include -isystem $(KSELFTEST) -MMD -MP

# What a program does not use it is not linked to: a stock verbs program stays
# one.
ST_LIB := $(ST_OUT)/libselftests.a
ST_LIBS = $(ST_MORE_OBJS) $(ST_LIB) -Wl,--as-needed -Lbuild/lib -lmlx5ep \
	-Wl,-rpath,'$$ORIGIN/../lib:$$ORIGIN/../../lib' \
	-lmlx5 -libverbs $(ST_MORE_LIBS) -ljson-c -lpthread -lm
ST_MORE_LIBS := -lfabric -lucp -lucm -lucs -lrdmacm

# Tests are found by their name in the folder of their area; what else is in
# such a folder is shared. simhca builds its own tests. In programs/ and bench/
# a source with a header of its name is shared, the others are programs.
ST_TEST_SRC := $(wildcard selftests/*/*_test.c simhca/guest/*_test.c)
ST_AREAS := $(sort $(dir $(ST_TEST_SRC)))
ST_PROGRAMS = $(filter-out $(patsubst %.h,%.c,$(wildcard selftests/$(1)/*.h)),\
	$(wildcard selftests/$(1)/*.c))
ST_SHARED_SRC := $(wildcard selftests/lib/*.c) \
	$(filter-out %_test.c,$(wildcard $(ST_AREAS:%=%*.c))) \
	$(patsubst %.h,%.c,$(wildcard selftests/programs/*.h selftests/bench/*.h))

# Programs of 32 bits, for which Debian has no UCX.
ST_VERBS := $(addprefix $(ST_OUT)/,uuar_query_test uuar_placement_test \
	notifier_growth_test watch_edges_test \
	xrc_bad_input_test xrc_ofed_test xrc_rcv_qp_test xrc_values_test \
	dmabuf_watch_test)
ifeq ($(CROSS),i386)
ST_SHARED_SRC := $(wildcard selftests/lib/*.c) \
	$(filter-out %_test.c,$(wildcard selftests/uuar/*.c selftests/watch/*.c \
		selftests/xrc/*.c selftests/dmabuf/*.c))
ST_SHARED_SRC := $(filter-out %/fabric.c,$(ST_SHARED_SRC))
ST_MORE_LIBS :=
endif

.PHONY: st-verbs
st-verbs: $(ST_VERBS) $(ST_OUT)/ktap_helpers.sh

ST_LIB_OBJS := $(ST_SHARED_SRC:selftests/%.c=$(ST_OUT)/obj/%.o)
ST_TESTS := $(patsubst %.c,$(ST_OUT)/%,$(notdir $(ST_TEST_SRC)))
ST_BINARIES := $(patsubst selftests/programs/%.c,build/bin/%,\
	$(call ST_PROGRAMS,programs))
ST_BENCHES := $(patsubst selftests/bench/%.c,$(ST_OUT)/bench/%,\
	$(call ST_PROGRAMS,bench))

ST_PRELOADS := $(patsubst selftests/preload/%.c,$(ST_OUT)/%.so,\
	$(wildcard selftests/preload/*.c))

.PHONY: selftests
selftests: $(ST_TESTS) $(ST_BINARIES) $(ST_BENCHES) $(ST_PRELOADS) \
	$(ST_OUT)/ktap_helpers.sh $(ST_OUT)/fuzz

# What the core tests need, which make check builds.
ST_CORE := $(shell grep -lE 'runs on:.* tier: core' $(ST_TEST_SRC))

.PHONY: core-tests
core-tests: $(patsubst %.c,$(ST_OUT)/%,$(notdir $(ST_CORE))) $(ST_BINARIES) $(ST_BENCHES) \
	$(ST_PRELOADS) $(ST_OUT)/ktap_helpers.sh lib-san demo-programs

# The two programs of make demo, without all that the lab of the demo lacks. make check builds
# them too, so that what they need is looked at.
ST_DEMO := build/demo
ST_DEMO_SRC := $(addprefix selftests/lib/,verbs.c verbs_xrc.c traffic.c address.c \
	doorbells.c simhca.c)

.PHONY: demo-programs
demo-programs: $(ST_DEMO)/uuar_traffic $(ST_DEMO)/uuar_doorbells

$(ST_DEMO)/%: selftests/programs/%.c $(ST_DEMO_SRC)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Iselftests/lib -o $@ $^ -Wl,--as-needed \
		-lmlx5 -libverbs -ljson-c

# Guests see the checkout, not the lab's sources.
$(ST_OUT)/ktap_helpers.sh: $(KSELFTEST)/kselftest/ktap_helpers.sh
	@mkdir -p $(@D)
	@cp $< $@

$(ST_PRELOADS): $(ST_OUT)/%.so: selftests/preload/%.c
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(ST_CFLAGS) -MF $(ST_OUT)/$(notdir $@).d -shared -fPIC -o $@ $< -ldl

$(ST_LIB_OBJS): $(ST_OUT)/obj/%.o: selftests/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(ST_CFLAGS) -c -o $@ $<

# The layouts of commands, as simhca has them.
$(ST_OUT)/obj/lib/devx.o $(ST_OUT)/devx_events_test: ST_CFLAGS += -iquote . \
	-iquote $(MLX5_IFC_DIR)

$(ST_LIB): $(ST_LIB_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $^

# A program is one source file and the library beside it. It finds libmlx5ep.so when it
# starts, so a change of that library links no program again.
define st_program
@mkdir -p $(@D)
@echo "  CCLD    $@"
@$(CC) $(ST_CFLAGS) -MF $(ST_OUT)/$(notdir $@).d -o $@ $< $(ST_LIBS)
endef

# $(call st_area,FOLDER): the rule for the tests of a folder. A vpath would find a test that
# was moved where its old product says it was.
define st_area
$(patsubst $(1)%.c,$(ST_OUT)/%,$(wildcard $(1)*_test.c)): $(ST_OUT)/%: $(1)%.c $(ST_LIB) \
		| build/lib/libmlx5ep.so
	$$(st_program)
endef
$(foreach area,$(ST_AREAS),$(eval $(call st_area,$(area))))

$(ST_BINARIES): build/bin/%: selftests/programs/%.c $(ST_LIB) | build/lib/libmlx5ep.so
	$(st_program)

$(ST_BENCHES): $(ST_OUT)/bench/%: selftests/bench/%.c $(ST_LIB) | build/lib/libmlx5ep.so
	$(st_program)

# These run on iWARP devices, too. Others are not linked to librdmacm.
$(ST_OUT)/mr_watch_changes_test build/bin/mr_race: private ST_MORE_OBJS := -Wl,-u,iwarp_pairs

# These have arrays in them, whose ends are looked at. What they are linked with has not.
$(addprefix $(ST_OUT)/,endpoints_calls_test fi_calls_test ucx_calls_test ucx_probe_test ucx_real_test \
	ucx_regs_test uverbs_calls_test uverbs_ids_test watch_calls_test): private ST_CFLAGS += \
	-fsanitize=address,bounds-strict -fno-sanitize-recover=all

# These have the libraries for libfabric and UCX in them.
$(addprefix $(ST_OUT)/,fi_calls_test ucx_calls_test): private ST_CFLAGS += -iquote userlib

# These tests have the accounts and refusals of the module in them.
ST_LIMITS := $(addprefix kernel/account/,account.h limit.h) \
	selftests/limits/accounts_device.h \
	$(addprefix kernel/account/,user.h account.c limit.c user.c)
ST_LIMITS_TESTS := $(addprefix $(ST_OUT)/,limits_accounts_test limits_users_test \
	limits_cgroup_lists_test)

# Files of the module in one, without what they include, for tests that have them in them.
$(ST_OUT)/limits.inc: $(ST_LIMITS)
$(ST_OUT)/inflight.inc: kernel/watch/inflight.h kernel/watch/inflight.c
$(ST_OUT)/cgroups.inc: $(addprefix kernel/uuar/,cgroup.h cgroup.c)
$(ST_OUT)/values.inc: $(addprefix kernel/uuar/,values.h values.c defaults.h defaults.c)
# The kernel's trees, of the newest headers that the lab has.
ST_HEADERS := $(lastword $(sort $(wildcard /usr/src/linux-headers-*-common)))/include/linux
$(ST_OUT)/watch_slots.inc: $(ST_HEADERS)/rbtree_types.h \
	$(addprefix kernel/watch/,inflight.h space.h watch.h \
	slots.h slots.c event.c)
$(ST_OUT)/watch_trees.inc: $(addprefix $(ST_HEADERS)/,rbtree.h rbtree_augmented.h \
	interval_tree_generic.h) $(addprefix kernel/watch/,tree.h hit.h hit.c)
$(ST_OUT)/watch_dmabufs.inc: kernel/watch/dmabuf.c
$(addprefix $(ST_OUT)/,limits.inc inflight.inc cgroups.inc values.inc watch_slots.inc \
	watch_trees.inc watch_dmabufs.inc): selftests/selftests.mk
	@mkdir -p $(@D)
	@sed '/^#include/d' $(filter-out %.mk,$^) >$@

$(ST_LIMITS_TESTS): ST_CFLAGS += -I$(ST_OUT)
$(ST_LIMITS_TESTS): $(ST_OUT)/limits.inc
$(ST_OUT)/limits_cgroup_lists_test: $(ST_OUT)/cgroups.inc
$(ST_OUT)/limits_values_test: ST_CFLAGS += -I$(ST_OUT)
$(ST_OUT)/limits_values_test: $(ST_OUT)/values.inc

# This one has the invalidations under way in it. As the module, it looks at the bounds
# of arrays.
$(ST_OUT)/watch_inflight_test: ST_CFLAGS += -I$(ST_OUT) -fsanitize=bounds-strict \
	-fsanitize-trap=all
$(ST_OUT)/watch_inflight_test: $(ST_OUT)/inflight.inc

# These have the slots of watches in them, one the watches of dma-bufs too, and one the
# trees.
ST_SLOTS_TESTS := $(addprefix $(ST_OUT)/,watch_slots_test watch_dmabufs_test \
	watch_trees_test)
$(ST_SLOTS_TESTS): ST_CFLAGS += -I$(ST_OUT)
$(ST_SLOTS_TESTS): $(ST_OUT)/watch_slots.inc
$(ST_OUT)/watch_dmabufs_test: $(ST_OUT)/watch_dmabufs.inc
$(ST_OUT)/watch_trees_test: $(ST_OUT)/watch_trees.inc

# These have objects of the tool in them.
ST_TOOL_TESTS := $(addprefix $(ST_OUT)/,tool_texts_test tool_settings_test \
	tool_tables_test tool_traced_test tool_groups_test)
$(ST_OUT)/tool_texts_test: ST_TOOL := utf8 number table
$(ST_OUT)/tool_settings_test: ST_TOOL := settings config change compare
$(ST_OUT)/tool_tables_test: ST_TOOL := view print utf8
$(ST_OUT)/tool_traced_test: ST_TOOL := files
$(ST_OUT)/tool_groups_test: ST_TOOL := selftest/result selftest/process files
# This one has the source in it, with other system calls.
$(ST_OUT)/tool_traced_test: userlib/cli/traced.c
ST_TOOL_OBJS = $(ST_TOOL:%=build/obj/userlib/cli/%.o)
$(ST_TOOL_TESTS): ST_CFLAGS += -Iuserlib/cli
$(ST_OUT)/tool_settings_test: ST_CFLAGS += -fsanitize=leak
$(ST_TOOL_TESTS): ST_MORE_LIBS = $(ST_TOOL_OBJS)
$(ST_TOOL_TESTS): $(patsubst %,build/obj/userlib/cli/%.o,utf8 number table settings \
	config change compare view print files selftest/result selftest/process)

# The fuzzer is one program.
ST_FUZZ_OBJS := $(patsubst selftests/%.c,$(ST_OUT)/obj/%.o,\
	$(wildcard selftests/fuzz/*.c))

$(ST_FUZZ_OBJS): $(ST_OUT)/obj/%.o: selftests/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(ST_CFLAGS) -c -o $@ $<

$(ST_OUT)/fuzz: $(ST_FUZZ_OBJS) $(ST_LIB) | build/lib/libmlx5ep.so
	@echo "  CCLD    $@"
	@$(CC) -o $@ $(ST_FUZZ_OBJS) $(ST_LIBS)

# Products of before a source was moved name it where it was.
selftests/%.c: ;

-include $(wildcard $(ST_OUT)/*.d $(ST_OUT)/obj/*/*.d)
