#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600, long: yes
#
# mlx5_ep is not loaded into an ib_core that has one more operation in its table: on 7.2,
# which has no MODVERSIONS, mlx5_ep itself refuses, on 6.12 the kernel. That ib_core is
# compiled here, of Debian's source of the kernel. With MLX5_EP_FOREIGN="KERNEL SOURCE"
# only this kernel, of the Linux tree SOURCE.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/lib.sh
. lab/lib.sh

place=build/foreign.$$
trap 'rm -rf "$tmp" "$place"' EXIT

# source_of: prints the archive with the sources of the kernel $krel of the lab
source_of()
{
	local name package

	name=linux-source-$(awk -v rel="$krel" '$2 == rel { print $1 }' \
		"$lab_dir/kernels")
	package=$(lab/fetch linux-source "$name")
	echo "$package/usr/src/$name.tar.xz"
}

# in_guest KERNEL [FOLDER]: prints what the kernel says of mlx5_ep after ib_core and
# ib_uverbs were loaded, those of the folder or of the kernel
in_guest()
{
	# shellcheck disable=SC2016 # for the guest
	lab/vm --kernel "$1" --hca 0 ${2:+--drivers "$2"} -- bash -c '
		modprobe -a mlx5_core ib_uverbs
		insmod "$1" && echo loaded
		dmesg | grep "mlx5_ep: " || :
		[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep' \
		- "$PWD/build/modules/$krel/mlx5_ep.ko"
}

# refuses KERNEL WORDS [SOURCE]
refuses()
{
	lab_kernel "$1"
	lab/build-module "$1"
	lab/enter selftests/attach/foreign_core.sh \
		"${3:-$(source_of)}" "$kbuild" "$PWD/$place" >"$tmp/log" 2>&1 ||
		fail "$(tail -n 20 "$tmp/log")"
	in_guest "$1" "$place" >"$tmp/said" 2>"$tmp/errors" || :
	cat "$tmp/said" "$tmp/errors"
	must_fail grep loaded$ "$tmp/said"
	grep "$2" "$tmp/said"
}

loads()
{
	lab_kernel "$1"
	in_guest "$1" >"$tmp/said"
	grep -x loaded "$tmp/said"
}

built='mlx5_ep: not loaded: ib_core is not the one that mlx5_ep was compiled for'
symbol='mlx5_ep: disagrees about version of symbol'
if [ -n "${MLX5_EP_FOREIGN:-}" ]; then
	read -r kernel source <<<"$MLX5_EP_FOREIGN"
	plan 2
	check "one more operation, $kernel: not loaded" \
		refuses "$kernel" "$built\|$symbol" "$source"
	check "the ib_core of $kernel: loaded" loads "$kernel"
	ktap_finished
fi
plan 4
check 'one more operation, no MODVERSIONS: mlx5_ep refuses' refuses 7.2 "$built"
check 'the ib_core of 7.2: loaded' loads 7.2
check 'one more operation, MODVERSIONS: the kernel refuses' refuses 6.12 "$symbol"
check 'the ib_core of 6.12: loaded' loads 6.12
ktap_finished
