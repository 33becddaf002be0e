#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 60
#
# Non-blocking collectives, random ones and many under way at once: their results
# are those of a serial run, for lengths that are copied and that are not, for all
# roots, types and groups, with schedules of both kinds, however long messages move
# and whoever looks for completions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# results ARGUMENT...: all are right
results()
{
	timeout $((20 * patience)) nbc_check "$@" >"$tmp/out" 2>&1 ||
		fail "nbc_check $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out"
}

# count NAME: prints a field of the last run
count()
{
	sed -n "s/.* $1=\([0-9]*\) .*/\1/p" "$tmp/out"
}

# Three schedules of each of four groups stay: more are built for the same collectives.
evicted()
{
	local built

	results -n 3 -r 8 -g thread
	built=$(count built)
	[ "$(count schedules)" = "$built" ]
	results -n 3 -k 3 -r 8 -g thread
	[ "$(count schedules)" -le 12 ]
	[ "$(count built)" -gt "$built" ]
}

unfinished()
{
	code 1 timeout $((20 * patience)) nbc_check -f -r 2
	grep -q ' wrong=[1-9]' "$tmp/out"
}

# What is measured where processes compute: each needs a processor of its own.
busy()
{
	timeout $((20 * patience)) nbc_overlap -n 2 -t 3 -r 1 -b >"$tmp/out"
	[ "$(grep -c '^overlap: lib=nbc tests=3 meanwhile=compute ' "$tmp/out")" = 31 ]
	code 1 timeout $((20 * patience)) nbc_overlap -n 3 -b
	grep -q 'No space left on device' "$tmp/err"
}

plan 9
check 'two processes' results
check 'three processes with one credit, few rounds, the sender writes' \
	results -n 3 -q 1 -l write -a rounds -s 2 -r 8
check 'four processes with helper threads, few bytes' \
	results -p 2 -g thread -a bytes -s 3 -r 8
check 'five processes of a node, asleep on the channel' \
	results -n 1 -p 5 -g event -s 4 -r 6
check 'four processes, one request in each send queue' \
	results -p 2 -Q 1 -g thread -s 5 -r 4
check 'a group keeps as many schedules as it may' evicted
check 'before the end results are wrong' unfinished
check 'the overlap of processes that compute has a figure for each' busy
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
