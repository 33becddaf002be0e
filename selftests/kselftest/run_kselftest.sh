#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs tests that are installed in the form of kselftest, and prints KTAP as the
# kernel's script of this name does. The reason of a skip and the exit status of a
# failure are in the line of the result.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

usage()
{
	cat <<-END
	usage: run_kselftest.sh [OPTION...]
	Run the tests of kselftest-list.txt, or some of them.

	  -c | --collection COLLECTION   run the tests of this collection
	  -t | --test COLLECTION:TEST    run this test
	  -S | --skip COLLECTION:TEST    do not run this test
	  -l | --list                    print the tests
	  -d | --dry-run                 print what would run
	  -o | --override-timeout S      seconds that a test may take; default: the
	                                 file settings of its collection
	  -p | --per-test-log FOLDER     write the output of a test to FOLDER/TEST
	  -f | --no-error-on-fail        exit with 0 although tests failed
	  -h | --help                    print this

	-c, -t and -S may be given more than once. The exit status is 1 when a test
	failed. A test that cannot run here counts as skipped.
	END
}

die()
{
	echo "run_kselftest.sh: $*" >&2
	exit 1
}

[ -r kselftest-list.txt ] || die 'there is no kselftest-list.txt beside it'
mapfile -t all <kselftest-list.txt
chosen=()
left_out=' '
dry='' limit='' logs='' error=1

# choose PATTERN WHAT: adds the tests that are so, fails if there is none
choose()
{
	local test found=''

	for test in "${all[@]}"; do
		[[ $test == "$1" || ${test%%:*} == "$1" ]] || continue
		chosen+=("$test")
		found=yes
	done
	[ -n "$found" ] || die "no such $2: $1"
}

while [ $# -gt 0 ]; do
	case $1 in
	-c | --collection | -t | --test | -S | --skip | -o | --override-timeout | \
		-p | --per-test-log)
		[ $# -gt 1 ] || { usage >&2 && exit 2; } ;;&
	-c | --collection) choose "$2" collection && shift ;;
	-t | --test) choose "$2" test && shift ;;
	-S | --skip) left_out+="$2 " && shift ;;
	-o | --override-timeout) limit=$2 && shift ;;
	-p | --per-test-log) logs=$(readlink -m "$2") && shift ;;
	-l | --list) printf '%s\n' "${all[@]}" && exit ;;
	-d | --dry-run) dry=1 ;;
	-f | --no-error-on-fail) error=0 ;;
	-h | --help) usage && exit ;;
	*) usage >&2 && exit 2 ;;
	esac
	shift
done
[ ${#chosen[@]} -gt 0 ] || chosen=("${all[@]}")
tests=()
for test in "${chosen[@]}"; do
	[[ $left_out = *" $test "* ]] || tests+=("$test")
done
[ -z "$logs" ] || mkdir -p "$logs"
passed=0 failed=0 skipped=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# seconds_of COLLECTION: prints how long a test of it may take; 0: without end
seconds_of()
{
	local seconds=45

	[ ! -r "$1/settings" ] ||
		seconds=$(sed -n 's/^timeout=//p' "$1/settings")
	echo "${limit:-$seconds}"
}

# run_test COLLECTION TEST: runs it in its folder; its output is a diagnostic
run_test()
{
	local seconds status=0
	local -a copies=("$said")

	[ -z "$logs" ] || copies+=("$logs/$2")
	seconds=$(seconds_of "$1")
	echo "# timeout set to $seconds"
	echo "# selftests: $1: $2"
	if [ ! -x "$1/$2" ]; then
		echo "# $1/$2 is no program" | tee "$said"
		return 1
	fi
	(cd "$1" && exec timeout -k 10 "$seconds" "./$2" </dev/null) 2>&1 |
		tee "${copies[@]}" | sed -u 's/^/# /' ||
		status=${PIPESTATUS[0]}
	return "$status"
}

# result NUMBER COLLECTION TEST STATUS: prints the line of the result, and counts
result()
{
	local line="$1 selftests: $2: $3" reason

	case $4 in
	0)
		echo "ok $line"
		passed=$((passed + 1))
		;;
	4)
		reason=$(sed -n 's/^1\.\.0 # SKIP *//p' "$said" | tail -n 1)
		echo "ok $line # SKIP${reason:+ $reason}"
		skipped=$((skipped + 1))
		;;
	124 | 137)
		echo "not ok $line # TIMEOUT $(seconds_of "$2") seconds"
		failed=$((failed + 1))
		;;
	*)
		echo "not ok $line # exit=$4"
		failed=$((failed + 1))
		;;
	esac
}

echo 'TAP version 13'
echo "1..${#tests[@]}"
number=0
for test in "${tests[@]}"; do
	number=$((number + 1))
	if [ -n "$dry" ]; then
		echo "# would run $test"
		continue
	fi
	status=0
	# Not as a condition, so that set -e works inside.
	set +e
	(set -e && run_test "${test%%:*}" "${test#*:}")
	status=$?
	set -e
	result "$number" "${test%%:*}" "${test#*:}" "$status"
done
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
[ "$failed" = 0 ] || exit "$error"
