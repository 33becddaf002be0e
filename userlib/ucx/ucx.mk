# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libmlx5ep-ucx.so.0, which programs preload. It needs UCX's headers to be built,
# and is linked to nothing but the C library; part of userlib.mk.

UCX_SRCS := ucx.c ucx_env.c ucx_events.c ucx_lookup.c ucx_probe.c ucx_real.c ucx_regs.c
UCX_SONAME := libmlx5ep-ucx.so.0
UCX_OBJS := $(UCX_SRCS:%.c=$(LIB_OBJ)/ucx/%.o) $(PRELOAD_OBJS)

lib: $(LIB_OUT)/lib/$(UCX_SONAME)

$(LIB_OUT)/lib/$(UCX_SONAME): $(UCX_OBJS) userlib/ucx/libmlx5ep-ucx.map \
		userlib/ucx/ucx.mk
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared -Wl,-soname,$(UCX_SONAME) \
		-Wl,-z,nodelete \
		-Wl,--version-script=userlib/ucx/libmlx5ep-ucx.map \
		$(LIB_DEFS) $(PRELOAD_LDFLAGS) -o $@ $(UCX_OBJS) -lpthread

-include $(UCX_OBJS:.o=.d)
