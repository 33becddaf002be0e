#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 200
#
# What the stock tools of infiniband-diags ask a subnet of two HCAs is answered: by the
# subnet manager, the subnet administrator and the agents of both ports.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
parts=build/diags
out=$parts/said

unpack()
{
	local fetched

	fetched=$(lab/fetch diags infiniband-diags libibmad5 libibnetdisc5t64)
	rm -rf "$parts"
	mkdir -p "$out"
	cp -a "$fetched/usr" "$parts"
}

# ask NAME TOOL...: what it prints is in $out/NAME, and its exit status in the last line
ask()
{
	local status=0

	LD_LIBRARY_PATH=$parts/usr/lib/x86_64-linux-gnu \
		timeout $((20 * slowness)) "$parts/usr/sbin/$2" "${@:3}" \
		>"$out/$1" 2>&1 || status=$?
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
	ask links smpquery portinfo 2
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
	says nodes 'lid\.+1$' 'lid\.+2$'
	[ "$(grep -c 'NodeRecord dump' "$out/nodes")" = 2 ] || fail 'not two'
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

if [ "${1-}" = --guest ]; then
	in_guest
	exit
fi

plan 8
check 'packages are unpacked' unpack
check 'a guest' lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --hca 2 --no-module \
	--timeout 600 -- "$0" --guest
check 'sminfo finds the subnet manager' says manager 'sm lid 1 .* SMINFO_MASTER'
check 'saquery finds both nodes, one of them, and none where none is' nodes
check 'saquery finds each multicast group once' groups
check 'perfquery finds the counters of both ports' says wide 'PortXmitData:\.+0$'
check 'the narrow ones too, which can be reset' says narrow 'PortXmitData:\.+0$'
check 'nothing of it is an error of an HCA' grep -qx clean "$out/errors"
ktap_finished
