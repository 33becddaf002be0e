# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the tests of libmlx5ep-ucx share. Needs lib.sh.

: "${tmp:?lib.sh comes first}" "${dev:?}" "${slowness:?}"

export UCX_NET_DEVICES=$dev:1 UCX_TLS=ib UCX_ZCOPY_THRESH=0 UCX_RNDV_THRESH=0
export UCX_MEM_LOG_LEVEL=info
# Seconds that one program may take.
ucx_limit=$((100 * slowness))
library=$PWD/build/lib/libmlx5ep-ucx.so.0

# ucx_run NAME CMD...: the output of CMD is in $tmp/NAME
ucx_run()
{
	timeout $ucx_limit "${@:2}" >"$tmp/$1" 2>&1 ||
		echo "exit status $?" >>"$tmp/$1"
	sed "s/^/$1: /" "$tmp/$1"
}

# ucx_with_library NAME CMD...: the same with libmlx5ep-ucx
ucx_with_library()
{
	ucx_run "$1" env MLX5EP_UCX=verbose \
		LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "${@:2}"
	grep -q '^mlx5ep-ucx: UCX is told by mlx5_ep$' "$tmp/$1"
	! grep 'mmap installed events' "$tmp/$1" || fail 'glibc is patched'
}

# ucx_stale NAME CHANGE MANY: so many of the rounds were stale; MANY: 0, or some
ucx_stale()
{
	local line

	line=$(grep "^$2: stale " "$tmp/$1") || fail "$1 has no line '$2'"
	case $3 in
	0) [[ $line =~ stale\ 0($|\ ) ]] ;;
	some) [[ $line =~ stale\ [1-9] ]] ;;
	esac || fail "$1: $line"
}

ucx_changes='munmap()|munmap, raw system call|munmap, raw, by another thread|'
ucx_changes+='mmap MAP_FIXED over it, raw|MADV_DONTNEED, raw system call|'
ucx_changes+='ftruncate by another process|PUNCH_HOLE by another process'
IFS='|' read -ra ucx_changes <<<"$ucx_changes"

# ucx_each NAME MANY [SKIP]: the same for each change, of which the first SKIP are
# left out
ucx_each()
{
	local change

	for change in "${ucx_changes[@]:${3-0}}"; do
		ucx_stale "$1" "$change" "$2"
	done
	ucx_stale "$1" nothing 0
}
