#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: frames, hca: 2, link: eth, module: no, timeout: 300, config: VLAN_8021Q
#
# Ethernet frames between two HCAs under stock drivers. Each netdev is in a
# network namespace of its own, so that nothing takes a short way.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh

# lost CMD...: a ping that must not be answered
lost()
{
	local status=0

	"$@" || status=$?
	[ $status = 1 ] || fail "exit status $status: answered, or not sent"
}

pings()
{
	"$1" ping -c 3 -i 0.2 -W $((5 * slowness)) "${@:2}"
}

ipv4()
{
	pings in_a 192.0.2.2
	pings in_b -s 1472 -M 'do' -p 5a3c 192.0.2.1
	# fragments have no ports to match or to hash
	pings in_a -s 5000 192.0.2.2
}

ipv6()
{
	pings in_a 2001:db8::2
	pings in_b -s 1452 -M 'do' 2001:db8::1
	pings in_a -c 1 "ff02::1%$a"
}

# The driver gave the adapter packets that are larger than a frame, and trusted
# the sums that the adapter made.
segments()
{
	local bytes packets

	bytes=$(counter a "$a" tx_tso_bytes)
	packets=$(counter a "$a" tx_tso_packets)
	[ "$packets" -gt 0 ]
	[ "$bytes" -gt $((packets * 1500)) ] || fail "$bytes bytes, $packets packets"
	[ "$(counter a "$a" rx_csum_complete)" -gt 0 ]
	[ "$(counter a "$a" rx_csum_none)" -lt 1000 ]
}

no_offloads()
{
	in_a ethtool -K "$a" tx off rx off tso off
	moved 192.0.2.2 4000037
	in_a ethtool -K "$a" tx on rx on tso on
}

vlan()
{
	in_a ip link add link "$a" name vlan7 type vlan id 7
	in_b ip link add link "$b" name vlan7 type vlan id 7
	in_b ip link add link "$b" name vlan8 type vlan id 8
	in_a ip addr add 198.51.100.1/24 dev vlan7
	in_b ip addr add 198.51.100.2/24 dev vlan7
	in_b ip addr add 198.51.100.8/32 dev vlan8
	in_a ip link set vlan7 up
	in_b ip link set vlan7 up
	in_b ip link set vlan8 up
	pings in_a 198.51.100.2
	pings in_b -s 1472 -M 'do' 198.51.100.1
	moved 198.51.100.2 4000037
	in_b ip link del vlan7
	in_b ip addr add 198.51.100.2/24 dev vlan8
	lost in_a ping -c 2 -i 0.2 -W 2 198.51.100.2
	in_a ip link del vlan7
	in_b ip link del vlan8
}

jumbo()
{
	in_a ip link set "$a" mtu 9000
	# the peer's port takes frames of 1500 bytes only
	lost in_a ping -c 2 -i 0.2 -W 2 -M 'do' -s 8972 192.0.2.2
	in_b ip link set "$b" mtu 9000
	wait_for 10 pings in_a 192.0.2.2
	pings in_a -s 8972 -M 'do' 192.0.2.2
	moved 192.0.2.2 4000037
	in_a ip link set "$a" mtu 1500
	in_b ip link set "$b" mtu 1500
	wait_for 10 pings in_a 192.0.2.2
}

received()
{
	in_b cat /sys/class/net/"$b"/statistics/rx_packets
}

got_more()
{
	[ "$(received)" -ge "$1" ]
}

# A frame to a foreign MAC address arrives at a promiscuous netdev alone.
promiscuous()
{
	local before

	in_a ip neigh replace 192.0.2.9 lladdr 02:00:00:00:00:99 dev "$a" \
		nud permanent
	before=$(received)
	lost in_a ping -c 20 -i 0.01 -W 1 192.0.2.9
	[ "$(received)" -lt $((before + 20)) ] || fail 'a foreign frame arrived'
	in_b ip link set "$b" promisc on
	sleep 1
	before=$(received)
	lost in_a ping -c 20 -i 0.01 -W 1 192.0.2.9
	wait_for 10 got_more $((before + 20))
	in_b ip link set "$b" promisc off
}

