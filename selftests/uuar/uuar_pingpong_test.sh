#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, timeout: 400
#
# Unmodified programs of Debian under every policy: rdma-core's ping-pongs,
# which check the data, and perftest.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/uuar/pair.sh
. selftests/uuar/pair.sh

policies='stock independent shared-uar shared-uuar'
pingpongs='rc uc ud srq'
perftests='ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw'

gid=()
[ "$link" = ib ] || gid=(-g "$(gid_index)")

pingpong()
{
	pair 18515 "ibv_$1_pingpong" -d "$dev" "${gid[@]}" -n 64 -s 1024 -c
}

perftest()
{
	local extra=()

	[ "$1" = ib_atomic_bw ] || extra=(-s 4096)
	pair 18516 "$1" -d "$dev" -p 18516 -n 64 -F -q 2 "${extra[@]}"
}

plan 40
for policy in $policies; do
	ep_policy "$policy" 4
	simhca-ctl reset >/dev/null
	for kind in $pingpongs; do
		check "ibv_${kind}_pingpong under $policy" pingpong "$kind"
	done
	for program in $perftests; do
		check "$program under $policy" perftest "$program"
	done
	check "the HCA has nothing to complain of under $policy" hca_clean
	check "no UAR page is left in use under $policy" \
		becomes 5 0 ep_get uar_in_use
done
ep_policy stock
ktap_finished
