#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 2G, icount: yes, timeout: 600
#
# What being told of a munmap() adds to it, in guest instructions: a watch of
# ours, userfaultfd, UCX's hooks; what munmap() is by itself, and what the kernel
# adds for callbacks that do nothing.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

# As in mr_watch_instr_bench.sh.
echo 8 >/proc/sys/vm/percpu_pagelist_high_fraction
insmod "build/modules/$(uname -r)/mm_listener.ko"
build/selftests/bench/mr_peers >/tmp/figures
while read -r peer range values; do
	# shellcheck disable=SC2086 # a list
	bench_note "mr_peers_${peer}_munmap_${range}_instr" instructions $values
done </tmp/figures
