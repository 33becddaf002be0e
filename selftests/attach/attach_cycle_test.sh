#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, timeout: 400
#
# The module is loaded and unloaded, and the device bound and unbound, with and
# without users. The module attaches again each time and leaves nothing behind.
# While it is in use, it cannot be unloaded.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# One round takes twenty seconds on a debug kernel.
rounds=$((slowness > 1 ? 2 : 4))

traffic()
{
	uuar_traffic -q -n 8 -r 1
}

refused_in_use()
{
	if rmmod mlx5_ep 2>"$tmp/rmmod"; then
		fail 'rmmod of a module in use succeeded'
	fi
	grep -qi 'in use' "$tmp/rmmod"
	attached
	traffic
}

rebind()
{
	local i

	for i in $(seq "$rounds"); do
		ib_unbind
		[ ! -e "$ep" ] || fail "round $i: attributes without a device"
		ib_bind
		wait_for 10 attached || fail "round $i: not attached"
		ep_policy independent 8
		traffic
	done
}

# The device is unbound while a program holds QPs and sends.
rebind_with_users()
{
	local i user

	for i in $(seq "$rounds"); do
		ep_policy independent 8
		uuar_traffic -n 8 -r 1 \
			-x "echo \$\$ >$tmp/held; exec sleep 600" \
			>"$tmp/user" 2>&1 &
		user=$!
		wait_for 30 [ -s "$tmp/held" ]
		uuar_traffic -q -n 8 -r 1000 >"$tmp/busy" 2>&1 &
		sleep 0.3
		ib_unbind
		kill -9 "$user" "$!" "$(cat "$tmp/held")" || true
		rm "$tmp/held"
		wait "$user" "$!" 2>/dev/null || true
		ib_bind
		wait_for 10 attached || fail "round $i: not attached"
		[ "$(ep_get uar_in_use)" = 0 ] ||
			fail "round $i: uar_in_use $(ep_get uar_in_use)"
		traffic
	done
}

reload()
{
	local i

	for i in $(seq "$rounds"); do
		ib_unload
		rmmod mlx5_ep
		ep_insmod
		modprobe mlx5_ib
		wait_for 10 attached || fail "round $i: not attached"
		traffic
	done
}

# rmmod races with programs that open the device.
reload_against_openers()
{
	local opener i

	while :; do ibv_devinfo >/dev/null 2>&1 || true; done &
	opener=$!
	for i in $(seq "$rounds"); do
		wait_for 20 ib_unload
		rmmod mlx5_ep
		ep_insmod
		modprobe mlx5_ib
		wait_for 10 attached || fail "round $i: not attached"
	done
	kill "$opener"
	wait "$opener" 2>/dev/null || true
	traffic
}

# The module is loaded after the device: policies and limits are there at once, the rest
# when the device is bound again.
preexisting()
{
	ib_unload
	rmmod mlx5_ep
	modprobe mlx5_ib
	wait_for 10 [ -e "/sys/class/infiniband/$dev" ]
	ep_insmod
	ep_get attached | grep -x 'policies, limits; the rest when .*the device registers again'
	[ -z "$(ep_get uverbs_ids)" ]
	traffic
	ib_unbind
	ib_bind
	wait_for 10 attached
	ep_get uverbs_ids | grep '^object '
	traffic
}

# The lab selects a small profile of the driver. With the default profile, which
# real machines have, the driver fills its cache of mkeys while the module
# attaches (kernels up to 6.12).
default_profile()
{
	ib_unload
	rmmod mlx5_ep
	rmmod mlx5_core
	modprobe mlx5_core prof_sel=2
	[ "$(cat /sys/module/mlx5_core/parameters/prof_sel)" = 2 ]
	ep_insmod
	modprobe mlx5_ib
	wait_for 20 attached
	ep_policy independent 8
	traffic
	rebind
}

objects()
{
	hca_objects 'uar, pd, td, cq, qp, srq'
}

# The driver creates QPs for the port a little after the device was bound.
same_objects()
{
	becomes 60 "$base" objects
}

plan 12
check 'attached after boot' attached
traffic >/dev/null
base=$(objects)
check 'rmmod is refused while attached' refused_in_use
check 'unbind and bind, in a loop' rebind
check 'the HCA holds what it held before (1)' same_objects
check 'unbind and bind with users, in a loop' rebind_with_users
check 'the HCA holds what it held before (2)' same_objects
# When a device is removed, uverbs destroys the QPs before it unmaps the UAR
# pages from the programs. So a program that sends may ring a QP which no longer
# exists, or may lose the page in the middle of a BlueFlame write.
check 'the HCA complains of programs in traffic alone' \
	hca_clean 'bad_doorbell torn'
simhca-ctl reset >/dev/null
check 'both modules are unloaded and loaded, in a loop' reload
check 'the same against programs that open the device' reload_against_openers
check 'loaded after the device it has one half now, and the other when that is bound anew' \
	preexisting
check 'with the profile of machines, whose cache of mkeys fills up' default_profile
check 'the HCA has nothing to complain of since' hca_clean
ep_policy stock
ktap_finished
