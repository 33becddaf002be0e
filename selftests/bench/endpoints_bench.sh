#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, timeout: 580
#
# Measures endpoints with 16 threads: the UAR pages against the published
# figures (with the libmlx5 of today, which allocates no static pages in
# advance), the rates of the workloads relative to mpi-everywhere on the
# simulated HCA, and the instructions of a post with and without the lock of the
# QP.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

out=$(mktemp)
trap 'rm -f "$out"' EXIT

# column CATEGORY NUMBER
column()
{
	awk -v c="$1" -v n="$2" '$1 == c { sub("%", "", $n); print $n }' "$out"
}

msgrate -t 16 -n 128 -R 3 | tee "$out" | sed 's/^/# /'
bench_at_most endpoints_dynamic_16_pages pages 16 "$(column dynamic 4)"
bench_at_most endpoints_shared_dynamic_16_pages pages 8 \
	"$(column shared-dynamic 4)"
bench_at_most endpoints_2xdynamic_16_pages pages 32 "$(column 2xdynamic 4)"
for category in 2xdynamic dynamic shared-dynamic static mpi-threads; do
	bench_note "msgrate_${category//-/_}_relative" percent \
		"$(column "$category" 3)"
done

globalarray -t 4 -n 4 -b 16 -R 5 | tee "$out" | sed 's/^/# /'
for category in 2xdynamic dynamic shared-dynamic static mpi-threads; do
	bench_note "globalarray_${category//-/_}_relative" percent \
		"$(column "$category" 3)"
done

stencil -P 2 -t 2 -i 20 -R 5 | tee "$out" | sed 's/^/# /'
for category in 2xdynamic dynamic shared-dynamic static mpi-threads; do
	bench_note "stencil_${category//-/_}_relative" percent \
		"$(column "$category" 3)"
done

locked=() unlocked=()
for _ in 1 2 3; do
	locked+=("$(build/selftests/bench/post_instr static)")
	unlocked+=("$(build/selftests/bench/post_instr dynamic)")
done
bench_note post_instr_locked instructions "${locked[@]}"
# a post without the lock takes at least one instruction less
bench_at_most post_instr_unlocked instructions \
	"$(awk -v n="${locked[0]}" 'BEGIN { print n - 1 }')" "${unlocked[@]}"
