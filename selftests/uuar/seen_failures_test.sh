#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: failures, timeout: 120, config: EVENT_TRACING
#
# Each kind of failure is made once. Trace events, the counter and the log say
# what the table in Documentation/administration.md says of it.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tracing=/sys/kernel/tracing
no_resources=15
# The kernel leaves out what one line of the source logs over ten times in these
# seconds. All refusals of limits come from one line.
log_interval=6

# row FAILURE: the columns of its row: answer, events, fallbacks, words of the log
row()
{
	awk -F ' *[|] *' -v failure="$1" '{ name = $2; gsub("`", "", name) }
		name == failure { gsub("`", "", $6); print $3; print $4; print $5
			print $6; print $7; found = 1 } END { exit !found }' \
		Documentation/administration.md
}

count()
{
	grep -c "$1" "$2" || true
}

# fail_commands OPCODE NTH COUNT
fail_commands()
{
	simhca-ctl "{\"op\":\"fault\",\"hca\":0,\"kind\":\"cmd\",\"opcode\":\"$1\",\"nth\":$2,\"count\":$3,\"status\":$no_resources}" >/dev/null
}

program()
{
	uuar_traffic -q -r 1 "$@"
}

# Each makes its failure once, and fails where the program gets another answer.

context_without_page()
{
	fail_commands ALLOC_UAR 1 1
	program -n 1
}

context_without_page_strict()
{
	local status=0

	ep_set uuar_strict 1
	fail_commands ALLOC_UAR 1 1000
	ibv_devinfo || status=$?
	ep_set uuar_strict 0
	[ $status != 0 ]
}

open_over_limit()
{
	# The first program has two pages by then. libmlx5 tries several times.
	program -n 1 -x "echo 1 >$ep/uar_user_limit; ! uuar_traffic -n 1"
	grep -q 'Disk quota exceeded' "$tmp/said"
}

open_over_cgroup_limit()
{
	program -n 1 \
		-x "echo '/ 1' >$ep/uar_cgroup_limits; ! uuar_traffic -n 1"
	grep -q 'Disk quota exceeded' "$tmp/said"
}

open_refused()
{
	fail_commands ALLOC_TRANSPORT_DOMAIN 1 1000
	program -n 1 && return 1 || true
}

qp_over_level()
{
	ep_policy independent 2 1
	program -n 3 && return 1 || true
	grep -q 'No space left' "$tmp/said"
}

page_over_budget()
{
	ep_set uar_budget 2
	program -n 2
}

page_over_limit()
{
	ep_set uar_user_limit 2
	program -n 2
}

# libmlx5 has the page of its CQs by then, and asks for one for every second QP.
page_under_stock()
{
	ep_policy stock 8
	ep_set uar_user_limit 3
	program -n 8 && return 1 || true
	grep -q 'Disk quota exceeded' "$tmp/said"
}

page_refused()
{
	fail_commands ALLOC_UAR 2 1
	program -n 1
}

defaults()
{
	simhca-ctl '{"op":"clear"}' >/dev/null
	ep_set uar_user_limit 0
	ep_set uar_budget 0
	[ -z "$(cat "$ep/uar_cgroup_limits")" ] || echo '/ none' >"$ep/uar_cgroup_limits"
	ep_policy "${1:-stock}" 8
}

# as_the_table_says FAILURE CMD [TRIES]: CMD makes the failure once, for which the
# library tries an open TRIES times
as_the_table_says()
{
	local answer events fallbacks words limit before status=0 reached
	local tries=${3:-1}

	row "$1" >"$tmp/row" || fail "no row for $1"
	{ read -r answer; read -r events; read -r fallbacks
		read -r words; read -r limit; } <"$tmp/row"
	defaults independent
	before=$(ep_get uuar_fallbacks)
	[ "$limit" = no ] || sleep $log_interval
	echo >$tracing/trace
	dmesg -C
	(set -e; $2) >"$tmp/said" 2>&1 || status=$?
	cp $tracing/trace "$tmp/trace"
	dmesg >"$tmp/log"
	fallbacks=$((fallbacks + before))
	before=$(ep_get uuar_fallbacks)
	defaults
	echo "$1: $answer"
	cat "$tmp/said" "$tmp/log"
	grep mlx5_ep_ "$tmp/trace" || true
	[ $status = 0 ] || fail "the program got something else"
	[ "$before" = "$fallbacks" ] || fail "uuar_fallbacks is $before"
	[ "$(count ' mlx5_ep_policy_refused:' "$tmp/trace")" = \
		$((events * tries)) ] || fail "not $events events"
	if [ "$words" = - ]; then
		[ "$(count mlx5_ep: "$tmp/log")" = 0 ] || fail 'lines in the log'
	else
		grep -q "$words" "$tmp/log" || fail "not: $words"
		grep mlx5_ep: "$tmp/log" | grep -v "$words" && fail 'other lines'
		[ "$(count "$words" "$tmp/log")" = "$tries" ] ||
			[ "$events" = 0 ] ||
			fail 'more than one line'
	fi
	# The kernel leaves lines of the log out where they come too often.
	reached=$(count ' mlx5_ep_limit_reached:' "$tmp/trace")
	if [ "$limit" = no ]; then
		[ "$reached" = 0 ] || fail 'a limit is traced'
	else
		[ "$reached" -ge "$(count "$words" "$tmp/log")" ] &&
			[ "$reached" -gt 0 ] || fail "$reached limits are traced"
	fi
	# An open that fails is neither opened nor closed.
	[ "$(count ' mlx5_ep_context_open:' "$tmp/trace")" = \
		"$(count ' mlx5_ep_context_close:' "$tmp/trace")" ]
}

# The first open under a policy has mlx5_core try write combining, on a page of its own,
# which would get the first failure.
ep_policy independent
program -n 1
ep_policy stock
echo 1 >$tracing/events/mlx5_ep/enable
plan 10
check 'a context without a page' \
	as_the_table_says 'context without a page' context_without_page
check 'a context without a page under a strict policy' \
	as_the_table_says 'context without a page, strict' \
	context_without_page_strict 2
check 'an open over the limit' \
	as_the_table_says 'open over uar_user_limit' open_over_limit
check 'an open over the limit of the cgroup' \
	as_the_table_says 'open over uar_cgroup_limits' open_over_cgroup_limit
check 'an open that the driver refuses' \
	as_the_table_says 'open that the driver refuses' open_refused
check 'a QP over a strict level' \
	as_the_table_says 'QP over a strict level' qp_over_level
check 'a page over the budget' \
	as_the_table_says "QP's page over uar_budget" page_over_budget
check 'a page over the limit' \
	as_the_table_says "QP's page over uar_user_limit" page_over_limit
check 'a page over the limit under stock' \
	as_the_table_says "page for a stock QP over uar_user_limit" \
	page_under_stock
check 'a page that the device refuses' \
	as_the_table_says "QP's page refused by the device" page_refused
echo 0 >$tracing/events/mlx5_ep/enable
ktap_finished
