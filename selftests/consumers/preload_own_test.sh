#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 60
#
# A program that brings an rdma-core, a libfabric or a UCX of its own, as one of Spack or
# conda does, starts under each library that programs preload, and gets its own. A program
# that uses none of them loads none, and its signals are as without: libucs' constructor
# takes SIGHUP (findings/ucx-links-and-hangup-is-caught.sh), so no preload is linked to it.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

preloads=(libmlx5ep-ucx.so.0 libmlx5ep-fi.so.0 mlx5ep/policy.so)
own=(libibverbs.so.1:IBVERBS_9.9 libmlx5.so.1:MLX5_9.9 libfabric.so.1:FABRIC_9.9
	libucp.so.0: libucs.so.0: libucm.so.0:)

# compile: libraries with the names of those, of a version that is newer than any, with a
# function each, and a program that needs all, and is told where they are by RUNPATH
compile()
{
	local lib name version libs=()

	for lib in "${own[@]}"; do
		name=${lib%%:*} version=${lib#*:}
		name=${name#lib} name=${name%.so*}
		echo "int own_$name(void) { return 1; }" >"$tmp/$name.c"
		echo "${version:-OWN_9.9} { global: own_$name; local: *; };" >"$tmp/$name.map"
		gcc -shared -fPIC -Wl,-soname,"${lib%%:*}" \
			-Wl,--version-script="$tmp/$name.map" \
			-o "$tmp/${lib%%:*}" "$tmp/$name.c"
		libs+=("$tmp/${lib%%:*}")
	done
	cat >"$tmp/main.c" <<-'END'
		#include <stdio.h>

		int own_ibverbs(void), own_mlx5(void), own_fabric(void);
		int own_ucp(void), own_ucs(void), own_ucm(void);

		int main(void)
		{
			printf("own %d\n", own_ibverbs() + own_mlx5() + own_fabric() +
			       own_ucp() + own_ucs() + own_ucm());
			return 0;
		}
	END
	gcc -o "$tmp/main" "$tmp/main.c" "${libs[@]}" -Wl,-rpath,"$tmp" \
		-Wl,--enable-new-dtags
	prints 'own 6' "$tmp/main"
}

# starts LIBRARY [VARIABLE=VALUE]
starts()
{
	env "${@:2}" LD_PRELOAD="$PWD/build/lib/$1" "$tmp/main" >"$tmp/said" 2>&1 || true
	cat "$tmp/said"
	[ "$(cat "$tmp/said")" = 'own 6' ]
}

# alone LIBRARY: what a program that uses nothing has loaded. Nor is the file of a library
# looked for, which dlopen() does to say that the library is not loaded.
alone()
{
	LD_DEBUG=libs LD_PRELOAD=$PWD/build/lib/$1 cat /dev/null 2>"$tmp/said"
	grep 'find library=libc' "$tmp/said" >/dev/null
	! grep 'find library=' "$tmp/said" | grep -v 'library=libc\.so' ||
		fail 'it has looked for these'
	LD_PRELOAD=$PWD/build/lib/$1 cat /proc/self/maps >"$tmp/maps" 2>"$tmp/said"
	[ ! -s "$tmp/said" ] || fail "$(cat "$tmp/said")"
	grep "$1" "$tmp/maps" >/dev/null
	! grep -E 'libibverbs|libmlx5\.|libmlx5ep\.|libfabric|libuc[msp]' "$tmp/maps" ||
		fail 'it has loaded these'
}

# signals FILE: does a program that preloads it handle the signals that it handles without,
# and end at SIGHUP?
signals()
{
	local without with status=0

	without=$(grep -E '^Sig(Ign|Cgt)' /proc/self/status)
	with=$(LD_PRELOAD=$1 grep -E '^Sig(Ign|Cgt)' /proc/self/status)
	# shellcheck disable=SC2016 # for the shell that is started
	LD_PRELOAD=$1 sh -c 'kill -HUP $$' || status=$?
	[ "$without" = "$with" ] && [ $status = 129 ]
}

# caught: they are not, with a library that is linked to libucs, and this is seen
caught()
{
	gcc -shared -fPIC -o "$tmp/linked.so" -x c /dev/null -Wl,--no-as-needed -lucs
	! signals "$tmp/linked.so"
}

plan $((4 * ${#preloads[@]} + 2))
check 'a preload that is linked to libucs changes the signals of a program' caught
check 'libraries of its own, and a program with them' compile
for preload in "${preloads[@]}"; do
	check "$preload: the program starts with its own" starts "$preload"
	check "$preload: also where it is switched off" starts "$preload" \
		MLX5EP_UCX=off MLX5EP_FI_MONITOR=off
	check "$preload: a program without them loads and looks for none" alone "$preload"
	check "$preload: a program's signals are as without" signals "$PWD/build/lib/$preload"
done
ktap_finished
