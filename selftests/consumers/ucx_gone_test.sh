#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, long: yes, hca: 2, smp: 2, mem: 2G, timeout: 300, kernels: 7.2
#
# The adapter of the library's notifier goes for a while, and UCX works on by the other one:
# libmlx5ep-ucx makes another notifier, and UCX keeps its registrations again.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

driver=/sys/bus/pci/drivers/mlx5_core
first=$(basename "$(readlink -f /sys/class/infiniband/mlx5_0/device)")
puts=200

# Each put without a notifier drops all; those of a moment do.
goes()
{
	UCX_NET_DEVICES=mlx5_1:1 ucx_with_library goes build/bin/ucx_puts $puts \
		"echo $first >$driver/unbind; sleep $((4 * slowness))" $puts
	echo "$first" >$driver/bind
	grep -qx "puts: right $((2 * puts)) of $((2 * puts))" "$tmp/goes"
	grep -qx 'mlx5ep-ucx: the adapter of the notifier is gone: UCX registers anew at each transfer, until there is one again' \
		"$tmp/goes"
	dropped=$(sed -n 's/^mlx5ep-ucx: .* dropped-all \([0-9]*\)$/\1/p' "$tmp/goes")
	[ "$dropped" -ge 1 ]
	[ "$dropped" -lt $((puts / 2)) ] || fail "dropped all $dropped times"
}

comes_back()
{
	wait_for 20 test -e /sys/class/infiniband/mlx5_0/mlx5_ep/attached
	UCX_NET_DEVICES=mlx5_0:1 ucx_with_library back build/bin/ucx_puts 3
	grep -qx 'puts: right 3 of 3' "$tmp/back"
}

plan 2
check 'UCX keeps registrations again after the adapter of the notifier is gone' goes
check 'the adapter comes back' comes_back
ktap_finished
