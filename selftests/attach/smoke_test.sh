#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: smoke, oldest: yes, timeout: 60
#
# A short look at a kernel: the module is loaded and attached, QPs are placed, a program
# asks where, and the module is unloaded. The driver works alone then, and with the
# module again.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# pages POLICY N: N QPs send under a policy, and so many pages are rung
pages()
{
	[ "$1" = stock ] || ep_policy "$1" 4
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1
	[ "$(hca_pages_rung)" = "$2" ] || fail "$(hca_pages_rung) pages, not $2"
}

# asked: `mlx5ep show` has the pages of the program that asks it
asked()
{
	uuar_traffic -q -n 4 -x "mlx5ep -j show contexts >$tmp/show"
	cat "$tmp/show"
	jq -e '.devices[0].contexts | length == 1 and .[0].used_pages == 4' "$tmp/show"
}

alone()
{
	ib_unload
	rmmod mlx5_ep
	modprobe mlx5_ib
	wait_for 10 [ -e "/sys/class/infiniband/$dev" ]
	[ ! -e "$ep" ] || fail 'the attributes have stayed'
	uuar_traffic -q -n 4 -r 1
}

again()
{
	ib_unload
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 attached
	pages independent 4
}

plan 6
check 'the module is attached' attached
check 'each QP has a page of its own under "independent"' pages independent 4
check 'a program is told where its QPs are' asked
check 'without the module the driver works alone' alone
check 'with it again QPs are placed again' again
check 'the HCA has nothing to complain of' hca_clean
ep_policy stock
ktap_finished
