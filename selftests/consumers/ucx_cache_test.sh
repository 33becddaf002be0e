#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 600, kernels: 7.2
#
# Debian's UCX, unmodified, with libmlx5ep-ucx: what it sends and receives is the
# memory that the process sees, whatever happened to the memory. With UCX's own
# hooks it is not, unless the change passed a hook. The adapter moves the data.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

limit=/sys/module/mlx5_ep/parameters/notifier_max_watches
rounds=10

hooks()
{
	ucx_run hooks build/bin/ucx_cache '' $rounds
	ucx_stale hooks 'munmap()' 0
	ucx_each hooks some 1
	grep -q 'mmap installed events' "$tmp/hooks"
}

hooks_off()
{
	UCX_MEM_MMAP_HOOK_MODE=none ucx_run hooks_off \
		build/bin/ucx_cache hooks-off $rounds
	ucx_each hooks_off some
}

library()
{
	ucx_with_library library build/bin/ucx_cache '' $rounds
	ucx_each library 0
}

# Each change makes one registration stale, or more.
told()
{
	local told

	told=$(sed -n 's/^mlx5ep-ucx: changed \([0-9]*\) .*/\1/p' "$tmp/library")
	[ "$told" -ge $((${#ucx_changes[@]} * (rounds - 1))) ] ||
		fail "told of $told changes"
}

threads()
{
	ucx_with_library threads build/bin/ucx_cache threads $rounds
	ucx_stale threads '3 threads' 0
}

threads_hooks()
{
	ucx_run threads_hooks build/bin/ucx_cache threads $rounds
	ucx_stale threads_hooks '3 threads' some
}

off()
{
	MLX5EP_UCX=off LD_PRELOAD=$library ucx_run off build/bin/ucx_cache '' 3
	ucx_each off some 1
	grep -q 'mmap installed events' "$tmp/off"
}

# Another thread tells an older UCX beneath its lookups, so it keeps its hooks.
old()
{
	MLX5EP_UCX=verbose LD_PRELOAD=$library:$PWD/build/selftests/ucx_old.so \
		ucx_run old build/bin/ucx_cache '' 3
	ucx_each old some 1
	grep -q '^mlx5ep-ucx: UCX is older than 1.17: its hooks stay$' "$tmp/old"
	grep -q 'mmap installed events' "$tmp/old"
}

# Few watches: the registrations that get none are used once.
full()
{
	local was status=0

	was=$(cat $limit)
	echo 2 >$limit
	ucx_with_library full build/bin/ucx_cache '' 5 || status=$?
	echo "$was" >$limit
	[ $status -eq 0 ] && ucx_each full 0 &&
		grep -Eq '^mlx5ep-ucx: .* dropped-all [1-9]' "$tmp/full"
}

child()
{
	ucx_with_library child build/bin/ucx_cache child 5
	[ "$(grep -c '^munmap, raw system call: stale 0' "$tmp/child")" = 2 ]
	[ "$(grep -c 'UCX is told by mlx5_ep' "$tmp/child")" = 2 ]
	! grep -e 'stale [1-9]' -e 'exit status' "$tmp/child" || fail 'stale'
}

plan 10
check 'hooks miss what does not pass them' hooks
check 'with hooks off all changes are missed' hooks_off
check 'with the library nothing is stale, and glibc is not patched' library
check 'the library told UCX of each change' told
check 'threads that change memory meet nothing stale' threads
check 'threads meet what is stale with hooks' threads_hooks
check 'off in the environment leaves the hooks' off
check 'an older UCX keeps its hooks' old
check 'registrations without a watch are not kept' full
check 'a forked child gets a notifier of its own' child
ktap_finished
