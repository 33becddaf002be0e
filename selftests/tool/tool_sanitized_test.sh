#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 400
#
# tool_fake, tool_doctor and tool_memory again, with the tool built under ASan and UBSan.
# LeakSanitizer makes a command fail that loses memory: mlx5ep show -n would lose it again
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

plan 3
check 'no command loses memory or uses it wrongly' sanitized tool_fake
check 'nor does doctor' sanitized tool_doctor
check 'nor does one without memory' sanitized tool_memory
ktap_finished
