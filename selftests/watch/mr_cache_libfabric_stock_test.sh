#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, timeout: 120
#
# A stock libfabric program gets the monitor by preloading: its registrations are
# watched, its data arrives, and nothing is left when it has gone.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export MLX5EP_FI_MONITOR=verbose
preload=$PWD/build/lib/libmlx5ep-fi.so.0

pingpong()
{
	LD_PRELOAD=$preload fi_pingpong -p verbs -e dgram -I 20 -S 1024 -c "$@"
}

traffic()
{
	local server

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

contexts_gone()
{
	[ "$(simhca-ctl dump | jq '[.hcas[].qps[] | select(.user)] | length')" = 0 ]
}

plan 5
check 'fi_pingpong moves checked data' traffic
check 'the registrations of the server are watched' watched "$tmp/server"
check 'the registrations of the client are watched' watched "$tmp/client"
check 'off in the environment leaves it out' bash -c \
	"! MLX5EP_FI_MONITOR=off LD_PRELOAD=$preload fi_info -l 2>&1 | grep mlx5ep-fi"
check 'nothing is left' contexts_gone
ktap_finished
