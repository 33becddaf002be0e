#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 1, mem: 1G, icount: yes, timeout: 300
#
# The table of am_logp has each primitive, policy and category, with instructions and
# with the time of the guest's clock, and the two agree: an instruction takes a
# nanosecond, so no message takes less time than its instructions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export UCX_TLS=rc_x UCX_NET_DEVICES=mlx5_0:1 UCX_VFS_ENABLE=n

# all FILTER: holds for the table
all()
{
	jq -e "$1" "$tmp/table" >/dev/null || {
		cat "$tmp/table"
		fail "$1"
	}
}

table()
{
	timeout $((200 * patience)) build/selftests/bench/am_logp -j >"$tmp/table"
	all '(.primitives | length) == 29'
	all '[.primitives[] | select(.primitive == "splitc barrier")] | length == 1'
	# Each primitive but raw verbs, a reply and a rendezvous of UCX, and the barrier.
	all '[.adds[] | select(.what == "per byte (G)")] | length == 12'
	all '[.placements[].category] | unique | length == 6'
	all '[.placements[].policy] | unique | length == 4'
	all '[.adds[].what] | unique == ["event", "event, asleep",
			"per byte (G)", "polling", "registration"]'
}

ordered()
{
	all '[.primitives[], .placements[]
	      | .time_low <= .time and .time <= .time_high] | all'
	all '[.adds[] | .time | type == "number"] | all'
}

# A message that is alone does what those of a burst do, and nothing is shared.
no_less_than_instructions()
{
	all '[.primitives[], .placements[] | .time_low >= .latency] | all'
	all '[.adds[] | select(.what == "polling" or .what == "registration")
	      | .time >= .instructions] | all'
}

# What is on top of verbs costs more than verbs do. Instructions say so: in the time there
# is the wait for the adapter too, which is as quick as the machine under the guest.
ratios()
{
	all '.primitives[] | select(.primitive == "verbs RDMA write") | .ratio == 1'
	all '[.primitives[] | select(.primitive | startswith("am_request"))
	      | .ratio > 2] | all'
}

plan 4
check 'each primitive, policy and category is in the table' table
check 'each has its time by the clock of the guest, with its spread' ordered
check 'no message takes less time than its instructions' \
	no_less_than_instructions
check 'active messages cost more than a raw RDMA write' ratios
ktap_finished
