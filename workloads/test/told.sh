# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the last line of a job says about its processes. A test sources lib.sh before.

: "${tmp:?}" "${patience:?}"
# seconds that a job may take
: "${limit:=$((40 * patience))}"

# told COUNTS FILE: the job ended with these counts, within a bounded time
told()
{
	local ms

	ms=$(sed -n "s/.* $1 ms=//p" "$2")
	[ -n "$ms" ] || fail "not all were told: $(cat "$2")"
	[ "$ms" -lt $((5000 * patience)) ] || fail "told after $ms ms"
}

# dies_inside PROGRAM OPTION...: a process of three is killed in each of the calls of
# the transport in turn, and is an error at the other two
dies_inside()
{
	local where

	for where in open connect share close leave; do
		code 1 timeout "$limit" "$@" -n 3 -K $where
		told 'killed=1 told=2 failed=0 passed=0' "$tmp/out"
	done
}
