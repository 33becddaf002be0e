#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: attach, kernels: 6.1 6.12 7.2 7.3 newest, timeout: 120, config: KRETPROBES
#
# The last step of attaching has no memory, which a kretprobe makes up. All steps
# before it are undone then: the device is the driver's own, and its settings are kept
# for the next time. The debug kernel lacks kretprobes.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# Runs a program, and notes how many UAR pages it has while its QPs are alive.
program()
{
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1 \
		-x "simhca-ctl dump | jq '[.hcas[0].uars[] | select(.uid > 0)] | length' >$tmp/pages"
	hca_clean
}

as_stock()
{
	cmp -s "$tmp/pages" "$tmp/stock"
}

users()
{
	cat /sys/module/mlx5_ep/refcnt
}

fails_late()
{
	local free

	program
	mv "$tmp/pages" "$tmp/stock"
	ep_policy independent 8 1
	program
	must_fail as_stock
	ib_unbind
	free=$(users)
	fail_folders 1 ib_bind
	wait_for 10 [ -e "$ep/attached" ]
	grep -x 'not attached: no memory' "$ep/attached"
	[ "$(ls "$ep")" = attached ] || fail "$(ls "$ep")"
	[ "$(users)" = "$free" ] || fail "$(users) users, not $free"
}

works_as_stock()
{
	program
	as_stock || fail "$(cat "$tmp/pages") pages, not $(cat "$tmp/stock")"
}

attaches_again()
{
	ib_unbind
	ib_bind
	wait_for 10 attached
	[ "$(cat "$ep/uuar_policy")" = independent ]
	program
	must_fail as_stock
	ep_policy stock
	works_as_stock
}

plan 3
check 'a device that cannot be attached to its end is refused' fails_late
check 'a program runs on it as without the module' works_as_stock
check 'it attaches later, with its settings' attaches_again
ktap_finished
