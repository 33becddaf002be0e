#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, mem: 2G, timeout: 600, kernels: 7.2
#
# Debian's UCX, unmodified, with libmlx5ep-ucx: what it sends and receives is the
# memory that the process sees, whatever happened to the memory. With UCX's own
# hooks it is not, unless the change passed a hook. The adapter moves the data.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export UCX_NET_DEVICES=$dev:1 UCX_TLS=ib UCX_ZCOPY_THRESH=0
export UCX_MEM_LOG_LEVEL=info
library=$PWD/build/lib/libmlx5ep-ucx.so.0
limit=/sys/module/mlx5_ep/parameters/notifier_max_watches
rounds=10

# run NAME [ARGUMENT...]: the program's output is in $tmp/NAME
run()
{
	timeout $((100 * slowness)) build/bin/ucx_cache "${@:2}" \
		>"$tmp/$1" 2>&1 || echo "exit status $?" >>"$tmp/$1"
	sed "s/^/$1: /" "$tmp/$1"
}

with_library()
{
	MLX5EP_UCX=verbose LD_PRELOAD=$library run "$@"
}

# stale NAME CHANGE MANY: so many of the rounds were stale; MANY: 0, or some
stale()
{
	local line

	line=$(grep "^$2: stale " "$tmp/$1") || fail "$1 has no line '$2'"
	case $3 in
	0) [[ $line =~ stale\ 0($|\ ) ]] ;;
	some) [[ $line =~ stale\ [1-9] ]] ;;
	esac || fail "$1: $line"
}

changes='munmap()|munmap, raw system call|munmap, raw, by another thread|'
changes+='mmap MAP_FIXED over it, raw|MADV_DONTNEED, raw system call|'
changes+='ftruncate by another process|PUNCH_HOLE by another process'
IFS='|' read -ra changes <<<"$changes"

# each NAME MANY [SKIP]: the same for each change, of which the first SKIP are
# left out
each()
{
	local change

	for change in "${changes[@]:${3-0}}"; do
		stale "$1" "$change" "$2"
	done
	stale "$1" nothing 0
}

hooks()
{
	run hooks '' $rounds
	stale hooks 'munmap()' 0
	each hooks some 1
	grep -q 'mmap installed events' "$tmp/hooks"
}

untold()
{
	UCX_MEM_MMAP_HOOK_MODE=none run untold untold $rounds
	each untold some
}

library()
{
	with_library library '' $rounds
	each library 0
	grep -q '^mlx5ep-ucx: UCX is told by mlx5_ep$' "$tmp/library"
	! grep 'mmap installed events' "$tmp/library" || fail 'glibc is patched'
}

# Each change makes one registration stale, or more.
told()
{
	local told

	told=$(sed -n 's/^mlx5ep-ucx: changed \([0-9]*\) .*/\1/p' "$tmp/library")
	[ "$told" -ge $((${#changes[@]} * (rounds - 1))) ] ||
		fail "told of $told changes"
}

threads()
{
	with_library threads threads $rounds
	stale threads '3 threads' 0
}

threads_untold()
{
	run threads_untold threads $rounds
	stale threads_untold '3 threads' some
}

off()
{
	MLX5EP_UCX=off LD_PRELOAD=$library run off '' 3
	each off some 1
	grep -q 'mmap installed events' "$tmp/off"
}

# Few watches: the registrations that get none are used once.
full()
{
	local was status=0

	was=$(cat $limit)
	echo 2 >$limit
	with_library full '' 5 || status=$?
	echo "$was" >$limit
	[ $status -eq 0 ] && each full 0 &&
		grep -Eq '^mlx5ep-ucx: .* dropped-all [1-9]' "$tmp/full"
}

child()
{
	with_library child child 5
	[ "$(grep -c '^munmap, raw system call: stale 0' "$tmp/child")" = 2 ]
	[ "$(grep -c 'UCX is told by mlx5_ep' "$tmp/child")" = 2 ]
	! grep -e 'stale [1-9]' -e 'exit status' "$tmp/child" || fail 'stale'
}

plan 9
check 'hooks miss what does not pass them' hooks
check 'where nobody tells, all changes are missed' untold
check 'with the library nothing is stale, and glibc is not patched' library
check 'the library told UCX of each change' told
check 'threads that change memory meet nothing stale' threads
check 'threads meet what is stale with hooks' threads_untold
check 'off in the environment leaves the hooks' off
check 'registrations without a watch are not kept' full
check 'a forked child gets a notifier of its own' child
ktap_finished
