#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 120
#
# More than 12 doorbells: 96 threads of one process, each with a QP of plain verbs
# over an unmodified libmlx5, read a hash table. The HCA says how many registers
# they ring.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/smart_96.sh
. selftests/consumers/smart_96.sh

# lookups POLICY: what was said is in $tmp/POLICY
lookups()
{
	local status=0

	smart_run "$1" 96 "$tmp/$1" || status=$?
	cat "$tmp/$1"
	return $status
}

stock()
{
	lookups stock
	grep -q 'lookups=6144 wrong=0' "$tmp/stock"
	[ "$(smart_figure "$tmp/stock" uuars)" -lt 32 ]
	[ "$(smart_figure "$tmp/stock" shared)" -gt 60 ]
}

stock_waits()
{
	[ "$(smart_figure "$tmp/stock" waited)" -gt 0 ]
}

independent()
{
	lookups independent
	grep -q 'lookups=6144 wrong=0' "$tmp/independent"
	grep -q ' qps=96 uar_pages=96 uuars=96 shared=0 wrong_uar=0 torn=0$' \
		"$tmp/independent"
}

independent_waits()
{
	[ "$(smart_figure "$tmp/independent" taken)" -gt 0 ]
	[ "$(smart_figure "$tmp/independent" waited)" = 0 ]
}

plan 5
check 'stock: 96 QPs share few registers' stock
check 'stock: threads wait for each other' stock_waits
check 'independent: 96 registers, nobody shares one' independent
check 'independent: no thread waits' independent_waits
check 'the HCA has nothing to complain of' hca_clean
sed 's/^/# stock: /' "$tmp/stock"
sed 's/^/# independent: /' "$tmp/independent"
ktap_finished
