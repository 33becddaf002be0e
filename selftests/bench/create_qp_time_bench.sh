#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, timeout: 600
#
# What managing a context adds to create_qp + destroy_qp, in time.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/create_qp.sh
. selftests/bench/create_qp.sh

create_qp_ratios time ns 9 -n 300
