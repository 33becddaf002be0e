# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libmlx5ep-fi.so, which programs preload, or link beside libfabric. It is linked to nothing
# but the C library. Built where libfabric's headers are; part of userlib.mk.

FI_SRCS := fi_monitor.c fi_found.c fi_regions.c
FI_SONAME := libmlx5ep-fi.so.0
FI_OBJS := $(FI_SRCS:%.c=$(LIB_OBJ)/libfabric/%.o) $(PRELOAD_OBJS)

lib: $(LIB_OUT)/lib/libmlx5ep-fi.so $(LIB_OUT)/lib/pkgconfig/mlx5ep-fi.pc

$(LIB_OUT)/lib/$(FI_SONAME): $(FI_OBJS) userlib/libfabric/libmlx5ep-fi.map \
		userlib/libfabric/libfabric.mk
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared -Wl,-soname,$(FI_SONAME) \
		-Wl,-z,nodelete \
		-Wl,--version-script=userlib/libfabric/libmlx5ep-fi.map \
		$(LIB_DEFS) $(PRELOAD_LDFLAGS) -o $@ $(FI_OBJS) -lpthread

$(LIB_OUT)/lib/libmlx5ep-fi.so: $(LIB_OUT)/lib/$(FI_SONAME)
	@ln -sfn $(FI_SONAME) $@

$(LIB_OUT)/lib/pkgconfig/mlx5ep-fi.pc: userlib/libfabric/mlx5ep-fi.pc.in \
		userlib/userlib.mk $(LIB_VERSION_STAMP)
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(LIB_VERSION)|' $< >$@

-include $(FI_OBJS:.o=.d)
