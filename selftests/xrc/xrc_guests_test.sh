#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 480
#
# The X-SRQ workload over two nodes. Each node is a guest with an HCA, and the
# simulated cable joins the HCAs. The nodes find each other over IP: over InfiniBand,
# or on the Ethernet ports themselves.
#
# With the argument "node" this script is what runs in each guest.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/guests.sh
. lab/guests.sh

objects()
{
	hca_objects 'qp, xrcd, srq, pd, cq' "$MLX5_EP_GUEST"
}

node()
{
	local base dev

	[ "$link" = eth ] || modprobe ib_ipoib
	wait_for 20 guest_netdev >/dev/null
	dev=$(guest_netdev)
	ip addr add "10.45.0.$((MLX5_EP_GUEST + 1))/24" dev "$dev"
	ip link set "$dev" up
	# The driver creates some objects at the first memory region, so
	# register one first.
	xsrq -n 2 -p 1 -s 1 -m 1 >/dev/null
	base=$(objects)
	xsrq -n 2 -p 3 -s 2 -m 10 -i "$MLX5_EP_GUEST" -a 10.45.0.1,10.45.0.2
	becomes 10 "$base" objects
	hca_clean '' "$MLX5_EP_GUEST"
}

two_guests()
{
	local line

	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --hca 2 --guests 2 \
		--link "$link" --timeout 450 -- "$0" node >"$tmp/out" 2>&1 || {
		tail -n 40 "$tmp/out"
		fail 'a guest failed'
	}
	line='qps_per_node=6 expected=6 bsrq_qps_per_node=18 messages=180'
	[ "$(grep -c "$line lost=0 corrupt=0" "$tmp/out")" = 2 ] ||
		fail "$(cat "$tmp/out")"
}

if [ "${1:-}" = node ]; then
	node
	exit
fi
plan 1
check 'two guests wire up and all messages arrive' two_guests
ktap_finished
