# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libmlx5ep, the mlx5ep tool, their manual pages and completion. A new object
# of the library is one line in LIB_SRCS, one in libmlx5ep.map, one header under
# include/mlx5ep/ named in include/mlx5ep.h, and its manual pages in man/.
#
# make lib            build/lib, build/bin
# make lib SAN=1      the same with ASan and UBSan under build/san
# make lib CC=clang   under another compiler

LIB_SRCS := version.c plain.c process.c uverbs.c uverbs_ids.c device.c uuar.c domain.c uar_domain.c \
	endpoints.c endpoint_connect.c endpoints_plan.c endpoints_query.c endpoints_qp.c \
	notifier.c mr_watch.c mr_cache.c mr_cache_drop.c mr_cache_life.c mr_cache_table.c \
	mr_tree.c \
	ofed_xrc.c xrc_rcv_qp.c xrcd.c
# Of the shared library only.
LIB_SO_SRCS := moved.c
CLI_SRCS := main.c error.c number.c files.c table.c print.c utf8.c view.c row_programs.c device.c describe.c traced.c settings.c change.c \
	config.c compare.c save.c lock.c show.c set.c apply.c once.c plan.c bench.c rebind.c modules.c nldev.c device_users.c attach.c \
	unplaced.c run.c preload.c \
	$(patsubst userlib/cli/%,%,$(wildcard userlib/cli/doctor/*.c userlib/cli/metrics/*.c \
		userlib/cli/selftest/*.c))
# mlx5ep-bench takes what it needs of the tool's objects.
CLI_BENCH_SRCS := $(patsubst userlib/cli/%,%,$(wildcard userlib/cli/bench/*.c))

# Programs find the library beside them; packages need no help (RPATH=).
RPATH ?= yes
lib_rpath = $(if $(RPATH),-Wl$(lib_comma)-rpath$(lib_comma)'$$ORIGIN$(1)')
lib_comma := ,

# `make install` and the packages say which build it is.
LIB_VERSION ?= $(file <VERSION)
LIB_SONAME := libmlx5ep.so.0

ifeq ($(SAN),1)
LIB_OUT := build/san
LIB_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
LIB_DEFS :=
else
LIB_OUT := build
LIB_SAN :=
LIB_DEFS := -Wl,-z,defs
endif

LIB_OBJ := $(LIB_OUT)/obj/userlib
LIB_VERSION_STAMP := $(LIB_OBJ)/version
LIB_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wmissing-prototypes \
	-Wstrict-prototypes -fvisibility=hidden -ffunction-sections $(LIB_SAN) \
	-Iuserlib/include -Iuserlib -Iuapi -MMD -MP -D_GNU_SOURCE \
	-DMLX5EP_BUILD='"$(LIB_VERSION)"'
LIB_LIBS := -libverbs -lmlx5 -lpthread
CLI_LIBS := -ljson-c -libverbs -lmlx5 -lnl-3
LIB_SO := $(LIB_OUT)/lib/$(LIB_SONAME)
LIB_OBJS := $(LIB_SRCS:%.c=$(LIB_OBJ)/%.o)
LIB_SO_OBJS := $(LIB_OBJS) $(LIB_SO_SRCS:%.c=$(LIB_OBJ)/%.o)
CLI_OBJS := $(CLI_SRCS:%.c=$(LIB_OBJ)/cli/%.o)
CLI_BENCH_OBJS := $(CLI_BENCH_SRCS:%.c=$(LIB_OBJ)/cli/%.o)
CLI_LIB := $(LIB_OBJ)/cli/libcli.a

# Section 3 has the text of the headers and of the examples in it.
LIB_MAN := $(patsubst userlib/man/%,$(LIB_OUT)/man/%,$(wildcard userlib/man/*.[0-9]))

.PHONY: lib
lib: $(LIB_SO) $(LIB_OUT)/lib/libmlx5ep.so $(LIB_OUT)/lib/libmlx5ep.a \
	$(LIB_OUT)/lib/pkgconfig/mlx5ep.pc $(LIB_OUT)/bin/mlx5ep \
	$(LIB_OUT)/bin/mlx5ep-bench $(LIB_MAN)

$(LIB_OBJ)/%.o: userlib/%.c userlib/userlib.mk
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) $(LIB_CFLAGS) $(CFLAGS) $(LIB_NO_LTO) -fPIC -c -o $@ $<

# Its headers are in a folder of their own.
$(LIB_OBJ)/cli/nldev.o: LIB_CFLAGS += $(shell pkg-config --cflags libnl-3.0)

$(LIB_OBJ)/moved.o: LIB_NO_LTO := -fno-lto

$(LIB_SO): $(LIB_SO_OBJS) userlib/libmlx5ep.map
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -shared -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=userlib/libmlx5ep.map $(LIB_DEFS) \
		-o $@ $(LIB_SO_OBJS) $(LIB_LIBS)

$(LIB_OUT)/lib/libmlx5ep.so: $(LIB_SO)
	@ln -sfn $(LIB_SONAME) $@

$(LIB_OUT)/lib/libmlx5ep.a: $(LIB_OBJS)
	@mkdir -p $(@D)
	@rm -f $@
	@$(AR) rcs $@ $(LIB_OBJS)

$(LIB_OUT)/lib/pkgconfig/mlx5ep.pc: userlib/mlx5ep.pc.in userlib/userlib.mk
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(LIB_VERSION)|' $< >$@

$(LIB_OUT)/man/%: userlib/man/% userlib/man/fill.awk \
		$(wildcard userlib/include/mlx5ep/*.h uapi/rdma/*.h examples/*)
	@mkdir -p $(@D)
	@awk -f userlib/man/fill.awk $< >$@.new && mv $@.new $@

# A library that programs preload is linked to none of those that it serves: the program may
# bring its own. So it has these files in it, and of them only what it calls.
PRELOAD_OBJS := $(addprefix $(LIB_OBJ)/,listener.o notifier.o mr_watch.o process.o device.o \
	uverbs.o uverbs_ids.o)
PRELOAD_LDFLAGS := -Wl,--gc-sections

include userlib/policy/policy.mk
include selftests/programs/programs.mk

ifeq ($(shell pkg-config --exists libfabric && echo yes),yes)
include userlib/libfabric/libfabric.mk
endif

# An older UCX keeps its hooks (ucx_limits.h), and its headers have other prototypes.
ifeq ($(shell pkg-config --exists 'ucx >= 1.17' && echo yes),yes)
include userlib/ucx/ucx.mk
endif

# The tests run with this one too.
.PHONY: lib-san
lib-san:
	@$(MAKE) --no-print-directory IN_LAB=1 -f userlib/userlib.mk lib SAN=1

ifneq ($(SAN),1)
selftests: lib-san
include examples/examples.mk
endif

$(LIB_OUT)/bin/mlx5ep: $(CLI_OBJS) $(LIB_OUT)/lib/libmlx5ep.so
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -o $@ $(CLI_OBJS) -L$(LIB_OUT)/lib \
		$(call lib_rpath,/../lib) -lmlx5ep $(CLI_LIBS)

$(CLI_LIB): $(filter-out %/main.o,$(CLI_OBJS))
	@rm -f $@
	@$(AR) rcs $@ $^

# It is measured from the folder where it was built, and installed elsewhere.
$(LIB_OUT)/bin/mlx5ep-bench: $(CLI_BENCH_OBJS) $(CLI_LIB) $(LIB_OUT)/lib/libmlx5ep.so
	@mkdir -p $(@D)
	@echo "  CCLD    $@"
	@$(CC) $(LDFLAGS) $(LIB_SAN) -o $@ $(CLI_BENCH_OBJS) $(CLI_LIB) \
		-L$(LIB_OUT)/lib $(call lib_rpath,/../lib) \
		$(call lib_rpath,/../../lib) -lmlx5ep $(CLI_LIBS)

bench-programs: $(LIB_OUT)/libexec/mlx5ep/mlx5ep-bench
$(LIB_OUT)/libexec/mlx5ep/mlx5ep-bench: $(LIB_OUT)/bin/mlx5ep-bench
	@mkdir -p $(@D)
	@cp $< $@

# What holds the version is built again when the version is another.
$(LIB_VERSION_STAMP): lib-version
	@mkdir -p $(@D)
	@[ "$$(cat $@ 2>/dev/null)" = '$(LIB_VERSION)' ] || \
		echo '$(LIB_VERSION)' >$@
.PHONY: lib-version

$(LIB_OBJ)/version.o $(LIB_OBJ)/cli/main.o $(LIB_OUT)/lib/pkgconfig/mlx5ep.pc: \
	$(LIB_VERSION_STAMP)

-include $(LIB_SO_OBJS:.o=.d) $(CLI_OBJS:.o=.d) $(CLI_BENCH_OBJS:.o=.d)
