#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 3000, long: yes
#
# What notify_rxe shows on soft-RoCE, on siw (soft-iWARP). No kernel of Debian has siw, so
# it is compiled here, of Debian's source of each kernel. MLX5_EP_SIW="KERNEL..." names the
# kernels.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/lib.sh
. lab/lib.sh

place=build/siw.$$
trap 'rm -rf "$tmp" "$place"' EXIT

# siw_built: compiles siw for the kernel $krel of the lab
siw_built()
{
	local name package

	name=linux-source-$(awk -v rel="$krel" '$2 == rel { print $1 }' \
		"$lab_dir/kernels")
	package=$(lab/fetch linux-source "$name")
	rm -rf "$place"
	mkdir -p "$place"
	# shellcheck disable=SC2016 # for the lab
	lab/enter bash -c '
		tar -xf "$1" -C "$2" --strip-components=5 --wildcards \
			"*/drivers/infiniband/sw/siw/*"
		make -s "-j$(nproc)" -C "$3" "M=$2" CONFIG_RDMA_SIW=m modules' - \
		"$package/usr/src/$name.tar.xz" "$PWD/$place" "$kbuild" \
		>"$tmp/log" 2>&1 || fail "$(tail -n 20 "$tmp/log")"
}

notifies()
{
	lab_kernel "$1"
	lab/build-module "$1"
	siw_built
	# shellcheck disable=SC2016 # for the guest
	lab/vm --kernel "$1" --hca 0 --smp 2 --numa 2 -- bash -c '
		IFS=, read -r -a needs < <(modinfo -F depends "$1")
		modprobe -a "${needs[@]}" && insmod "$1" || exit
		soft=siw selftests/notify/notify_rxe_test.sh' \
		- "$place/siw.ko" >"$tmp/said" 2>"$tmp/errors" ||
		fail "$(cat "$tmp/said" "$tmp/errors")"
	grep '^ok' "$tmp/said"
}

read -r -a kernels <<<"${MLX5_EP_SIW:-6.1 6.12 7.2 7.3}"
plan ${#kernels[@]}
for kernel in "${kernels[@]}"; do
	check "siw of $kernel: what it reads is what the process was told of" \
		notifies "$kernel"
done
ktap_finished
