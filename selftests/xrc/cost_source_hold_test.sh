#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 1, mem: 2G, icount: yes, timeout: 300
#
# The kernel can be preempted, and lets its locks go, at least every 100 000
# instructions, when a notifier ends that very many registrations have posted to.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

plan 2
build/selftests/bench/source_hold 65536 >"$tmp/times"
for phase in none end; do
	check "no long time without preemption: $phase" woke_in_time "$phase"
done
ktap_finished
