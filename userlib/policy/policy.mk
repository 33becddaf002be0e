# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mlx5ep/policy.so, which `mlx5ep run --policy` preloads; part of userlib.mk. It
# has no soname, because nothing is linked to it.

POLICY_SO := $(LIB_OUT)/lib/mlx5ep/policy.so
POLICY_OBJS := $(LIB_OBJ)/policy/open_policy.o

lib: $(POLICY_SO)

$(POLICY_SO): $(POLICY_OBJS) userlib/policy/policy.map \
		$(LIB_OUT)/lib/libmlx5ep.so
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared \
		-Wl,--version-script=userlib/policy/policy.map \
		$(LIB_DEFS) -o $@ $(POLICY_OBJS) -L$(LIB_OUT)/lib -lmlx5ep \
		$(call lib_rpath,/..) -libverbs -lmlx5

-include $(POLICY_OBJS:.o=.d)
