# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Builds the workloads and their tests, after selftests.mk and with what it shares. Read
# inside the lab's root file system.

WL_SRC := $(wildcard $(addprefix workloads/,transport/*.c am/*.c splitc/*.c \
	programs/*.c nbc/*.c solvers/*.c logp/*.c timeline/*.c))
WL_OBJS := $(WL_SRC:%.c=$(ST_OUT)/obj/%.o)
WL_LIB := $(ST_OUT)/libworkloads.a

WL_PROGRAMS := $(patsubst workloads/%.c,build/bin/%,$(wildcard workloads/*.c))
WL_TESTS := $(patsubst workloads/test/%.c,$(ST_OUT)/%,$(wildcard workloads/test/*_test.c))
WL_BENCHES := $(patsubst workloads/bench/%.c,$(ST_OUT)/bench/%,\
	$(wildcard workloads/bench/*.c))

.PHONY: workloads
workloads: $(WL_PROGRAMS) $(WL_TESTS) $(WL_BENCHES) $(ST_OUT)/tsan/am_threads \
	$(ST_OUT)/ktap_helpers.sh
selftests: workloads

$(WL_OBJS): $(ST_OUT)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(ST_CFLAGS) -Iworkloads -c -o $@ $<

# Loops over numbers, for vectors of the processor.
$(ST_OUT)/obj/workloads/nbc/fold.o: ST_CFLAGS += -O3 -funroll-loops

$(WL_LIB): $(WL_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $^

$(WL_PROGRAMS) $(WL_TESTS) $(WL_BENCHES): private ST_CFLAGS += -Iworkloads
$(WL_PROGRAMS) $(WL_TESTS) $(WL_BENCHES): private ST_MORE_OBJS := $(WL_LIB)

$(WL_PROGRAMS): build/bin/%: workloads/%.c $(WL_LIB) $(ST_LIB) | build/lib/libmlx5ep.so
	$(st_program)

$(WL_TESTS): $(ST_OUT)/%: workloads/test/%.c $(WL_LIB) $(ST_LIB) | build/lib/libmlx5ep.so
	$(st_program)

$(WL_BENCHES): $(ST_OUT)/bench/%: workloads/bench/%.c $(WL_LIB) $(ST_LIB) | build/lib/libmlx5ep.so
	$(st_program)

# The program with threads once more, for ThreadSanitizer.
WL_TSAN_OBJS := $(patsubst %.c,$(ST_OUT)/tsan/obj/%.o,workloads/am_threads.c \
	$(wildcard $(addprefix workloads/,transport/*.c am/*.c nbc/*.c timeline/*.c)))

$(WL_TSAN_OBJS): $(ST_OUT)/tsan/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(ST_CFLAGS) -Iworkloads -fsanitize=thread -c -o $@ $<

$(ST_OUT)/tsan/am_threads: $(WL_TSAN_OBJS) $(ST_LIB) | build/lib/libmlx5ep.so
	@echo "  CCLD    $@"
	@$(CC) -fsanitize=thread -o $@ $(WL_TSAN_OBJS) $(ST_LIBS)

-include $(wildcard $(ST_OUT)/obj/workloads/*/*.d \
	$(ST_OUT)/tsan/obj/workloads/*.d $(ST_OUT)/tsan/obj/workloads/*/*.d)
