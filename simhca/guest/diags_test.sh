#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 300
#
# What the stock tools of infiniband-diags and ibutils ask a subnet of two HCAs is answered:
# by the subnet manager, the subnet administrator, the agents of both ports, and those of
# the switch between them.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
parts=build/diags
out=$parts/said

unpack()
{
	local fetched

	fetched=$(lab/fetch --depends diags infiniband-diags ibutils)
	rm -rf "$parts"
	mkdir -p "$out"
	cp -a "$fetched/usr" "$parts"
}

# ask NAME TOOL...: what it prints is in $out/NAME, and its exit status in the last line
ask()
{
	local status=0

	timeout $((60 * slowness)) "${@:2}" >"$out/$1" 2>&1 || status=$?
	echo "status $status" >>"$out/$1"
}

# It has joined the group of IPv4's hosts, and some of IPv6.
has_joined()
{
	ip maddr show dev "$netdev" | grep -q 'inet6 ff02::1:ff' &&
		[ "$(cat "/sys/class/net/$netdev/operstate")" = up ]
}

in_guest()
{
	local netdev

	mount -t overlay -o "lowerdir=$PWD/$parts/usr:/usr" none /usr
	modprobe -a ib_umad ib_ipoib
	netdev=$(basename /sys/class/infiniband/mlx5_0/device/net/*)
	ip link set "$netdev" up
	wait_for 10 has_joined
	ask manager sminfo
	ask nodes saquery
	ask node saquery NR 2
	ask nobody saquery NR 9
	ask groups saquery -g
	ask narrow perfquery 1 1
	ask wide perfquery -x 2 1
	ask reset perfquery -R 2 1
	ask port smpquery portinfo 2
	ask net ibnetdiscover
	ask links iblinkinfo
	ask counted ibqueryerrors
	ask routes ibroute 65
	ask group_routes ibroute -M 65
	ask way ibtracert 1 2
	ask state ibportstate 65 2 query
	ask off smpquery -D nodeinfo 0,1,3
	ask link_records saquery LR
	ask port_record saquery PIR 65/2
	ask route_record saquery LFTR 65/0
	ask group_record saquery MFTR 65/0
	ask switch_record saquery SWIR
	ask manager_record saquery SMIR
	ask lanes saquery SL2VL 65/2/1
	ask turns saquery VLAR 65/2/3
	ask keys saquery PKTR 2/1/0
	ask guids saquery GUIDInfoRecord 2/0
	ask devices vendstat -N 65
	ask adapter vendstat -N 2
	ask whole ibdiagnet -o "$tmp"
	hca_clean '' 0
	hca_clean '' 1
	echo clean >"$out/errors"
}

# says NAME PATTERN...: the tool ended well, and each pattern is in a line of what it said
says()
{
	local pattern

	cat "$out/$1"
	grep -qx 'status 0' "$out/$1"
	for pattern in "${@:2}"; do
		grep -Eq "$pattern" "$out/$1" || fail "not: $pattern"
	done
}

nodes()
{
	says nodes 'lid\.+1$' 'lid\.+2$' 'lid\.+65$' 'node_type\.+Switch$'
	[ "$(grep -c 'NodeRecord dump' "$out/nodes")" = 3 ] || fail 'not three'
	says node 'lid\.+2$'
	[ "$(grep -c 'NodeRecord dump' "$out/node")" = 1 ] || fail 'not one'
	grep -q '^status' "$out/nobody"
	! grep 'NodeRecord dump' "$out/nobody" || fail 'a node'
}

# The answer has more than one segment.
groups()
{
	says groups 'MGID\.+ff12:401b:ffff::ffff:ffff$' 'MGID\.+ff12:401b:ffff::1$' \
		'MGID\.+ff12:601b:ffff::1$'
	[ "$(grep -c 'MCMemberRecord group dump' "$out/groups")" -ge 4 ]
	[ "$(sort "$out/groups" | grep MGID | uniq -d)" = '' ] || fail 'one twice'
}

# The way of each packet is given by directions.
net()
{
	says net '^Switch[[:space:]]2 "S-0002c90300520000".*lid 65' \
		'^\[1\][[:space:]]"H-0002c90300510000"\[1\]' \
		'^\[2\][[:space:]]"H-0002c90300510010"\[1\]' \
		'^\[1\].*"S-0002c90300520000"\[2\].*lid 2'
	[ "$(grep -c '^Ca' "$out/net")" = 2 ] || fail 'not two adapters'
	! grep 'bad status' "$out/net" || fail 'an attribute is refused'
	# at both ends the speed of the link, which is one
	[ "$(grep -c '4X *25.78125 Gbps' "$out/links")" = 4 ] || fail 'another speed'
	says links
	grep -q 'timed out' "$out/off" || fail 'there is a third adapter'
}

routes()
{
	says routes '^0x0001 001 ' '^0x0002 002 ' '^0x0041 000 ' '^3 valid lids'
	says group_routes '^0xc000  +x +$'
	says way '\{0x0002c90300520000\}\[1\] lid 65-65' '^\[2\] -> ca port'
	says state 'LinkSpeedExtActive:\.+25.78125 Gbps' 'LinkState:\.+Active'
}

records()
{
	says link_records
	[ "$(grep -c 'LinkRecord dump' "$out/link_records")" = 4 ] || fail 'not four'
	says port_record 'EndPortLid\.+65$' 'PortNum\.+2$'
	[ "$(grep -c EndPortLid "$out/port_record")" = 1 ] || fail 'not one'
	says route_record '^[[:space:]]*2[[:space:]]+2$' '^[[:space:]]*3[[:space:]]+255$'
	says group_record '0xc000[[:space:]]+0x0002$' '0xc01f[[:space:]]+0x0000$'
	says switch_record 'LID\.+65$' 'LinearFDBTop\.+0x41$'
	says manager_record 'LID\.+1$' 'SMState\.+3$'
	[ "$(grep -c 'LID\.' "$out/manager_record")" = 1 ] || fail 'not one manager'
}

# The same for each port: its lanes, turns and keys.
tables()
{
	local name

	says lanes 'Port\.+2$' 'OutPort\.+1$' 'VL: 0\| 1\|'
	says turns 'Port\.+2$' 'Block\.+3$' 'Weight: 1\|'
	says keys 'LID\.+2$' '0xffff'
	says guids 'GUID 0\.+0x0002c90300510011$'
	for name in lanes turns keys guids; do
		[ "$(grep -c 'LID\.' "$out/$name")" = 1 ] || fail "$name: not one"
	done
}

# The one thing that it finds wrong is that it does not know the speed of the links, which is
# newer than it.
whole()
{
	says whole '3 nodes \(1 Switches & 2 CA-s\)' 'Hosts:2 full:2' '^-I- Done'
	[ "$(grep -cE '^ +[A-Z][A-Za-z/]+ .* 0 +[01] *$' "$out/whole")" = 6 ] ||
		fail 'not six stages without an error'
	[ "$(grep -cE '^ +[A-Z].* 0 +1 *$' "$out/whole")" = 1 ] || fail 'more warnings'
	grep -q '^-W- Suboptimal rate' "$out/whole"
	! grep '^-E-' "$out/whole" || fail 'an error'
}

if [ "${1-}" = --guest ]; then
	in_guest
	exit
fi

plan 16
check 'packages are unpacked' unpack
check 'a guest' lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --hca 2 --no-module \
	--timeout 600 -- "$0" --guest
check 'sminfo finds the subnet manager' says manager 'sm lid 1 .* SMINFO_MASTER'
check 'saquery finds all nodes, one of them, and none where none is' nodes
check 'saquery finds each multicast group once' groups
check 'perfquery finds the counters of both ports' says wide 'PortXmitData:\.+0$'
check 'the narrow ones too, which can be reset' says narrow 'PortXmitData:\.+0$'
check 'ibnetdiscover and iblinkinfo find the switch and what is at its ports' net
check 'ibqueryerrors asks all of them' says counted '3 nodes checked' '4 ports checked'
check 'the tables of the switch lead to each adapter and group' routes
check 'saquery finds links, ports, tables, and the manager' records
check 'and the tables of each port' tables
check 'vendstat finds which device the switch is' says devices '0xcb20'
check 'and which the other adapter is' says adapter '0x1017'
check 'ibdiagnet finds no fault in the subnet' whole
check 'nothing of it is an error of an HCA' grep -qx clean "$out/errors"
ktap_finished
