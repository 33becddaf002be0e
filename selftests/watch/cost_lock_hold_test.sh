#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, smp: 1, mem: 1G, icount: yes, timeout: 300
#
# The kernel can be preempted, and lets its locks go, at least every 100 000
# instructions, whatever is done with very many watches.
# Documentation/results/notifications.md has the figures, which `make bench` prints.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# 6.12 gives 2016 free pages of a CPU back at once, whoever freed them, see
# Documentation/results/notifications.md. The CPU keeps at most 252 of them here.
case $(uname -r) in
6.12.*) echo 100000 >/proc/sys/vm/percpu_pagelist_high_fraction ;;
esac

phases='add hit again read del unmap skip blocks end'
plan 9
build/selftests/bench/lock_hold >"$tmp/times"
for phase in $phases; do
	check "no long time without preemption: $phase" woke_in_time "$phase"
done
ktap_finished
