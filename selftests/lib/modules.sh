# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions that load and unload modules, and bind and unbind devices, in a
# guest.

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

# The name is kept, because the device that returns is the same.
ib_unbind()
{
	echo "${bound:=$(ib_device)}" >"$ib_driver/unbind"
}

ib_bind()
{
	echo "$bound" >"$ib_driver/bind"
}

# ib_unload: unloads mlx5_ib and nothing else. modprobe -r would unload
# mlx5_core too, and the HCA would have to start again.
ib_unload()
{
	[ ! -d /sys/module/mlx5_ib ] || rmmod mlx5_ib
}

# named_in_order: are the RDMA devices named in the order of their paths in sysfs?
named_in_order()
{
	local dev

	for dev in /sys/class/infiniband/mlx5_*; do
		echo "${dev##*_} $(readlink -f "$dev/device")"
	done | sort -n | cut -d ' ' -f 2 | sort -C
}

# put_in_order: names the RDMA devices of a guest as after its boot, in that order.
# A function that was away is the last that mlx5_ib finds whenever it is loaded, so all
# functions go and come back.
put_in_order()
{
	local driver=/sys/bus/pci/drivers/mlx5_core pci
	local -a functions

	! named_in_order || return 0
	functions=("$driver"/0000:*)
	for pci in "${functions[@]##*/}"; do
		echo "$pci" >$driver/unbind
	done
	for pci in "${functions[@]##*/}"; do
		echo "$pci" >$driver/bind
	done
	named_in_order
}

# attached: is the module attached to the HCA under test?
# shellcheck disable=SC2154 # lib.sh sets ep
attached()
{
	[ "$(cat "$ep/attached" 2>/dev/null)" = yes ]
}

# made_again INODE: is the module attached to another device than the one whose folder of
# attributes had this inode?
made_again()
{
	local is

	is=$(stat -L -c %i "$ep" 2>/dev/null) && [ "$is" != "$1" ] && attached
}

# ep_insmod [PARAMETER...]: load the module that was built for this kernel
# shellcheck disable=SC2120
ep_insmod()
{
	insmod "build/modules/$(uname -r)/mlx5_ep.ko" "$@"
}

# fail_folders COUNT CMD...: the next folders that CMD makes in sysfs fail
fail_folders()
{
	local status=0

	insmod "build/modules/$(uname -r)/folder_failer.ko" count="$1"
	"${@:2}" || status=$?
	rmmod folder_failer
	return $status
}
