# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The programs that `mlx5ep bench` calls, for the package mlx5ep-tests; read by
# userlib.mk. A machine that installs them has no kselftest headers, so they are
# built here with the few sources that they share. Those that tests run are built
# by selftests.mk.
#
# make bench-programs    LIB_OUT/libexec/mlx5ep

BENCH_PROGRAMS := $(addprefix $(LIB_OUT)/libexec/mlx5ep/,\
	msgrate globalarray stencil pipeline xsrq memory)
BENCH_SHARED := lib/job.c lib/option.c lib/proc.c lib/verbs.c lib/verbs_xrc.c lib/address.c lib/traffic.c \
	lib/sysfs.c lib/xrc.c programs/job_program.c watch/watched.c watch/fdpass.c \
	xrc/xrc_wire.c xrc/xrc_bytes.c
BENCH_OBJ := $(LIB_OUT)/obj/bench
BENCH_LIB := $(BENCH_OBJ)/libbench.a
BENCH_OBJS := $(BENCH_SHARED:%.c=$(BENCH_OBJ)/%.o)
BENCH_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Iselftests/lib -Iselftests \
	-Iselftests/programs -Iuapi -Iuserlib/include -MMD -MP

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)

$(BENCH_OBJ)/%.o: selftests/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(BENCH_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BENCH_LIB): $(BENCH_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $^

$(BENCH_PROGRAMS): $(LIB_OUT)/libexec/mlx5ep/%: selftests/programs/%.c \
		$(BENCH_LIB) $(LIB_OUT)/lib/libmlx5ep.so
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(BENCH_CFLAGS) -MF $(BENCH_OBJ)/$(notdir $@).d $(CFLAGS) \
		$(LDFLAGS) -o $@ $< $(BENCH_LIB) -Wl,--as-needed \
		-L$(LIB_OUT)/lib $(call lib_rpath,/../../lib) -lmlx5ep -lmlx5 \
		-libverbs -lpthread

-include $(wildcard $(BENCH_OBJ)/*.d $(BENCH_OBJ)/*/*.d)
