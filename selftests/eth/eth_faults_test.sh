#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: eth-faults, hca: 2, link: eth, timeout: 600, long: yes
#
# An adapter with an Ethernet port loses its cable, is reloaded, reset and unplugged,
# and its firmware dies. Each time a program under a policy posts to its QPs, and TCP
# moves data between the two adapters. Afterwards the module is attached with the same
# settings, and frames and messages arrive again.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh

pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
kinds='uar, uar_held, pd, td, cq, qp, mkey, rq, sq, tir, tis, rqt, flow_table, flow_group'

messages()
{
	in_a uuar_traffic -q -n 4 "$@"
}

# The netdev of a device that was made again is in the first network namespace.
first_end_up()
{
	a=$(basename /sys/class/infiniband/"$dev"/device/net/*)
	[ "$a" = '*' ] || end_up a "$a" 1
}

# The kernel may not resolve an address of a new netdev at once, and says ETIMEDOUT.
messages_pass()
{
	simhca-ctl reset >/dev/null
	messages -r 1
}

# Both kinds of traffic run, with the settings from before.
usable()
{
	wait_for 60 attached || fail 'not attached'
	first_end_up
	wait_for 20 gid_there || fail 'no GID'
	becomes 20 0 ep_get uar_in_use
	[ "$(ep_get uuar_policy) $(ep_get uuar_pages)" = 'independent 8' ]
	wait_for 20 messages_pass || fail 'no messages'
	[ "$(hca_pages_rung)" = 4 ]
	wait_for 20 in_a ping -c 1 -W 2 192.0.2.2
	moved 192.0.2.2 300007
}

# begin: starts both kinds of traffic, which go on until they are ended or fail
begin()
{
	messages -r 1000000 >"$tmp/messages" 2>&1 &
	poster=$!
	wait_for 10 sh -c "mlx5ep -j -d $dev show contexts | grep -q uuar_traffic"
	in_b timeout 300 simhca/guest/transfer.py listen 192.0.2.2 5002 50000017 \
		>"$tmp/listen" 2>&1 &
	listener=$!
	in_a timeout 300 simhca/guest/transfer.py connect 192.0.2.2 5002 50000017 \
		>"$tmp/connect" 2>&1 &
	connecter=$!
	sleep 1
	kill -0 $poster $listener $connecter || fail 'the traffic ended by itself'
}

end()
{
	kill -9 "$@" 2>/dev/null || :
	wait "$@" 2>/dev/null || :
}

# under_traffic CMD...: twice with traffic and once without
under_traffic()
{
	local i

	for i in 1 2; do
		begin
		"$@"
		end $poster $listener $connecter
		usable
	done
	"$@"
	usable
}

# The cable is out for a moment, again and again. TCP goes on afterwards. A QP gives up
# after 7 retries of 67 ms, and its program is told so.
cable()
{
	local peer i

	messages -r 300 >"$tmp/messages" 2>&1 &
	poster=$!
	moved 192.0.2.2 3000017 &
	peer=$!
	for i in 1 2 3; do
		hca_cable 0 down
		becomes 20 0 in_a cat /sys/class/net/"$a"/carrier
		hca_cable 0 up
		becomes 20 1 in_a cat /sys/class/net/"$a"/carrier
	done
	wait $peer
	wait $poster || grep 'retry counter exceeded' "$tmp/messages"
	usable
}

# reloaded CMD...: after CMD the device is another one
reloaded()
{
	local was

	was=$(stat -L -c %i "$ep")
	"$@"
	wait_for 60 made_again "$was" || fail 'no other device is attached'
}

# The driver takes an adapter back once in 20 minutes, if it is not told otherwise.
may_recover()
{
	devlink health set "pci/$pci" reporter fw_fatal grace_period 0
}

firmware_dies()
{
	may_recover
	reloaded simhca-ctl '{"op":"fault","kind":"fatal"}'
}

function_reset()
{
	may_recover
	reloaded eval "echo 1 >/sys/bus/pci/devices/$pci/reset"
}

unplugged()
{
	echo 1 >"/sys/bus/pci/devices/$pci/remove"
	[ ! -e "$ep" ] || fail 'attributes without a device'
	echo 1 >/sys/bus/pci/rescan
}

objects()
{
	hca_objects "$kinds"
}

# The driver makes objects of the port a little after the device was bound.
same_objects()
{
	becomes 30 "$base" objects
}

ends_up
ep_policy independent 8
plan 8
check 'traffic' usable
base=$(objects)
check 'the cable is pulled while data moves' cable
check 'devlink reloads the driver under traffic' under_traffic \
	reloaded devlink dev reload "pci/$pci"
check 'the firmware dies under traffic' under_traffic firmware_dies
check 'the function is reset under traffic' under_traffic function_reset
check 'the adapter is unplugged under traffic' under_traffic unplugged
check 'the HCA holds what it held before' same_objects
check 'the other HCA has nothing to complain of' hca_clean '' 1
ktap_finished
