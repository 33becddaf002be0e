#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, guest: own, timeout: 6000, long: yes
#
# Runs teardown_words_test with 500 departures of HCA 0.
set -euo pipefail
cd "$(dirname "$0")/../.."
TEARDOWN_ROUNDS=500 exec build/selftests/teardown_words_test
