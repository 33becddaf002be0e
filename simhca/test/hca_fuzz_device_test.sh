#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, long: yes, timeout: 900
#
# A libFuzzer run of FUZZ_SECONDS (120) over vfio-user messages, commands, UAR
# stores, frames and guest memory, for each kind of adapter. What it finds is
# kept in build/fuzz.

set -euo pipefail
cd "$(dirname "$0")/../.."

echo 'TAP version 13'
echo '1..2'
make -s IN_LAB=1 hca-fuzz 2>&1 | sed 's/^/# /'
n=0 status=0
for kind in ib eswitch; do
	n=$((n + 1))
	mkdir -p build/fuzz/$kind
	if SIMHCA_FUZZ_KIND=$kind build/selftests/hca_fuzz_device \
		-max_total_time="${FUZZ_SECONDS:-120}" -max_len=8192 -len_control=0 \
		-timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
		-artifact_prefix=build/fuzz/ build/fuzz/$kind >build/fuzz/log 2>&1; then
		tail -n 6 build/fuzz/log | sed 's/^/# /'
		echo "ok $n fuzz_device_$kind"
	else
		tail -n 40 build/fuzz/log | sed 's/^/# /'
		echo "not ok $n fuzz_device_$kind"
		status=1
	fi
done
exit $status
