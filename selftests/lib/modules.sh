# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Loading and unloading, binding and unbinding, in a guest.

ib_driver=/sys/bus/auxiliary/drivers/mlx5_ib.rdma

# ib_device: the auxiliary device behind the HCA under test
ib_device()
{
	local link

	for link in /sys/bus/auxiliary/devices/mlx5_core.rdma.*; do
		basename "$link"
		return
	done
	return 1
}

# The name is kept: it is the same device that returns.
ib_unbind()
{
	echo "${bound:=$(ib_device)}" >"$ib_driver/unbind"
}

ib_bind()
{
	echo "$bound" >"$ib_driver/bind"
}

# ib_unload: mlx5_ib alone. modprobe -r would take mlx5_core with it, and the
# whole HCA would have to come up again.
ib_unload()
{
	[ ! -d /sys/module/mlx5_ib ] || rmmod mlx5_ib
}

# ep_insmod [PARAMETER...]: load the module that was built for this kernel
# shellcheck disable=SC2120
ep_insmod()
{
	insmod "build/modules/$(uname -r)/mlx5_ep.ko" "$@"
}
