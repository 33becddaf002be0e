#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 1G, icount: yes, timeout: 600
#
# The longest time for which the kernel cannot be preempted, and no lock is held
# longer, while 200 000 watches on one page, and 65 280 in 4 GiB, are added, hit, read
# and deleted.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

longest=0
while read -r name late times; do
	# A thread that slept a few times only has seen nothing.
	case $name in
	none | add | hit | read | del | unmap | blocks | end)
		[ "$times" -ge 100 ] || {
			echo "lock_hold: $name was over after $times sleeps" >&2
			exit 1
		} ;;
	esac
	bench_note "lock_hold_$name" instructions "$late"
	case $name in
	none) ;;
	*) [ "$late" -le "$longest" ] || longest=$late ;;
	esac
done < <(build/selftests/bench/lock_hold)
[ "$longest" -gt 0 ]
bench_at_most lock_hold_longest instructions 100000 "$longest"
