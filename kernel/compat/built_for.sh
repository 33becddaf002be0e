#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# built_for.sh OBJCOPY FOLDER...: print the build-ids of the modules that mlx5_ep
# meets, as rows of a table in C (built_for.h). A FOLDER has the modules of one
# kernel at the places that they have in its source; the first one that has
# ib_core is used. Without a FOLDER there are no rows: the kernel compares
# symbol versions.
#
# A kernel's headers can be there without its modules. Then there are no rows
# either, and stderr says so.
set -eu

objcopy=$1
shift
[ $# -gt 0 ] || exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# unpack STEM: the module STEM.ko, which may be compressed, as $tmp/module
unpack()
{
	for file in "$1.ko" "$1.ko.xz" "$1.ko.zst" "$1.ko.gz"; do
		[ -e "$file" ] || continue
		case $file in
		*.xz) xz -dcf "$file" ;;
		*.zst) zstd -qdcf "$file" ;;
		*.gz) gzip -dcf "$file" ;;
		*) cat "$file" ;;
		esac >"$tmp/module" && return
	done
	return 1
}

# row STEM: the row of one module
row()
{
	rm -f "$tmp/note"
	if ! unpack "$1" || ! "$objcopy" -O binary --set-section-flags \
		.note.gnu.build-id=alloc --only-section=.note.gnu.build-id \
		"$tmp/module" "$tmp/note" || [ ! -s "$tmp/note" ] ||
		[ "$(wc -c <"$tmp/note")" -gt 64 ]; then
		echo "mlx5_ep: no build-id in $1.ko: not compared at load" >&2
		return
	fi
	printf '{ "%s", %d, "%s" },\n' "${1##*/}" "$(wc -c <"$tmp/note")" \
		"$(od -An -v -tx1 "$tmp/note" | tr -d '\n' |
			sed 's|  *|\\x|g')"
}

for folder; do
	for file in "$folder"/drivers/infiniband/core/ib_core.ko*; do
		[ -e "$file" ] || continue
		row "$folder/drivers/infiniband/core/ib_core"
		row "$folder/drivers/infiniband/core/ib_uverbs"
		row "$folder/drivers/infiniband/hw/mlx5/mlx5_ib"
		row "$folder/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core"
		exit 0
	done
done
echo "mlx5_ep: no ib_core.ko of this kernel: build-ids are not compared at load" >&2
