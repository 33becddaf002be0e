#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, hca: 2, mem: 2G, timeout: 30
#
# Active messages from all to all, where one request and one message at a time may
# be on their way to a process: each is handled once, each reply arrives, and
# nothing waits for ever.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# storm ARGUMENT...: ends, and all bytes are right
storm()
{
	timeout $((10 * patience)) am_storm -d 1 -q 1 -r 50 "$@" >"$tmp/out" \
		2>&1 || fail "am_storm $*: exit status $?: $(cat "$tmp/out")"
	grep -q ' wrong=0$' "$tmp/out"
}

plan 4
check 'two processes that poll' storm
check 'four processes with helper threads' storm -p 2 -g thread
check 'three processes that sleep on the channel' storm -n 3 -g event
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
