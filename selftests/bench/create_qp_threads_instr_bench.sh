#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, icount: yes, timeout: 900
#
# What managing a context adds to create_qp + destroy_qp where eight threads do so in one
# context, in guest instructions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/create_qp.sh
. selftests/bench/create_qp.sh

create_qp_ratios threads_instr instructions 3 -i -t 8 -n 5
