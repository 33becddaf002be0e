# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libmlx5ep-ucx.so.0, which programs preload. It needs UCX's headers to be built,
# and is not linked to UCX; part of userlib.mk.

UCX_SRCS := ucx.c ucx_events.c ucx_lookup.c ucx_real.c ucx_regs.c
UCX_SONAME := libmlx5ep-ucx.so.0
UCX_OBJS := $(UCX_SRCS:%.c=$(LIB_OBJ)/ucx/%.o) $(LIB_OBJ)/listener.o

lib: $(LIB_OUT)/lib/$(UCX_SONAME)

$(LIB_OUT)/lib/$(UCX_SONAME): $(UCX_OBJS) userlib/ucx/libmlx5ep-ucx.map \
		$(LIB_OUT)/lib/libmlx5ep.so
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared -Wl,-soname,$(UCX_SONAME) \
		-Wl,-z,nodelete \
		-Wl,--version-script=userlib/ucx/libmlx5ep-ucx.map \
		$(LIB_DEFS) -o $@ $(UCX_OBJS) -L$(LIB_OUT)/lib -lmlx5ep \
		$(call lib_rpath,) -libverbs -lpthread

-include $(UCX_OBJS:.o=.d)
