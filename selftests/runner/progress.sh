# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the runner prints and counts. This file reads the KTAP of a job as it
# comes. It keeps, per kernel, build/check/KERNEL/records with a line per test:
#
# NAME RESULT PASSED FAILED SKIPPED SECONDS
#
# Several jobs append to one file, so each line is written with one write().
# Descriptor 3 is the runner's standard output.

exec 3>&1
# Why a test was not started that --within left out.
no_time='the time of the run was over'
: "${out:?the folder of the results}" "${link_default:?ib or eth}"
: "${other_environment:?true or false}"

# record KERNEL NAME RESULT PASSED FAILED SKIPPED SECONDS
record()
{
	printf '%s %s %s %s %s %s\n' "${@:2}" >>"$out/$1/records"
}

# show KERNEL NAME RESULT TEXT SECONDS [DETAIL...]: prints a result with one
# write(), so that the output of parallel jobs does not mix. Details are
# indented, and cut if they are long. A failure is kept: the summary prints it
# again, for readers who see only the end of a log.
show()
{
	local kernel=$1 name=$2 result=$3 text=$4 seconds=$5 block

	printf -v block '%-6s %-6s %6s s  %-24s %s' \
		"$kernel" "$result" "$seconds" "$name" "$text"
	shift 5
	[ $# -eq 0 ] || block+=$'\n'$(printf '%s\n' "$@" | tail -n 60 |
		sed 's/^/       | /')
	printf '%s\n' "$block" >&3
	[ "$result" != FAILED ] || printf '%s\n' "$block" >>"$out/failures"
}

counts_text()
{
	local text="$1 passed"

	[ "$2" -eq 0 ] || text+=", $2 failed"
	[ "$3" -eq 0 ] || text+=", $3 skipped"
	printf '%s' "$text"
}

# run_options KERNEL NAME...: sets options, those of selftests/run for these tests, and
# variables, those of make
run_options()
{
	local name

	options=" --kernels $1" variables=" KERNELS=$1"
	[ "$1" != host ] || options='' variables=''
	[ "$link_default" = ib ] || {
		options+=" --link $link_default"
		variables+=" LINK=$link_default"
	}
	! $other_environment || {
		options+=' --other-environment'
		variables+=' ENVIRONMENT=other'
	}
	for name in "${@:2}"; do
		[ -n "${long_tests[$name]:-}" ] || continue
		options+=' --long'
		break
	done
}

