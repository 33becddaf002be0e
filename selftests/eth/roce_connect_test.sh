#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: roce-connect, link: eth, timeout: 240
#
# endpoints_connect_test over an Ethernet port: the library takes a RoCE v2 GID and
# sends with a GRH.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

dev=$(basename /sys/class/infiniband/mlx5_0/device/net/*)
port=/sys/class/infiniband/mlx5_0/ports/1

# used: prints the RoCE v2 entries of the GID table that are in use
used()
{
	grep -l 'RoCE v2' "$port"/gid_attrs/types/* 2>/dev/null | wc -l
}

connects()
{
	build/selftests/endpoints_connect_test
}

ip link set "$dev" up
ip addr add 192.0.2.1/24 dev "$dev"
becomes 20 '4: ACTIVE' cat "$port/state"
for ((i = 0; i < 20; i++)); do
	[ "$(used)" -ge 2 ] && break
	sleep 1
done

plan 2
check 'QPs of endpoints and of the program are connected' connects
check 'the HCA has nothing to complain of' hca_clean
ip addr del 192.0.2.1/24 dev "$dev"
ip link set "$dev" down
ktap_finished
