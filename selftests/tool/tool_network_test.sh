#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool-network, hca: 2, link: eth, module: later, timeout: 400
#
# Each command with which a page or a message loads, unloads or reloads a driver is run
# on a node whose network is an Ethernet port of the adapter. The port's netdev, its
# address and a TCP connection over it must still be there afterwards. The peer is the
# second adapter, in a network namespace of its own.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/tool/boot.sh
. selftests/tool/boot.sh

export dev
here=192.0.2.1 there=192.0.2.2 port=5001
pci=$(basename "$(readlink "/sys/class/infiniband/$dev/device")")
pci_peer=$(basename "$(readlink /sys/class/infiniband/mlx5_1/device)")
mkdir "$tmp/no_softdep"
trap 'server_ends; rm -rf "$tmp"' EXIT

# netdev PCI: the name of the Ethernet interface of an adapter
netdev()
{
	local path

	for path in "/sys/bus/pci/devices/$1/net"/*; do
		[ -e "$path" ] && basename "$path" && return
	done
	return 1
}

# network_up: the port has its address, and a TCP connection is open on descriptor 7
network_up()
{
	modprobe mlx5_core
	wait_for 30 netdev "$pci" && eth=$(netdev "$pci")
	wait_for 30 netdev "$pci_peer" && peer=$(netdev "$pci_peer")
	ip netns add peer
	ip link set "$peer" netns peer
	ip -n peer addr add $there/24 dev "$peer"
	ip -n peer link set "$peer" up
	ip addr add $here/24 dev "$eth"
	ip link set "$eth" up
	ip netns exec peer selftests/eth/echo.py $there $port &
	echo $! >"$tmp/server"
	wait_for 30 connects
	ifindex=$(cat "/sys/class/net/$eth/ifindex")
}

connects()
{
	{ exec 7<>/dev/tcp/$there/$port; } 2>/dev/null
}

# network_ends: forgets what is left of the network
network_ends()
{
	exec 7<&-
	server_ends
	ip netns del peer
}

# The runner waits until nobody has the output of a test open.
server_ends()
{
	[ ! -e "$tmp/server" ] || kill "$(cat "$tmp/server")"
	rm -f "$tmp/server"
}

# network_is_there: netdev, address and connection are as before. A lost connection is
# found by the answer that does not come.
network_is_there()
{
	local answer=''

	[ "$(cat "/sys/class/net/$eth/ifindex")" = "$ifindex" ] || return
	ip -br addr show dev "$eth" | grep -qw "$here/24" || return
	echo "after $1" >&7 || return
	read -r -t $((20 * slowness)) answer <&7 || return
	[ "$answer" = "after $1" ]
}

# stock: mlx5_ib has been loaded before mlx5_ep was installed, which no process has done
# yet
stock()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	modprobe -C "$tmp/no_softdep" mlx5_ib
	wait_for 30 [ -e "/sys/class/infiniband/$dev" ]
}

# late: mlx5_ep has been loaded after mlx5_ib
late()
{
	stock
	modprobe -C "$tmp/no_softdep" mlx5_ep
	[ "$(cat "$ep/attached")" != yes ]
}

# The other test would prove nothing if its node did not lose the network where it must.
# With the softdep, 6.12 refuses this: mlx5_ib needs ib_uverbs there, which is to go first.
control()
{
	network_up
	stock
	network_is_there stock
	modprobe -C "$tmp/no_softdep" -r mlx5_ib
	must_fail network_is_there 'modprobe -r'
	network_ends
}

# runs STATE COMMAND: runs the command in this state. $tmp/lost then has it if the network
# is not as before, and $tmp/worked if it is, and the command succeeded.
runs()
{
	local status=0

	"$1"
	timeout $((60 * slowness)) bash -ec "$2" >"$tmp/said" 2>&1 || status=$?
	echo "# progress: $1: $2: exit status $status" >&3
	network_is_there "$2" || {
		echo "$1: $2" >>"$tmp/lost"
		network_ends
		network_up
		return 0
	}
	[ $status = 0 ] || return 0
	case $2 in
	*'mlx5ep attach '*) [ "$(cat "$ep/attached")" = yes ] || return 0 ;;
	esac
	echo "$2" >>"$tmp/worked"
}

# What does not work on a node without mlx5_ep is run on one that has it. A command that
# works in neither state tells nothing about the network.
keep_network()
{
	local line state

	network_up
	selftests/tool/reload_commands . >"$tmp/commands"
	cat "$tmp/commands"
	cut -f 2 "$tmp/commands" | sort -u >"$tmp/unique"
	[ "$(wc -l <"$tmp/unique")" -ge 4 ]
	touch "$tmp/worked" "$tmp/lost"
	while read -r line <&8; do
		for state in stock late; do
			runs $state "$line"
			! grep -qxF -e "$line" "$tmp/worked" || break
		done
	done 8<"$tmp/unique"
	network_ends
	[ ! -s "$tmp/lost" ] || fail "the network is gone after: $(cat "$tmp/lost")"
	sort -u "$tmp/worked" | diff "$tmp/unique" - ||
		fail 'these commands do not work'
}

# A netdev that comes back has the name that it had.
mkdir -p /etc/udev/rules.d
ln -s /dev/null /etc/udev/rules.d/80-net-setup-link.rules
a_node
# Where something holds ib_uverbs, which the softdep names, modprobe -r does nothing.
rmmod rdma_ucm

plan 2
check 'modprobe -r mlx5_ib takes the network away, and the test sees it' control
check 'each command that is printed leaves the network alone' keep_network
ktap_finished
