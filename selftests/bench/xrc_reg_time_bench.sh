#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 2G, timeout: 600
#
# What registering with a shared XRC receive QP costs, in time.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/xrc_reg.sh
. selftests/bench/xrc_reg.sh

xrc_reg_figures time ticks 3 201
