#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: own, timeout: 180
#
# Registrants of shared XRC receive QPs while the device is removed, while rmmod
# tries to unload the module, and while the device moves to another network
# namespace. Also what debugfs and the tool show of them.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# libibverbs lists a device last after it was bound again, so name it.
export MLX5_EP_DEVICE=$dev

holders=()

# hold N KEY: starts N processes that register with the QP of a key
hold()
{
	local i

	holders=()
	# The output of an earlier holder must not be taken for that of this
	# one.
	rm -f "$tmp"/holder*
	for i in $(seq "$1"); do
		xrc_hold "$tmp/domain" "$2" >"$tmp/holder$i" 2>&1 &
		holders+=($!)
	done
	for i in $(seq "$1"); do
		wait_for 20 grep -qs holds "$tmp/holder$i" ||
			fail "holder $i: $(cat "$tmp/holder$i")"
	done
}

release()
{
	kill -9 "${holders[@]}" 2>/dev/null || true
	wait "${holders[@]}" 2>/dev/null || true
}

debugfs()
{
	local pci

	pci=$(basename "$(readlink "/sys/class/infiniband/$dev/device")")
	cat "/sys/kernel/debug/mlx5_ep/$pci/xrc"
}

objects()
{
	hca_objects 'qp, xrcd, pd, cq'
}

# Compares the HCA's objects. The driver creates some at the first memory
# region. It creates QPs for the port once the port is active, which is a little
# after the device was bound.
same_objects()
{
	hold 1 warm
	release
	becomes 60 "$base" objects
}

told()
{
	local i

	hold 3 rank7
	debugfs >"$tmp/xrc"
	cat "$tmp/xrc"
	[ "$(grep -c '^domain ' "$tmp/xrc")" = 1 ]
	grep -q '^domain id=[0-9]* qps=1 inode=[0-9]' "$tmp/xrc"
	grep -q '^qp num=0x[0-9a-f]* domain=[0-9]* state=RESET registrants=3 key=72616e6b37$' "$tmp/xrc"
	for i in "${holders[@]}"; do
		grep -q "^registration qp=0x[0-9a-f]* pid=$i comm=xrc_hold events=notifier\$" "$tmp/xrc"
	done
	mlx5ep --json show xrc >"$tmp/json"
	[ "$(jq '[.devices[0].xrc[] | select(.kind == "registration")] | length' "$tmp/json")" = 3 ]
	release
	[ -z "$(debugfs)" ] || fail "left: $(debugfs)"
}

rmmod_refused()
{
	hold 1 k
	if rmmod mlx5_ep 2>/dev/null; then
		fail 'rmmod with a registrant succeeded'
	fi
	release
}

# The device is removed. Each registrant gets one event and then EIO, and can
# still free what it holds.
removed()
{
	local i

	hold 3 k
	ib_unbind
	for i in 1 2 3; do
		wait_for 10 grep -q '^unreg' "$tmp/holder$i" || true
	done
	ib_bind
	wait_for 10 test -e "$ep/uverbs_ids"
	for i in 1 2 3; do
		cat "$tmp/holder$i"
		[ "$(grep -c '^event' "$tmp/holder$i")" = 1 ]
		grep -q '^read Input/output error' "$tmp/holder$i"
		grep -q '^query Input/output error' "$tmp/holder$i"
		grep -q '^unreg Success' "$tmp/holder$i"
	done
	wait "${holders[@]}"
}

killed_as_it_goes()
{
	local i

	for i in 1 2 3 4; do
		hold 4 k
		kill -9 "${holders[@]}"
		ib_unbind
		wait "${holders[@]}" 2>/dev/null || true
		ib_bind
		wait_for 10 test -e "$ep/uverbs_ids"
	done
}

# A move ends all users, as removal does, but the device stays attached.
netns()
{
	rdma system set netns exclusive
	ip netns add xrc_ns
	ip netns attach xrc_host $$
	hold 2 k
	rdma dev set "$dev" netns xrc_ns
	wait_for 10 grep -q '^unreg' "$tmp/holder2" ||
		fail "holder: $(cat "$tmp/holder2")"
	ip netns exec xrc_ns rdma dev set "$dev" netns xrc_host
	wait_for 10 test -e "$ep/uverbs_ids"
	ip netns del xrc_ns
	ip netns del xrc_host
	# The mode cannot change while another namespace exists, and the kernel
	# frees that one a little later.
	wait_for 10 rdma system set netns shared 2>/dev/null
	wait "${holders[@]}"
	hold 2 k
	release
}

plan 8
hold 1 warm
release
wait_for 10 test -z "$(debugfs)"
base=$(objects)
check 'debugfs and the tool tell who holds what' told
check 'rmmod is refused while somebody is registered' rmmod_refused
check 'registrants are told that the device goes' removed
check 'the HCA holds what it held before (1)' same_objects
check 'they are killed as the device goes' killed_as_it_goes
check 'the device moves to another net namespace' netns
check 'the HCA holds what it held before (2)' same_objects
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
