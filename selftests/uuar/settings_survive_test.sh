#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: settings, timeout: 300
#
# The settings of a device are there again after the device was removed and
# added.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

attributes='uuar_policy uuar_strict uuar_pages uar_budget uar_user_limit
	uuar_exempt uuar_cgroups uar_cgroup_limits'
cgroups=/sys/fs/cgroup

show()
{
	(cd "$ep" && grep . $attributes)
}

set_all()
{
	mountpoint -q "$cgroups" || mount -t cgroup2 none "$cgroups"
	mkdir -p "$cgroups/job7" "$cgroups/job8"
	echo independent >"$ep/uuar_policy"
	echo 1 >"$ep/uuar_strict"
	echo 16 >"$ep/uuar_pages"
	echo 100 >"$ep/uar_budget"
	echo 50 >"$ep/uar_user_limit"
	echo 'a b' >"$ep/uuar_exempt"
	echo '/job7 shared-uar 1 8' >"$ep/uuar_cgroups"
	echo '/job8 stock 0 0' >"$ep/uuar_cgroups"
	echo '/job8 7' >"$ep/uar_cgroup_limits"
	echo '/ 90' >"$ep/uar_cgroup_limits"
	show >"$tmp/set"
	grep -qx 'uuar_cgroups:/job8 stock 0 0' "$tmp/set"
}

as_set()
{
	wait_for 60 attached || fail 'not attached'
	show >"$tmp/now"
	diff "$tmp/set" "$tmp/now"
}

unbind_and_bind()
{
	set_all
	ib_unbind
	ib_bind
	as_set
	ib_unbind
	ib_bind
	as_set
}

reload_of_the_driver()
{
	ib_unload
	modprobe mlx5_ib
	as_set
}

reset_of_the_function()
{
	local pci driver=/sys/bus/pci/drivers/mlx5_core

	pci=$(pci_address)
	echo "$pci" >"$driver/unbind"
	echo 1 >"/sys/bus/pci/devices/$pci/reset"
	echo "$pci" >"$driver/bind"
	as_set
}

pci_address()
{
	basename "$(readlink -f "/sys/class/infiniband/$dev/device")"
}

devlink_reload()
{
	local was

	set_all
	was=$(stat -L -c %i "$ep")
	devlink dev reload "pci/$(pci_address)"
	wait_for 60 made_again "$was" || fail 'the device did not go'
	as_set
}

recovered()
{
	dmesg | grep -q 'health recovery succeeded'
}

# The driver notices within seconds, and recovers by itself.
firmware_recovery()
{
	local was

	devlink health set "pci/$(pci_address)" reporter fw_fatal grace_period 0
	was=$(stat -L -c %i "$ep")
	simhca-ctl '{"op":"fault","kind":"fatal"}' >/dev/null
	wait_for 60 made_again "$was" || fail 'the driver did not recover'
	wait_for 60 recovered || fail 'the log knows nothing of a recovery'
	as_set
}

# A managed context has one page, and one more for each QP. The limits count.
in_force()
{
	uuar_traffic -q -n 4 -r 1 -x "cat $ep/uar_in_use >$tmp/pages"
	[ "$(cat "$tmp/pages")" = 5 ] || fail "$(cat "$tmp/pages") pages"
	echo '/ 3' >"$ep/uar_cgroup_limits"
	ib_unbind
	ib_bind
	wait_for 60 attached || fail 'not attached'
	# The policy is strict: the third QP is refused a page of its own.
	! uuar_traffic -q -n 4 -r 1 2>"$tmp/refused" || fail 'no limit'
	uuar_traffic -q -n 2 -r 1
	echo '/ 90' >"$ep/uar_cgroup_limits"
}

# A cgroup that was deleted while the device was away has no policy any more.
a_cgroup_that_is_gone()
{
	ib_unbind
	rmdir "$cgroups/job8"
	ib_bind
	wait_for 60 attached
	[ "$(cat "$ep/uuar_cgroups")" = '/job7 shared-uar 1 8' ]
	[ "$(cat "$ep/uar_cgroup_limits")" = '/ 90' ]
}

the_module_forgets()
{
	ib_unload
	rmmod mlx5_ep
	ep_insmod
	modprobe mlx5_ib
	wait_for 60 attached
	[ "$(cat "$ep/uuar_policy") $(cat "$ep/uuar_pages")" = 'stock 0' ]
	[ -z "$(cat "$ep/uuar_cgroups" "$ep/uar_cgroup_limits")" ]
	rmdir "$cgroups/job7"
	put_in_order
	wait_for 60 attached
}

plan 8
check 'settings come back after unbind and bind' unbind_and_bind
check 'settings are in force' in_force
check 'settings come back after a reload of mlx5_ib' reload_of_the_driver
check 'settings come back after a reset' reset_of_the_function
check 'settings come back after a devlink reload' devlink_reload
check 'settings come back after the firmware failed' firmware_recovery
check 'a cgroup that is gone has no policy' a_cgroup_that_is_gone
check 'unloading the module forgets settings' the_module_forgets
ktap_finished
