#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 60
#
# Active messages from all to all, where one request and one message at a time may
# be on their way to a process, and where a send queue has one place: each is handled
# once, each reply arrives, and nothing waits for ever.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# storm ARGUMENT...: ends, and all bytes are right
storm()
{
	timeout $((10 * patience)) am_storm -r 50 "$@" >"$tmp/out" \
		2>&1 || fail "am_storm $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' wrong=0$' "$tmp/out"
}

# full ARGUMENT...: there are credits and no place, for two processes of each node
full()
{
	storm -d 8 -Q 1 -p 2 "$@"
	[ "$(sed -n 's/.* waited=\([0-9]*\) .*/\1/p' "$tmp/out")" -gt 0 ]
}

plan 8
check 'two processes that poll' storm -d 1 -q 1
check 'four processes with helper threads' storm -d 1 -q 1 -p 2 -g thread
check 'three processes that sleep on the channel' storm -d 1 -q 1 -n 3 -g event
check 'send queues of one request, four processes that poll' full
check 'send queues of one request, helper threads' full -g thread
check 'send queues of one request, asleep on the channel' full -g event
check 'one request, one credit, one place in the send queue' \
	storm -d 1 -q 1 -Q 1 -p 2 -g thread
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
