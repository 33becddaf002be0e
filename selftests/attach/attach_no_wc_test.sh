#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, timeout: 300
#
# A machine without write combining. There libmlx5 rings one page for all QPs of a context
# and the driver gives no page on demand, so that a policy would be void. Contexts stay
# stock, and the log says why, and `attached` where mlx5_core knows.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

reason='the device has no write combining'

# The HCA starts again with the drivers.
reload()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	[ ! -d /sys/module/mlx5_core ] || rmmod mlx5_core
	modprobe mlx5_core
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep/attached" ] || fail 'no folder in sysfs'
}

# A program, and its contexts as the tool shows them
runs()
{
	uuar_traffic -q -n 4 -r 1 -x "mlx5ep -j show contexts >$tmp/shown"
}

starts_without()
{
	simhca-ctl '{"op":"fault","hca":0,"kind":"no_wc"}' >/dev/null
	reload
	ep_policy independent 8
	dmesg -C
	runs
}

stays_stock()
{
	jq -e '.devices[0].contexts | length == 1 and .[0].policy == "stock" and
		.[0].source == "fallback" and .[0].managed == 0' "$tmp/shown"
	[ "$(ep_get uuar_fallbacks)" -gt 0 ]
}

log_says_why()
{
	dmesg | grep -q "mlx5_ep: uuar_traffic.* stays stock: $reason"
}

attached_says_why()
{
	case $(uname -r) in
	6.1.*) grep -qx yes "$ep/attached" ;;
	*) grep -qx "yes, without uUAR policies: $reason" "$ep/attached" ;;
	esac
}

strict_is_served()
{
	ep_policy independent 8 1
	uuar_traffic -q -n 4 -r 1
	ep_policy stock
}

# mlx5_core asks at the first open whether there is write combining. It may find no answer,
# and asks again at the next one.
asked_again()
{
	simhca-ctl '{"op":"clear"}' >/dev/null
	reload
	ep_policy independent 8
	simhca-ctl '{"op":"fault","kind":"cmd","opcode":"CREATE_SQ","count":1,"status":3}' >/dev/null
	runs
	stays_stock
	attached_says_why
	runs
	jq -e '.devices[0].contexts | length == 1 and .[0].policy == "independent"' "$tmp/shown"
	grep -qx yes "$ep/attached"
}

works_again()
{
	simhca-ctl '{"op":"clear"}' >/dev/null
	reload
	grep -qx yes "$ep/attached"
	ep_policy independent 8
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1
	prints 4 hca_pages_rung
	ep_policy stock
}

plan 7
check 'programs run without write combining' starts_without
check 'their contexts stay stock' stays_stock
check 'the log says why' log_says_why
check 'attached says why' attached_says_why
check 'a strict policy refuses none' strict_is_served
case $(uname -r) in
6.1.*) ktap_test_skip 'the next open asks again: mlx5_ib looks once, when it comes' ;;
*) check 'where mlx5_core could not find out, the next open asks again' asked_again ;;
esac
check 'with write combining, policies are back' works_again
ktap_finished
