# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# simhca, the simulated HCA. Read inside the lab's root file system.
#
# make hca          build/bin/simhca, build/bin/simhca-ctl
# make hca SAN=1    the same under ASan and UBSan, in build/san/
#
# MLX5_IFC_DIR: where the kernel headers package has mlx5_ifc.h

HCA := selftests/hca
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
	-D_GNU_SOURCE -iquote $(MLX5_IFC_DIR) $(HCA_SAN)
HCA_LIBS := -ljson-c

HCA_CTL_SRC := $(HCA)/ctl.c
HCA_SRC := $(filter-out $(HCA_CTL_SRC) $(HCA)/%_test.c,$(wildcard $(HCA)/*.c))
HCA_OBJS := $(HCA_SRC:$(HCA)/%.c=$(HCA_OBJ)/%.o)

.PHONY: hca
hca: $(HCA_OUT)/simhca $(HCA_OUT)/simhca-ctl

$(HCA_OUT)/simhca: $(HCA_OBJS)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_SAN) -o $@ $^ $(HCA_LIBS)

$(HCA_OUT)/simhca-ctl: $(HCA_OBJ)/ctl.o
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_SAN) -o $@ $^

$(HCA_OBJ)/%.o: $(HCA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(HCA_CFLAGS) -c -o $@ $<

# The model's own tests, always under ASan and UBSan, without main() and with
# the device half replaced where a test brings its own (unit/world.c).
HCA_TEST_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
HCA_TEST_OBJ := build/hca-test
HCA_DATA := objects pd sglist qbuf cq cq_cmd mkey mkey_map umr srq srq_cmd qp \
	qp_cmd qp_modify send recv respond transport mcg ud rawq umem
HCA_WORLD := $(HCA_DATA:%=$(HCA_TEST_OBJ)/%.o) \
	$(patsubst %,$(HCA_TEST_OBJ)/%.o,idtable dma guard log loop unit/ktap \
	unit/world unit/world_objs unit/world_post unit/pair)
HCA_WORLD_TESTS := hca_transport hca_queues hca_keys hca_xrc hca_datagram \
	hca_users hca_fuzz

# The device half is tested from outside: a VMM (unit/vmm.c) speaks vfio-user to
# a simhca built like the tests.
HCA_VMM_TESTS := hca_vfio hca_command hca_uar
HCA_VMM := $(patsubst %,$(HCA_TEST_OBJ)/unit/%.o,vmm vmm_cmd)
HCA_SAN_OBJS := $(HCA_SRC:$(HCA)/%.c=$(HCA_TEST_OBJ)/%.o)
HCA_KSELFTEST ?= $(shell . selftests/lab/lib.sh && \
	echo "$$lab_dir")/source/tools/testing/selftests

.PHONY: hca-tests
selftests: hca-tests
hca-tests: $(HCA_WORLD_TESTS:%=build/selftests/%_test) \
	$(HCA_VMM_TESTS:%=build/selftests/%_test)

$(HCA_WORLD_TESTS:%=build/selftests/%_test): build/selftests/%_test: \
		$(HCA_TEST_OBJ)/%_test.o $(HCA_WORLD)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $^ $(HCA_LIBS)

$(HCA_VMM_TESTS:%=build/selftests/%_test): build/selftests/%_test: \
		$(HCA_TEST_OBJ)/%_test.o $(HCA_VMM) build/san/simhca-test
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $(filter %.o,$^) $(HCA_LIBS)

build/san/simhca-test: $(HCA_SAN_OBJS)
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(HCA_TEST_SAN) -o $@ $^ $(HCA_LIBS)

# the kernel's harness, with the patience that all tests have; it does not know
# all warnings
$(HCA_VMM_TESTS:%=$(HCA_TEST_OBJ)/%_test.o): HCA_CFLAGS += \
	-Iselftests/lib -isystem $(HCA_KSELFTEST) -Wno-sign-compare -Wno-unused-parameter

$(HCA_TEST_OBJ)/%.o: $(HCA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(HCA_CFLAGS) $(HCA_TEST_SAN) -c -o $@ $<

# libFuzzer is clang's: all of the model in one program, but for main().
HCA_FUZZ_OBJ := build/hca-fuzz
HCA_FUZZ_OBJS := $(patsubst $(HCA)/%.c,$(HCA_FUZZ_OBJ)/%.o,\
	$(filter-out $(HCA)/main.c,$(HCA_SRC)) $(HCA)/fuzz/device.c)
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

-include $(wildcard $(HCA_FUZZ_OBJ)/*.d $(HCA_FUZZ_OBJ)/fuzz/*.d)
-include $(wildcard $(HCA_OBJ)/*.d $(HCA_TEST_OBJ)/*.d \
	$(HCA_TEST_OBJ)/unit/*.d)
