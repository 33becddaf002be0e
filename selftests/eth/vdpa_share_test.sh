#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: vdpa, hca: 2, link: eth, function: vdpa, smp: 2, timeout: 300, config: VIRTIO_NET NET_NS
#
# mlx5_vdpa shares an adapter with mlx5e, with stock verbs programs and with the module.
# The first HCA has mlx5e's netdev, a virtio-net netdev of mlx5_vdpa, and programs under
# a policy, all at once; the second one is the other end of both netdevs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh

mac=02:11:22:33:44:55	# of the virtio-net netdev
bytes=3000017		# that each netdev moves each way
kinds='virtq, umem, pd, td, cq, qp, mkey, tis, rqt, tir, flow_table, uctx, uar'
movers=()

# needs MODULE OPTION: a driver that the kernel has, or that came from elsewhere
needs()
{
	[ -d "/sys/module/$1" ] || modprobe -n "$1" 2>/dev/null ||
		skip_all "the kernel has no CONFIG_$2"
}

# No kernel of Debian has the first one, so selftests/config does not ask for these.
needs mlx5_vdpa MLX5_VDPA_NET
needs virtio_vdpa VIRTIO_VDPA
needs vhost_vdpa VHOST_VDPA
[ -d /sys/module/mlx5_vdpa ] || modprobe mlx5_vdpa
modprobe virtio_vdpa
modprobe virtio_net

# reset: counts from 0; no error was counted so far
reset()
{
	both_clean
	simhca-ctl reset >/dev/null
}

in_v()
{
	ip netns exec v "$@"
}

# virtqs FILTER: prints what jq finds in the virtqueues of the first HCA
virtqs()
{
	simhca-ctl dump | jq -c ".hcas[0].virtqs | $1"
}

