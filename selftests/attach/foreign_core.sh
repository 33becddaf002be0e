#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# foreign_core.sh SOURCE KBUILD OUT: compiles an ib_core and an ib_uverbs against a
# kernel's headers, of the sources of that kernel, with one more operation in the table of
# each device, as another stack has it. Runs inside the lab. SOURCE is a Linux tree, or
# its tar archive.
set -euo pipefail

source=$1 kbuild=$2 out=$3
rm -rf "$out"
mkdir -p "$out"
if [ -d "$source" ]; then
	cp "$source"/drivers/infiniband/core/{Makefile,*.[ch]} "$out/"
	mkdir -p "$out/include/rdma"
	cp "$source/include/rdma/ib_verbs.h" "$out/include/rdma/"
else
	tar -xf "$source" -C "$out" --strip-components=4 --wildcards \
		'*/drivers/infiniband/core/*'
	tar -xf "$source" -C "$out" --strip-components=1 --wildcards \
		'*/include/rdma/ib_verbs.h'
fi
sed -i 's/^struct ib_device_ops {$/&\n\tint (*foreign)(struct ib_device *device);/' \
	"$out/include/rdma/ib_verbs.h"
grep -q foreign "$out/include/rdma/ib_verbs.h"
# Only what mlx5_ep depends on is compiled. The changed header comes before that of the
# kernel. Tracepoints include their headers as ../../drivers/infiniband/core/X.
cat >>"$out/Makefile" <<'END'
LINUXINCLUDE := -I$(src)/include -I$(src)/include/rdma $(LINUXINCLUDE)
obj-m := $(filter ib_core.o ib_uverbs%,$(obj-m))
END
mkdir -p "$out/drivers/infiniband"
ln -s "$out" "$out/drivers/infiniband/core"
make -s "-j$(nproc)" -C "$kbuild" "M=$out" modules
