# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # lib.sh sets tmp and ep
#
# What the tests of the configuration at boot share: a node on which the module is
# installed, and how its drivers are loaded. Sourced after lib.sh and modules.sh.

release=$(uname -r)
contexts=40

# installed NAME FOLDER FILE: installs a file of packaging/, as make install does
installed()
{
	mkdir -p "$2"
	sed "s|@BINDIR@|$PWD/build/bin|g" "packaging/$1" >"$2/$3"
}

# a_node: /lib/modules with the drivers and mlx5_ep, and what the packages install
a_node()
{
	local tree=$tmp/root/lib/modules/$release ko

	mkdir -p "$tree/updates"
	for ko in mlx5_ib ib_uverbs ib_umad rdma_ucm; do
		modprobe --show-depends $ko
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u |
		while read -r ko; do
			mkdir -p "$tree/$(dirname "${ko#*/"$release"/}")"
			cp "$ko" "$tree/${ko#*/"$release"/}"
		done
	cp /lib/modules/"$release"/modules.builtin* "$tree/"
	cp "build/modules/$release/mlx5_ep.ko" "$tree/updates/"
	depmod -b "$tmp/root" "$release"
	mount --bind "$tree" "/lib/modules/$release"
	installed mlx5_ep.conf /etc/modprobe.d mlx5_ep.conf
	installed mlx5ep.modprobe /usr/lib/modprobe.d mlx5ep.conf
	installed 90-mlx5ep.rules /usr/lib/udev/rules.d 90-mlx5ep.rules
	modprobe -c | grep '^install mlx5_ep'
	udev_start
	ib_unload
}

udev_start()
{
	# The library finds a device by its name, which would change under it.
	mkdir -p /etc/udev/rules.d
	ln -sf /dev/null /etc/udev/rules.d/60-rdma-persistent-naming.rules
	# It keeps its standard error, whose end the runner waits for.
	/usr/lib/systemd/systemd-udevd --daemon >/dev/null 2>&1
}

# udev_done: waits until udev has nothing left to do
udev_done()
{
	wait_for 60 test ! -e /run/udev/queue
}

as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# boot: loads the drivers. What the first programs got is in $tmp/opens.
boot()
{
	local pid

	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	as_nobody "$(command -v first_opens)" /dev/infiniband/uverbs0 $contexts \
		>"$tmp/opens" &
	pid=$!
	modprobe mlx5_ib
	wait $pid
	udev_done
	cat "$tmp/opens"
	grep . "$ep"/uuar_fallbacks
	dmesg | grep mlx5_ep: | tail -n 3 || :
}
