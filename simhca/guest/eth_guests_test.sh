#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 600
#
# Two guests, each with an HCA, whose Ethernet ports are on one cable: stock drivers
# exchange frames (IPv4, IPv6, VLAN, jumbo) and messages of RoCE v2 that librdmacm
# connects. Whatever arrives is compared.
#
# With the argument "node" this script is what runs in each guest: 0 serves, 1 is the
# client. Both print a line for each step that was right.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

bytes=$((1 << 20))
steps=(ping jumbo ipv4 ipv6 vlan rping send_bw write_bw)

# address PREFIX, peer PREFIX: the last digit is 1 in guest 0, and 2 in guest 1
address()
{
	echo "$1$((MLX5_EP_GUEST + 1))"
}

peer()
{
	echo "$1$((2 - MLX5_EP_GUEST))"
}

# again CMD...: until it succeeds, since the server may not listen yet
again()
{
	local i

	for ((i = 0; i < 60; i++)); do
		! timeout $((60 * slowness)) "$@" || return 0
		sleep 1
	done
	return 1
}

# moves PREFIX PORT: data by TCP in both directions at once
moves()
{
	if [ "$MLX5_EP_GUEST" = 0 ]; then
		timeout $((120 * slowness)) python3 simhca/guest/transfer.py \
			listen "$(address "$1")" "$2" $bytes
	else
		again python3 simhca/guest/transfer.py connect \
			"$(peer "$1")" "$2" $bytes
	fi
}

# serves SERVER-CMD -- CLIENT-CMD
serves()
{
	local -a server=()

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	if [ "$MLX5_EP_GUEST" = 0 ]; then
		timeout $((120 * slowness)) "${server[@]}"
	else
		again "$@"
	fi
}

step_ping()
{
	again ping -c 3 -W 2 "$(peer 10.45.0.)"
	again ping -c 3 -W 2 "$(peer 2001:db8::)"
}

# A frame of 9000 bytes must pass whole; one of 9001 must not be sent.
step_jumbo()
{
	ip link set "$netdev" mtu 9000
	again ping -c 3 -W 2 -M 'do' -s 8972 "$(peer 10.45.0.)"
	! ping -c 1 -W 2 -M 'do' -s 8973 "$(peer 10.45.0.)"
}

step_ipv4()
{
	moves 10.45.0. 7001
}

step_ipv6()
{
	moves 2001:db8:: 7002
}

step_vlan()
{
	moves 10.46.0. 7003
}

step_rping()
{
	serves rping -s -C 10 -V -a "$(address 10.45.0.)" -- \
		rping -c -C 10 -V -a "$(peer 10.45.0.)"
}

step_send_bw()
{
	serves ib_send_bw -R -F -n 100 -s 4096 -- \
		ib_send_bw -R -F -n 100 -s 4096 "$(peer 10.45.0.)"
}

step_write_bw()
{
	serves ib_write_bw -R -F -n 100 -s 65536 -p 18600 -- \
		ib_write_bw -R -F -n 100 -s 65536 -p 18600 "$(peer 10.46.0.)"
}

node()
{
	local step

	modprobe rdma_ucm
	netdev=$(basename "$(echo /sys/class/infiniband/mlx5_0/device/net/*)")
	ip addr add "$(address 10.45.0.)/24" dev "$netdev"
	ip -6 addr add "$(address 2001:db8::)/64" dev "$netdev" nodad
	ip link set "$netdev" up
	ip link add link "$netdev" name vlan7 type vlan id 7
	ip addr add "$(address 10.46.0.)/24" dev vlan7
	ip link set vlan7 up
	for step in "${steps[@]}"; do
		"step_$step"
		echo "node $MLX5_EP_GUEST: $step is right"
	done
	hca_clean '' "$MLX5_EP_GUEST"
}

two_guests()
{
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --hca 2 --guests 2 \
		--link eth --no-module --timeout 570 -- "$0" node \
		>"$tmp/nodes" 2>&1 || {
		tail -n 40 "$tmp/nodes"
		fail 'a guest failed'
	}
}

# both STEP: it was right in both guests
both()
{
	[ "$(grep -c "node [01]: $1 is right" "$tmp/nodes")" = 2 ] ||
		fail "$(tail -n 20 "$tmp/nodes")"
}

if [ "${1-}" = node ]; then
	node
	exit
fi
plan $((1 + ${#steps[@]}))
check 'two guests run to their end' two_guests
for step in "${steps[@]}"; do
	check "$step" both "$step"
done
ktap_finished
