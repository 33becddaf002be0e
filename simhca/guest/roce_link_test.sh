#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, hca: 2, link: eth, module: no, timeout: 240
#
# Two HCAs with Ethernet ports under stock drivers: the netdev comes up, GIDs
# follow its addresses, and RC moves data between the two over RoCE v1 and v2.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# netdev HCA: prints the name of its network device
netdev()
{
	basename /sys/class/infiniband/"$1"/device/net/*
}

is_up()
{
	local hca

	for hca in mlx5_0 mlx5_1; do
		ip link set "$(netdev $hca)" up
	done
	for hca in mlx5_0 mlx5_1; do
		becomes 20 '4: ACTIVE' cat /sys/class/infiniband/$hca/ports/1/state
		[ "$(cat /sys/class/net/"$(netdev $hca)"/carrier)" = 1 ]
		[ "$(cat /sys/class/infiniband/$hca/ports/1/link_layer)" = Ethernet ]
		ethtool "$(netdev $hca)" | grep -q 'Speed: 100000Mb/s'
	done
}

# gids HCA: prints how many entries of the GID table are in use
gids()
{
	cat /sys/class/infiniband/"$1"/ports/1/gids/* |
		grep -vc '^0000:0000:0000:0000:0000:0000:0000:0000$'
}

# Each address has one entry for RoCE v1 and one for RoCE v2.
gids_follow()
{
	local before dev0

	dev0=$(netdev mlx5_0)
	before=$(gids mlx5_0)
	ip addr add 192.0.2.1/24 dev "$dev0"
	becomes 10 $((before + 2)) gids mlx5_0
	ip addr del 192.0.2.1/24 dev "$dev0"
	becomes 10 "$before" gids mlx5_0
}

# RoCE v2 asks the network stack for the peer's MAC address. Both netdevs are in
# one namespace here, so the test adds the neighbours itself; eth_rdma_test has two
# namespaces, where frames bring the answer.
neighbours()
{
	local from to dev peer

	for from in mlx5_0:mlx5_1 mlx5_1:mlx5_0; do
		to=${from#*:}
		dev=$(netdev "${from%:*}")
		peer=$(ip -6 -o addr show dev "$(netdev "$to")" scope link |
			awk '{ print $4 }')
		ip -6 neigh replace "${peer%/*}" dev "$dev" nud permanent \
			lladdr "$(cat /sys/class/net/"$(netdev "$to")"/address)"
	done
}

listens()
{
	ss -Hltn "sport = :$1" | grep -q .
}

# pingpong PROGRAM INDEX: runs it between the HCAs, with the GIDs of that index
pingpong()
{
	local server status=0

	ip link set lo up
	"$1" -d mlx5_1 -g "$2" -n 200 -c >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 listens 18515
	"$1" -d mlx5_0 -g "$2" -n 200 -c 127.0.0.1 || status=$?
	wait $server || status=$?
	cat "$tmp/server"
	return $status
}

mtu()
{
	local dev0

	dev0=$(netdev mlx5_0)
	ip link set "$dev0" mtu 9000
	[ "$(cat /sys/class/net/"$dev0"/mtu)" = 9000 ]
	ip link set "$dev0" mtu 1500
}

goes_down()
{
	local dev0

	dev0=$(netdev mlx5_0)
	ip link set "$dev0" down
	becomes 20 '1: DOWN' cat /sys/class/infiniband/mlx5_0/ports/1/state
	ip link set "$dev0" up
	becomes 20 '4: ACTIVE' cat /sys/class/infiniband/mlx5_0/ports/1/state
}

# The driver's debugfs has the parameters of congestion control, and no counter moves.
congestion()
{
	local folder

	folder=/sys/kernel/debug/mlx5/$(basename "$(readlink -f \
		/sys/class/infiniband/mlx5_0/device)")/cc_params
	[ "$(cat "$folder/rp_gd")" = 11 ]
	echo 10 >"$folder/rp_gd"
	echo 3 >"$folder/np_cnp_prio"
	[ "$(cat "$folder/rp_gd")" = 10 ]
	[ "$(cat "$folder/np_cnp_prio")" = 3 ]
	[ "$(cat "$folder/np_cnp_dscp")" = 48 ]
	if echo 12 >"$folder/rp_gd"; then
		fail '12 is beyond the range of rp_gd'
	fi
	[ "$(cat "$folder/rp_gd")" = 10 ]
	[ "$(cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent)" = 0 ]
}

plan 9
check 'netdev and RoCE port come up' is_up
check 'GIDs come and go with addresses' gids_follow
check 'RC over RoCE v1' pingpong ibv_rc_pingpong 0
neighbours
check 'RC over RoCE v2' pingpong ibv_rc_pingpong 1
check 'UC over RoCE v2' pingpong ibv_uc_pingpong 1
check 'jumbo frames can be set' mtu
check 'the port goes down with the netdev and up again' goes_down
check 'parameters of congestion control are kept' congestion
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
