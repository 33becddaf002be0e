#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# What timeline says of a recording that is made up: two processes, of which one sends the
# other a message of 2000 bytes, over a cable of 2 ms and a megabyte a second.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# at MS: the time as a trace has it; the clock of the adapters is a second behind
at()
{
	printf '10.%03d000' "$1"
}

# mark MS TID TEXT
mark()
{
	echo "  prog-$2 ($2) [000] ....  $(at "$1"): tracing_mark_write: $3"
}

# runs MS TID, sleeps MS TID: a processor takes it up, and lets it go
runs()
{
	echo "  <idle>-0 (---) [000] d..2. $(at "$1"): sched_switch: prev_comm=swapper/0" \
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=$2 next_prio=120"
}

sleeps()
{
	echo "  prog-$2 ($2) [000] d..2. $(at "$1"): sched_switch: prev_comm=prog" \
		"prev_pid=$2 prev_prio=120 prev_state=${3-S} ==> next_comm=swapper/0 next_pid=0 next_prio=120"
}

# Process 31 sends at 3 ms and waits asleep; 32 looks at 13 ms and sends 0 bytes back at 15.
trace()
{
	local pid

	echo '# tracer: nop'
	for pid in 31 32; do
		echo "  timeline-30 (30) [000] .... $(at 0): sched_process_fork:" \
			"comm=timeline pid=30 child_comm=timeline child_pid=$pid"
		runs 0 $pid
		mark 0 $pid "I|$pid|rank $((pid - 31))"
		mark 1 $pid "B|$pid|sum 8"
		mark 1 $pid "B|$pid|begin"
		mark 3 $pid "E|$pid"
	done
	sleeps 3 32
	mark 3 31 'B|31|wait'
	sleeps 4 31
	runs 13 32
	mark 13 32 'B|32|test'
	mark 15 32 'E|32'
	mark 15 32 'E|32'
	sleeps 16 32
	echo "  <idle>-0 (---) [000] dNh2. $(at 17): sched_wakeup: comm=prog pid=31 prio=120 target_cpu=000"
	runs 18 31
	mark 19 31 'E|31'
	mark 19 31 'E|31'
	sleeps 20 31 R
}

# event JSON: with times in milliseconds of the guest's clock
adapters()
{
	jq -n '
		def ns: if . == 0 then 0 else (. + 9000) * 1000000 end;
		{latency: 2000, rate: 1, recorder: 30, span: [10000000000, 10025000000],
		 lost: {adapters: 0, kernel: 0},
		 clocks: [[10000000000, 9000000000, 1000], [10030000000, 9030000000, 2000]],
		 events: [
			{kind: "ring", hca: 0, qpn: 7, begun: 3},
			{kind: "message", op: "SEND", hca: 0, to: 1, qpn: 7, bytes: 2000, failed: false,
			 begun: 4, left: 6, arrived: 8, done: 10},
			{kind: "ring", hca: 1, qpn: 8, begun: 15},
			{kind: "message", op: "SEND", hca: 1, to: 0, qpn: 8, bytes: 0, failed: false,
			 begun: 15, left: 15, arrived: 17, done: 19},
			{kind: "command", op: "CREATE_QP", hca: 1, failed: false, begun: 2, done: 2.5}] |
			map(with_entries(if .key | IN("begun", "left", "arrived", "done")
					 then .value |= ns else . end))}'
}

record()
{
	mkdir -p "$tmp/run"
	trace >"$tmp/run/trace"
	adapters >"$tmp/run/adapters.json"
}

# said FILTER: holds for what the JSON has beside the events
said()
{
	jq -e ".otherData | $1" "$tmp/run/timeline.json" >"$tmp/said" ||
		fail "$1: $(jq -c .otherData "$tmp/run/timeline.json")"
}

# From 1 ms to 19: 1 of sleep after the arrival, 2 of cable, 2 of work, 5 that nobody looks,
# 2 of cable, 2 on the line, 1 in the queue, 2 of work.
followed()
{
	record
	workloads/timeline/report -s 'sum 8' "$tmp/run" >"$tmp/out"
	grep -q '^sum 8: 18\.00 ms\.' "$tmp/out"
	said '.ms == 18'
	said '[.waited[].ms] == ["5.00", "6.00", "4.00", "2.00", "1.00"]'
	said '[.waited[].share | rtrimstr(" %") | tonumber] | add | . > 99.8 and . < 100.2'
	said '.threads[0].thread == "rank 0, prog 31"'
	# 1 to 4 and 18 to 19 of 18 ms; ready from 17 to 18
	said '.threads[0] | .running == "22.2 %" and .["ready, no processor"] == "5.6 %" and
		.asleep == "72.2 %"'
	said '.threads[1].["in calls"] == "22.2 %"'
	said '.adapters | .[0].bytes == "2000" and .[0].["line busy"] == "11.1 %" and
		.[1].commands == "1"'
	said '.messages[0] | [.rung, .began, .left, .arrived, .answered] ==
		["2.00", "3.00", "5.00", "7.00", "9.00"]'
}

# A viewer gets microseconds since the slice began.
events()
{
	jq -e '[.traceEvents[] | select(.name == "SEND: line" and .ts == 3000 and .dur == 2000 and
		.pid == "hca0" and .args.bytes == 2000)] | length == 1' "$tmp/run/timeline.json"
	jq -e '[.traceEvents[] | select(.pid == "end")] | map(.dur) | add == 18000' \
		"$tmp/run/timeline.json"
	jq -e '[.traceEvents[] | select(.name == "test" and .ts == 12000)] | length == 1' \
		"$tmp/run/timeline.json"
}

picture()
{
	python3 -c 'import sys, xml.dom.minidom as m
svg = m.parse(sys.argv[1]).documentElement
assert len(svg.getElementsByTagName("line")) > 2, "no arrows"
print(len(svg.getElementsByTagName("rect")))' "$tmp/run/timeline.svg" >"$tmp/boxes"
	[ "$(cat "$tmp/boxes")" -ge 20 ]
	grep -q 'SEND, 2000 bytes' "$tmp/run/timeline.svg"
}

# A window of a run has no end that waited.
window()
{
	workloads/timeline/report -w 10,20 "$tmp/run" >"$tmp/out"
	grep -q '^from 10 to 20 ms: 10\.00 ms\.' "$tmp/out"
	said 'has("waited") | not'
	said '.messages | length == 1'
	grep -q 'is followed in one slice' "$tmp/out"
}

refused()
{
	must_fail workloads/timeline/report -s 'sum 9' "$tmp/run" 2>"$tmp/err"
	grep -q "no slice 'sum 9'" "$tmp/err"
	grep -q '^ *2 sum 8$' "$tmp/err"
	must_fail workloads/timeline/report -s 'sum 8:2' "$tmp/run" 2>"$tmp/err"
	grep -q "no slice 'sum 8:2'" "$tmp/err"
	must_fail workloads/timeline/report -w 3,3 "$tmp/run" 2>"$tmp/err"
	grep -q 'is no window' "$tmp/err"
	must_fail workloads/timeline/report -w 1,2 -s 'sum 8' "$tmp/run" 2>"$tmp/err"
	echo 'prog 31 gibberish' >>"$tmp/run/trace"
	must_fail workloads/timeline/report "$tmp/run" 2>"$tmp/err" >"$tmp/out"
	grep -qx 'timeline: 1 lines of the trace are not understood' "$tmp/err"
}

plan 5
check 'the way to the end is followed back, without a gap' followed
check 'viewers of traces get events' events
check 'there is a picture' picture
check 'a window of the run has lanes and messages' window
check 'what is not there is refused' refused
ktap_finished
