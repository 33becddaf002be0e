# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What each guest of a job over two guests does first.

# guest_netdev: prints the network interface of the HCA; over InfiniBand it is there
# when ib_ipoib is loaded
guest_netdev()
{
	local name

	for name in /sys/class/infiniband/mlx5_0/device/net/*; do
		[ -e "$name" ] && basename "$name" && return
	done
	return 1
}

# guest_network: gives this guest the address 10.46.0.1, or .2, and so on, so that the
# processes of a job meet at a port of 10.46.0.1
guest_network()
{
	local dev

	modprobe ib_ipoib
	until dev=$(guest_netdev); do
		sleep 0.1
	done
	ip addr add "10.46.0.$((MLX5_EP_GUEST + 1))/24" dev "$dev"
	ip link set "$dev" up
}
