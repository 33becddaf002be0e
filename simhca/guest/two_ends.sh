# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Two HCAs with Ethernet ports, each netdev in a network namespace of its own, so
# that nothing takes a short way. Sourced after selftests/lib/lib.sh.

a=$(basename /sys/class/infiniband/mlx5_0/device/net/*)
b=$(basename /sys/class/infiniband/mlx5_1/device/net/*)

# in_a CMD..., in_b CMD...: in the namespace of the first, the second netdev
in_a()
{
	ip netns exec a "$@"
}

in_b()
{
	ip netns exec b "$@"
}

# counter NAMESPACE NETDEV NAME: prints a counter of ethtool -S
counter()
{
	ip netns exec "$1" ethtool -S "$2" | awk -v n="$3:" '$1 == n { print $2 }'
}

# end_up NAMESPACE NETDEV N: the netdev goes there, and has 192.0.2.N and 2001:db8::N
end_up()
{
	ip link set "$2" netns "$1"
	ip -n "$1" addr add "192.0.2.$3/24" dev "$2"
	ip -n "$1" -6 addr add "2001:db8::$3/64" dev "$2" nodad
	ip -n "$1" link set "$2" up
	becomes 20 1 ip netns exec "$1" cat "/sys/class/net/$2/carrier"
}

# moved ADDRESS BYTES: TCP carries so many bytes each way to and from this address of b.
# Both ends compare them, and TCP refuses what arrives with a wrong checksum.
# shellcheck disable=SC2154 # lib.sh sets slowness
moved()
{
	local peer status=0

	in_b timeout $((120 * slowness)) simhca/guest/transfer.py \
		listen "$1" 5001 "$2" &
	peer=$!
	in_a timeout $((120 * slowness)) simhca/guest/transfer.py \
		connect "$1" 5001 "$2" || status=$?
	wait $peer || status=$?
	return $status
}

ends_up()
{
	ip netns add a
	ip netns add b
	in_a ip link set lo up
	in_b ip link set lo up
	end_up a "$a" 1
	end_up b "$b" 2
}
