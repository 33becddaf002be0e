#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 120
#
# The transport of the workloads: every byte of messages of many lengths arrives,
# however they move and whoever looks for completions; there are as many QPs as
# the paper says; memory that was mapped anew is not sent as it was before; a
# process that is killed, or that has an error of its own, is an error at all
# others, and nothing is left.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=workloads/test/told.sh
. workloads/test/told.sh

limit=$((40 * slowness))

objects()
{
	simhca-ctl dump | jq -c '[.hcas[].alive | {qp, xrcd, srq, pd, cq}]'
}

# made: prints how many QPs the HCAs have created so far
made()
{
	simhca-ctl dump | jq '[.hcas[].commands.CREATE_QP.count // 0] | add'
}

# field NAME: prints a field of the line with the figures
field()
{
	sed -n "s/.* qps_per_node=.* $1=\([^ ]*\).*/\1/p" "$tmp/out"
}

# job ARGUMENT...: runs messages; all bytes are right
job()
{
	timeout "$limit" messages "$@" >"$tmp/out" 2>&1 || {
		cat "$tmp/out"
		fail "messages $*"
	}
	cat "$tmp/out"
	grep -q ' wrong=0$' "$tmp/out" || fail 'wrong bytes'
}

# clean CMD...: runs it, and nothing is left
clean()
{
	"$@"
	becomes 10 "$base" objects
}

# qps NODES PPN QPS: the HCAs create so many QPs for each node. Where QPs are in
# thread domains, libmlx5ep creates more for a moment, to read their addresses.
qps()
{
	local before

	before=$(made)
	job -n "$1" -p "$2" -r 2 -c static
	[ $(($(made) - before)) = $(($1 * $3)) ] ||
		fail "$(($(made) - before)) QPs were created"
	grep -q " qps_per_node=$3 expected=$3 " "$tmp/out" ||
		fail 'other QPs were printed'
}

# connected: for each HCA, the XRC QPs that send to another HCA and receive from one,
# and those whose peer is on the same HCA. An HCA is a node. Each QP's peer names it.
connected()
{
	simhca-ctl dump | jq -r '
		.hcas as $hcas
		| ([$hcas[] | .port.lid as $lid | .qps[]
		    | select(.type | startswith("xrc")) | . + {lid: $lid}]) as $qps
		| $hcas[].port.lid as $lid
		| [$qps[] | select(.lid == $lid and .state == "rts")
		   | . as $qp
		   | select(any($qps[]; .lid == $qp.remote_lid and
			.qpn == $qp.remote_qpn and .remote_qpn == $qp.qpn and
			.remote_lid == $lid and .type != $qp.type))
		   | .type + (if .remote_lid == $lid then "_within" else "" end)]
		| group_by(.) | map("\(.[0])=\(length)") | join(" ")'
}

# peers PPN WITHIN: how two nodes are connected while messages are under way
peers()
{
	local job here="xrc_ini=$1" status=0

	here+=${2:+ xrc_ini_within=$2}" xrc_tgt=$1"${2:+ xrc_tgt_within=$2}
	rm -f "$tmp/stop"
	timeout "$limit" am_events -p "$1" -c static -r 1 -w "$tmp/stop" \
		>"$tmp/out" 2>&1 &
	job=$!
	wait_for 20 grep -q 'under way' "$tmp/out" || fail 'it did not begin'
	connected >"$tmp/peers"
	touch "$tmp/stop"
	wait $job || status=$?
	[ $status = 0 ] || fail "$(cat "$tmp/out")"
	printf '%s\n' "$here" "$here" | diff - "$tmp/peers" ||
		fail 'other QPs are connected'
}

counts()
{
	qps 2 1 2
	qps 3 1 4
	qps 2 2 8
	qps 1 3 6
	peers 1 ''
	peers 2 2
	peers 3 3
}

modes()
{
	local how

	for how in poll event thread; do
		job -l "$1" -g $how -r 9
	done
	job -n 2 -p 2 -l "$1"
}

one_credit()
{
	local how

	for how in poll event thread; do
		job -q 1 -g $how -r 9
		[ "$(field credit_messages)" -gt 0 ]
		job -q 1 -g $how -r 9 -l write -n 3
		[ "$(field waited)" -gt 0 ]
	done
}

categories()
{
	local category

	for category in mpi-everywhere mpi-threads; do
		job -c $category -r 2
	done
	for category in 2xdynamic dynamic shared-dynamic static; do
		job -c $category -n 3 -r 2
	done
	code 1 timeout "$limit" messages -c mpi-everywhere -n 3
	grep -q 'Invalid argument' "$tmp/err"
}

