#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 480
#
# Active messages and non-blocking collectives between two guests: the sort, the FFT
# and the solver of make demo-apps have the results of a serial run, and the FFT is
# faster where it computes while data is on its way.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

programs()
{
	workloads/demo --kernel "${MLX5_EP_KERNEL:-7.2}" --timeout 450 \
		>"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
	[ "$(grep -c 'that of a serial run$' "$tmp/out")" = 5 ] ||
		fail "$(cat "$tmp/out")"
	[ "$(grep -c '^fft \|^cg ' "$tmp/out")" = 4 ]
	awk '$1 == "fft" && $2 == "non-blocking" { gain = $5 } END { exit gain < 1.2 }' \
		"$tmp/out" || fail "$(cat "$tmp/out")"
}

plan 1
check 'two processes in each of two guests have the right results' programs
ktap_finished
