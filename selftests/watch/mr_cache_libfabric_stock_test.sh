#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, timeout: 120
#
# A stock libfabric program gets the monitor by preloading, or from libfabric's folder
# of providers: its registrations are watched, its data arrives, and nothing is left
# when it has gone.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export MLX5EP_FI_MONITOR=verbose
preload=$PWD/build/lib/libmlx5ep-fi.so.0
folder=/usr/lib/x86_64-linux-gnu/libfabric

pingpong()
{
	fi_pingpong -p verbs -e dgram -I 20 -S 1024 -c "$@"
}

# traffic VARIABLE=VALUE: of the environment
traffic()
{
	local server

	export "${1?}"
	rm -f "$tmp/server" "$tmp/client"
	pingpong >"$tmp/server" 2>&1 &
	server=$!
	for _ in $(seq 50); do
		! pingpong 127.0.0.1 >"$tmp/client" 2>&1 || break
		sleep 0.2
	done
	wait "$server"
	cat "$tmp/server" "$tmp/client"
	grep -q '^1k ' "$tmp/client"
}

# watched FILE: the monitor was imported and watched registrations
watched()
{
	cat "$1"
	grep -qx 'mlx5ep-fi: imported' "$1"
	grep -Eq '^mlx5ep-fi: subscribed [1-9][0-9]* refused 0 ' "$1"
}

# in_folder: the library is in the folder where this libfabric looks for providers
in_folder()
{
	local status=0

	mkdir -p $folder
	ln -s "$PWD/build/lib/libmlx5ep-fi.so" $folder/
	traffic LD_LIBRARY_PATH="$PWD/build/lib" || status=$?
	rm $folder/libmlx5ep-fi.so
	rmdir --ignore-fail-on-non-empty $folder
	return $status
}

# no_provider: fi_info lists the same providers, and libfabric warns of nothing
no_provider()
{
	MLX5EP_FI_MONITOR='' fi_info -l >"$tmp/before"
	FI_LOG_LEVEL=warn FI_PROVIDER_PATH=$PWD/build/lib fi_info -l \
		>"$tmp/after" 2>"$tmp/warned"
	cat "$tmp/warned"
	grep -qx 'mlx5ep-fi: imported' "$tmp/warned"
	! grep -i -e mlx5ep-fi.so -e dlsym "$tmp/warned" || fail 'a warning'
	diff "$tmp/before" "$tmp/after"
}

contexts_gone()
{
	[ "$(simhca-ctl dump | jq '[.hcas[].qps[] | select(.user)] | length')" = 0 ]
}

plan 12
check 'preloaded: fi_pingpong moves checked data' traffic LD_PRELOAD="$preload"
check 'the registrations of the server are watched' watched "$tmp/server"
check 'the registrations of the client are watched' watched "$tmp/client"
check 'off in the environment leaves it out' bash -c \
	"! MLX5EP_FI_MONITOR=off LD_PRELOAD=$preload fi_info -l 2>&1 | grep mlx5ep-fi"
check 'FI_PROVIDER_PATH: data arrives' traffic FI_PROVIDER_PATH="$PWD/build/lib"
check 'the registrations of the server are watched' watched "$tmp/server"
check 'the registrations of the client are watched' watched "$tmp/client"
check 'it is no provider' no_provider
check 'in the folder of providers: data arrives' in_folder
check 'the registrations of the server are watched' watched "$tmp/server"
check 'the registrations of the client are watched' watched "$tmp/client"
check 'nothing is left' contexts_gone
ktap_finished
