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

# at MS: the time as a trace has it; the clock of the adapters is a second behind, and slow
at()
{
	printf '10.%03d000' "$1"
}

# call MS TID TEXT: the mark of a call in a slice, if this recording has any
call()
{
	[ "${calls-yes}" = no ] || mark "$@"
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
# 99 is somebody else.
trace()
{
	local pid

	echo '# tracer: nop'
	echo "  other-98 (98) [001] .... $(at 0): sched_process_fork:" \
		"comm=other pid=98 child_comm=other child_pid=99"
	runs 0 99
	for pid in 31 32; do
		echo "  timeline-30 (30) [000] .... $(at 0): sched_process_fork:" \
			"comm=timeline pid=30 child_comm=timeline child_pid=$pid"
		runs 0 $pid
		mark 0 $pid "I|$pid|rank $((pid - 31))"
		mark 0 $pid "B|$pid|sum 8"
		call 0 $pid "B|$pid|begin"
		call 1 $pid "E|$pid"
		mark 1 $pid "E|$pid"
		mark 1 $pid "B|$pid|sum 8"
		call 1 $pid "B|$pid|begin"
		call 3 $pid "E|$pid"
	done
	sleeps 3 32
	call 3 31 'B|31|wait'
	sleeps 4 31
	runs 13 32
	call 13 32 'B|32|test'
	call 15 32 'E|32'
	mark 15 32 'E|32'
	sleeps 16 32
	echo "  <idle>-0 (---) [000] dNh2. $(at 17): sched_wakeup: comm=prog pid=31 prio=120 target_cpu=000"
	runs 18 31
	call 19 31 'E|31'
	mark 19 31 'E|31'
	sleeps 20 31 R
}

# event JSON: with times in milliseconds of the guest's clock
adapters()
{
	jq -n '
		def ns: if . == 0 then 0 else (. / 2 + 9000) * 1000000 end;
		{latency: 2000, rate: 1, recorder: 30, span: [10000000000, 10025000000],
		 lost: {adapters: 0, kernel: 0},
		 clocks: [[10000000000, 9000000000, 1000], [10030000000, 9015000000, 3000]],
		 events: [
			{kind: "ring", hca: 0, qpn: 7, request: 65535, begun: 3},
			{kind: "ring", hca: 0, qpn: 7, request: 0, begun: 3.5},
			{kind: "message", op: "SEND", hca: 0, to: 1, qpn: 7, request: 65535,
			 bytes: 2000, failed: false, begun: 4, left: 6, arrived: 8, done: 10},
			{kind: "ring", hca: 1, qpn: 8, request: 90, begun: 2},
			{kind: "ring", hca: 1, qpn: 8, request: 3, begun: 15},
			{kind: "message", op: "SEND", hca: 1, to: 0, qpn: 8, request: 3, bytes: 0,
			 failed: false, begun: 15.2, left: 15, arrived: 17, done: 19},
			{kind: "command", op: "CREATE_QP", hca: 1, failed: false, begun: 2, done: 2.5}] |
			map('"${1-.}"') |
			map(with_entries(if .key | IN("begun", "left", "arrived", "done")
					 then .value |= ns else . end))}'
}

# record [FILTER]: with this change of each event
record()
{
	mkdir -p "$tmp/run"
	trace >"$tmp/run/trace"
	adapters "$@" >"$tmp/run/adapters.json"
}

# refused TEXT OPTION...: the report fails and says so
refused()
{
	must_fail workloads/timeline/report "${@:2}" >"$tmp/out" 2>"$tmp/err"
	grep -q "$1" "$tmp/err"
}

# waited MS...: how long the end of "sum 8" waited for each of the five
waited()
{
	workloads/timeline/report -s 'sum 8' "$tmp/run" >"$tmp/out"
	said "[.waited[].ms] == $(printf '%s\n' "$@" | jq -R . | jq -cs .)"
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
	said '.ms == 18 and .["clocks differ by at most, ms"] == 0.003'
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
	said '.messages[1] | [.rung, .began, .left] == ["14.00", "14.00", "14.00"]'
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
lines = [line for line in svg.getElementsByTagName("line") if line.hasAttribute("marker-end")]
assert len(lines) == 2, "no arrows"
wide = [box for box in svg.getElementsByTagName("rect") if box.hasChildNodes()
        and box.firstChild.firstChild.data == "SEND, 2000 bytes"][0].getAttribute("width")
assert abs(float(wide) - 750 / 9) < 0.1, wide	# two of 18 ms
print(len(svg.getElementsByTagName("rect")))' "$tmp/run/timeline.svg" >"$tmp/boxes"
	[ "$(cat "$tmp/boxes")" -ge 20 ]
	grep -q 'SEND, 2000 bytes' "$tmp/run/timeline.svg"
}

# Of a message that is half way when a window begins there is half an arrow, and none of one
# that has arrived.
cut_off()
{
	record
	workloads/timeline/report -w 9,25 "$tmp/run" >"$tmp/out"
	[ "$(grep -c marker-end "$tmp/run/timeline.svg")" -eq 1 ]
	workloads/timeline/report -w 7,25 "$tmp/run" >"$tmp/out"
	python3 -c 'import sys, xml.dom.minidom as m
svg = m.parse(sys.argv[1]).documentElement
half, whole = [[float(line.getAttribute(y)) for y in ("y1", "y2")]
               for line in svg.getElementsByTagName("line") if line.hasAttribute("marker-end")]
assert half == [sum(whole) / 2, whole[0]], (half, whole)' "$tmp/run/timeline.svg"
}

# A window of a run has no end that waited.
window()
{
	workloads/timeline/report -w 10,25 "$tmp/run" >"$tmp/out"
	grep -q '^from 10 to 25 ms: 15\.00 ms\.' "$tmp/out"
	said 'has("waited") | not'
	said '.messages | length == 1'
	said '.adapters[1].commands == "0"'
	# from 17 to 18, and from 20 to 25 of 15 ms
	said '.threads | length == 2 and .[0].["ready, no processor"] == "40.0 %"'
	workloads/timeline/report -w 0,9 "$tmp/run" >"$tmp/out"
	said '.messages | length == 1'
	grep -q 'is followed in one slice' "$tmp/out"
	record 'if .kind == "message" and .hca == 0 then .done = 0 else . end'
	workloads/timeline/report -w 7,20 "$tmp/run" >"$tmp/out"
	said '.messages | length == 2'
}

# What a read reads leaves behind what the port of its target sends. That one sees none of it.
reads()
{
	record 'if .kind == "message" and .hca == 0 then .op = "RDMA_READ" else . end'
	waited 15.00 1.00 2.00 0.00 0.00
	record 'if .kind != "message" then . elif .hca == 1 then .failed = true
		else .op = "RDMA_READ" | .left = 4 | .arrived = 6 | .done = 12 end'
	waited 3.00 6.00 4.00 2.00 3.00
	said '.adapters | .[0].["line busy"] == "0.0 %" and .[1].["line busy"] == "11.1 %"'
	grep -q 'RDMA_READ, 2000 bytes: the bytes' "$tmp/run/timeline.svg"
}

# An answer is looked at too, in the order in which things are there.
answers()
{
	record 'if .kind == "message" and .hca == 0 then .done = 18.5 else . end'
	waited 2.50 0.00 12.50 2.00 1.00
}

# However short it runs
helper()
{
	record
	cat >>"$tmp/run/trace" <<-END
	  prog-32 (32) [000] .... $(at 2): sched_process_fork: comm=prog pid=32 child_comm=prog child_pid=33
	  <idle>-0 (---) [000] d..2. $(at 9): sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=33 next_prio=120
	  prog-33 (32) [000] d..2. 10.009100: sched_switch: prev_comm=prog prev_pid=33 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
	waited 9.00 2.00 4.00 2.00 1.00
	said '.threads | length == 3 and .[2].thread == "rank 1, prog 33 (thread)"'
	workloads/timeline/report "$tmp/run" >"$tmp/out"
	said '.threads | length == 2'
}

# A process that spins looks all the time, also while its helper thread runs.
two_threads()
{
	calls=no
	record
	unset calls
	sed -i -e '/10\.003000: sched_switch.* prev_pid=32 /d' \
		-e '/10\.013000: sched_switch.* next_pid=32 /d' "$tmp/run/trace"
	cat >>"$tmp/run/trace" <<-END
	  prog-32 (32) [000] .... $(at 1): sched_process_fork: comm=prog pid=32 child_comm=prog child_pid=33
	  <idle>-0 (---) [000] d..2. $(at 2): sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=33 next_prio=120
	  prog-33 (32) [000] d..2. $(at 3): sched_switch: prev_comm=prog prev_pid=33 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
	waited 10.00 1.00 4.00 2.00 1.00
}

no_calls()
{
	calls=no
	record
	unset calls
	waited 5.00 6.00 4.00 2.00 1.00
}

# What was in the same job before does not count.
two_jobs()
{
	local pid=21

	record
	{
		echo "  timeline-30 (30) [000] .... $(at 0): sched_process_fork:" \
			"comm=timeline pid=30 child_comm=timeline child_pid=$pid"
		runs 0 $pid
		mark 0 $pid "I|$pid|rank 0"
		mark 0 $pid "B|$pid|sum 8"
		mark 1 $pid "E|$pid"
		sed 1d "$tmp/run/trace"
	} >"$tmp/both"
	mv "$tmp/both" "$tmp/run/trace"
	waited 5.00 6.00 4.00 2.00 1.00
	said '.ms == 18'
}

# Nobody knows which adapter a rank has.
other_ranks()
{
	record
	sed -i 's/rank 1$/rank 2/' "$tmp/run/trace"
	workloads/timeline/report -s 'sum 8' "$tmp/run" >"$tmp/out"
	said 'has("waited") | not'
	grep -q 'is followed in one slice' "$tmp/out"
	sed -n 's/.*>\(port of hca.\|rank .\).*/\1/p' "$tmp/run/timeline.svg" >"$tmp/lanes"
	printf '%s\n' 'port of hca0' 'port of hca1' 'rank 0' 'rank 2' | diff - "$tmp/lanes"
}

names()
{
	record
	refused "no slice 'sum 9'" -s 'sum 9' "$tmp/run"
	grep -q '^ *4 sum 8$' "$tmp/err"
	refused "no slice 'sum 8:3'" -s 'sum 8:3' "$tmp/run"
	refused "no slice 'sum 8:0'" -s 'sum 8:0' "$tmp/run"
	refused "no slice 'sum 8:x'" -s 'sum 8:x' "$tmp/run"
	workloads/timeline/report -s 'sum 8:1' "$tmp/run" >"$tmp/out"
	grep -q '^sum 8:1: 1\.00 ms\.' "$tmp/out"
	mark 20 31 'B|31|nothing' >>"$tmp/run/trace"
	mark 20 31 'E|31' >>"$tmp/run/trace"
	refused "'nothing' is shorter than a microsecond" -s nothing "$tmp/run"
}

windows()
{
	record
	refused 'is no window' -w 3,3 "$tmp/run"
	refused 'a slice or a window' -w 1,2 -s 'sum 8' "$tmp/run"
	refused "$tmp/none/adapters.json: No such file" "$tmp/none"
}

# Also where nothing can be shown
lost()
{
	record
	jq '.lost.kernel = 7' "$tmp/run/adapters.json" >"$tmp/lost"
	mv "$tmp/lost" "$tmp/run/adapters.json"
	refused '^timeline: 7 events of the kernel are lost' -s 'sum 9' "$tmp/run"
	record
	echo 'prog 31 gibberish' >>"$tmp/run/trace"
	refused '^timeline: 1 lines of the trace are not understood$' "$tmp/run"
}

plan 15
check 'the way to the end is followed back, without a gap' followed
check 'viewers of traces get events' events
check 'there is a picture' picture
check 'a picture begins and ends where its window does' cut_off
check 'a window of the run has lanes and messages' window
check 'a read is seen by whoever reads' reads
check 'an answer is waited for' answers
check 'a helper thread looks' helper
check 'threads of a process look at the same time' two_threads
check 'a slice without calls looks as long as it runs' no_calls
check 'the last one of two jobs is shown' two_jobs
check 'ranks without an adapter of their number are not followed' other_ranks
check 'a slice that is not there is refused' names
check 'a window or a folder that is not there is refused' windows
check 'what is lost or not understood is told' lost
ktap_finished
