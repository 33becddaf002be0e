#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 2G, icount: yes, timeout: 600
#
# Measures what watching memory costs, in guest instructions and in bytes of
# kernel memory. The figures of munmap() are the difference to a process that
# watches nothing.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

declare -A target=(
	[valid]=4
	[munmap_2m]=400 [munmap_huge_page]=350 [munmap_4k]=350
	[munmap_1000_watches]=80
	[munmap_elsewhere_0]=225 [munmap_elsewhere_1000]=225
	[munmap_elsewhere_100000]=225 [munmap_near_100000]=450
	[munmap_watched_among_100000]=500 [munmap_spread_100000]=240
	[add_del_100000]=2000 [batch_100000]=600
)

# A CPU keeps freed pages for itself and gives them back in bulk now and then.
# That would be most of the difference between two munmap() of 512 pages.
echo 8 >/proc/sys/vm/percpu_pagelist_high_fraction
build/selftests/bench/mr_watch >/tmp/figures
while read -r name values; do
	# shellcheck disable=SC2086 # a list
	bench_at_most "mr_watch_${name}_instr" instructions \
		"${target[$name]:-none}" $values
done </tmp/figures

# in_cgroup N: bytes charged, and bytes that the machine has less, for N watches
group=/sys/fs/cgroup/mr_watch_bench
in_cgroup()
{
	(
		echo "$BASHPID" >$group/cgroup.procs
		exec build/selftests/bench/mr_watch -m "$1"
	)
}

echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
charged=() escaped=()
for _ in 1 2 3 4 5; do
	read -r bytes _ < <(in_cgroup 100000)
	charged+=("$(ratio "$bytes" 100000)")
	# Many, since other memory comes and goes.
	read -r bytes free < <(in_cgroup 1000000)
	escaped+=("$(ratio $((free - bytes)) 1000000)")
done
# The kernel gives charged memory back late.
until rmdir $group 2>/dev/null || [ "$SECONDS" -gt 500 ]; do
	sleep 0.5
done
bench_at_most mr_watch_bytes bytes 90 "${charged[@]}"
bench_at_most mr_watch_uncharged_bytes bytes 4 "${escaped[@]}"
