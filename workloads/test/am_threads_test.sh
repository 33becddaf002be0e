#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 120
#
# Several threads of each process use its transport at once: messages, active
# messages and collectives of each have the right bytes, whoever looks for
# completions. The HCAs have as many QPs as without threads, and ThreadSanitizer
# finds no data race.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=workloads/test/told.sh
. workloads/test/told.sh

# made: prints how many QPs the HCAs have created so far
made()
{
	simhca-ctl dump | jq '[.hcas[].commands.CREATE_QP.count // 0] | add'
}

# threads PROGRAM ARGUMENT...: all bytes and results are right
threads()
{
	timeout $((20 * patience)) "$@" >"$tmp/out" 2>&1 ||
		fail "$*: exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out"
}

# Two nodes of two processes have 16 QPs, with one thread and with five.
qps()
{
	local n before

	for n in 1 5; do
		before=$(made)
		threads am_threads -p 2 -t $n -r 1 -c static
		[ $(($(made) - before)) = 16 ] ||
			fail "$(($(made) - before)) QPs were created"
	done
}

# Whatever the threads of the processes wait for, they are told within seconds.
ends()
{
	local how

	for how in poll event thread; do
		code 1 timeout $((20 * patience)) am_threads -n 3 -k 1 -g $how
		told 'killed=1 told=2 failed=0 passed=0' "$tmp/out"
		code 1 timeout $((20 * patience)) am_threads -n 3 -E 1 -g $how
		told 'killed=0 told=2 failed=1 passed=0' "$tmp/out"
	done
}

races()
{
	local how

	for how in poll event thread; do
		threads build/selftests/tsan/am_threads -t 3 -r 2 -g $how
	done
}

plan 8
check 'two processes of four threads that poll' threads am_threads
check 'four processes of three threads, asleep on the channel' \
	threads am_threads -p 2 -t 3 -r 3 -g event
check 'three processes of four threads, and helper threads' \
	threads am_threads -n 3 -r 4 -g thread
check 'one credit, one request in each send queue, the sender writes' \
	threads am_threads -q 1 -Q 1 -l write -r 3 -g thread
check 'threads need no QPs' qps
check 'a killed process or an error ends all threads' ends
check 'ThreadSanitizer finds no data race' races
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
