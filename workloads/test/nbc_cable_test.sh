#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, hca: 2, mem: 2G, timeout: 120
#
# Non-blocking collectives on a cable that takes time: results are those of a serial
# run, what is waited for is the cable's time, and who need not wait does not.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

latency=10000	# microseconds

is_default()
{
	[ "$(simhca-ctl '{"op":"cable"}')" = '{"ok":true,"latency":0,"rate":0}' ]
	must_fail hca_cable_time latency=soon
	[ "$(simhca-ctl '{"op":"cable"}')" = '{"ok":true,"latency":0,"rate":0}' ]
}

# us FORM: microseconds of the FFT in the last run
us()
{
	sed -n "s/.*program=fft form=$1 .* us=\([0-9]*\) .*/\1/p" "$tmp/out"
}

# The FFT has other work while a collective is under way.
programs()
{
	hca_cable_time latency=$latency,rate=20
	timeout $((60 * patience)) nbc_programs -p 1 >"$tmp/out" 2>&1 ||
		fail "nbc_programs: exit status $?: $(cat "$tmp/out")"
	cat "$tmp/out"
	[ "$(grep -c '^nbc_programs: program=.* wrong=0$' "$tmp/out")" = 4 ]
	[ $((4 * $(us non-blocking))) -lt $((3 * $(us blocking))) ]
}

# A barrier of two is over when each has heard of the other.
barrier()
{
	local pure free

	timeout $((60 * patience)) nbc_overlap -t 3 -r 3 >"$tmp/out" 2>&1 ||
		fail "nbc_overlap: exit status $?: $(cat "$tmp/out")"
	grep collective=barrier "$tmp/out" >"$tmp/barrier"
	cat "$tmp/barrier"
	pure=$(sed -n 's/.* pure=\([0-9]*\) .*/\1/p' "$tmp/barrier")
	free=$(sed -n 's/.* free=0\.\([0-9]\).*/\1/p' "$tmp/barrier")
	[ "$pure" -ge $((latency * 1000)) ]
	[ "$free" -ge 8 ]
}

# Nothing stays on the cable.
arrived()
{
	simhca-ctl dump | jq -e '[.hcas[].under_way] == [0, 0]'
	hca_cable_time latency=0,rate=0
	simhca-ctl dump | jq -e '[.hcas[].under_way] == [null, null]'
}

plan 5
check 'by default messages need no time' is_default
check 'programs are right, and faster where they do not wait' programs
check 'a barrier takes the time of the cable, and little of a processor' barrier
check 'all has arrived in the end' arrived
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
