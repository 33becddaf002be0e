#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: reload, timeout: 180
#
# mlx5ep selftest --reload unloads the module and loads it again, and everything is
# set as before. Where that cannot be, it says why and touches nothing.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

modules=/lib/modules/$(uname -r)
group=/sys/fs/cgroup/selftest_reload
parameters=/sys/module/mlx5_ep/parameters

# A module that was loaded anew has another folder in sysfs.
loaded()
{
	stat -c %i /sys/module/mlx5_ep
}

# says RESULT DETAIL: what the report says of the module's unloading
says()
{
	jq -e --arg result "$1" --arg detail "$2" 'any(.results[];
		.group == "module" and .check == "the module is unloaded" and
		.result == $result and (.detail | contains($detail)))' "$tmp/out"
}

# untouched DETAIL: --reload says that the module cannot be unloaded, and why
untouched()
{
	local before

	before=$(loaded)
	code 0 mlx5ep -j selftest --reload "$dev"
	says 'not testable' "$1"
	[ "$(loaded)" = "$before" ]
	[ "$(cat "$ep/attached")" = yes ]
}

not_found()
{
	untouched 'modprobe finds no mlx5_ep'
}

# install: lets modprobe find the module. depmod would take minutes for all modules of
# the kernel, so it is given only those that mlx5_ep needs, and itself.
install()
{
	local few=$tmp/few$modules

	mkdir -p "$few"
	cp "$modules"/modules.builtin* "$modules/modules.order" "$few"
	(cd "$modules" && cp -r --parents kernel/drivers/infiniband/core \
		kernel/drivers/net/ethernet/mellanox/mlx5 "$few")
	cp "build/modules/$(uname -r)/mlx5_ep.ko" "$few"
	depmod -b "$tmp/few" "$(uname -r)"
	mount --bind "$few" "$modules"
}

in_use()
{
	local user status=0

	install
	rmmod ib_ipoib 2>/dev/null || true	# its interface uses the device
	rmmod rdma_ucm 2>/dev/null || true	# nobody but mlx5_ep holds ib_uverbs then
	sleep 1000 8<>/dev/infiniband/uverbs0 &
	user=$!
	untouched 'a device is in use' || status=$?
	kill $user
	wait $user || true
	return $status
}

# A process that has a table of debugfs open holds the module, which is found out before
# the devices are taken.
held()
{
	local table status=0

	table=$(find /sys/kernel/debug/mlx5_ep -name contexts | head -n 1)
	exec 8<"$table"
	untouched 'a process has a table of debugfs open' || status=$?
	exec 8<&-
	return $status
}

settings()
{
	grep -rH . "$ep"/uuar_policy "$ep"/uuar_pages "$ep"/uuar_strict \
		"$ep"/uuar_exempt "$ep"/uuar_cgroups "$ep"/uar_cgroup_limits \
		"$ep"/uar_budget "$ep"/uar_user_limit $parameters
}

# reloaded: --reload loads the module anew, and no other, and all is set as in $tmp/before
reloaded()
{
	local before others

	before=$(loaded)
	others=$(stat -c '%n %i' /sys/module/{ib_uverbs,mlx5_core,mlx5_ib})
	code 0 mlx5ep -j selftest --reload "$dev"
	says passed 'delete_module'
	[ "$(loaded)" != "$before" ]
	[ "$(stat -c '%n %i' /sys/module/{ib_uverbs,mlx5_core,mlx5_ib})" = "$others" ]
	settings >"$tmp/after"
	diff "$tmp/before" "$tmp/after"
	[ "$(cat "$ep/attached")" = yes ]
}

reloads()
{
	mkdir -p $group
	ep_policy independent 8
	echo 'a b' >"$ep/uuar_exempt"
	echo 12 >"$ep/uar_user_limit"
	echo '/selftest_reload shared-uar 0 4' >"$ep/uuar_cgroups"
	echo '/selftest_reload 6' >"$ep/uar_cgroup_limits"
	printf '* uuar_pages 5\nmlx5_9 uuar_strict 1\n' >$parameters/defaults
	settings >"$tmp/before"
	grep -q 'uuar_cgroups:.*selftest_reload' "$tmp/before"
	grep -q 'defaults:mlx5_9 uuar_strict 1' "$tmp/before"
	reloaded
	uuar_traffic -q -n 4 -r 10
}

# udev runs apply --once for the device that is back, be it soon or late. Nothing that
# was set by hand becomes what the file says.
stays_set()
{
	local pci

	pci=$(basename "$(readlink "/sys/class/infiniband/$dev/device")")
	cat >/etc/mlx5ep.conf <<-'END'
	[device *]
	policy = shared-uuar
	[module]
	notifiers_per_user = 77
	[cgroup /selftest_reload]
	policy = stock
	END
	mlx5ep apply
	ep_policy independent 8
	echo 78 >$parameters/notifiers_per_user
	echo '/selftest_reload shared-uar 0 4' >"$ep/uuar_cgroups"
	settings >"$tmp/before"
	reloaded
	mlx5ep apply --once "$pci"
	settings | diff "$tmp/before" -
	rm /etc/mlx5ep.conf
}

# The device is attached also where the module is loaded with attach=N.
attaches()
{
	mkdir -p /etc/modprobe.d
	echo 'options mlx5_ep attach=N' >/etc/modprobe.d/selftest_reload.conf
	echo N >$parameters/attach
	settings >"$tmp/before"
	reloaded
	rm /etc/modprobe.d/selftest_reload.conf
	echo Y >$parameters/attach
	rmdir $group
}

# The device comes back, as a stock one.
comes_back()
{
	local status=0

	mv "$modules/mlx5_ep.ko" "$tmp"
	# modprobe -n still finds the name, and the load fails
	echo no >"$modules/mlx5_ep.ko"
	mlx5ep -j selftest --reload "$dev" >"$tmp/out" 2>"$tmp/err" || status=$?
	mv "$tmp/mlx5_ep.ko" "$modules"
	[ $status -eq 1 ]
	jq -e 'any(.results[]; .check == "the module is loaded again" and
		.result == "failed")' "$tmp/out"
	uuar_traffic -q -n 4 -r 10
	modprobe mlx5_ep
	mlx5ep attach "$dev"
}

plan 7
check 'a module that could not be loaded again stays' not_found
check 'a module stays while a device is in use' in_use
check 'a module stays that a server of metrics holds' held
check 'the module is loaded anew, and all is set as before' reloads
check 'what is set otherwise than in the file stays so' stays_set
check 'the device is attached again whatever modprobe says' attaches
check 'a module that cannot be loaded leaves the device usable' comes_back
umount "$modules"
ktap_finished
