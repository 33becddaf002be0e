# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the tests on drivers without an adapter share. $soft says which: rxe (soft-RoCE) or
# siw (soft-iWARP, whose module is loaded already). Needs lib.sh and modules.sh.

soft=${soft:-rxe}
export MLX5_EP_DEVICE=${soft}0

# soft_up: makes the device on one of a pair of veths, and waits until it has an address
soft_up()
{
	local tries

	modprobe -a veth ib_uverbs rdma_ucm || return
	[ "$soft" != rxe ] || modprobe rdma_rxe || return
	ip link add v0 type veth peer name v1 || return
	ip addr add 10.9.0.1/24 dev v0
	# A GID is no address to connect to before the kernel knows that no other node has it.
	echo 0 >/proc/sys/net/ipv6/conf/v0/accept_dad
	ip link set v0 up
	ip link set v1 up
	rdma link add "$MLX5_EP_DEVICE" type "$soft" netdev v0 || return
	for ((tries = 0; tries < 300; tries++)); do
		! soft_is_up || return 0
		sleep 0.1
	done
	echo "$MLX5_EP_DEVICE has no address" >&2
	return 1
}

# soft_is_up: RoCE connects by a GID of the IPv4 address, iWARP by the port's own one
soft_is_up()
{
	local port=/sys/class/infiniband/$MLX5_EP_DEVICE/ports/1

	case $soft in
	rxe) grep -qs ffff "$port/gids/1" ;;
	siw) grep -q ACTIVE "$port/state" ;;
	esac
}

# soft_down: the guest is as it was before soft_up
soft_down()
{
	rdma link delete "$MLX5_EP_DEVICE" || fail "$MLX5_EP_DEVICE stays"
	ip link delete v0
}

# module_alone: loads the module where there is no mlx5_core
module_alone()
{
	modprobe -a ib_uverbs || return
	ep_insmod
}

# soft_begins: the device, and the module without mlx5_core
soft_begins()
{
	soft_up
	module_alone
	[ ! -d /sys/module/mlx5_core ] || fail 'mlx5_core is loaded'
}

# soft_ends: undoes soft_begins
soft_ends()
{
	soft_down
	rmmod mlx5_ep
}
