#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core, timeout: 60
#
# Which lines of the kernel log are reports, and which reports klog_known
# removes: only those that one of its stanzas describes completely.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/klog.sh
. selftests/lib/klog.sh

klog_here=$tmp
cat >"$tmp/klog_known" <<'END_OF_RULES'
# A comment.
report: WARNING: .* at drivers/stock
with: stock_open
with: stock_probe

report: BUG: KCSAN
without: mlx5_ep

report: possible circular locking
with: stock_reset
without: mlx5_ep
END_OF_RULES

# race FUNCTION...: prints a KCSAN report that names them
race()
{
	local rule
	rule=$(printf '=%.0s' {1..66})

	printf '[ 1.0] %s\n' "$rule" 'BUG: KCSAN: data-race in a / b' "$@" "$rule"
}

# warning FUNCTION...: prints a warning with that stack
warning()
{
	printf '[ 1.0] %s\n' '------------[ cut here ]------------' \
		'WARNING: CPU: 0 PID: 1 at drivers/stock/main.c:3 stock_open' \
		'Call Trace:' ' <TASK>' "$@" ' </TASK>' \
		'---[ end trace 0000000000000000 ]---'
}

# deadlock FUNCTION: prints a report of lockdep about 12 locks, with that function in
# its last stack
deadlock()
{
	local lock

	echo '[ 1.0] WARNING: possible circular locking dependency detected'
	for lock in {1..12}; do
		printf '[ 1.0] %s\n' "-> #$lock (lock_$lock){+.+.}-{3:3}:" \
			'       lock_acquire' '       stock_a' '       stock_b' \
			'       touch_wq_lockdep_map' ''
	done
	printf '[ 1.0] %s\n' ' <TASK>' "$1" ' </TASK>'
}

leak()
{
	printf '[ 1.0] kmemleak: %s\n' \
		"unreferenced object 0xffff88800$1 (size 64):" \
		'  comm "a", pid 1' '  backtrace:' "    $2"
}

# kept LINES PATTERN: that many lines of the log on stdin are kept and match
kept()
{
	klog_unknown | tee "$tmp/kept"
	[ "$(grep -c -e "$2" "$tmp/kept")" -eq "$1" ]
}

nothing()
{
	printf '[ 1.0] %s\n' 'mlx5_core: up' 'lab: start of run' | kept 0 .
}

unknown()
{
	warning stock_open stock_close | kept 1 stock_close
}

known()
{
	warning stock_open stock_probe | kept 0 .
}

neighbours()
{
	{ warning stock_probe stock_open; echo 'BUG: one'; } | kept 1 'BUG: one'
	{ race stock_a stock_b; race mlx5_ep_a stock_b; } >"$tmp/log"
	kept 1 KCSAN <"$tmp/log"
	kept 1 mlx5_ep_a <"$tmp/log"
}

long_report()
{
	{ deadlock stock_reset; echo 'BUG: one'; } | kept 1 'BUG: one'
	[ "$(wc -l <"$tmp/kept")" -eq 1 ]
	deadlock mlx5_ep_reset | kept 1 mlx5_ep_reset
}

each_leak()
{
	{ leak 1 stock_a; leak 2 mlx5_ep_a
	  echo '[ 1.0] lab: leaks looked for'; } >"$tmp/log"
	kept 2 'unreferenced object' <"$tmp/log"
	kept 1 mlx5_ep_a <"$tmp/log"
	kept 0 'leaks looked for' <"$tmp/log"
}

# slab: prints the reports of the allocator about a slab with objects left, or
# with damage
slab()
{
	echo '[ 1.0] BUG mlx5_ep_watch (Tainted: G O): Objects remaining' |
		kept 1 'Objects remaining'
}

plan 7
check 'a log without complaints leaves nothing' nothing
check 'a warning that misses a line of the rule is kept whole' unknown
check 'a warning that has every line of the rule is not' known
check 'a complaint beside a known one is kept' neighbours
check 'a report of lockdep is taken whole' long_report
check 'a report of a slab is a complaint' slab
check 'each leak is a complaint, with its stack' each_leak
ktap_finished
