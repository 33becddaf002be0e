#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# selftests/fuzz/reports: a report since a mark is printed, also where the kernel log has
# lost its beginning, or the mark itself. A program in the place of dmesg prints a log.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

printf '#!/bin/sh\ncat "%s"\n' "$tmp/log" >"$tmp/dmesg"
chmod +x "$tmp/dmesg"
PATH=$tmp:$PATH

# log LINE...: what dmesg prints
log()
{
	printf '[ 1.0] %s\n' "$@" >"$tmp/log"
}

reports()
{
	selftests/fuzz/reports 'fuzz 2'
}

finds()
{
	log 'lab: start of run' 'selftest: fuzz 1' 'BUG: one' 'selftest: fuzz 2' 'BUG: two'
	code 1 reports
	grep -F 'BUG: two' "$tmp/out"
	must_fail grep -F 'BUG: one' "$tmp/out"
}

finds_later()
{
	log 'selftest: fuzz 2' 'BUG: two' 'selftest: fuzz 3' 'BUG: three'
	code 1 reports
	grep -F 'BUG: two' "$tmp/out"
	grep -F 'BUG: three' "$tmp/out"
}

wrapped()
{
	log 'a line' 'selftest: fuzz 2' 'BUG: two'
	code 1 reports
	grep -F 'BUG: two' "$tmp/out"
	log 'a line' 'BUG: two' 'selftest: fuzz 3'
	code 1 reports
	grep -F 'BUG: two' "$tmp/out"
}

nothing()
{
	log 'lab: start of run' 'selftest: fuzz 2' 'WARN is not the word' \
		'selftest: fuzz 3'
	code 0 reports
	[ ! -s "$tmp/out" ]
}

plan 4
check a_report_since_the_mark_is_printed_and_none_before_it finds
check a_report_behind_a_later_mark_is_printed finds_later
check a_log_that_has_lost_its_beginning_or_the_mark_has_its_reports wrapped
check a_log_without_reports_is_none nothing
ktap_finished
