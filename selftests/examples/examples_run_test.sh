#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, timeout: 120
#
# Each program of examples/ runs and prints its .out file, which the manual
# pages show. Afterwards the adapter has the same objects as before.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

runs()
{
	local name=$1 objects

	objects=$(hca_objects 'qp, cq, xrcd, uar')
	"build/examples/$name" >"$tmp/out" || fail "exit status $?"
	diff "examples/$name.out" "$tmp/out"
	becomes 5 "$objects" hca_objects 'qp, cq, xrcd, uar'
}

mapfile -t programs < <(basename -s .c examples/*.c)

# The driver creates some objects of its own with the first memory region.
build/examples/watch >/dev/null

plan $((${#programs[@]} + 1))
for program in "${programs[@]}"; do
	check "$program prints what the manual says" runs "$program"
done
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
