#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, icount: yes, timeout: 600
#
# What a policy adds to the opening of a context, in guest instructions.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/create_qp.sh
. selftests/bench/create_qp.sh

open_ratios 3 -i -n 50
