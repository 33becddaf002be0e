#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live-netns, hca: 2, smp: 2, module: later, timeout: 120, config: NET_NS
#
# A device that was there before the module moves to another network namespace. That ends
# what programs have of it, with the module and without it. uverbs reads its definitions
# anew thereby, so the device is attached wholly from then on, and holds the module.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/live.sh
. selftests/attach/live.sh

# A command in the namespace. ip mounts a sysfs that shows what the namespace has.
pod()
{
	ip netns exec pod sh -c 'mount -t debugfs none /sys/kernel/debug && exec "$@"' sh "$@"
}

there()
{
	pod test -e "/sys/class/infiniband/$dev"
}

# The mode can change only while there is no other namespace, and the kernel frees one a
# little after it was deleted.
mode()
{
	rdma system set netns "$1" 2>/dev/null
}

leaves()
{
	wait_for 10 mode exclusive
	ip netns add pod
	ip netns attach host $$
	rdma dev set "$dev" netns pod
	wait_for 10 there
}

returns()
{
	pod rdma dev set "$dev" netns host
	ip netns del pod
	ip netns del host
	wait_for 10 mode shared
	wait_for 10 [ -e "/sys/class/infiniband/$dev" ]
}

# keeps NAME: runs a program that keeps its QPs until lost NAME
keeps()
{
	local status=0

	uuar_traffic -n 4 -r 1 -x "touch $tmp/$1; until [ -e $tmp/$1.end ]; do
		sleep 0.1; done" >/dev/null || status=$?
	echo $status >"$tmp/$1.status"
}

# lost NAME: the program ends, as one does that has lost its device without the module
lost()
{
	touch "$tmp/$1.end"
	wait_for 10 [ -s "$tmp/$1.status" ]
	diff "$tmp/without.status" "$tmp/$1.status"
}

# busy: a program under a policy has as many UAR pages as that takes
busy()
{
	ep_policy independent 8
	uuar_traffic -q -n 4 -r 1 -x "cat $ep/uar_in_use >$tmp/in_use"
	[ "$(cat "$tmp/in_use")" = 5 ] || fail "$(cat "$tmp/in_use") pages, not 5"
}

half_before()
{
	is_half || fail "$(ep_get attached)"
	refs 0
	mlx5ep doctor >"$tmp/doctor" || true
	grep -x 'ok: unloading: nothing holds mlx5_ep: rmmod mlx5_ep' "$tmp/doctor"
	busy
	code 1 build/selftests/uuar_query_test
}

# Programs that opened the device without the module, under stock, and under a policy.
moves()
{
	local name

	ep_policy stock
	keeps observed &
	wait_for 30 [ -e "$tmp/observed" ]
	ep_policy independent 8
	keeps managed &
	wait_for 30 [ -e "$tmp/managed" ]
	managed 1
	refs 1
	leaves
	for name in before observed managed; do
		lost $name
	done
	wait_for 10 refs_are 1
	[ "$(pod cat "$ep/uar_in_use")" = 0 ] || fail "$(pod cat "$ep/uar_in_use") pages"
}

refs_are()
{
	(refs "$1") >/dev/null
}

whole_there()
{
	[ "$(pod cat "$ep/attached")" = yes ]
	pod grep '^object xrc_rcv_qp ' "$ep/uverbs_ids"
	[ "$(pod cat "$ep/uuar_policy")" = independent ]
	pod build/selftests/uuar_query_test
	pod build/selftests/xrc_rcv_qp_test
	# The other device is where it was, and has one half.
	dev=$other ep=/sys/class/infiniband/$other/mlx5_ep is_half
}

holds_module()
{
	must_fail rmmod mlx5_ep 2>"$tmp/rmmod"
	grep -i 'in use' "$tmp/rmmod"
	refs 1
	mlx5ep doctor >"$tmp/doctor" || true
	grep -x "ok: unloading: mlx5_ep is held by $1" "$tmp/doctor" ||
		fail "$(grep unloading "$tmp/doctor")"
}

# Where ib_uverbs can go alone, the device need not.
goes()
{
	if $alone; then
		uverbs_goes
		refs 0
		is_half
		unloads
		uverbs_comes
	else
		echo 0 >/sys/module/mlx5_ep/parameters/attach
		ib_unbind
		ib_bind
		unloads
		wait_for 10 [ -e "/sys/class/infiniband/$dev" ]
	fi
	program
}

returns_whole()
{
	returns
	[ "$(ep_get attached)" = yes ]
	holds_module "$dev"
	busy
	build/selftests/xrc_rcv_qp_test
	[ "$(ep_get uar_in_use)" = 0 ]
}

program >/dev/null
keeps without &
wait_for 30 [ -e "$tmp/without" ]
leaves
touch "$tmp/without.end"
wait
returns
pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
base=$(hca_objects 'uar, pd, td, cq, qp, srq')
keeps before &
wait_for 30 [ -e "$tmp/before" ]
ep_insmod
alone=false
! grep -q 'ib_uverbs is loaded again' "$ep/attached" || alone=true
plan 8
check 'a device that was there before has one half' half_before
check 'what programs have of it ends as without the module' moves
check 'in the other namespace it is attached wholly' whole_there
check 'it holds the module from there' holds_module "the device of $pci (in another network namespace)"
check 'it comes back whole' returns_whole
check 'the module can go when that has gone to which the device is attached' goes
check 'nothing is left' becomes 20 "$base" hca_objects 'uar, pd, td, cq, qp, srq'
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
