#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: rdma-eth, hca: 2, link: eth, module: no, timeout: 300, config: VLAN_8021Q
#
# Datagrams and connections over RoCE v2 between two HCAs under stock drivers:
# the kernel's connection manager, librdmacm and perftest. The test sets nothing
# but addresses: frames find the neighbours, and the GIDs follow the addresses.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh

# index HCA ADDRESS: of the GID of RoCE v2 with this IPv4 address, as hex
index()
{
	local gid=0000:0000:0000:0000:0000:ffff:$2 port i

	port=/sys/class/infiniband/$1/ports/1
	for i in $(cd "$port/gids" && ls); do
		if [ "$(cat "$port/gids/$i")" = "$gid" ] &&
		   grep -q v2 "$port/gid_attrs/types/$i"; then
			echo "$i"
			return
		fi
	done
	return 1
}

comes_up()
{
	ends_up
	wait_for 10 index mlx5_0 c000:0201
	wait_for 10 index mlx5_1 c000:0202
	becomes 20 '4: ACTIVE' cat /sys/class/infiniband/mlx5_0/ports/1/state
	becomes 20 '4: ACTIVE' cat /sys/class/infiniband/mlx5_1/ports/1/state
}

# Does somebody wait for the client, by TCP or by librdmacm?
listens()
{
	in_b ss -Hltn 'sport = :18515' | grep -q . ||
		rdma resource show cm_id | grep -q 'state LISTEN'
}

# pair SERVER... -- CLIENT...: both must end well within their time
pair()
{
	local server=() pid status=0

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	# not in_b: $! must be the server, to be ended below
	ip netns exec b timeout $((30 * slowness)) "${server[@]}" \
		>"$tmp/server" 2>&1 &
	pid=$!
	wait_for 5 listens || status=$?
	in_a timeout $((20 * slowness)) "$@" || status=$?
	[ $status = 0 ] || kill $pid || :
	wait $pid || status=$?
	cat "$tmp/server"
	return $status
}

# ud_pingpong INDEX: the GID of the server's side
ud_pingpong()
{
	pair ibv_ud_pingpong -d mlx5_1 -g "$1" -n 50 -c -- \
		ibv_ud_pingpong -d mlx5_0 -g "$(index mlx5_0 c000:0201)" \
		-n 50 -c 192.0.2.2
}

rping_on()
{
	pair rping -s -a "$2" -C 10 -V -- rping -c -I "$1" -a "$2" -C 10 -V
}

ucmatose_on()
{
	pair ucmatose -b 192.0.2.2 -c 2 -C 5 -- \
		ucmatose -b 192.0.2.1 -s 192.0.2.2 -c 2 -C 5
}

udaddy_on()
{
	pair udaddy -b 192.0.2.2 -C 5 -- \
		udaddy -b 192.0.2.1 -s 192.0.2.2 -C 5
}

# sends ADDRESS GROUP: ten datagrams to a group
sends()
{
	in_a timeout $((20 * slowness)) mckey -m "$2" -b "$1" -s -C 10
}

# group SENDER RECEIVER GROUP: the receiver gets ten datagrams. The first ones may come
# before it has joined.
group()
{
	local pid

	ip netns exec b timeout $((30 * slowness)) mckey -m "$3" -b "$2" -C 10 \
		>"$tmp/server" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		sends "$1" "$3"
	done
	wait $pid || fail "$(cat "$tmp/server")"
}

# The kernel joins no group of IPv6 over RoCE v2.
groups()
{
	local pid

	group 192.0.2.1 192.0.2.2 239.1.2.3
	ip netns exec b timeout 3 mckey -m 239.1.2.4 -b 192.0.2.2 -C 10 \
		>"$tmp/server" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		sends 192.0.2.1 239.1.2.3
	done
	code 124 wait $pid
}

perftest_cm()
{
	pair ib_send_bw -R -d mlx5_1 -n 200 -s 1024 -- \
		ib_send_bw -R -d mlx5_0 -n 200 -s 1024 192.0.2.2
}

