#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 1G, icount: yes, timeout: 300
#
# What a hit of the registration cache costs, get and put together, among 256
# registrations. With 8 threads a hit is to cost at most twice as much. The guest has
# one CPU, so that instructions can be counted: locks and retries are seen, and what a
# cache line costs that several CPUs write is not.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

read -r _ alone < <(build/selftests/bench/cache_hit 1)
read -r _ together < <(build/selftests/bench/cache_hit 8)
# shellcheck disable=SC2086 # lists
bench_at_most cache_hit instructions 150 $alone
# shellcheck disable=SC2086
bench_at_most cache_hit_8_threads instructions "$(times_median 2 $alone)" $together
