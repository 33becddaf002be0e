#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: eswitch, hca: 2, link: eth, eswitch: yes, module: no, smp: 2, timeout: 240, config: MLX5_ESWITCH
#
# Stock drivers bring the e-switch of an HCA into switchdev mode, where the netdev is the
# representor of the uplink, and back. Frames go by the tables of the e-switch then.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh
# shellcheck source=simhca/guest/eswitch.sh
. simhca/guest/eswitch.sh

kinds='flow_table, flow_group, flow, tir, rq, qp, mkey, pd'

pings()
{
	in_a ping -c 3 -i 0.2 -W $((5 * slowness)) 192.0.2.2
	in_b ping -c 3 -i 0.2 -s 5000 -W $((5 * slowness)) 192.0.2.1
	in_a ping -c 1 -W $((5 * slowness)) 2001:db8::2
	in_b ping -c 1 -W $((5 * slowness)) "ff02::1%$b"
}

# Without tables frames go straight to the cable, and nothing counts them.
starts_legacy()
{
	[ "$(mode) $(switch on) $(switch tables)" = 'legacy false 0' ]
	pings
	[ "$(switch manager)" = 0 ]
}

# Of the frames of pings() each HCA gets at least 8, and each HCA sends as many.
by_the_tables()
{
	representor
	[ "$(switch tables)" -ge 2 ]
	simhca-ctl reset >/dev/null
	pings
	[ "$(switch uplink)" -ge 8 ] || fail "$(switch uplink) to the cable"
	[ "$(switch manager)" -ge 8 ] || fail "$(switch manager) from the cable"
	[ "$(switch on 1) $(switch manager 1)" = 'false 0' ]
}

transfer()
{
	moved 192.0.2.2 4000037
	[ "$(in_a ethtool -S "$a" | awk '$1 == "tx_tso_packets:" { print $2 }')" -gt 0 ]
}

# The port goes down and up: the representor sees it as the netdev did.
cable()
{
	hca_cable 0 down
	becomes 20 0 cat "/sys/class/net/$a/carrier"
	hca_cable 0 up
	carrier
	pings
}

both()
{
	in_b devlink dev eswitch set "$pci_b" mode switchdev
	becomes 20 1 in_b cat "/sys/class/net/$b/carrier"
	[ "$(switch on 1)" = true ]
	pings
	[ "$(switch manager 1)" -ge 8 ]
	moved 192.0.2.2 4000037
	in_b devlink dev eswitch set "$pci_b" mode legacy
	becomes 20 1 in_b cat "/sys/class/net/$b/carrier"
	[ "$(switch on 1)" = false ]
}

# What the driver made for the mode is gone, and frames go as before.
and_back()
{
	legacy
	[ "$(hca_objects "$kinds")" = "$(cat "$tmp/before")" ] ||
		fail "$(hca_objects "$kinds"), not $(cat "$tmp/before")"
	simhca-ctl reset >/dev/null
	pings
	[ "$(switch uplink) $(switch manager)" = '0 0' ]
}

again()
{
	local i

	for i in 1 2; do
		representor
		pings
		legacy
	done
	[ "$(hca_objects "$kinds")" = "$(cat "$tmp/before")" ]
	pings
}

eswitch_ends_up
plan 8
check 'without tables frames go straight' starts_legacy
hca_objects "$kinds" >"$tmp/before"
check 'in switchdev mode the tables forward each frame' by_the_tables
check 'TCP carries data, compared at both ends' transfer
check 'the representor follows the cable' cable
check 'both HCAs in switchdev mode' both
check 'back in legacy mode nothing is left' and_back
check 'and again' again
check 'simhca counted no error' both_clean
ktap_finished
