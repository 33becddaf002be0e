#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, hca: 2, link: eth, function: port, guest: lag, smp: 2, timeout: 240, config: BONDING
#
# A card with two ports, whose netdevs a bond joins. The stock driver takes both RDMA
# devices away and makes one, mlx5_bond_0, on the first function: the module sees two
# departures and an arrival. Without the bond it is the other way round.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

first=mlx5_0 second=mlx5_1 bond=mlx5_bond_0
netdevs=()
class=/sys/class/infiniband

# devices: prints the RDMA devices, on one line
devices()
{
	(cd $class && echo *)
}

# lag: prints the port of each affinity, as the adapter has it
lag()
{
	simhca-ctl dump | jq -c '.hcas[0].lag'
}

settings()
{
	echo independent >$class/$first/mlx5_ep/uuar_policy
	echo 8 >$class/$first/mlx5_ep/uuar_pages
	echo shared-uar >$class/$second/mlx5_ep/uuar_policy
}

joined()
{
	local netdev

	ip link add bond0 type bond mode active-backup miimon 100
	for netdev in "${netdevs[@]}"; do
		ip link set "$netdev" down
		ip link set "$netdev" master bond0
	done
	ip addr add 10.9.1.1/24 dev bond0
	ip link set bond0 up
	becomes 20 $bond devices
	wait_for 10 gid_there $bond
	[ "$(cat $class/$bond/mlx5_ep/attached)" = yes ]
	[ "$(lag)" != null ]
}

# The settings are those of the first function.
same_settings()
{
	[ "$(cat $class/$bond/mlx5_ep/uuar_policy)" = independent ]
	[ "$(cat $class/$bond/mlx5_ep/uuar_pages)" = 8 ]
	simhca-ctl reset >/dev/null
	uuar_traffic -d $bond -q -n 4
	[ "$(hca_pages_rung)" = 4 ]
}

# The first port goes down. The driver tells the adapter to send by the second.
other_port()
{
	local netdev

	# The bond began with the port whose link came first.
	for netdev in "${netdevs[@]}"; do
		becomes 10 up cat "/sys/class/net/$netdev/bonding_slave/mii_status"
	done
	ip link set bond0 type bond active_slave "${netdevs[0]}"
	becomes 10 '[1,1]' lag
	hca_cable 0 down
	becomes 20 '[2,2]' lag
	uuar_traffic -d $bond -q -n 4
	hca_cable 0 up
	hca_cable 1 down
	becomes 20 '[1,1]' lag
	uuar_traffic -d $bond -q -n 4
	hca_cable 1 up
}

passes_selftest()
{
	code 0 mlx5ep selftest $bond
	grep '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
}

# A program has the bond's device open while the bond goes.
parted()
{
	local user netdev

	uuar_traffic -d $bond -q -n 4 -r 1000000 >"$tmp/user" 2>&1 &
	user=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $user 2>/dev/null || :" EXIT
	wait_for 10 sh -c "mlx5ep -j -d $bond show contexts | grep -q uuar_traffic"
	ip link del bond0
	becomes 30 "$first $second" devices
	kill $user 2>/dev/null || :
	wait $user || :
	becomes 5 null lag
	becomes 5 independent cat $class/$first/mlx5_ep/uuar_policy
	becomes 5 shared-uar cat $class/$second/mlx5_ep/uuar_policy
	for netdev in "${netdevs[@]}"; do
		ip link set "$netdev" up
	done
	wait_for 10 gid_there $first || fail 'no GID'
	simhca-ctl reset >/dev/null
	uuar_traffic -d $first -q -n 4
	[ "$(hca_pages_rung)" = 4 ]
	hca_clean
}

modprobe -q bonding || skip_all 'no bonding'
for dev in $first $second; do
	netdevs+=("$(ls "$class/$dev/device/net")")
	wait_for 10 gid_there "$dev" || :
done
plan 6
check 'settings of the two devices' settings
check 'a bond makes one device of two, and the module is attached' joined
check 'it has the settings of the first function' same_settings
check 'traffic goes on by the other port' other_port
check 'mlx5ep selftest passes' passes_selftest
check 'without the bond there are two devices with their settings, under a user' parted
ktap_finished
