#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, timeout: 600
#
# 96 threads of one process, each with a QP of plain verbs, look keys up in a hash
# table by RDMA READ. The HCA counts the registers (uUARs) that they ring and the
# QPs that share one; a preloaded library counts waits for spinlocks.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh
# shellcheck source=selftests/consumers/smart_96.sh
. selftests/consumers/smart_96.sh

out=$(mktemp)
trap 'rm -f "$out"' EXIT

# runs POLICY: three runs, one value of each in uuars, shared and waited
runs()
{
	uuars=() shared=() waited=()
	for _ in 1 2 3; do
		smart_run "$1" 96 "$out"
		sed "s/^/# $1: /" "$out"
		uuars+=("$(smart_figure "$out" uuars)")
		shared+=("$(smart_figure "$out" shared)")
		waited+=("$(smart_figure "$out" waited)")
	done
}

runs stock
bench_note smart_96_stock_doorbells registers "${uuars[@]}"
bench_note smart_96_stock_sharers QPs "${shared[@]}"
bench_note smart_96_stock_waits waits "${waited[@]}"
runs independent
bench_note smart_96_doorbells registers "${uuars[@]}"
missing=()
for n in "${uuars[@]}"; do
	missing+=($((96 - n)))
done
bench_at_most smart_96_doorbells_missing registers 0 "${missing[@]}"
bench_at_most smart_96_sharers QPs 0 "${shared[@]}"
bench_at_most smart_96_waits waits 0 "${waited[@]}"
