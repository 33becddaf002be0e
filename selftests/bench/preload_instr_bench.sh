#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, icount: yes, timeout: 600
#
# What a program that uses none of it pays where a library is preloaded for all programs
# of a job: the start and the end of /bin/true, in guest instructions. glibc's libdl,
# which has no code any more, stands beside ours: the dynamic linker alone takes that.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

preloads=(libmlx5ep-fi.so.0 libmlx5ep-ucx.so.0 policy.so)
# Where the checkout is shared with the host, each page of a file costs more.
cp build/lib/libmlx5ep-{fi,ucx}.so.0 build/lib/mlx5ep/policy.so /tmp
build/selftests/bench/preload /bin/true '' libdl.so.2 "${preloads[@]/#//tmp/}" >/tmp/starts
{
	read -r -a none
	read -r -a peer
	most=$(times_median 1.1 "${none[@]:1}")
	bench_note preload_none_instr instructions "${none[@]:1}"
	bench_at_most preload_libdl_instr instructions "$most" "${peer[@]:1}"
	for lib in 'fi' ucx policy; do
		read -r -a values
		bench_at_most "preload_${lib}_instr" instructions "$most" "${values[@]:1}"
	done
} </tmp/starts