# Frames to a group arrive where somebody has joined it.
multicast()
{
	local before

	in_a ip route add 239.1.2.3 dev "$a"
	before=$(received)
	lost in_a ping -c 20 -i 0.01 -W 1 239.1.2.3
	[ "$(received)" -lt $((before + 20)) ] || fail 'a foreign group arrived'
	in_b ip maddr add 01:00:5e:01:02:03 dev "$b"
	sleep 1
	before=$(received)
	lost in_a ping -c 20 -i 0.01 -W 1 239.1.2.3
	wait_for 10 got_more $((before + 20))
}

unplugged()
{
	hca_cable 1 down
	becomes 20 0 in_b cat /sys/class/net/"$b"/carrier
	lost in_a ping -c 2 -i 0.2 -W 2 192.0.2.2
	hca_cable 1 up
	becomes 20 1 in_b cat /sys/class/net/"$b"/carrier
	wait_for 20 pings in_a 192.0.2.2
}

# A frame and its answer take the latency each, and TCP goes on.
slow_cable()
{
	local least

	hca_cable_time latency=20000,rate=10
	in_a ping -q -c 5 -W $((5 * slowness)) 192.0.2.2 >"$tmp/ping"
	cat "$tmp/ping"
	least=$(sed -n 's|^rtt [^=]*= \([0-9]*\)\..*|\1|p' "$tmp/ping")
	[ "$least" -ge 40 ]
	moved 192.0.2.2 1000037
	hca_cable_time latency=0,rate=0
}

# The adapter counts what its driver counts.
counters()
{
	local before after name

	for name in rx_vport_unicast_packets rx_packets_phy rx_packets; do
		before=$(counter b "$b" $name)
		in_a ping -q -c 50 -i 0.01 -W $((5 * slowness)) 192.0.2.2
		after=$(counter b "$b" $name)
		[ $((after - before)) -ge 50 ] ||
			fail "$name: from $before to $after"
		[ $((after - before)) -lt 100 ] ||
			fail "$name: from $before to $after"
	done
	[ "$(counter b "$b" rx_out_of_buffer)" = 0 ]
}

# pauses NAMESPACE NETDEV: prints the pause frames that it allows, as "RX TX"
pauses()
{
	ip netns exec "$1" ethtool -a "$2" |
		awk '$1 == "RX:" { rx = $2 } $1 == "TX:" { tx = $2 } END { print rx, tx }'
}

# The adapter keeps what its driver sets, and no frame pauses the link here.
pause()
{
	[ "$(pauses a "$a")" = 'on on' ]
	in_a ethtool -A "$a" rx off tx on
	[ "$(pauses a "$a")" = 'off on' ]
	[ "$(pauses b "$b")" = 'on on' ]
	in_a ethtool -A "$a" tx off
	[ "$(pauses a "$a")" = 'off off' ]
	in_a ethtool -A "$a" rx on tx on
	[ "$(pauses a "$a")" = 'on on' ]
	[ "$(counter b "$b" rx_pause_ctrl_phy)" = 0 ]
}

plan 16
check 'two netdevs come up in two namespaces' ends_up
check 'ping over IPv4, with fragments too' ipv4
check 'ping over IPv6, neighbours by multicast' ipv6
check 'TCP over IPv4 moves data both ways' moved 192.0.2.2 4000037
check 'TCP over IPv6 moves data both ways' moved 2001:db8::2 4000037
check 'the adapter cut and summed what TCP sent' segments
check 'TCP without offloads' no_offloads
check 'frames need the time of the cable' slow_cable
check 'a VLAN passes, another VLAN gets nothing' vlan
check 'jumbo frames pass where both ends take them' jumbo
check 'a foreign MAC address needs a promiscuous netdev' promiscuous
check 'a multicast group needs a member' multicast
check 'nothing arrives without a cable' unplugged
check 'counters of port, vport and driver agree' counters
check 'pause frames are allowed for each direction' pause
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
