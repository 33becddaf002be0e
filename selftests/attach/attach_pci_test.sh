#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: pci, timeout: 400
#
# The PCI function of a device with open files is removed and added again, is
# reset, and its firmware fails. Each time the module attaches again and nothing
# is left behind. Programs that had the device open end, and new programs work.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

rounds=2
pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
driver=/sys/bus/pci/drivers/mlx5_core

attached()
{
	[ "$(cat "$ep/attached" 2>/dev/null)" = yes ] &&
		grep -q ACTIVE "/sys/class/infiniband/$dev/ports/1/state"
}

# hold: starts a program with a managed context and QPs, which stays after its
# traffic
hold()
{
	ep_policy independent 4
	uuar_traffic -n 4 -r 1 -x "echo \$\$ >$tmp/held; exec sleep 300" \
		>"$tmp/user" 2>&1 &
	user=$!
	wait_for 60 [ -s "$tmp/held" ]
	[ "$(ep_get uar_in_use)" -gt 0 ]
}

let_go()
{
	kill -9 "$user" "$(cat "$tmp/held")" 2>/dev/null || true
	wait "$user" 2>/dev/null || true
	rm "$tmp/held"
}

# usable: the device is attached, carries traffic, and has no objects from
# before
usable()
{
	wait_for 120 attached || fail "not attached: $(cat "$ep/attached")"
	becomes 20 0 ep_get uar_in_use
	ep_policy independent 4
	uuar_traffic -q -n 4 -r 1
	ep_policy stock
	[ "$(ep_get uar_in_use)" = 0 ]
}

# with_user CMD...: runs CMD in rounds while a program has the device open. The
# program sees the device go and is ended after the round. Then runs CMD once
# without a program.
with_user()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		hold
		"$@"
		let_go
		usable
		"$@"
		usable
	done
}

rebind()
{
	echo "$pci" >$driver/unbind
	[ ! -e "$ep" ] || fail 'attributes without a device'
	echo "$pci" >$driver/bind
}

remove_and_rescan()
{
	echo 1 >"/sys/bus/pci/devices/$pci/remove"
	[ ! -e "$ep" ] || fail 'attributes without a device'
	echo 1 >/sys/bus/pci/rescan
}

recoveries()
{
	dmesg | grep -c 'health recovery succeeded' || true
}

recovered_since()
{
	[ "$(recoveries)" -gt "$1" ]
}

# recovered CMD...: CMD makes the adapter fail. The driver notices within
# seconds and recovers by itself. Its limit of one recovery in 20 minutes is
# switched off.
recovered()
{
	local before

	devlink health set "pci/$pci" reporter fw_fatal grace_period 0
	before=$(recoveries)
	"$@"
	wait_for 60 recovered_since "$before" || fail 'the driver did not notice'
}

function_level_reset()
{
	grep -qw flr "/sys/bus/pci/devices/$pci/reset_method"
	echo 1 >"/sys/bus/pci/devices/$pci/reset"
}

firmware_dies()
{
	simhca-ctl '{"op":"fault","kind":"fatal"}' >/dev/null
}

objects()
{
	hca_objects 'uar, uar_held, pd, td, cq, qp, srq, umem, uctx'
}

# Only programs ring too late: their QPs are destroyed before their UAR mappings
# are, and a reset takes the pages from a driver that does not know of it yet.
only_late_rings()
{
	local errors

	errors=$(simhca-ctl dump | jq -c '.hcas[0].errors |
		del(.bad_doorbell, .dead_uar) | with_entries(select(.value != 0))')
	[ "$errors" = '{}' ] || fail "simhca counted $errors"
}

# The driver creates QPs for the port a little after the device was bound.
same_objects()
{
	becomes 60 "$base" objects
}

plan 9
usable
base=$(objects)
check 'the PCI function is unbound and bound' with_user rebind
check 'the HCA holds what it held before (1)' same_objects
check 'the PCI function is removed and found again' with_user remove_and_rescan
check 'the HCA holds what it held before (2)' same_objects
check 'a function level reset under the driver' with_user \
	recovered function_level_reset
check 'the HCA holds what it held before (3)' same_objects
check 'the firmware dies and is recovered' with_user recovered firmware_dies
check 'the HCA holds what it held before (4)' same_objects
check 'the HCA has nothing else to complain of' only_late_rings
ep_policy stock
ktap_finished
