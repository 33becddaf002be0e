#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 2G, icount: yes, timeout: 600
#
# The first GET of a process and 64 processes that GET one key, in guest instructions;
# kernel memory of a registration.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

read -r create join race memory < <(build/selftests/bench/xrc_get -n 21)
bench_note xrc_get_first_create_instr instructions "$create"
bench_note xrc_get_first_join_instr instructions "$join"
bench_note xrc_get_race_of_64_instr instructions "$race"
bench_note xrc_registration_memory bytes "$memory"
