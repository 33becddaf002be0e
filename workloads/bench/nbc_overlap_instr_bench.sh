#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 1G, icount: yes, timeout: 600
#
# Which percentage of the time of a non-blocking collective is free for computation,
# after Hoefler and Lumsdaine (2008), and what a process spends on it: that of the
# caller alone, and that of all threads of the process. The goal is 90 for 64 KiB and
# more with a helper thread. workloads/mpi/overlap measures two MPIs beside.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

# missing SHARE: prints the percentage that is missing to all
missing()
{
	awk -v share="$1" 'BEGIN { printf "%.4g\n", 100 * (1 - share) }'
}

# Ten collectives of three lengths, and the barrier.
rows=31

# figures NAME OPTION...: notes each line of nbc_overlap, all of which have figures
figures()
{
	local name=$1 collective bytes cpu free all at_most lines n=0

	shift
	lines=$(nbc_overlap "$@")
	while read -r collective bytes cpu free all; do
		at_most=none
		[ "$name" != thread ] || [ "$bytes" -lt 65536 ] || at_most=10
		collective=nbc_${name}_${collective}_${bytes}
		bench_at_most "${collective}_busy_caller" percent $at_most \
			"$(missing "$free")"
		bench_note "${collective}_busy_process" percent "$(missing "$all")"
		bench_note "$collective" instructions "$cpu"
		n=$((n + 1))
	done < <(sed -n 's/^overlap: .* collective=\([a-z]*\) .* bytes=\([0-9]*\) .* cpu=\([0-9]*\) free=\([-0-9.]*\) free_all=\([-0-9.]*\)$/\1 \2 \3 \4 \5/p' <<<"$lines")
	[ $n = $rows ] || {
		echo "bench: $name: $n figures of $rows: $lines" >&2
		return 1
	}
}

figures tested -n 4 -t 8
figures thread -n 4 -t 0 -g thread
