#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, module: later, hca: 0, guest: rxe, smp: 2, numa: 2, timeout: 500
#
# Notifications on a machine that has no mlx5 adapter and has not loaded mlx5_core: what
# rdma_rxe, a real driver, reads through a registration is compared with what the process
# sees, for each change that mr_watch_changes knows; and races are run as on mlx5. With
# soft=siw in the environment the same for soft-iWARP, see notify_siw_test.sh.
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/notify/soft.sh
. selftests/notify/soft.sh
# shellcheck source=selftests/watch/race.sh
. selftests/watch/race.sh

rounds=$((4000 / slowness))
log=$tmp/changes

loads_alone()
{
	module_alone || fail 'the module does not load'
	! grep -q '^mlx5_core ' /proc/modules || fail 'mlx5_core is loaded'
	[ "$(stat -c %a /dev/mlx5_ep)" = 666 ] || fail "$(ls -l /dev/mlx5_ep)"
	[ "$(cat /sys/class/misc/mlx5_ep/abi_version)" = 1 ] || fail 'abi_version'
}

changes()
{
	build/selftests/mr_watch_changes_test >"$log" 2>&1 || true
	grep -c '^ok' "$log"
	! grep -B 12 '^not ok' "$log" || fail 'a change was not told, or told for nothing'
	[ "$(grep -c '^# row: .*differ' "$log")" -ge 40 ] ||
		fail 'too few changes happened'
}

# selftest_passes: what README has a reader try
selftest_passes()
{
	code 0 build/bin/mlx5ep -j selftest "$MLX5_EP_DEVICE"
	jq -e '[.results[] | select(.group == "notifier")] |
		length == 5 and all(.result == "passed")' "$tmp/out"
	jq -e '[.results[] | select(.group != "notifier" and .group != "device")] |
		length == 8 and all(.result == "not testable")' "$tmp/out"
	jq -e --arg device "$MLX5_EP_DEVICE" \
		'.on | .device == $device and (has("driver") | not)' "$tmp/out"
}

unloads()
{
	soft_down
	rmmod mlx5_ep || fail 'the module stays'
	[ ! -e /dev/mlx5_ep ] || fail '/dev/mlx5_ep stays'
}

plan 7
check 'the module loads without mlx5_core' loads_alone
check "$MLX5_EP_DEVICE is there" soft_up
check 'each change is told before its call returns' changes
check "no stale hit in $rounds rounds" race_on "$rounds"
check 'stale hits with notification off' race_off 500
check "the tool checks notifications on $MLX5_EP_DEVICE" selftest_passes
check 'the module unloads' unloads
ktap_finished
