#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, timeout: 600, long: yes
#
# No registration is ever said to be valid when the HCA has other pages than the
# process, whatever races with it; and with the notification switched off the
# same program finds that it would have been.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=/dev/null
. build/selftests/ktap_helpers.sh

# race WHAT STALE ROUNDS OPTION...: STALE is "none" or "some"
race()
{
	local what=$1 want=$2 out
	shift 2

	if ! out=$(build/bin/mr_race -n "$@"); then
		ktap_test_fail "$what: the run failed"
		return
	fi
	echo "# $what: $out"
	if [ "$want" = none ] && [[ $out = *" stale=0" ]]; then
		ktap_test_pass "$what: no stale hit in $1 rounds"
	elif [ "$want" = some ] && [[ $out != *" stale=0" ]]; then
		ktap_test_pass "$what: stale hits"
	else
		ktap_test_fail "$what: $out"
	fi
}

ktap_print_header
ktap_set_plan 4
race "registrations, notification on" none 20000
race "registrations, notification off" some 2000 -o
race "words, notification on" none 100000 -w
race "words, notification off" some 2000 -w -o
ktap_finished
