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
	Run the tests of kselftest-list.txt, or some of them. The options are those of
	the kernel's script.

	  -s | --summary                 print results only; the output of the tests is
	                                 in output.log beside this script
	  -p | --per-test-log [FOLDER]   print results only; the output of a test is in
	                                 FOLDER/TEST (default: /tmp); FOLDER may
	                                 begin at this script's folder
	  -c | --collection COLLECTION   run the tests of this collection
	  -t | --test COLLECTION:TEST    run this test
	  -S | --skip COLLECTION:TEST    do not run this test
	  -l | --list                    print the tests
	  -d | --dry-run                 print what would run
	  -f | --no-error-on-fail        exit with 0 although tests failed
	  -n | --netns                   run each test in a network namespace of its
	                                 own, which needs ip(8)
	  -o | --override-timeout S      seconds that a test may take; default: what
	                                 the file settings of its collection says,
	                                 times MLX5_EP_SLOWNESS
	  -h | --help                    print this

	-c, -t and -S may be given more than once; -p takes the place of -s. The exit
	status is 1 when a test failed. A test that cannot run here counts as skipped.
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
dry='' limit='' log='' logs='' netns='' error=1

# choose WHAT NAME: adds the tests of a collection, or one test; fails if there is none
choose()
{
	local test found=''

	for test in "${all[@]}"; do
		case $1 in
		collection) [ "${test%%:*}" = "$2" ] || continue ;;
		test) [ "$test" = "$2" ] || continue ;;
		esac
		chosen+=("$test")
		found=yes
	done
	[ -n "$found" ] || die "no such $1: $2"
}

while [ $# -gt 0 ]; do
	case $1 in
	-c | --collection | -t | --test | -S | --skip | -o | --override-timeout)
		[ $# -gt 1 ] || { usage >&2 && exit 2; } ;;&
	-c | --collection) choose collection "$2" && shift ;;
	-t | --test) choose test "$2" && shift ;;
	-S | --skip) left_out+="$2 " && shift ;;
	-o | --override-timeout) limit=$2 && shift ;;
	-p | --per-test-log)
		logs=/tmp
		if [ -n "${2-}" ] && [[ $2 != -* ]]; then
			logs=$(readlink -m "$2")
			shift
		fi ;;
	-s | --summary) log=$PWD/output.log ;;
	-l | --list) printf '%s\n' "${all[@]}" && exit ;;
	-d | --dry-run) dry=1 ;;
	-f | --no-error-on-fail) error=0 ;;
	-n | --netns) netns=yes ;;
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
if [ -n "$logs" ]; then
	mkdir -p "$logs" 2>/dev/null && [ -w "$logs" ] ||
		die "cannot write logs to $logs"
elif [ -n "$log" ]; then
	: >"$log" 2>/dev/null || die "cannot write $log"
fi
passed=0 failed=0 skipped=0
said=$(mktemp)
namespace=
trap 'rm -f "$said"; [ -z "$namespace" ] || ip netns del "$namespace"' EXIT

# On a slow kernel a test may take longer.
if [ -z "${MLX5_EP_SLOWNESS:-}" ] && [ -r mlx5_ep/tree/selftests/lib/slowness.sh ]; then
	# shellcheck source=selftests/lib/slowness.sh
	. mlx5_ep/tree/selftests/lib/slowness.sh
	MLX5_EP_SLOWNESS=$(slowness_of "${MLX5_EP_KERNEL:-}")
fi

# seconds_of COLLECTION: prints how long a test of it may take; 0: without end
seconds_of()
{
	local seconds=45

	[ ! -r "$1/settings" ] ||
		seconds=$(sed -n 's/^timeout=//p' "$1/settings")
	echo "${limit:-$((seconds * ${MLX5_EP_SLOWNESS:-1}))}"
}

# enter_netns: sets enter to what runs a command in a network namespace of its own
enter_netns()
{
	enter=()
	[ -n "$netns" ] || return 0
	namespace=kselftest-$$-$number
	ip netns add "$namespace" >"$said" 2>&1 || {
		namespace=
		return 1
	}
	ip -n "$namespace" link set lo up
	enter=(ip netns exec "$namespace")
}

leave_netns()
{
	[ -z "$namespace" ] || ip netns del "$namespace" || :
	namespace=
}

# run_test COLLECTION TEST: runs it in its folder; its output is a diagnostic
run_test()
{
	local seconds status=0

	seconds=$(seconds_of "$1")
	if [ -n "$limit" ]; then
		echo "# overriding timeout to $seconds"
	else
		echo "# timeout set to $seconds"
	fi >&4
	echo "# selftests: $1: $2"
	if [ ! -x "$1/$2" ]; then
		echo "# $1/$2 is no program" | tee "$said" >&4
		return 1
	fi
	(cd "$1" && exec timeout -k 10 "$seconds" "${enter[@]}" "./$2" </dev/null 4>&-) 2>&1 |
		tee "$said" | sed -u 's/^/# /' >&4 ||
		status=${PIPESTATUS[0]}
	return "$status"
}

# open_log TEST: descriptor 4 is where the output of a test goes
open_log()
{
	if [ -n "$logs" ]; then
		exec 4>"$logs/$1"
	elif [ -n "$log" ]; then
		exec 4>>"$log"
	else
		exec 4>&1
	fi
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
	netns)
		sed 's/^/# /' "$said"
		echo "not ok $line # Create NS failed"
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
	open_log "${test#*:}"
	if enter_netns; then
		# Not as a condition, so that set -e works inside.
		set +e
		(set -e && run_test "${test%%:*}" "${test#*:}")
		status=$?
		set -e
	else
		status=netns
	fi
	leave_netns
	result "$number" "${test%%:*}" "${test#*:}" "$status"
done
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
[ "$failed" = 0 ] || exit "$error"
