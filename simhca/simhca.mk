# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# simhca, the simulated HCA. Read inside the lab's root file system.
#
# make hca          build/bin/simhca, build/bin/simhca-ctl
# make hca SAN=1    the same under ASan and UBSan, in build/san/
# make hca-tests    its tests
#
# MLX5_IFC_DIR: where the kernel headers package has mlx5_ifc.h

HCA := simhca
MLX5_IFC_DIR ?= $(lastword $(sort $(wildcard \
	/usr/src/linux-headers-*-common/include/linux/mlx5)))

ifdef SAN
HCA_OUT := build/san
HCA_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
else
HCA_OUT := build/bin
endif
HCA_OBJ := $(HCA_OUT:build/%=build/hca-%)
HCA_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -MMD -MP \
	-D_GNU_SOURCE -iquote $(HCA) -iquote $(MLX5_IFC_DIR) $(HCA_SAN)
HCA_LIBS := -ljson-c

# The folders of the model: model.md says what each is for.
HCA_DIRS := base bus fw object qos data eth fabric control
HCA_CTL_SRC := $(HCA)/control/ctl.c
HCA_SRC := $(filter-out $(HCA_CTL_SRC),\
	$(wildcard $(HCA)/*.c $(HCA_DIRS:%=$(HCA)/%/*.c)))
HCA_OBJS := $(HCA_SRC:$(HCA)/%.c=$(HCA_OBJ)/%.o)

.PHONY: hca
hca: $(HCA_OUT)/simhca $(HCA_OUT)/simhca-ctl

$(HCA_OUT)/simhca: $(HCA_OBJS)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_SAN) -o $@ $^ $(HCA_LIBS)

$(HCA_OUT)/simhca-ctl: $(HCA_OBJ)/control/ctl.o
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_SAN) -o $@ $^

$(HCA_OBJ)/%.o: $(HCA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(HCA_CFLAGS) -c -o $@ $<

# The model's own tests, always under ASan and UBSan: objects and data without a
# VMM, with test/unit/world.c in the place of bus, firmware and fabric.
HCA_TEST_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
HCA_TEST_OBJ := build/hca-test
HCA_WORLD := $(patsubst %,$(HCA_TEST_OBJ)/%.o,\
	$(patsubst $(HCA)/%.c,%,$(wildcard $(patsubst %,$(HCA)/%/*.c,object qos data))) \
	base/idtable base/left base/loop base/log base/trace fw/caps_odp base/sglist bus/dma bus/guard \
	fabric/lag fabric/lag_cmd fabric/cable fabric/line fabric/reg \
	$(addprefix test/unit/,ktap world world_objs world_post pair))
HCA_WORLD_TESTS := hca_transport hca_queues hca_keys hca_xrc hca_datagram \
	hca_users hca_dc hca_memic hca_cqe hca_qp_ext hca_general hca_sig hca_odp \
	hca_pace hca_cong hca_sched hca_tis hca_lag hca_fuzz hca_flow hca_xrq \
	hca_hash hca_switch hca_cable hca_trace
HCA_FLOW := $(patsubst %,$(HCA_TEST_OBJ)/eth/%.o,flow fte flow_counter \
	flow_header flow_reformat match tunnel frame packet pass hash receive rx) \
	$(HCA_TEST_OBJ)/test/unit/world_eth.o

# Bus and firmware are tested from outside: a VMM (test/unit/vmm.c) speaks
# vfio-user to a simhca built like the tests.
HCA_VMM_TESTS := hca_vfio hca_command hca_uar
HCA_VMM := $(patsubst %,$(HCA_TEST_OBJ)/test/unit/%.o,vmm vmm_cmd)
HCA_SAN_OBJS := $(HCA_SRC:$(HCA)/%.c=$(HCA_TEST_OBJ)/%.o)
HCA_KSELFTEST ?= $(shell . lab/lib.sh && \
	echo "$$lab_dir")/source/tools/testing/selftests

.PHONY: hca-tests
ifndef CROSS
selftests: hca-tests
endif
hca-tests: $(HCA_WORLD_TESTS:%=build/selftests/%_test) \
	$(HCA_VMM_TESTS:%=build/selftests/%_test) build/selftests/hca_mad_test

# Those of stock drivers are compiled as the other tests of guests are.
hca-tests: $(patsubst simhca/guest/%.c,build/selftests/%,$(wildcard simhca/guest/*_test.c)) \
	build/selftests/ktap_helpers.sh

$(HCA_WORLD_TESTS:%=build/selftests/%_test): build/selftests/%_test: \
		$(HCA_TEST_OBJ)/test/%_test.o $(HCA_WORLD)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $^ $(HCA_LIBS)

build/selftests/hca_flow_test: $(HCA_FLOW)
build/selftests/hca_switch_test: $(HCA_FLOW) \
	$(patsubst %,$(HCA_TEST_OBJ)/eth/%.o,switch admit)
build/selftests/hca_hash_test: $(patsubst %,$(HCA_TEST_OBJ)/eth/%.o,hash frame)

# The subnet alone
build/selftests/hca_mad_test: $(patsubst %,$(HCA_TEST_OBJ)/%.o,test/hca_mad_test \
		test/unit/ktap $(patsubst %,fabric/%,fabric port mad smi smi_switch sa \
		sa_node sa_table mc_group pma vendor))
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $^ $(HCA_LIBS)

$(HCA_VMM_TESTS:%=build/selftests/%_test): build/selftests/%_test: \
		$(HCA_TEST_OBJ)/test/%_test.o $(HCA_VMM) build/san/simhca-test
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $(filter %.o,$^) $(HCA_LIBS)

build/san/simhca-test: $(HCA_SAN_OBJS)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $^ $(HCA_LIBS)

# the kernel's harness, with the patience that all tests have; it does not know
# all warnings
$(HCA_VMM_TESTS:%=$(HCA_TEST_OBJ)/test/%_test.o): HCA_CFLAGS += \
	-Iselftests/lib -isystem $(HCA_KSELFTEST) -Wno-sign-compare -Wno-unused-parameter

$(HCA_TEST_OBJ)/%.o: $(HCA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(HCA_CFLAGS) $(HCA_TEST_SAN) -c -o $@ $<

# libFuzzer is clang's: all of the model in one program, but for main().
HCA_FUZZ_OBJ := build/hca-fuzz
HCA_FUZZ_OBJS := $(patsubst $(HCA)/%.c,$(HCA_FUZZ_OBJ)/%.o,\
	$(filter-out $(HCA)/main.c,$(HCA_SRC)) $(HCA)/test/fuzz/device.c)
HCA_FUZZ_SAN := -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined

.PHONY: hca-fuzz
hca-fuzz: build/selftests/hca_fuzz_device

build/selftests/hca_fuzz_device: $(HCA_FUZZ_OBJS)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@clang $(HCA_FUZZ_SAN) -o $@ $^ $(HCA_LIBS)

$(HCA_FUZZ_OBJ)/%.o: $(HCA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@clang $(HCA_CFLAGS) -Wno-gnu-variable-sized-type-not-at-end \
		$(HCA_FUZZ_SAN) -c -o $@ $<

-include $(wildcard $(foreach o,$(HCA_OBJ) $(HCA_TEST_OBJ) $(HCA_FUZZ_OBJ),\
	$(o)/*.d $(o)/*/*.d $(o)/*/*/*.d))
