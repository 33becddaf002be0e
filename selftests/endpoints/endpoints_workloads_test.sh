#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, smp: 2, timeout: 400
#
# Runs the workloads over every category of endpoints. Results must be right,
# the counts must be the published ones, no doorbell may go to a wrong place in
# the HCA, and no object may be left.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# runs CMD...: succeeds if CMD does and prints a line for each category
runs()
{
	local category

	simhca-ctl reset >/dev/null
	"$@" | tee "$tmp/out"
	for category in mpi-everywhere 2xdynamic dynamic shared-dynamic static \
		mpi-threads; do
		grep -q "^$category " "$tmp/out" || fail "no line for $category"
	done
	hca_clean
}

# column CATEGORY NUMBER: prints that column of the category's line
column()
{
	awk -v c="$1" -v n="$2" '$1 == c { print $n }' "$tmp/out"
}

msgrate_counts()
{
	runs msgrate -t 4 -n 256 -R 1
	[ "$(column 2xdynamic 4)" = 8 ]
	[ "$(column dynamic 4)" = 4 ]
	[ "$(column shared-dynamic 4)" = 2 ]
	[ "$(column static 6)" = 4 ]
	[ "$(column mpi-threads 6)" = 1 ]
}

globalarray_sum()
{
	runs globalarray -t 4 -n 3 -b 8 -R 1
	grep -q 'every element of the product is right' "$tmp/out"
}

stencil_cells()
{
	runs stencil -P 2 -t 2 -n 32 -r 4 -i 5 -R 1
	grep -q 'every cell is right' "$tmp/out"
	[ "$(column mpi-threads 6)" = 2 ]
}

msgrate -t 1 -n 1 -R 1 >/dev/null
base=$(hca_objects 'qp, uar')

plan 7
check "msgrate: all categories, pages and QPs as published" msgrate_counts
check "msgrate: one write at a time through BlueFlame" \
	runs msgrate -t 2 -n 64 -p 1 -q 1 -R 1
check "msgrate: neither inline nor BlueFlame" \
	runs msgrate -t 2 -n 64 -p 4 -q 8 -R 1 -I -B
check "globalarray: every element is right under all categories" \
	globalarray_sum
check "stencil: every cell is right under all categories" stencil_cells
check "three threads, more than CPUs, odd sizes" \
	runs msgrate -t 3 -n 77 -p 7 -q 9 -s 13 -R 1
check "nothing is left behind" becomes 10 "$base" hca_objects 'qp, uar'
ktap_finished
