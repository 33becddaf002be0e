# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mlx5ep/policy.so, which `mlx5ep run --policy` preloads; part of userlib.mk. It
# has no soname, because nothing is linked to it.

POLICY_SO := $(LIB_OUT)/lib/mlx5ep/policy.so
POLICY_OBJS := $(addprefix $(LIB_OBJ)/,policy/open_policy.o device.o uuar.o uverbs.o \
	uverbs_ids.o)

lib: $(POLICY_SO)

$(POLICY_SO): $(POLICY_OBJS) userlib/policy/policy.map \
		userlib/policy/policy.mk
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared \
		-Wl,--version-script=userlib/policy/policy.map \
		$(LIB_DEFS) $(PRELOAD_LDFLAGS) -o $@ $(POLICY_OBJS) -lpthread

-include $(POLICY_OBJS:.o=.d)
