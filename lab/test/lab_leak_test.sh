#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600
#
# Memory that a module loses fails a run on the debug kernel, with the stack that
# allocated it; a run that loses none passes.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# guest OBJECTS: a guest that loses so many; its exit status into $status
guest()
{
	local ko=build/modules/$release/leaker.ko

	status=0
	lab/vm --kernel debug --hca 0 -- sh -c \
		"insmod $ko objects=$1" >"$tmp/out" 2>&1 ||
		status=$?
	cat "$tmp/out"
}

leak_fails()
{
	guest 8
	[ $status -eq 125 ] || fail "exit status $status"
	[ "$(grep -c 'kmemleak: unreferenced object' "$tmp/out")" -gt 0 ]
	grep -q 'leaker_lose \[leaker\]' "$tmp/out"
}

none_passes()
{
	guest 0
	[ $status -eq 0 ] || fail "exit status $status"
	! grep -q 'unreferenced object' "$tmp/out"
}

kernel=$(lab/debug-kernel --print 2>/dev/null) ||
	skip_all 'the debug kernel is not built'
release=$(cat "$kernel/release")
lab/build-module debug >/dev/null
plan 2
check 'lost memory fails the run and shows its stack' leak_fails
check 'a run that loses none passes' none_passes
ktap_finished
