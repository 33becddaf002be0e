#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, guest: pci, timeout: 400
#
# The PCI function under a device with open files goes and comes back, is reset,
# and its firmware dies: the module is attached again each time, programs that
# had it open end, the next ones work, and nothing is left behind.

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

# A program that has a managed context and QPs, and goes on after its traffic.
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

# usable: attached, with nothing of an earlier life, and it carries traffic
usable()
{
	wait_for 120 attached || fail "not attached: $(cat "$ep/attached")"
	becomes 20 0 ep_get uar_in_use
	ep_policy independent 4
	uuar_traffic -q -n 4 -r 1
	ep_policy stock
	[ "$(ep_get uar_in_use)" = 0 ]
}

# with_user CMD...: each round with a program that has the device open, which
# sees it go and is ended afterwards, and once more without
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

# recovered CMD...: CMD breaks the adapter; the driver notices within seconds
# and recovers by itself, as often as we like and not once in 20 minutes
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

# Programs' QPs are gone before their UAR mappings are, and a reset takes away
# the pages under a driver that does not know yet.
only_late_rings()
{
	local errors

	errors=$(simhca-ctl dump | jq -c '.hcas[0].errors |
		del(.bad_doorbell, .dead_uar) | with_entries(select(.value != 0))')
	[ "$errors" = '{}' ] || fail "simhca counted $errors"
}

# The driver makes QPs for the port a little after the device was bound.
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
