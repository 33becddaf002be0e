#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, timeout: 200
#
# The three protocols for large messages move every byte, at any reuse, and the
# cache registers as often as there are new buffers, not as there are messages.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=/dev/null
. build/selftests/ktap_helpers.sh

ktap_print_header
ktap_set_plan 2
for reuse in 1 8; do
	if out=$(build/bin/pipeline -b 262144 -f 32768 -m 16 -r "$reuse"); then
		printf '%s\n' "$out" | sed 's/^/# /'
		misses=$(sed -n 's/.*protocol=cache .*registrations=\([0-9]*\).*/\1/p' <<<"$out")
		if [ "$misses" = $((16 / reuse)) ]; then
			ktap_test_pass "pipeline with $reuse uses of a buffer"
		else
			ktap_test_fail "pipeline: $misses registrations with reuse $reuse"
		fi
	else
		ktap_test_fail "pipeline with $reuse uses of a buffer"
	fi
done
ktap_finished
