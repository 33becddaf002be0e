# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the tests on soft-RoCE share. Needs lib.sh and modules.sh.

export MLX5_EP_DEVICE=rxe0

# rxe_up: makes rxe0 on one of a pair of veths, and waits until it has an address
rxe_up()
{
	local tries

	modprobe -a veth rdma_rxe ib_uverbs || return
	ip link add v0 type veth peer name v1 || return
	ip addr add 10.9.0.1/24 dev v0
	# A GID is no address to connect to before the kernel knows that no other node has it.
	echo 0 >/proc/sys/net/ipv6/conf/v0/accept_dad
	ip link set v0 up
	ip link set v1 up
	rdma link add rxe0 type rxe netdev v0 || return
	for ((tries = 0; tries < 300; tries++)); do
		! grep -qs ffff /sys/class/infiniband/rxe0/ports/1/gids/1 || return 0
		sleep 0.1
	done
	echo 'rxe0 has no IPv4 GID' >&2
	return 1
}

# rxe_down: the guest is as it was before rxe_up
rxe_down()
{
	rdma link delete rxe0 || fail 'rxe0 stays'
	ip link delete v0
}

# module_alone: loads the module where there is no mlx5_core
module_alone()
{
	modprobe -a ib_uverbs || return
	ep_insmod
}

# rxe_begins: rxe0, and the module without mlx5_core
rxe_begins()
{
	rxe_up
	module_alone
	[ ! -d /sys/module/mlx5_core ] || fail 'mlx5_core is loaded'
}

# rxe_ends: undoes rxe_begins
rxe_ends()
{
	rxe_down
	rmmod mlx5_ep
}
