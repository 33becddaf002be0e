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

# ends_up: 192.0.2.1 and 2001:db8::1 are the first netdev, ...2 the second
ends_up()
{
	ip netns add a
	ip netns add b
	ip link set "$a" netns a
	ip link set "$b" netns b
	in_a ip link set lo up
	in_b ip link set lo up
	in_a ip addr add 192.0.2.1/24 dev "$a"
	in_b ip addr add 192.0.2.2/24 dev "$b"
	in_a ip -6 addr add 2001:db8::1/64 dev "$a" nodad
	in_b ip -6 addr add 2001:db8::2/64 dev "$b" nodad
	in_a ip link set "$a" up
	in_b ip link set "$b" up
	becomes 20 1 in_a cat /sys/class/net/"$a"/carrier
	becomes 20 1 in_b cat /sys/class/net/"$b"/carrier
}