# next_steps KERNEL NAME BASE: sets steps, the advice for a test that failed
next_steps()
{
	local name=${2%#*} check=check options variables

	run_options "$1" "$name"
	[ -z "${long_tests[$name]:-}" ] || check='check-long'
	steps=(
		"alone:    make $check TESTS=$name$variables"
		"unsteady: selftests/run --flaky 20 $name$options"
		"logs:     $out/$1/results.ktap $3.log"
	)
}

# guest_steps KERNEL BASE TESTS: sets steps, the advice for a guest that failed outside of
# its tests
guest_steps()
{
	local item options variables
	local -a ran=()

	for item in $3; do
		item=${item%%:*}
		ran+=("${item%#*}")
	done
	mapfile -t ran < <(printf '%s\n' "${ran[@]}" | sort -u)
	run_options "$1" "${ran[@]}"
	steps=(
		"again:    selftests/run$options --tests '${ran[*]}'"
		"logs:     $out/$1/results.ktap $2.log"
	)
}

# flaky_summary DIR: prints how often the test of --flaky failed. What was skipped, and what
# was not started, did not run.
flaky_summary()
{
	local records

	for records in "$1"/*/records; do
		awk -v kernel="$(basename "$(dirname "$records")")" '
			$1 == "boot" || $1 == "guest" { next }
			$3 + $4 == 0 { skipped++; next }
			{ runs++; failed += $2 == "FAILED" }
			END {
				if (!runs)
					text = "it did not run"
				else
					text = failed + 0 " of " runs " failed"
				if (runs && skipped)
					text = text ", " skipped " skipped"
				printf "flaky: %s: %s\n", kernel, text
			}' "$records" >&3
	done
}

# follow KERNEL BASE: reads a job's KTAP from stdin and keeps it in BASE.ktap
follow()
{
	local kernel=$1 base=$2 line name began=${EPOCHREALTIME/[.,]/}
	local passed=0 failed=0 skipped=0 seconds text
	local -a detail=() bad=() steps

	while IFS= read -r line; do
		printf '%s\n' "$line" >&4
		! $VERBOSE || printf '%-6s %s\n' "$kernel" "$line" >&3
		case $line in
		'  ok '*'# SKIP'*)
			skipped=$((skipped + 1))
			detail=()
			;;
		'  ok '*)
			passed=$((passed + 1))
			detail=()
			;;
		'  not ok '*)
			failed=$((failed + 1))
			bad+=("${detail[@]}" "$line")
			detail=()
			;;
		'  # progress: '*)
			$VERBOSE || printf '%-6s %s\n' "$kernel" "$line" >&3
			;;
		'# guest ready'*)
			record "$kernel" boot ok 0 0 0 "$(elapsed "$began")"
			;;
		'ok '* | 'not ok '*)
			name=${line#*ok * }
			name=${name%% *}
			seconds=${line##*time=}
			text=''
			if [ "${line#ok }" != "$line" ]; then
				case $line in *'# SKIP'*)
					[ $((passed + skipped)) -gt 0 ] ||
						skipped=1
					text=${line#*# SKIP }
					text=" (${text% # time=*})"
					;;
				esac
				[ $((passed + skipped)) -gt 0 ] || passed=1
				text=$(counts_text $passed 0 $skipped)$text
				show "$kernel" "$name" ok "$text" "$seconds"
				record "$kernel" "$name" ok $passed 0 $skipped \
					"$seconds"
			else
				[ $failed -gt 0 ] || failed=1
				text=${line#*# }
				text=${text% # time=*}
				next_steps "$kernel" "$name" "$base"
				show "$kernel" "$name" FAILED \
					"$(counts_text $passed $failed \
					$skipped) ($text)" "$seconds" \
					"${bad[@]}" "${detail[@]}" "${steps[@]}"
				record "$kernel" "$name" FAILED $passed \
					$failed $skipped "$seconds"
			fi
			passed=0 failed=0 skipped=0 detail=() bad=()
			;;
		*) detail+=("$line") ;;
		esac
	done 4>"$base.ktap"
}

# elapsed MICROSECONDS: prints the seconds since then
elapsed()
{
	local took=$((${EPOCHREALTIME/[.,]/} - $1))

	printf '%d.%d' $((took / 1000000)) $((took / 100000 % 10))
}

# left_over KERNEL BASE STATUS TESTS: prints which of the tests have not run
# yet. If the guest was lost or failed outside of any test, that is a failure of
# its own.
left_over()
{
	local kernel=$1 base=$2 status=$3 item name
	local -a missing=() detail=() steps

	for item in $4; do
		name=${item%%:*}
		grep -qE "^(not )?ok [0-9]+ $name( |\$)" "$base.ktap" ||
			missing+=("$item")
	done
	if [ "$status" -eq 0 ] && [ ${#missing[@]} -eq 0 ]; then
		return
	fi
	if grep -q '^# stop: ' "$base.ktap"; then
		printf '%s' "${missing[*]}"
		return
	fi
	# A report that failed the last test has also failed the guest; it
	# counts once.
	if [ ${#missing[@]} -eq 0 ] &&
		grep -q '^not ok .*# kernel report' "$base.ktap"; then
		return
	fi
	mapfile -t detail < <(tail -n 50 "$base.log")
	if [ ${#missing[@]} -eq 0 ] || ! grep -q '^# start: ' "$base.ktap"; then
		guest_steps "$kernel" "$base" "$4"
		show "$kernel" guest FAILED "exit status $status" - \
			"${detail[@]}" "${steps[@]}"
		record "$kernel" guest FAILED 0 $((${#missing[@]} + 1)) 0 0
		return
	fi
	name=${missing[0]%%:*}
	next_steps "$kernel" "$name" "$base"
	show "$kernel" "$name" FAILED "guest lost, exit status $status" - \
		"${detail[@]}" "${steps[@]}"
	record "$kernel" "$name" FAILED 0 1 0 0
	printf '%s' "${missing[*]:1}"
}

# summary DIR SECONDS: prints a line per kernel, the KTAP files, the failures
# again and the last line. Its exit status is that of the tests.
summary()
{
	local dir=$1 total=$2 kernel left

	echo >&3
	for kernel in "$dir"/*/; do
		kernel=$(basename "$kernel")
		{
			echo 'KTAP version 1'
			cat "$dir/$kernel"/*.ktap | sed '/^KTAP/d; /^1\.\./d'
		} >"$dir/$kernel/results.tmp"
		rm -f "$dir/$kernel"/*.ktap
		mv "$dir/$kernel/results.tmp" "$dir/$kernel/results.ktap"
		awk -v kernel="$kernel" '
		{ pass += $3; fail += $4; skip += $5; time += $6
		  part[NR] = $1 " " $6 }
		END {
			printf "%s: %d passed, %d failed, %d skipped in %d s:",
				kernel, pass, fail, skip, time
			for (i = 1; i <= NR; i++)
				printf "%s %s s", (i > 1 ? "," : ""), part[i]
			print ""
		}' "$dir/$kernel/records" >&3
	done
	left=$(cat "$dir"/*/results.ktap | grep -c "# SKIP $no_time" || true)
	[ "$left" -eq 0 ] || printf '\nleft out: %d tests, as %s\n' "$left" "$no_time" >&3
	if [ -e "$dir/failures" ]; then
		printf '\nfailed:\n' >&3
		cat "$dir/failures" >&3
	fi
	cat "$dir"/*/records | awk -v total="$total" -v left="$left" '
		{ pass += $3; fail += $4; skip += $5 }
		END {
			printf "whole run: %d s\n", total
			printf "%d passed, %d failed, %d skipped\n",
				pass, fail, skip
			exit fail > 0 || pass + skip == 0 || left && !pass
		}' >&3
}
