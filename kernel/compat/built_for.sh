#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# built_for.sh OBJCOPY FOLDER...: print the build-ids of the modules that mlx5_ep
# meets, as rows of a table in C (built_for.h). A FOLDER is /lib/modules/RELEASE of
# the kernel, of which the modules that modprobe would load are taken, or a tree in
# which the kernel was built. The first one that has ib_core is used. Without a FOLDER
# there are no rows: the kernel compares symbol versions.
#
# A kernel's headers can be there without its modules. Then there are no rows
# either, and stderr says so.
set -eu

. "$(dirname "$0")/module_file.sh"
objcopy=$1
shift
[ $# -gt 0 ] || exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# unpack FILE: the module, which may be compressed, as $tmp/module
unpack()
{
	case $1 in
	*.xz) xz -dcf "$1" ;;
	*.zst) zstd -qdcf "$1" ;;
	*.gz) gzip -dcf "$1" ;;
	*) cat "$1" ;;
	esac >"$tmp/module"
}

# row NAME FILE: the row of one module
row()
{
	rm -f "$tmp/note"
	if ! unpack "$2" || ! "$objcopy" -O binary --set-section-flags \
		.note.gnu.build-id=alloc --only-section=.note.gnu.build-id \
		"$tmp/module" "$tmp/note" || [ ! -s "$tmp/note" ] ||
		[ "$(wc -c <"$tmp/note")" -gt 64 ]; then
		echo "mlx5_ep: no build-id in $2: not compared at load" >&2
		return
	fi
	printf '{ "%s", %d, "%s" },\n' "$1" "$(wc -c <"$tmp/note")" \
		"$(od -An -v -tx1 "$tmp/note" | tr -d '\n' |
			sed 's|  *|\\x|g')"
}

# file_in FOLDER MODULE PLACE: print the file of the module, which a tree has at PLACE
file_in()
{
	if [ -e "$1/modules.dep" ]; then
		file=$(module_file "$1" "$2")
		[ -z "$file" ] || echo "$1/$file"
	elif [ -e "$1/$3/$2.ko" ]; then
		echo "$1/$3/$2.ko"
	fi
}

for folder; do
	[ -n "$(file_in "$folder" ib_core drivers/infiniband/core)" ] || continue
	while read -r name place; do
		file=$(file_in "$folder" "$name" "$place")
		# Kernels before 7 have it in ib_uverbs.
		[ -n "$file" ] || [ "$name" != ib_uverbs_support ] || continue
		row "$name" "$file"
	done <<-END
		ib_core drivers/infiniband/core
		ib_uverbs_support drivers/infiniband/core
		ib_uverbs drivers/infiniband/core
		mlx5_ib drivers/infiniband/hw/mlx5
		mlx5_core drivers/net/ethernet/mellanox/mlx5/core
	END
	exit 0
done
echo "mlx5_ep: no ib_core.ko of this kernel: build-ids are not compared at load" >&2
