# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What happens in the middle of the messages of a job, for programs that are based
# on workloads/transport/events.h. A test sets program, sources this file, and calls
# all_events, which makes the 9 results.

# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=workloads/test/told.sh
. workloads/test/told.sh

# the program of the test
: "${program:?}"
limit=$((20 * patience))

objects()
{
	hca_objects 'qp, xrcd, srq, pd, cq'
}

# right STATUS: what the job printed is right, and nothing of it is left
right()
{
	[ "$1" = 0 ] || fail "exit status $1: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out" ||
		fail "$(cat "$tmp/out")"
	becomes 10 "$base" objects
}

# job ARGUMENT...: ends with right results, and leaves nothing
job()
{
	local status=0

	timeout "$limit" "$program" "$@" >"$tmp/out" 2>&1 || status=$?
	right $status
}

# begun ARGUMENT...: a job in the background, which is under way; sets job
begun()
{
	rm -f "$tmp/stop"
	timeout "$limit" "$program" "$@" -w "$tmp/stop" >"$tmp/out" 2>&1 &
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

# The checks can fail: the adapter has the memory of the round before.
without_notifications()
{
	code 1 timeout "$limit" "$program" -n 2 -u
	grep -q ' wrong=[1-9]' "$tmp/out"
}

# A policy is that of contexts opened from then on: a second job has it, beside the
# first one, which keeps what it has.
policies()
{
	local policy status=0

	begun -n 3 -c static -r 2
	for policy in independent shared-uar shared-uuar stock; do
		ep_policy $policy
		timeout "$limit" "$program" -n 2 -c static -r 1 \
			>"$tmp/second" 2>&1 || fail "$(cat "$tmp/second")"
		grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/second"
	done
	touch "$tmp/stop"
	wait $job || status=$?
	right $status
}

# others_told COUNTS OPTION...: something happens to one of three processes
others_told()
{
	code 1 timeout "$limit" "$program" -n 3 "${@:2}"
	told "$1" "$tmp/out"
	becomes 10 "$base" objects
}

death()
{
	local how

	for how in poll event thread; do
		others_told 'killed=1 told=2 failed=0 passed=0' -k 1 -g $how
	done
}

# asleep: prints how many threads of the job, whose processes are pids, sleep on a
# completion channel
asleep()
{
	# shellcheck disable=SC2048,SC2086 # several files
	grep -l -e poll -e uverbs ${pids[*]/%//task/*/wchan} 2>"$tmp/gone" | wc -l
}

# stopped: prints the processes of the job that are stopped
stopped()
{
	pgrep -x -r T "$program"
}

# sleep_again N: so many threads sleep at four of twelve looks, as each wakes up every
# 50 ms to look for the others; at all of them if they are none
sleep_again()
{
	local seen=0 i

	for i in {1..12}; do
		[ "$(asleep)" != "$1" ] || seen=$((seen + 1))
	done
	[ $seen -ge $(($1 ? 4 : 12)) ] || fail "$1 slept $seen times of $i"
}

# One process stops, so that the others find nothing to do. It is killed once they
# sleep, or poll.
death_of_stopped()
{
	local how sleepers job status pids

	for how in event thread poll; do
		timeout "$limit" "$program" -n 3 -S 1 -g $how >"$tmp/out" 2>&1 &
		job=$!
		wait_for 20 stopped || fail "-g $how: nobody stopped"
		mapfile -t pids < <(pgrep -x "$program" | sed 's|^|/proc/|')
		sleepers=2
		[ $how != poll ] || sleepers=0
		becomes 10 $sleepers asleep
		sleep_again $sleepers
		kill -KILL "$(stopped)"
		status=0
		wait $job || status=$?
		[ $status = 1 ] || fail "-g $how: exit status $status"
		told 'killed=1 told=2 failed=0 passed=0' "$tmp/out"
		becomes 10 "$base" objects
	done
}

# One process has an error of its own: the others have one too.
one_error()
{
	local how

	for how in poll event thread; do
		others_told 'killed=0 told=2 failed=1 passed=0' -E 0 -g $how
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
		[ "$(grep -c "^$program: process [01]: .*dead: -1\$" \
			"$tmp/out")" = 2 ] || fail "-g $how: who is dead?"
	done
	job -n 2 -r 2
}

all_events()
{
	# The driver creates some objects at the first memory region.
	timeout "$limit" "$program" -r 1 >/dev/null
	base=$(objects)
	check 'processes that fork go on' forks
	check 'memory that is unmapped while it is sent stops nobody' unmaps
	check 'without notifications old bytes arrive' \
		without_notifications
	check 'the policy may change at any time' policies
	check 'a killed process is an error at all others' death
	check 'so it is while they sleep on the completion channel' \
		death_of_stopped
	check 'an error of one process ends the job' one_error
	check 'a device that goes is an error at all processes' removal
	# uverbs destroys the QPs before it unmaps the UAR pages: see attach_cycle.
	check 'the HCA has nothing else to complain of' \
		hca_clean 'bad_doorbell torn'
}
