#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 1G, icount: yes, timeout: 300
#
# What a verify costs after one page was hit. In a watch of 1 GiB it is to cost at
# most twice as much as in one of 2 MiB.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

build/selftests/bench/verify >/tmp/figures
read -r _ small < <(grep verify_page_of_2m /tmp/figures)
read -r _ big < <(grep verify_page_of_1g /tmp/figures)
# shellcheck disable=SC2086 # lists
bench_note verify_page_of_2m instructions $small
# shellcheck disable=SC2086
bench_at_most verify_page_of_1g instructions "$(times_median 2 $small)" $big
