#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live, hca: 2, smp: 2, module: later, timeout: 6000, long: yes, config: INFINIBAND_IPOIB
#
# Runs live_load_test.sh with 500 rounds.
set -euo pipefail
cd "$(dirname "$0")/../.."
MLX5_EP_LIVE_ROUNDS=${MLX5_EP_LIVE_ROUNDS:-500} exec selftests/attach/live_load_test.sh
