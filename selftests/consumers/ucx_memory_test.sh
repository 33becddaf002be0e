#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 600, kernels: 7.2
#
# Debian's UCX with libmlx5ep-ucx: memory of allocators and under ASan, and memory
# that another thread changes between the lookup of a registration and its use.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh
# shellcheck source=selftests/watch/allocators.sh
. selftests/watch/allocators.sh

rounds=60

# hooks_off NAME CMD...: without hooks, and without events from elsewhere
hooks_off()
{
	UCX_MEM_MMAP_HOOK_MODE=none ucx_run "$1" env \
		LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$PWD/build/selftests/ucx_hooks_off.so" \
		"${@:2}"
}

# moved NAME: memory was at addresses that had been sent before
moved()
{
	grep -q 'moved [1-9]' "$tmp/$1"
}

# allocator LIBRARY: with the library nothing is stale; with hooks off
# something is
allocator()
{
	LD_PRELOAD=$1 ucx_with_library told build/bin/ucx_memory malloc $rounds
	ucx_stale told malloc 0
	moved told
	LD_PRELOAD=$1 hooks_off hooks_off build/bin/ucx_memory malloc $rounds
	ucx_stale hooks_off malloc some
}

window()
{
	LD_PRELOAD=$PWD/build/selftests/ucx_window.so ucx_with_library window \
		build/bin/ucx_memory window $rounds
	ucx_stale window neighbour 0
	ucx_stale window itself 0
	grep -qx "changes in the window: $((2 * rounds))" "$tmp/window"
}

window_hooks()
{
	LD_PRELOAD=$PWD/build/selftests/ucx_window.so ucx_run window_hooks \
		build/bin/ucx_memory window $rounds
	ucx_stale window_hooks neighbour some
	ucx_stale window_hooks itself some
}

asan_build()
{
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=address \
		-Iselftests/programs -o "$tmp/ucx_memory" \
		selftests/programs/ucx_memory.c selftests/programs/ucx_link.c \
		-lucp -lucs -lpthread
}

# ASan's library has to be the first one.
asan()
{
	export ASAN_OPTIONS=quarantine_size_mb=0:detect_leaks=0
	LD_PRELOAD=$(gcc -print-file-name=libasan.so)
	ucx_run asan env LD_PRELOAD="$(realpath "$LD_PRELOAD")${1:+:$1}" \
		MLX5EP_UCX=verbose "$tmp/ucx_memory" malloc $rounds
}

asan_told()
{
	asan "$library"
	grep -q '^mlx5ep-ucx: UCX is told by mlx5_ep$' "$tmp/asan"
	ucx_stale asan malloc 0
	moved asan
}

# The allocator of ASan unmaps by system calls of its own.
asan_hooks()
{
	asan ''
	ucx_stale asan malloc some
}

plan $((${#allocators[@]} + 6))
for allocator in "${allocators[@]}"; do
	check "${allocator%|*}: nothing is stale" allocator "${allocator#*|}"
done
check 'another thread changes memory in the window: nothing is stale' window
check 'hooks do not see that' window_hooks
check 'the program is built with ASan' asan_build
check 'ASan: nothing is stale' asan_told
check 'ASan: hooks are blind' asan_hooks
check 'the HCA has nothing to complain of' hca_clean
for name in told hooks_off window window_hooks asan; do
	grep -h -e stale -e 'exit status' "$tmp/$name" | sed "s/^/# $name: /" || true
done
ktap_finished
