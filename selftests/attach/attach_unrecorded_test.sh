#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, kernels: 6.1 6.12 7.2 7.3 newest, timeout: 200, config: KRETPROBES
#
# A kernel that fills memory when it is looked at, as FOLL_DUMP keeps each known kernel
# from doing. mlx5_ep sees it when it is loaded, and looks at nothing: a watch tells of
# changes, but cannot be recorded. The log, `attached` and doctor say so.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

reason='this kernel fills memory that is looked at'

# loaded: mlx5_ep is loaded anew, before the driver
loaded()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep/attached" ] || fail 'no folder in sysfs'
}

fills()
{
	ib_unload
	rmmod mlx5_ep
	dmesg -C
	insmod "build/modules/$(uname -r)/hole_filler.ko"
	ep_insmod
	rmmod hole_filler
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep/attached" ] || fail 'no folder in sysfs'
	dmesg | grep "mlx5_ep: $reason, so no watch is recorded"
}

attached_says_it()
{
	cat "$ep/attached"
	grep -qx "yes, without recorded watches: $reason" "$ep/attached"
}

doctor_says_it()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep -A1 -x "warning: $dev: without recorded watches: $reason" "$tmp/doctor" |
		grep 'mend with: boot another kernel, or install a newer mlx5_ep'
}

nothing_recorded()
{
	code 1 build/selftests/watch_edges_test
	grep -q '^not ok .*a_record_says_what_it_cannot_look_at' "$tmp/out"
}

back_again()
{
	loaded
	[ "$(cat "$ep/attached")" = yes ]
	code 0 build/selftests/watch_edges_test
}

plan 5
check 'the log says that no watch is recorded' fills
check 'attached says it' attached_says_it
check 'doctor says it, and what helps' doctor_says_it
check 'no watch is recorded' nothing_recorded
check 'on a kernel that leaves holes alone, watches are recorded' back_again
ktap_finished