# counted KIND: requests of that kind that the second HCA has executed. The driver
# asks the adapter again after 10 ms.
counted()
{
	sleep 0.1
	cat "/sys/class/infiniband/mlx5_1/ports/1/hw_counters/rx_${1}_requests"
}

# 70 of each kind are counted at the target.
hw_counters()
{
	local kind before

	for kind in write read atomic; do
		before=$(counted $kind)
		pair "ib_${kind}_bw" -R -d mlx5_1 -n 70 -F -- \
			"ib_${kind}_bw" -R -d mlx5_0 -n 70 -F 192.0.2.2
		[ $(($(counted $kind) - before)) = 70 ] ||
			fail "$kind: $before before, $(counted $kind) now"
	done
	rdma statistic show link mlx5_1/1 | grep -o 'rx_read_requests [0-9]*' |
		grep " $(counted read)$"
}

# The client believes in another MAC address of the server. It sends to it, and
# the server does not answer.
wrong_mac()
{
	in_a ip neigh replace 192.0.2.2 lladdr 02:00:00:00:00:99 dev "$a" \
		nud permanent
	must_fail rping_on 192.0.2.1 192.0.2.2
	in_a ip neigh del 192.0.2.2 dev "$a"
	rping_on 192.0.2.1 192.0.2.2
}

gone()
{
	! index mlx5_1 "$1"
}

# A GID lives as long as its address. One in a VLAN is not reached from outside.
gids()
{
	in_b ip link add link "$b" name vlan7 type vlan id 7
	in_b ip addr add 198.51.100.2/24 dev vlan7
	in_b ip link set vlan7 up
	wait_for 10 index mlx5_1 c633:6402
	must_fail ud_pingpong "$(index mlx5_1 c633:6402)"
	in_b ip link del vlan7
	wait_for 10 gone c633:6402
	in_b ip addr add 192.0.2.3/24 dev "$b"
	wait_for 10 index mlx5_1 c000:0203
	ud_pingpong "$(index mlx5_1 c000:0203)"
	in_b ip addr del 192.0.2.3/24 dev "$b"
	wait_for 10 gone c000:0203
}

# classes FROM TO PRIORITY: the header that arrives has the sender's class of traffic,
# and the VLAN tag its priority
classes()
{
	timeout $((60 * slowness)) simhca/guest/classes.py \
		"$(index mlx5_0 "$1")" "$(index mlx5_1 "$2")" "$3"
}

vlan_classes()
{
	in_a ip link add link "$a" name vlan7 type vlan id 7
	in_b ip link add link "$b" name vlan7 type vlan id 7
	in_a ip addr add 198.51.100.1/24 dev vlan7
	in_b ip addr add 198.51.100.2/24 dev vlan7
	in_a ip link set vlan7 up
	in_b ip link set vlan7 up
	wait_for 10 index mlx5_0 c633:6401
	wait_for 10 index mlx5_1 c633:6402
	in_a ping -c 1 198.51.100.2
	classes c633:6401 c633:6402 5
	in_a ip link del vlan7
	in_b ip link del vlan7
}

plan 14
check 'two RoCE ports with addresses' comes_up
check 'UD moves checked data' ud_pingpong "$(index mlx5_1 c000:0202)"
check 'rping over IPv4 connects and checks data' rping_on 192.0.2.1 192.0.2.2
check 'rping over IPv6' rping_on 2001:db8::1 2001:db8::2
check 'ucmatose connects twice' ucmatose_on
check 'udaddy, datagrams of librdmacm' udaddy_on
check 'mckey, datagrams to the members of a group' groups
check 'perftest connects with librdmacm' perftest_cm
check 'requests are counted by kind' hw_counters
check 'a wrong MAC address is not delivered' wrong_mac
check 'GIDs come and go with addresses and VLANs' gids
check 'a datagram has the class of traffic of its sender' \
	classes c000:0201 c000:0202 0
check 'a datagram in a VLAN has the priority of its sender' vlan_classes
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
