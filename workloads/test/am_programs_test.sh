#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 40
#
# Programs of the study of active messages, on Split-C, under each uUAR policy and
# with each category of send queues: sample sort, radix sort, matrix multiply and
# EM3D have the results of a serial run.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# programs ARGUMENT...: all four have the right result
programs()
{
	timeout $((10 * patience)) splitc_programs "$@" >"$tmp/out" 2>&1 ||
		fail "splitc_programs $*: exit status $?: $(cat "$tmp/out")"
	[ "$(grep -c '^splitc_programs: program=.* wrong=0$' "$tmp/out")" = 4 ]
}

# QPs without a thread domain, several in a process, are what policies place.
policy()
{
	ep_policy "$1"
	programs -c static -n 3
}

plan 11
for policy in independent shared-uar shared-uuar stock; do
	check "policy $policy" policy $policy
done
for category in 2xdynamic dynamic shared-dynamic; do
	check "category $category" programs -c $category -n 3
done
for category in mpi-everywhere mpi-threads; do
	check "category $category" programs -c $category
done
check 'four processes of a node, with helper threads' \
	programs -n 1 -p 4 -g thread
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
