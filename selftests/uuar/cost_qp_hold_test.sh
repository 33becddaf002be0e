#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 1, mem: 2G, icount: yes, timeout: 300
#
# The kernel can be preempted, and lets its locks go, at least every 100 000
# instructions, whatever is listed of a context with very many QPs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

phases='none pass list qps uuars'
plan 5
build/selftests/bench/qp_hold 20000 >"$tmp/times"
for phase in $phases; do
	check "no long time without preemption: $phase" woke_in_time "$phase"
done
ep_policy stock
ktap_finished
