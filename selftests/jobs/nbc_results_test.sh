#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, hca: 2, mem: 2G, timeout: 30
#
# Non-blocking collectives, many under way at once: their results are those of a
# serial run, for lengths that are copied and that are not, for all roots, however
# long messages move and whoever looks for completions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# results ARGUMENT...: all are right
results()
{
	timeout $((10 * patience)) nbc_check "$@" >"$tmp/out" 2>&1 ||
		fail "nbc_check $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' checks=[1-9][0-9]* wrong=0$' "$tmp/out"
}

unfinished()
{
	code 1 timeout $((10 * patience)) nbc_check -f
	grep -q ' wrong=[1-9]' "$tmp/out"
}

plan 6
check 'two processes' results
check 'three processes with one credit, the sender writes' \
	results -n 3 -q 1 -l write
check 'four processes with helper threads' results -p 2 -g thread
check 'five processes of a node, asleep on the channel' \
	results -n 1 -p 5 -g event -r 1
check 'before the end results are wrong' unfinished
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