# virtio_netdev: prints the netdev with the MAC address of the vdpa device
virtio_netdev()
{
	local address

	address=$(grep -l "^$mac$" /sys/class/net/*/address) || return 1
	basename "$(dirname "$address")"
}

# by_policy: a program with four QPs has a UAR page for each, and its data is right
by_policy()
{
	reset
	in_a uuar_traffic -d "$dev" -q -n 4 -r 2 -x "cat $ep/uar_in_use >$tmp/in_use"
	[ "$(hca_pages_rung)" = 4 ] || fail "$(hca_pages_rung) pages rung"
	[ "$(simhca-ctl dump | jq '[.hcas[0].qps[].wrong_uar] | add')" = 0 ]
}

# objects: prints how many objects the first HCA has without mlx5_ib, which keeps keys
# of programs that have ended
objects()
{
	ib_unload
	hca_objects "$kinds"
	modprobe mlx5_ib
	wait_for 60 attached || fail 'not attached'
}

both_up()
{
	ends_up
	attached || fail 'not attached'
	[ "$(virtqs length)" = 0 ]
	objects >"$tmp/before"
	ep_policy independent
	wait_for 20 gid_there
	by_policy
}

# mlx5_vdpa takes all frames to groups, those of ARP too, so the other end must know
# where mlx5e's address is.
device_added()
{
	local pci v

	pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
	vdpa dev add name vdpa0 mgmtdev "pci/$pci" mac $mac
	wait_for 10 virtio_netdev
	v=$(virtio_netdev)
	[ "$(ethtool -i "$v" | sed -n 's/^driver: //p')" = virtio_net ]
	[ "$(in_a cat /sys/class/net/"$a"/address)" != $mac ]
	ip netns add v
	ip link set "$v" netns v
	ip -n v addr add 192.0.2.3/24 dev "$v"
	ip -n v link set "$v" up
	in_b ip neigh replace 192.0.2.1 dev "$b" nud permanent \
		lladdr "$(in_a cat /sys/class/net/"$a"/address)"
	becomes 10 '[[0,"ready"],[1,"ready"]]' virtqs 'map([.index, .state]) | sort'
	in_v ping -c 3 -i 0.2 -W $((5 * slowness)) 192.0.2.2
	in_a ping -c 3 -i 0.2 -W $((5 * slowness)) 192.0.2.2
}

# The UAR page of mlx5_vdpa is the driver's, and the module counts those of contexts.
not_counted()
{
	[ "$(ep_get uar_in_use)" = 0 ] || fail "$(ep_get uar_in_use) pages counted"
	[ "$(mlx5ep -j -d "$dev" show contexts | jq '[.. | .pid? // empty] | length')" = 0 ]
	[ "$(simhca-ctl dump | jq '[.hcas[0].uars[] |
		select(.alive and .uid > 0)] | length')" = 0 ]
}

# mover SPACE PORT: the netdev of a namespace moves data each way, again and again, until
# it is told to stop
mover()
{
	local peer n=0 limit=$((120 * slowness))

	while [ ! -e "$tmp/stop" ] || [ $n = 0 ]; do
		ip netns exec b timeout $limit simhca/guest/transfer.py \
			listen 192.0.2.2 "$2" $bytes &
		peer=$!
		ip netns exec "$1" timeout $limit simhca/guest/transfer.py \
			connect 192.0.2.2 "$2" $bytes
		wait $peer
		n=$((n + 1))
		echo $n >"$tmp/rounds.$1.new"
		mv "$tmp/rounds.$1.new" "$tmp/rounds.$1"
	done
}

# begin: both netdevs of the first HCA move data
begin()
{
	rm -f "$tmp"/stop "$tmp"/rounds.*
	mover a 5001 >"$tmp/mover.a" 2>&1 &
	movers=($!)
	mover v 5002 >"$tmp/mover.v" 2>&1 &
	movers+=($!)
	trap 'touch "$tmp/stop"; kill "${movers[@]}"' EXIT
}

# rounds: prints how often each netdev has moved all
rounds()
{
	cat "$tmp/rounds.a" "$tmp/rounds.v" | paste -sd' '
}

# further: both netdevs move all of the data once more from now on, and all that they
# moved was right
further()
{
	local -a before

	wait_for 60 test -e "$tmp/rounds.a" -a -e "$tmp/rounds.v" ||
		fail "$(cat "$tmp"/mover.*)"
	read -ra before < <(rounds)
	wait_for 60 more "${before[@]}" || fail "$(cat "$tmp"/mover.*)"
}

# more A V: has each netdev begun a round after this one, and ended it?
more()
{
	local -a now

	read -ra now < <(rounds)
	[ "${now[0]}" -gt $(($1 + 1)) ] && [ "${now[1]}" -gt $(($2 + 1)) ]
}

# ended: the data of each round was right
ended()
{
	local pid

	touch "$tmp/stop"
	for pid in "${movers[@]}"; do
		wait "$pid" || fail "$(cat "$tmp"/mover.*)"
	done
	trap - EXIT
}

both_move()
{
	local of_mlx5e

	reset
	of_mlx5e=$(counter a "$a" rx_bytes)
	begin
	ended
	# A frame has 1460 bytes of TCP at most.
	[ "$(virtqs 'map(.frames) | min')" -gt $((bytes / 1460)) ] ||
		fail "$(virtqs .)"
	[ "$(virtqs 'map(.events) | min')" -gt 0 ] || fail "$(virtqs .)"
	[ "$(virtqs 'map(select(.index == 1).kicks) | add')" -gt 0 ]
	[ $(($(counter a "$a" rx_bytes) - of_mlx5e)) -gt $bytes ]
}

policy_beside()
{
	begin
	by_policy
	[ "$(cat "$tmp/in_use")" -ge 4 ]
	[ "$(ep_get uar_in_use)" = 0 ]
	ended
}

# ib_back: mlx5_ib is loaded again, and its port has its GIDs
ib_back()
{
	modprobe mlx5_ib
	wait_for 60 gid_there || fail 'no GID'
}

# The module leaves with mlx5_ib, which mlx5e and mlx5_vdpa do not need. Without it the
# QPs of the program ring few pages; with it again each rings its own.
reloaded()
{
	begin
	ib_unload
	rmmod mlx5_ep
	ib_back
	reset
	in_a uuar_traffic -d "$dev" -q -n 4 -r 2
	[ "$(hca_pages_rung)" -lt 4 ] || fail 'a policy without the module'
	further
	ib_unload
	ep_insmod
	ib_back
	wait_for 10 attached
	ep_policy independent
	by_policy
	further
	ended
}

# bound DRIVER: gives the vdpa device to another driver
bound()
{
	local bus=/sys/bus/vdpa

	echo vdpa0 >"$(readlink -f $bus/devices/vdpa0/driver)/unbind"
	echo vdpa0 >$bus/drivers/"$1"/bind
}

# Memory of a program is under a list of keys, while the kernel's is under one key.
user_driver()
{
	modprobe vhost_vdpa
	bound vhost_vdpa
	reset
	becomes 20 "$(in_b cat /sys/class/net/"$b"/address)" timeout $((60 * slowness)) \
		selftests/eth/vdpa_user.py vhost-vdpa-0 $mac 192.0.2.3 192.0.2.2
	bound virtio_vdpa
	wait_for 10 virtio_netdev
}

device_deleted()
{
	vdpa dev del vdpa0
	[ "$(virtqs length)" = 0 ]
	objects >"$tmp/after"
	cmp "$tmp/before" "$tmp/after" ||
		fail "$(cat "$tmp/before" "$tmp/after")"
	[ "$(ep_get uuar_policy)" = independent ]
	wait_for 20 gid_there
	in_b ip neigh del 192.0.2.1 dev "$b"
	moved 192.0.2.2 300007
	by_policy
}

plan 9
check 'two HCAs with netdevs, the module has a policy' both_up
check 'vdpa dev add makes a virtio-net netdev beside that of mlx5e' device_added
check 'the module counts no page of mlx5_vdpa' not_counted
check 'both netdevs move checked data at once' both_move
check 'beside them QPs have their UAR pages by policy' policy_beside
check 'the module and mlx5_ib leave and return while both netdevs move data' reloaded
check 'a program has the device by vhost_vdpa, and the kernel again' user_driver
check 'the vdpa device is deleted, and nothing is left' device_deleted
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
