#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, hca: 2, timeout: 400, config: INFINIBAND_IPOIB
#
# Kernel users of the device are not affected by the module. IP runs between two
# HCAs, alone and while a managed program runs: over InfiniBand, or as frames of
# Ethernet ports. Over it, programs of librdmacm connect through the kernel's
# connection manager.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

other=mlx5_1

# kernel_qps: prints number and UAR page of each kernel QP, as simhca knows them
kernel_qps()
{
	simhca-ctl dump |
		jq -c '[.hcas[].qps[] | select(.user | not) | [.type, .uar]] | sort'
}

ip_up()
{
	wait_for 10 netdev_of "$dev" >/dev/null
	wait_for 10 netdev_of "$other" >/dev/null
	ip netns add peer
	ip addr add 10.44.0.1/24 dev "$(netdev_of "$dev")"
	ip link set "$(netdev_of "$dev")" up
	ip link set "$peer_dev" netns peer
	ip -n peer addr add 10.44.0.2/24 dev "$peer_dev"
	ip -n peer link set "$peer_dev" up
	ip -n peer link set lo up
	wait_for 20 ping -c 1 -W 1 10.44.0.2 >/dev/null ||
		fail "$(ip addr; ip -n peer addr)"
}

ping_all()
{
	ping -c 20 -i 0.05 -W 2 -q 10.44.0.2
	ping -c 5 -i 0.05 -W 2 -s 1800 -q 10.44.0.2
}

while_managed()
{
	uuar_traffic -q -n 16 -r 30 &
	ping_all
	wait $!
}

cm_listens()
{
	rdma resource show cm_id | grep 'state LISTEN' >/dev/null
}

# rping POLICY: every byte that comes back is compared (-V)
rping_passes()
{
	local server status=0

	ep_policy "$1" 4
	modprobe rdma_ucm
	ip netns exec peer rping -s -C 20 -V -a 10.44.0.2 >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 cm_listens || fail "the server does not listen"
	timeout $((60 * patience)) rping -c -C 20 -V -a 10.44.0.2 || status=$?
	[ $status -eq 0 ] || kill $server
	wait $server || status=$?
	cat "$tmp/server"
	return $status
}

plan 7
ep_policy independent 16
# The driver creates its UMR queue pair for the first user, and keeps it.
uuar_traffic -q -n 1 -r 1
uuar_traffic -q -d "$other" -n 1 -r 1
simhca-ctl reset >/dev/null
if [ "$link" = ib ]; then
	modprobe ib_ipoib
	wait_for 10 netdev_of "$other" >/dev/null
fi
peer_dev=$(netdev_of "$other")
check 'IP comes up between the HCAs' ip_up
check 'ping passes' ping_all
before=$(kernel_qps)
check 'ping passes while a managed program runs' while_managed
check 'the kernel has the QPs that it had, on the same pages' \
	[ "$(kernel_qps)" = "$before" ]
check 'rping connects and passes under stock' rping_passes stock
check 'rping connects and passes under a policy' rping_passes independent
check 'the HCAs have nothing to complain of' both_clean
ip netns del peer 2>/dev/null || true
if [ "$link" = ib ]; then
	wait_for 10 modprobe -q -r ib_ipoib || true
else
	ip addr del 10.44.0.1/24 dev "$(netdev_of "$dev")"
	wait_for 10 grep -q ACTIVE "/sys/class/infiniband/$other/ports/1/state"
fi
ep_policy stock
ktap_finished
