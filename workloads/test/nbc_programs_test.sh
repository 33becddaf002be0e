#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 60
#
# A 3-D FFT and a conjugate gradient solver on non-blocking collectives have the
# results of a serial run, whether they wait for each collective or compute
# meanwhile, however long messages move and whoever looks for completions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# programs ARGUMENT...: both are right, in both forms
programs()
{
	timeout $((20 * patience)) nbc_programs "$@" >"$tmp/out" 2>&1 ||
		fail "nbc_programs $*: exit status $?: $(cat "$tmp/out")"
	[ "$(grep -c '^nbc_programs: program=.* wrong=0$' "$tmp/out")" = 4 ]
}

plan 4
check 'two nodes of two processes' programs -p 2
check 'three processes with helper threads' programs -n 3 -g thread
check 'two processes, the sender writes' programs -l write
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
