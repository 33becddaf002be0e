#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600
#
# A node that does not come up can be booted without the module, by a word on the command
# line of the kernel: module_blacklist=mlx5_ep keeps it out, and mlx5_ep.attach=0 loads it
# and attaches to nothing. modprobe.blacklist=mlx5_ep does neither, because a softdep
# passes over it. In each case modprobe loads mlx5_ib, and the device works.
#
# A restart of the whole stack, as openibd of OFED makes it, unloads one driver after the
# other and does not know mlx5_ep. It stops at mlx5_core, and where mlx5_ep goes after
# mlx5_ib it comes to its end; mlx5_ep is back with mlx5_ib.
#
# With the name of a guest this script is what runs there. The module is installed as the
# packages do it, and mlx5_ib is loaded again.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# small_tree: modprobe finds few modules, as depmod of all takes long in a guest
small_tree()
{
	local release tree

	release=$(uname -r)
	tree=$tmp/root/lib/modules/$release
	mkdir -p "$tree/updates"
	modprobe -a --show-depends mlx5_ib ib_uverbs |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u | xargs cp -t "$tree/"
	cp "/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} "$tree/"
	cp "build/modules/$release/mlx5_ep.ko" "$tree/updates/"
	depmod -b "$tmp/root" "$release"
	mount --bind "$tree" "/lib/modules/$release"
}

# node: the module is installed, and mlx5_ib is loaded again
node()
{
	small_tree
	mkdir -p /etc/modprobe.d /usr/lib/modprobe.d
	cp packaging/mlx5_ep.conf /etc/modprobe.d/
	sed 's|@BINDIR@|/nowhere|g' packaging/mlx5ep.modprobe \
		>/usr/lib/modprobe.d/mlx5ep.conf
	rmmod mlx5_ib
	modprobe mlx5_ib
	[ -d /sys/module/mlx5_ib ]
	uuar_traffic -q -n 2 -r 1
}

guest_blacklist()
{
	node
	[ ! -d /sys/module/mlx5_ep ]
	dmesg | grep 'mlx5_ep: not loaded: devices are stock; mlx5ep doctor says why$'
}

guest_attach()
{
	node
	[ "$(cat /sys/module/mlx5_ep/parameters/attach)" = N ]
	grep "^not attached: " "$ep/attached"
}

guest_modprobe()
{
	node
	[ "$(cat "$ep/attached")" = yes ]
}

# traffic: the device is there and works
traffic()
{
	wait_for 30 [ -e "$ep/attached" ]
	[ "$(cat "$ep/attached")" = yes ]
	uuar_traffic -q -n 2 -r 1
}

guest_restart()
{
	local users

	node
	rmmod rdma_ucm 2>/dev/null || true
	rmmod mlx5_ib
	users=$(must_fail rmmod mlx5_core 2>&1)
	grep 'mlx5_core is in use by: mlx5_ep$' <<<"$users"
	modprobe mlx5_ib
	traffic
	rmmod mlx5_ib
	rmmod mlx5_ep
	rmmod mlx5_core
	modprobe mlx5_core
	modprobe mlx5_ib
	traffic
}

case ${1-} in
guest_*)
	"$1"
	exit ;;
esac

# booted WORD GUEST: the guest is as it should be with this word
booted()
{
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --no-module --append "$1" -- \
		"$0" "$2"
}

lab/build-module "${MLX5_EP_KERNEL:-7.2}" >/dev/null
plan 4
check 'module_blacklist=mlx5_ep keeps the module out' \
	booted module_blacklist=mlx5_ep guest_blacklist
check 'mlx5_ep.attach=0 loads it, and it attaches to nothing' \
	booted mlx5_ep.attach=0 guest_attach
check 'modprobe.blacklist=mlx5_ep does not keep it out' \
	booted modprobe.blacklist=mlx5_ep guest_modprobe
check 'a restart of the stack stops at mlx5_ep, unless that goes first' \
	booted quiet guest_restart
ktap_finished
