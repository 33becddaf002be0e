#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, guest: events, smp: 2, mem: 2G, timeout: 120
#
# What happens in the middle of non-blocking collectives: a process is killed, forks
# or unmaps what it sends, the policy changes, the device is unbound. Results stay
# right, or all processes have an error within seconds; nothing hangs, and nothing
# is left.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

limit=$((20 * patience))

objects()
{
	hca_objects 'qp, xrcd, srq, pd, cq'
}

attached()
{
	[ "$(cat "$ep/attached" 2>/dev/null)" = yes ]
}

# job ARGUMENT...: ends with right results, and leaves nothing
job()
{
	timeout "$limit" nbc_events "$@" >"$tmp/out" 2>&1 ||
		fail "nbc_events $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out" ||
		fail "$(cat "$tmp/out")"
	becomes 10 "$base" objects
}

# begun ARGUMENT...: a job in the background, which is under way; sets job
begun()
{
	rm -f "$tmp/stop"
	timeout "$limit" nbc_events "$@" -w "$tmp/stop" >"$tmp/out" 2>&1 &
	job=$!
	wait_for 10 grep -q 'under way' "$tmp/out" || fail 'it did not begin'
}

forks()
{
	job -n 2 -f
	job -n 3 -f -g thread
}

unmaps()
{
	job -n 2 -x -r 4
	job -n 1 -p 3 -x -r 4 -g event -l write
}

policies()
{
	local policy

	begun -n 3 -c static -r 2
	for policy in independent shared-uar shared-uuar stock; do
		ep_policy $policy
		sleep 0.2
	done
	touch "$tmp/stop"
	wait $job || fail "exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out"
	becomes 10 "$base" objects
}

death()
{
	local how ms

	for how in poll thread; do
		code 1 timeout "$limit" nbc_events -n 3 -k 1 -g $how
		ms=$(sed -n 's/.* killed=1 told=2 failed=0 passed=0 ms=//p' \
			"$tmp/out")
		[ -n "$ms" ] || fail 'not all were told'
		[ "$ms" -lt $((5000 * patience)) ] || fail "told after $ms ms"
		becomes 10 "$base" objects
	done
}

# Each process has an error, and is not killed by the time limit.
removal()
{
	local how status

	for how in poll event thread; do
		begun -n 2 -g $how
		ib_unbind
		status=0
		wait $job || status=$?
		cat "$tmp/out"
		ib_bind
		wait_for 10 attached || fail 'not attached again'
		[ "$status" = 1 ] || fail "-g $how: exit status $status"
		[ "$(grep -c '^nbc_events: process [01]: ' "$tmp/out")" = 2 ]
	done
	job -n 2 -r 2
}

# The driver creates some objects at the first memory region.
timeout "$limit" nbc_events -r 1 >/dev/null
base=$(objects)
plan 6
check 'processes that fork go on' forks
check 'memory that is unmapped while it is sent stops nobody' unmaps
check 'the policy may change at any time' policies
check 'a killed process is an error at all others' death
check 'a device that goes is an error at all processes' removal
# uverbs destroys the QPs before it unmaps the UAR pages: see attach_cycle.
check 'the HCA has nothing else to complain of' hca_clean 'bad_doorbell torn'
ktap_finished