# The same program without notifications sends what was there before.
remap()
{
	job -r 9 -n 1 -p 2
	[ "$(field stale)" -gt 0 ] || fail 'nothing was stale'
	code 1 timeout "$limit" messages -r 9 -n 1 -p 2 -u
	grep -q ' wrong=[1-9]' "$tmp/out" || fail 'nobody would see old bytes'
	code 1 timeout "$limit" messages -r 9 -n 1 -p 2 -u -l write
	grep -q ' wrong=[1-9]' "$tmp/out" || fail 'nobody would see old bytes'
}

# SIGUSR1 ends the helper thread, also where the program has blocked it.
blocked()
{
	timeout "$limit" env --block-signal=USR1 messages -g thread -r 1 >"$tmp/out" ||
		fail "exit status $?: $(cat "$tmp/out")"
	grep -q ' wrong=0$' "$tmp/out"
}

over_tcp()
{
	job -n 3 -m tcp:127.0.0.1:17400
}

# dies TOLD ARGUMENT...: so many processes are told within seconds
dies()
{
	local told=$1

	shift
	code 1 timeout "$limit" messages "$@"
	told "killed=1 told=$told failed=0 passed=0" "$tmp/out"
	[ "$(grep -c "dead: $victim\$" "$tmp/err")" = "$told" ]
}

death()
{
	local how

	victim=1
	for how in poll event thread; do
		dies 3 -n 2 -p 2 -g $how -k 1
	done
	dies 1 -n 2 -g event -k 1 -l write
	victim=0
	dies 2 -n 3 -g thread -k 0 -m tcp:127.0.0.1:17401
	victim=2
	dies 2 -n 3 -g event -k 2 -m tcp:127.0.0.1:17404
}

# Where the processes wait for each other, each way to meet tells of a death.
death_inside()
{
	dies_inside messages -k 1 -g event
	dies_inside messages -k 2 -g thread -m tcp:127.0.0.1:17406
	dies_inside messages -k 0 -m tcp:127.0.0.1:17407
}

# node I CMD...: a node of a job that has no end, in the background; sets jobs
node()
{
	timeout "$limit" "${@:2}" am_events -n 2 -i "$1" -g "$how" -r 2 \
		-m tcp:10.47.0.1:17408 -w "$tmp/never" >"$tmp/node$1" 2>&1 &
	jobs+=($!)
}

# The adapters still move bytes, and no connection is closed: the network of the
# meeting is gone.
no_network()
{
	local how=event job status since jobs=()

	ip netns add far
	ip link add near type veth peer name far netns far
	ip addr add 10.47.0.1/24 dev near
	ip link set near up
	ip -n far addr add 10.47.0.2/24 dev far
	ip -n far link set far up
	node 0 env
	node 1 nsenter --net=/run/netns/far
	wait_for 20 grep -q 'under way' "$tmp/node0" || fail 'it did not begin'
	ip link set near down
	since=$SECONDS
	for job in "${jobs[@]}"; do
		status=0
		wait "$job" || status=$?
		[ $status = 1 ] || fail "exit status $status: $(cat "$tmp"/node?)"
	done
	cat "$tmp"/node?
	# twelve seconds, and what a busy machine adds
	[ $((SECONDS - since)) -lt $((8 * patience)) ] ||
		fail "told after $((SECONDS - since)) seconds"
	ip link del near
	ip netns del far
	told 'killed=0 told=1 failed=0 passed=0' "$tmp/node0"
	told 'killed=0 told=1 failed=0 passed=0' "$tmp/node1"
}

# An error that one process has by itself, in the middle of messages.
one_error()
{
	local how

	for how in '-g poll' '-g event' '-g thread -l write' \
		'-m tcp:127.0.0.1:17402'; do
		# shellcheck disable=SC2086 # several words
		code 1 timeout "$limit" messages -n 3 $how -E 1
		told 'killed=0 told=2 failed=1 passed=0' "$tmp/out"
		[ "$(grep -c 'dead: -1$' "$tmp/err")" = 3 ]
	done
	code 1 timeout "$limit" messages -n 3 -m tcp:127.0.0.1:17403 -E 0
	told 'killed=0 told=2 failed=1 passed=0' "$tmp/out"
}

plan 13
timeout "$limit" messages -r 1 >/dev/null
base=$(objects)
check 'QPs of a node: as many as published' clean counts
check 'the receiver reads long messages' clean modes read
check 'the sender writes long messages' clean modes write
check 'one credit: messages wait and nothing stops' clean one_credit
check 'all categories of send queues' clean categories
check 'memory that was mapped anew is sent as it is now' clean remap
check 'a program that blocks SIGUSR1 ends' clean blocked
check 'processes meet over TCP' clean over_tcp
check 'a killed process is an error at all others' clean death
check 'so is one that is killed in a call' clean death_inside
if modprobe -q veth; then
	check 'the end of the network is an error within its bound' clean no_network
else
	ktap_test_skip 'the end of the network: the kernel has no veth'
fi
check 'an error of one process ends the job' clean one_error
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
