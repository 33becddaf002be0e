#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, kernels: 7.2, timeout: 300
#
# What a device and the module leave behind that go and come back. A program uses them
# each time. Then the kernel must have as many objects as before in each of its caches.
# This needs no debug kernel: each time would leave one of them.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

slab=/sys/kernel/slab
rounds=${MLX5_EP_LEAK_ROUNDS:-12}

# objects FILE: writes "CACHE OBJECTS" for each cache. What CPUs keep for later is
# freed first, and so are areas of vmalloc(), which the end of a module frees.
objects()
{
	local cache

	insmod "build/modules/$(uname -r)/mm_listener.ko"
	rmmod mm_listener
	echo 3 >/proc/sys/vm/drop_caches
	for cache in "$slab"/*; do
		[ -L "$cache" ] && continue
		echo 1 >"$cache/shrink"
	done
	sleep 1
	for cache in "$slab"/*; do
		[ -L "$cache" ] && continue
		echo "${cache##*/} $(cut -d ' ' -f 1 "$cache/objects")"
	done | sort >"$1"
}

# comes_back N: the device and the module go and come back N times, and are used
comes_back()
{
	local i

	for ((i = 0; i < $1; i++)); do
		ib_unload
		rmmod mlx5_ep
		ep_insmod
		modprobe mlx5_ib
		wait_for 10 attached
		ep_policy independent 4
		uuar_traffic -q -n 2 -r 1
	done
}

# Caches that have an object more for each time.
grown()
{
	join "$tmp/before" "$tmp/after" |
		awk -v rounds="$rounds" '$3 - $2 >= rounds * 3 / 4 { print }'
}

# A leak grows with each set. What the kernel keeps for later grows with one of them.
leaves_nothing()
{
	local set

	comes_back 2
	objects "$tmp/before"
	for set in 1 2 3; do
		comes_back "$rounds"
		objects "$tmp/after"
		grown >"$tmp/grown.$set"
		sed "s/^/set $set: /" "$tmp/grown.$set"
		[ -s "$tmp/grown.$set" ] || break
		mv "$tmp/after" "$tmp/before"
	done
	ep_policy stock
	cut -d ' ' -f 1 "$tmp"/grown.* | sort | uniq -c |
		awk '$1 == 3 { print "grew three times:", $2; bad = 1 }
			END { exit bad }'
}

plan 1
check 'a device and the module that go and come back leave nothing' leaves_nothing
ktap_finished
