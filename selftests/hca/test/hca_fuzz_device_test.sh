#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, long: yes, timeout: 600
#
# A libFuzzer run of FUZZ_SECONDS (120) over vfio-user messages, commands, UAR
# stores and guest memory. What it finds is kept in build/fuzz.

set -euo pipefail
cd "$(dirname "$0")/../../.."

echo 'TAP version 13'
echo '1..1'
mkdir -p build/fuzz/corpus
make -s IN_LAB=1 hca-fuzz 2>&1 | sed 's/^/# /'
if build/selftests/hca_fuzz_device -max_total_time="${FUZZ_SECONDS:-120}" \
	-max_len=8192 -len_control=0 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
	-artifact_prefix=build/fuzz/ build/fuzz/corpus >build/fuzz/log 2>&1; then
	tail -n 6 build/fuzz/log | sed 's/^/# /'
	echo 'ok 1 fuzz_device'
else
	tail -n 40 build/fuzz/log | sed 's/^/# /'
	echo 'not ok 1 fuzz_device'
	exit 1
fi
