#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, timeout: 240
#
# tool_fake and tool_doctor again, with the tool built under ASan and UBSan.
# LeakSanitizer makes a command fail that loses memory: mlx5ep watch would lose it again
# and again.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# sanitized TEST: it passes with that tool
sanitized()
{
	TOOL=$PWD/build/san/bin/mlx5ep ASAN_OPTIONS=detect_leaks=1 \
		"selftests/tool/$1_test.sh"
}

plan 2
check 'no command loses memory or uses it wrongly' sanitized tool_fake
check 'nor does doctor' sanitized tool_doctor
ktap_finished
