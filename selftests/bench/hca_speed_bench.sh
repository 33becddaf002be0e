#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, timeout: 900
#
# The speed of simhca itself: operations for each second of processor time that it
# takes, and the share of a processor that it takes while the guest is idle. The guest
# says when a load begins and ends (selftests/bench/hca_load), and the processor time of
# simhca is read here, outside. Arguments are options of lab/vm, as --kernel.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

hz=$(getconf CLK_TCK)

# used: prints the processor time that simhca has taken so far, in ticks
used()
{
	local pid

	pid=$(pgrep -nf "^$PWD/build/bin/simhca ")
	# The second field is the name, without blanks here.
	awk '{ print $14 + $15 }' "/proc/$pid/stat"
}

# figure LINK NAME UNIT DONE SECONDS TICKS
figure()
{
	local name=hca_$1_$2

	if [ "$2" = idle ]; then
		bench_at_most "$name" "processor" 0.02 \
			"$(ratio "$6" "$(awk -v s="$5" -v hz="$hz" 'BEGIN { print s * hz }')")"
		return
	fi
	bench_note "$name" "$3/processor-s" \
		"$(awk -v n="$4" -v ticks="$6" -v hz="$hz" \
			'BEGIN { if (ticks > 0) printf "%.6g", n * hz / ticks }')"
	bench_note "${name}_rate" "$3/s" "$(ratio "$4" "$5")"
}

for link in ib eth; do
	lab/vm --link $link --hca 2 --smp 2 --no-module --timeout 800 "$@" -- \
		selftests/bench/hca_load $link |
	while read -r word name unit n seconds; do
		case $word in
		begin) before=$(used) ;;
		end) figure $link "$name" "$unit" "$n" "$seconds" \
			$(($(used) - before)) ;;
		esac
	done
done
