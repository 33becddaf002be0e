#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 180
#
# What timeline records of a barrier is the cable's time, and where nothing can be
# recorded it says why.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

latency=20000	# microseconds
recording=/sys/kernel/tracing/instances/timeline

timeline()
{
	timeout $((60 * patience)) workloads/timeline/timeline -o "$tmp/run" "$@" \
		>"$tmp/out" 2>"$tmp/err"
}

no_time()
{
	code 2 timeline true
	grep -q 'start the guest with --cable' "$tmp/err"
}

# said FILTER
said()
{
	jq -e ".otherData | $1" "$tmp/run/timeline.json" >"$tmp/said" ||
		fail "$1: $(jq -c .otherData "$tmp/run/timeline.json")"
}

# A barrier of two is over when each has heard of the other: that is one latency, and
# another one where the two did not begin at once.
barrier()
{
	hca_cable_time latency=$latency,rate=20
	timeline -s 'barrier 64 alone' nbc_overlap -t 3 -r 1 -z 64 ||
		fail "exit status $?: $(cat "$tmp/err")"
	cat "$tmp/out"
	said '.threads | map(.thread | startswith("rank ")) == [true, true]'
	said '.messages | length > 1 and all((.arrived | tonumber) - (.left | tonumber) |
		. > 19.98 and . < 20.02)'
	said '.waited[2] | .["the end waited for"] == "the latency of the cable" and
		((.ms | tonumber) >= 19.98)'
	said '(.waited | map(.ms | tonumber) | add) - .ms | . > -0.1 and . < 0.1'
	said '.["clocks differ by at most, ms"] < 20'
	[ -s "$tmp/run/timeline.svg" ]
}

# Of the other slices too, without a new run
again()
{
	workloads/timeline/report -s 'alltoall 64 beside' "$tmp/run" >"$tmp/out"
	grep -q '^alltoall 64 beside: ' "$tmp/out"
	said '.messages | length > 1'
}

failures()
{
	code 3 timeline sh -c 'exit 3'
	grep -q 'sh failed: exit status 3' "$tmp/err"
	code 2 timeline no-such-program
	grep -q 'no-such-program: No such file' "$tmp/err"
	code 2 timeline
	code 2 timeline -x
}

# A signal ends the program, and the recording as if it had ended by itself.
signalled()
{
	code 143 timeline sh -c 'sleep 1; kill -TERM $PPID; exec sleep 60'
	grep -q 'sh failed: exit status 143' "$tmp/err"
	grep -q '^the whole run: ' "$tmp/out"
	ended
}

killed()
{
	code 137 timeline sh -c 'kill -KILL $PPID'
	code 2 timeline true
	grep -q "was killed while recording: rmdir $recording" "$tmp/err"
	rmdir "$recording"
	timeline true
}

# Neither the kernel nor the adapters record any more.
ended()
{
	[ ! -e "$recording" ]
	simhca-ctl '{"op":"trace"}' | jq -e '.on == false and .trace == []'
}

plan 8
check 'a cable that takes no time is refused, with the remedy' no_time
check 'what a barrier waits for is the cable' barrier
check 'what is recorded can be shown again' again
check 'the exit status is that of the program' failures
check 'a signal ends the program and the recording' signalled
check 'after a recorder that was killed, the remedy is told' killed
check 'nothing is recorded afterwards' ended
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
