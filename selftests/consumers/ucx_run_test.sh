#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 300, kernels: 7.2
#
# mlx5ep run starts a program over UCX with libmlx5ep-ucx, and says in one line
# why where it cannot.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export UCX_NET_DEVICES=$dev:1 UCX_TLS=ib UCX_ZCOPY_THRESH=0
tool=$PWD/build/bin/mlx5ep

told()
{
	MLX5EP_UCX=verbose "$tool" run --strict -- build/bin/ucx_cache '' 3 \
		>"$tmp/told" 2>&1
	cat "$tmp/told"
	grep -qx 'mlx5ep-ucx: UCX is told by mlx5_ep' "$tmp/told"
	grep -qx 'munmap, raw system call: stale 0 of 3' "$tmp/told"
}

as_it_is()
{
	local status=0

	[ "$("$tool" run -- printf %s --help)" = --help ]
	"$tool" run sh -c 'exit 7' || status=$?
	[ $status = 7 ]
}

# shellcheck disable=SC2016 # the program expands it
keeps_preload()
{
	LD_PRELOAD=libm.so.6 "$tool" run -- sh -c 'echo "$LD_PRELOAD"' |
		grep -q 'libmlx5ep-ucx.so.0:libm.so.6$'
}

# The loader finds the libraries by a relative path, and a child of the program is in
# another folder: what is preloaded has to be found there too.
from_elsewhere()
{
	local how

	cd build
	for how in '--strict' '--strict --policy stock'; do
		# shellcheck disable=SC2016,SC2086 # sh expands it; two words
		LD_LIBRARY_PATH=lib "$tool" run $how -- \
			sh -c 'cd / && /bin/echo "$LD_PRELOAD"' >"$tmp/said" 2>&1
		cat "$tmp/said"
		[ "$(wc -l <"$tmp/said")" = 1 ]
		grep -q '^/' "$tmp/said"
	done
}

# refuses STATUS TEXT TOOL: says TEXT in one line and starts the program all the
# same; --strict fails with STATUS
refuses()
{
	local status=0

	[ "$("$3" run -- echo started 2>"$tmp/why")" = started ]
	cat "$tmp/why"
	grep -q "$2" "$tmp/why"
	[ "$(wc -l <"$tmp/why")" = 1 ]
	"$3" run --strict -- touch "$tmp/started" || status=$?
	[ "$status" = "$1" ] && [ ! -e "$tmp/started" ]
}

no_module()
{
	mkdir -p "$tmp/root"
	MLX5EP_ROOT=$tmp/root refuses 3 'modprobe mlx5_ep' "$tool"
}

no_library()
{
	mkdir -p "$tmp/bin" "$tmp/lib"
	cp "$tool" "$tmp/bin/"
	cp build/lib/libmlx5ep.so.0 "$tmp/lib/"
	refuses 1 'install the package of libmlx5ep-ucx' "$tmp/bin/mlx5ep"
}

plan 6
check 'UCX of the program is told by notifications' told
check 'arguments and exit status are the program'\''s' as_it_is
check 'what is preloaded already stays' keeps_preload
check 'a library that was found by a relative path is found from elsewhere' from_elsewhere
check 'without the module' no_module
check 'without the library' no_library
ktap_finished
