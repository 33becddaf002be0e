#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 480
#
# mlx5ep attach knows SMC-R, which has queue pairs and no connection that rdma_cm knows:
# it refuses while a link is there, and what two guests send each other goes on.
#
# With the argument "node" this script is what runs in each guest.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/guests.sh
. lab/guests.sh

# address: this guest's port is up and has its address
address()
{
	local at

	wait_for 20 guest_netdev >/dev/null
	at=$(guest_netdev)
	ip addr add "10.45.0.$((MLX5_EP_GUEST + 1))/24" dev "$at"
	ip link set "$at" up
	wait_for 20 gid_there
}

# asks: sends to the other guest, sees the tool refuse meanwhile, and sends on
asks()
{
	local asker

	code 0 mlx5ep -j attach --users mlx5_0
	jq -e '.users == []' "$tmp/out"
	selftests/attach/smc.py ask 10.45.0.2 "$tmp" &
	asker=$!
	wait_for 60 [ -e "$tmp/first" ]
	ss -tna
	code 1 mlx5ep attach mlx5_0
	grep -x '  kernel module smc (SMC-R): pd [1-9]* cm_id 0' "$tmp/out"
	grep 'they would lose the device' "$tmp/err"
	grep '^policies, limits; ' /sys/class/infiniband/mlx5_0/mlx5_ep/attached
	rm "$tmp/first"
	wait_for 20 [ -e "$tmp/first" ]
	touch "$tmp/end"
	wait $asker
	[ -e "$tmp/all" ]
}

node()
{
	modprobe smc
	address
	if [ "$MLX5_EP_GUEST" = 1 ]; then
		selftests/attach/smc.py serve 10.45.0.2
		return
	fi
	insmod "build/modules/$(uname -r)/mlx5_ep.ko"
	asks
}

refuses()
{
	lab/vm --kernel $kernel --hca 2 --guests 2 --link eth --no-module \
		--timeout 450 -- "$0" node
}

if [ "${1:-}" = node ]; then
	node
	exit
fi
kernel=6.12	# Debian's 7.2 and 7.3 have no SMC
lab/build-module $kernel >/dev/null
plan 1
check 'SMC-R between two guests is named, and goes on' refuses
ktap_finished
