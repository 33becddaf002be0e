#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, kernels: debug, timeout: 60
#
# Runs the uUAR policies in a kernel with KASAN and UBSAN, as a KUnit suite.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

results=/sys/kernel/debug/kunit/mlx5_ep_uuar_policy/results

passed()
{
	cat $results
	grep -qE "^ +ok [0-9]+ $1\$" $results
}

modprobe kunit
insmod "build/modules/$(uname -r)/uuar_policy_kunit.ko"
plan 2
check 'picks stay inside the table' passed picks_stay_inside_the_table
check 'sizes stay in their range' passed sizes_stay_in_their_range
rmmod uuar_policy_kunit kunit
ktap_finished
