#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, function: vf, guest: vf, timeout: 240
#
# The policies on a virtual function. Its BAR is small, and here others have taken
# most of it.

set -euo pipefail
cd "$(dirname "$0")/../.."

pages=16
budget=12
# shellcheck source=selftests/limits/drain.sh
. selftests/limits/drain.sh

# The drivers know it by its PCI device ID. The BAR has 2^20 bytes.
is_vf()
{
	local pci=/sys/class/infiniband/$dev/device first last

	[ "$(cat "$pci/device")" = 0x1018 ]
	read -r first last _ <"$pci/resource"
	[ $((last - first + 1)) = $((1 << 20)) ]
	attached
}

passes_selftest()
{
	code 0 mlx5ep selftest "$dev"
	grep '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
}

plan 7
check 'the stock drivers take the HCA for a VF' is_vf
check 'mlx5ep selftest passes' passes_selftest
drain_checks
ktap_finished
