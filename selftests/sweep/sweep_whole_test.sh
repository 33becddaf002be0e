#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: sweep, timeout: 7200, long: yes
#
# All sweeps in full: every place, every status, and, where the kernel can fail
# allocations, those of everybody and not of mlx5_ep's callees alone.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export SWEEP=whole
mapfile -t sweeps < <(find build/selftests -maxdepth 1 -name 'sweep_*_test' \
	-type f -executable | sort)

# What it says while it runs is shown at once; its results are the check's output.
whole()
{
	"$1" 2>&3
}

plan ${#sweeps[@]}
for sweep in "${sweeps[@]}"; do
	check "$(basename "$sweep") as a whole" whole "$sweep"
done
ktap_finished
