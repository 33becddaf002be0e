#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 30
#
# Split-C on active messages: what gets, puts, stores, bulk accesses, waits and
# barriers leave in the memory of all processes. A program that does not wait
# finds wrong values.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=workloads/test/told.sh
. workloads/test/told.sh

# ops ARGUMENT...: all checks hold
ops()
{
	timeout $((10 * patience)) splitc_ops "$@" >"$tmp/out" 2>&1 ||
		fail "splitc_ops $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out"
}

unwaited()
{
	code 1 timeout $((10 * patience)) splitc_ops -f
	grep -q ' wrong=[1-9]' "$tmp/out"
}

# In the middle of a bulk put, and before a barrier.
death()
{
	local how

	for how in poll event thread; do
		code 1 timeout $((10 * patience)) splitc_ops -n 3 -k 1 -g $how
		told 'killed=1 told=2 failed=0 passed=0' "$tmp/out"
	done
	code 1 timeout $((10 * patience)) splitc_ops -n 3 -E 2
	told 'killed=0 told=2 failed=1 passed=0' "$tmp/out"
}

plan 7
check 'two processes that poll' ops
check 'three processes, one credit, asleep on the channel' ops -n 3 -q 1 -g event -r 2
check 'four processes with helper threads' ops -p 2 -g thread -r 2
check 'five processes of one node' ops -n 1 -p 5 -r 1
check 'without waits values are wrong' unwaited
check 'a killed process or an error ends the job' death
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
