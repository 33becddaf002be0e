#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, hca: 2, link: eth, module: no, smp: 2, timeout: 400
#
# Rules of ethtool -N and the spread of ethtool -X under the stock driver. What the rule
# says is looked for at the receiver: which of the two rings counts the packets, and how
# many datagrams its kernel saw. Nobody listens to these ports.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh

many=40

up()
{
	ends_up
	in_b ethtool -L "$b" combined 2
	in_b ethtool -K "$b" ntuple on
	wait_for 20 in_a ping -c 1 -W 1 192.0.2.2
	wait_for 20 in_a ping -c 1 -W 1 2001:db8::2
}

# ring N: prints the packets that this ring of the receiver has got
ring()
{
	counter b "$b" "rx$1_packets"
}

# unasked [6]: prints the datagrams that came to a port of the receiver without a listener
unasked()
{
	in_b nstat -asz "Udp${1-}NoPorts" | awk -v n="Udp${1-}NoPorts" '$1 == n { print $2 }'
}

# send ADDRESS PORT...: so many datagrams to each port, each from a port of its own, which
# is from 20000 on for the first one, from 30000 on for the next
send()
{
	in_a python3 -IS -c '
import socket, sys
many, address, *ports = sys.argv[1:]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
for nth, port in enumerate(ports):
    for i in range(int(many)):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.bind(("", 20000 + 10000 * nth + i))
            s.sendto(b"datagram", (address, int(port)))
' $many "$@"
}

# rule WORDS...: adds a rule at the receiver, and sets id to its number
rule()
{
	local said

	said=$(in_b ethtool -N "$b" "$@")
	id=${said##* }
	# ethtool tells a number only where it chose it
	[ -n "$said" ] || id=${*: -1}
	in_b ethtool -n "$b" rule "$id"
}

remove()
{
	in_b ethtool -N "$b" delete "$id"
}

at_least()
{
	local least=$1

	shift
	[ "$("$@")" -ge "$least" ]
}

# seen COUNT ADDRESS PORT: so many of the datagrams that are sent there come to the kernel,
# and all that are sent to the discard port behind them
seen()
{
	local before all family=

	[ "${2/:/}" = "$2" ] || family=6
	before=$(unasked $family)
	all=$((before + $1 + many))
	send "$2" "$3" 9
	wait_for 10 at_least $all unasked $family
	[ "$(unasked $family)" = $all ]
}

# taken_by RING ADDRESS PORT: this ring gets all of it, and the other one as good as none
taken_by()
{
	local this other

	this=$(ring "$1")
	other=$(ring $((1 - $1)))
	send "$2" "$3"
	wait_for 10 at_least $((this + many)) ring "$1"
	other=$(($(ring $((1 - $1))) - other))
	[ $other -lt $((many / 4)) ] || fail "the other ring got $other"
}

drop()
{
	rule flow-type udp4 dst-port 7001 action -1
	seen 0 192.0.2.2 7001
	seen $many 192.0.2.2 7002
	seen $many 2001:db8::2 7001
	remove
	seen $many 192.0.2.2 7001
	rule flow-type udp6 dst-port 7001 action -1
	seen 0 2001:db8::2 7001
	seen $many 192.0.2.2 7001
	remove
	rule flow-type udp4 src-port 20005 action -1
	seen $((many - 1)) 192.0.2.2 7001
	remove
}

to_ring()
{
	local n

	for n in 0 1; do
		rule flow-type udp4 dst-ip 192.0.2.2 dst-port 7002 action $n
		taken_by $n 192.0.2.2 7002
		remove
		rule flow-type ip6 dst-ip 2001:db8::2 action $n
		taken_by $n 2001:db8::2 7002
		remove
	done
}

# The first rule that fits decides: the driver orders them by their numbers.
order()
{
	local first

	rule flow-type udp4 dst-port 7003 action 1 loc 10
	first=$id
	rule flow-type udp4 dst-port 7003 action 0 loc 20
	taken_by 1 192.0.2.2 7003
	in_b ethtool -N "$b" delete "$first"
	taken_by 0 192.0.2.2 7003
	remove
}

own_address()
{
	rule flow-type ether dst "$(in_b cat /sys/class/net/"$b"/address)" \
		proto 0x0800 action 1
	taken_by 1 192.0.2.2 7004
	in_b ethtool -X "$b" weight 1 0
	taken_by 0 2001:db8::2 7004
	taken_by 1 192.0.2.2 7004
	in_b ethtool -X "$b" equal 2
	remove
}

spread()
{
	local zero one

	in_b ethtool -N "$b" rx-flow-hash udp4 sdfn
	in_b ethtool -X "$b" weight 0 1
	taken_by 1 192.0.2.2 7005
	in_b ethtool -X "$b" weight 1 0
	taken_by 0 192.0.2.2 7005
	in_b ethtool -X "$b" equal 2
	zero=$(ring 0) one=$(ring 1)
	send 192.0.2.2 7005
	wait_for 10 at_least $((zero + 5)) ring 0
	wait_for 10 at_least $((one + 5)) ring 1
	in_b ethtool -N "$b" rx-flow-hash udp4 sd
}

# A rule stays while the netdev is down, and goes with the driver's instance.
reopened()
{
	rule flow-type udp4 dst-port 7001 action -1
	in_b ip link set "$b" down
	in_b ip link set "$b" up
	wait_for 20 in_a ping -c 1 -W 1 192.0.2.2
	seen 0 192.0.2.2 7001
	remove
	seen $many 192.0.2.2 7001
	in_b ethtool -n "$b" | grep 'Total 0 rules'
}

plan 8
check 'two netdevs with two rings each come up' up
check 'a rule drops one port of one protocol, until it is removed' drop
check 'a rule names the ring' to_ring
check 'of two rules the first one decides' order
check 'a rule compares MAC address and protocol of a frame' own_address
check 'the table of rings decides where the rest goes' spread
check 'a rule stays while the netdev is down' reopened
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
