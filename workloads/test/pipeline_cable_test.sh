#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, timeout: 120
#
# The protocols for large messages between two adapters, on a cable that takes time: all
# bytes are right, and none is faster than the cable. With buffers that are used again the
# two that cache need little more time than it.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

rate=5	# MB/s: a message of 1 MiB takes 0.2 s

# rates REUSE: has each protocol move 1 MiB so often
rates()
{
	timeout $((60 * patience)) build/bin/pipeline -j -d mlx5_1 -b 1048576 -f 262144 \
		-m 4 -r "$1" >"$tmp/out" || fail "pipeline: exit status $?: $(cat "$tmp/out")"
	sed 's/^/# /' "$tmp/out" >>"$tmp/figures"
	jq -es 'map(.name) == ["copy", "register", "cache", "pipeline", "caching"]' "$tmp/out"
	jq -es 'all(.wrong == 0)' "$tmp/out"
}

slow()
{
	hca_cable_time "latency=1000,rate=$rate"
	rates 1
	jq -es "all(.value < $rate)" "$tmp/out"
}

used_again()
{
	rates 4
	jq -es "all(.value < $rate)" "$tmp/out"
	jq -es "[.[] | select(.name | startswith(\"cac\"))] | length == 2 and
		all(.value > 0.7 * $rate)" "$tmp/out"
}

fast()
{
	hca_cable_time latency=0,rate=0
	rates 4
	jq -es "any(.value > 2 * $rate)" "$tmp/out"
}

plan 4
check 'each protocol is slower than the cable, with new buffers' slow
check 'the caches need the time of the cable, with buffers that are used again' used_again
check 'without that cable they are faster' fast
check 'the HCA has nothing to complain of' hca_clean
cat "$tmp/figures"
ktap_finished
