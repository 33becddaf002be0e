# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What benchmarks share. A benchmark is selftests/bench/NAME_bench.sh with a
# "runs on:" header like a test's (and icount: yes where QEMU is to count
# instructions); it prints a line for each figure with bench_at_most.

set -euo pipefail

# bench_at_most NAME UNIT TARGET VALUE...: the figure is the median of the values;
# fails where there is none, or one that is no number. The ratio is that of the
# figure to its target.
bench_at_most()
{
	local name=$1 unit=$2 target=$3

	shift 3
	printf '%s\n' "$@" | sort -g | awk -v name="$name" -v unit="$unit" \
		-v target="$target" '
		$0 !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ { bad = 1 }
		{ v[NR] = $1 }
		END {
			if (bad) {
				print "bench: " name ": no figure" >"/dev/stderr"
				exit 1
			}
			median = (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
			verdict = "ok"
			if (target != "none" && median > target + 0)
				verdict = "miss"
			printf "bench: %s value=%.6g unit=%s target=%s %s ",
				name, median, unit, target, verdict
			if (target + 0 > 0)
				printf "ratio=%.3f ", median / target
			printf "(median of %d, %.6g to %.6g)\n", NR, v[1], v[NR]
		}'
}

# bench_note NAME UNIT VALUE...: a figure without a target, for the record
bench_note()
{
	bench_at_most "$1" "$2" none "${@:3}"
}

# times_median FACTOR VALUE...: the median of the values, so many times: a target that
# follows from what stands beside the figure
times_median()
{
	printf '%s\n' "${@:2}" | sort -g | awk -v factor="$1" '
		{ v[NR] = $1 }
		END { print factor * v[int((NR + 1) / 2)] }'
}

# ratio A B: A / B
ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", a / b }'
}
