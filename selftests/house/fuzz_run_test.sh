#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# selftests/fuzz/run: what it asks of the guests, and what it makes of how they end. A program
# in the place of the virtual machine notes its arguments and ends as it is told.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

mkdir -p "$tmp/tree/selftests/fuzz" "$tmp/tree/lab"
cp selftests/fuzz/run "$tmp/tree/selftests/fuzz/"
cat >"$tmp/tree/lab/vm" <<'END'
#!/usr/bin/env bash
echo "$*" >asked
echo "$*" >>all
[ -z "$PROGRAMS" ] || echo "$PROGRAMS" >build/fuzz/session
[ -z "$SAYS" ] || echo "$SAYS"
exit "$STATUS"
END
chmod +x "$tmp/tree/lab/vm"

# fuzz STATUS SAYS PROGRAMS OPTION...: runs it; the guest ends with STATUS, its last line is
# SAYS, and it has noted PROGRAMS
fuzz()
{
	rm -f "$tmp/tree/all"
	STATUS=$1 SAYS=$2 PROGRAMS=$3 timeout 20 "$tmp/tree/selftests/fuzz/run" "${@:4}"
}

good='fuzz: 512 executions, 99 edges, 0 reports'

passes()
{
	code 0 fuzz 0 "$good" x --seconds 20
	grep -xF "$good" "$tmp/out"
	grep -e '--smp 2 ' "$tmp/tree/asked"
}

cpus()
{
	code 0 fuzz 0 "$good" x --cpus 1
	grep -e '--smp 1 ' "$tmp/tree/asked"
}

nothing_ran()
{
	code 2 fuzz 0 'fuzz: 0 executions, 0 edges, 0 reports' ''
	grep -F 'no program ran; build/fuzz/log has' "$tmp/err"
	code 2 fuzz 124 '' ''
	grep -F 'the guest ended with status 124' "$tmp/err"
	grep -F 'no program ran; build/fuzz/log has' "$tmp/err"
}

finds()
{
	code 1 fuzz 1 "${good/0 rep/1 rep}" x
	grep -xF "${good/0 rep/1 rep}" "$tmp/out"
	code 1 fuzz 125 '' x
	grep -F 'the guest ended with status 125' "$tmp/err"
	grep -F '1 reports' "$tmp/out"
}

# A guest ends in time also where it has not run all programs; others run the rest.
executions()
{
	code 0 fuzz 0 "$good" x --executions 1025
	[ "$(wc -l <"$tmp/tree/all")" = 3 ]
	grep -c -e ' --seconds 1800' "$tmp/tree/all" | grep -x 3
	sed -n 's/.*--seed \([0-9]*\) .*--executions \([0-9]*\).*/\1 \2/p' "$tmp/tree/all" |
		diff - <(printf '%s\n' '1 1025' '2 513' '3 1')
	grep -xF 'fuzz: 1536 executions, 99 edges, 0 reports' "$tmp/out"
	code 0 fuzz 0 "${good/512/70000}" x --executions 60000
	grep -e ' --executions 50000' "$tmp/tree/asked"
}

# No guest follows one in which nothing ran: it would be followed for ever.
no_progress()
{
	code 2 fuzz 0 'fuzz: 0 executions, 0 edges, 0 reports' '' --executions 9
	[ "$(wc -l <"$tmp/tree/all")" = 1 ]
	grep -F 'no program ran; build/fuzz/log has' "$tmp/err"
}

# What the fuzzer says of itself is no report.
cannot_run()
{
	code 2 fuzz 2 'fuzz: cannot write build/fuzz/session: No space left' x
	grep -xF 'fuzz: the fuzzer could not run; build/fuzz/log says why' "$tmp/err"
	must_fail grep report "$tmp/out"
}

# Numbers are decimal.
numbers()
{
	code 0 fuzz 0 "$good" x --seconds 08 --seed 010 --cpus 09
	grep -e '--smp 9 .*--seed 10 .*--seconds 8$' "$tmp/tree/asked"
	code 2 fuzz 0 "$good" x --seconds 1m
	code 2 fuzz 0 "$good" x --seed 10000000000000000000
}

# A second run would overwrite the session of the first one.
one_at_a_time()
{
	exec 8>"$tmp/tree/build/fuzz/lock"
	flock 8
	for option in --seconds=9 --replay=session --minimise=minimal; do
		code 2 fuzz 0 "$good" x "${option%=*}" "${option#*=}"
		grep -xF 'fuzz: another run uses this checkout' "$tmp/err"
		[ ! -e "$tmp/tree/all" ]
	done
	exec 8>&-
}

replays()
{
	mkdir -p "$tmp/elsewhere"
	echo 'some calls' >"$tmp/elsewhere/session"
	cd "$tmp/elsewhere"
	code 0 fuzz 0 "$good" '' --replay session
	cmp session "$tmp/tree/build/fuzz/replay"
	code 0 fuzz 0 "$good" '' --replay "$tmp/elsewhere/session"
}

plan 10
check a_run_says_what_its_guest_said passes
check the_guest_has_as_many_cpus_as_asked cpus
check a_run_without_a_program_is_an_error nothing_ran
check a_report_and_a_lost_guest_are_findings finds
check so_many_programs_may_take_several_guests executions
check a_guest_in_which_nothing_ran_is_the_last no_progress
check a_fuzzer_that_cannot_run_is_no_report cannot_run
check numbers_are_decimal numbers
check two_runs_do_not_share_a_checkout one_at_a_time
check a_replayed_file_is_where_the_caller_is replays
ktap_finished
