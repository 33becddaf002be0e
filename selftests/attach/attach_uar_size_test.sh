#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, timeout: 400
#
# Adapters that have no UAR pages of 4 KiB, and those that tell libmlx5 of one UAR page
# where a page of the system has more. Where the pages of the system have 4 KiB, neither
# makes a difference. Where they are larger, the module says so, each context is stock,
# and the rest works.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# unload: the drivers and the module. The HCA starts again with the next driver.
unload()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	[ ! -d /sys/module/mlx5_core ] || rmmod mlx5_core
}

load()
{
	modprobe mlx5_core
	ep_insmod
	modprobe mlx5_ib
}

# starts FAULT: the drivers start on an HCA that has this fault
starts()
{
	unload
	simhca-ctl '{"op":"clear"}' >/dev/null
	simhca-ctl '{"op":"fault","hca":0,"kind":"'"$1"'"}' >/dev/null
	load
	wait_for 10 [ -e "$ep/attached" ] || fail 'no folder in sysfs'
	cat "$ep/attached"
}

# rung POLICY: prints on how many UAR pages four QPs ring
rung()
{
	ep_policy "$1"
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1 >&2
	hca_pages_rung
	hca_clean >&2
}

# has_policies: are QPs placed?
has_policies()
{
	attached
	prints 4 rung independent
	! prints 4 rung stock || fail 'as under stock'
}

# has_none REASON
has_none()
{
	grep -qx "yes, without uUAR policies: $1" "$ep/attached"
	prints "$(rung stock)" rung independent || fail 'not as under stock'
}

# says_selftest: what the device has passes; and where it has no policies, the report
# says why
says_selftest()
{
	code 0 mlx5ep selftest "$dev"
	grep '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
	attached || grep -F "$(sed 's/.*policies: //' "$ep/attached")" "$tmp/out"
}

works_again()
{
	unload
	simhca-ctl '{"op":"clear"}' >/dev/null
	load
	wait_for 10 attached
	prints 4 rung independent
	ep_policy stock
}

# each FAULT REASON
each()
{
	check "a driver starts on it ($1)" starts "$1"
	if [ "$(getconf PAGESIZE)" = 4096 ]; then
		check "policies place QPs all the same ($1)" has_policies
	else
		check "no policy, and the reason ($1)" has_none "$2"
	fi
	check "the rest passes mlx5ep selftest ($1)" says_selftest
}

plan 7
each large_uar 'the device has no UAR pages of 4 KiB (uar_4k)'
each few_uars 'libmlx5 is told of another number of UAR pages in a page'
check 'without the faults, policies are back' works_again
ktap_finished
