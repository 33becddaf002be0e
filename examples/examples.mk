# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Builds the examples in the tree, against the library that is built there.

EXAMPLES := $(patsubst examples/%.c,build/examples/%,$(wildcard examples/*.c))
EXAMPLES_CFLAGS := -O2 -g -Wall -Wextra -Werror \
	-Iuserlib/include -Iuapi
EXAMPLES_LIBS := -Lbuild/lib -Wl,-rpath,'$$ORIGIN/../lib' -Wl,--as-needed \
	-lmlx5ep -libverbs -lmlx5 -pthread

selftests: $(EXAMPLES)

build/examples/libfabric: EXAMPLES_LIBS += -lmlx5ep-fi -lfabric
build/examples/libfabric: build/lib/libmlx5ep-fi.so

# Not linked to libmlx5ep, but told where it is.
build/examples/dual: EXAMPLES_LIBS := -Wl,-rpath,'$$ORIGIN/../lib' -libverbs -ldl

$(EXAMPLES): build/examples/%: examples/%.c examples/examples.mk \
		build/lib/libmlx5ep.so
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(EXAMPLES_CFLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(EXAMPLES_LIBS)

-include $(EXAMPLES:=.d)
