#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core, timeout: 240
#
# mlx5ep bench on a made-up tree with programs that are made up too: how they are called,
# and what becomes of their figures: JSON, tables, data and commands for gnuplot.
# tool_bench has the true programs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

built=${TOOL:-$PWD/build/bin/mlx5ep}
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# The tool finds its programs beside it. A library with ASan could not be preloaded into
# a shell, so it has the one without.
tool=$tmp/bin/mlx5ep
export LD_LIBRARY_PATH=$PWD/build/lib
export CALLS=$tmp/calls

# bench ARGUMENT...: mlx5ep bench
bench()
{
	: >"$CALLS"
	"$tool" bench "$@"
}

# json ARGUMENT...: its report
json()
{
	: >"$CALLS"
	"$tool" -j bench "$@"
}

# programs: makes programs. The n-th call of one prints n times what the first one
# prints, and the square of it. The last lines are no figures.
programs()
{
	local name

	mkdir -p "$tmp/bin"
	cp "$built" "$built-bench" "$tmp/bin/"
	cat >"$tmp/program" <<-'END'
	#!/bin/sh
	call="${0##*/} $MLX5_EP_DEVICE ${MLX5EP_POLICY:-none} $*" n=0
	echo "$call" >>"$CALLS"
	[ -z "${CPUS:-}" ] || grep Cpus_allowed_list /proc/self/status >"$CPUS.${0##*/}"
	while read -r line; do
		[ "$line" != "$call" ] || n=$((n + 1))
	done <"$CALLS"
	[ "${FAIL:-}" != "${0##*/}" ] || exit 3
	[ "${KILLED:-}" != "${0##*/}" ] || kill -KILL $$
	[ "${SILENT:-}" != "${0##*/}" ] || exit 0
	[ "${FEWER:-}" != "${0##*/}" ] || [ "$n" -ne 2 ] || {
		echo '{"name": "mpi-everywhere", "value": 1}'
		exit
	}
	echo "{\"name\": \"mpi-everywhere\", \"unit\": \"M/s\", \"value\": $((1000 * n)), \"pages\": 2}"
	echo "{\"name\": \"static\", \"unit\": \"M/s\", \"value\": $((10 * n * n)), \"pages\": 1}"
	echo '4 threads'
	echo '["a list"]'
	echo '{"value": 7}'
	END
	chmod +x "$tmp/program"
	for name in msgrate globalarray stencil pipeline xsrq memory; do
		cp "$tmp/program" "$tmp/bin/$name"
	done
}

made_up()
{
	fresh
	programs
	fake mlx5_0 0000:01:00.0 attached
	echo 0.50 >"$root/proc/loadavg"
	: >"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/contexts"
	echo 28.1.0 >"$root/sys/class/infiniband/mlx5_0/fw_ver"
	echo SIM0001 >"$root/sys/class/infiniband/mlx5_0/board_id"
}

# calls TEXT: these are the calls of programs, each so often as it stands there
calls()
{
	diff <(printf '%s\n' "$1") "$CALLS"
}

calls_are_those_of_the_case()
{
	made_up
	json -r 1 -t 3 -m 80 -p stock latency >/dev/null
	calls 'msgrate mlx5_0 stock 1 0 -t 3 -n 10 -L -j -a -R 1
msgrate mlx5_0 stock 1 0 -t 3 -n 10 -L -j -a -R 1'
	json -r 1 -t 3,7 -m 7 -p independent,shared-uar latency >/dev/null
	calls "$(for call in 'independent 1 4 -t 3' 'independent 1 8 -t 7' \
		'shared-uar 1 4 -t 3' 'shared-uar 1 8 -t 7'; do
		for _ in 1 2; do
			echo "msgrate mlx5_0 $call -n 1 -L -j -a -R 1 -c static"
		done
	done)"
	json -r 1 -t 2 -m 8 -p shared-uuar latency >/dev/null
	calls "$(for _ in 1 2; do
		echo 'msgrate mlx5_0 shared-uuar 1 0 -t 2 -n 1 -L -j -a -R 1 -c static'
	done)"
	# The side of a square of 512 / 8, and the largest one.
	json -r 1 -t 1 -m 512 -p stock globalarray >/dev/null
	grep -q -- '-n 8 -b 16' "$CALLS"
	json -r 1 -t 1 -m 511 -p stock globalarray >/dev/null
	grep -q -- '-n 7 -b 16' "$CALLS"
	json -r 1 -t 1 -m 10000000 -p stock globalarray >/dev/null
	grep -q -- '-n 64 -b 16' "$CALLS"
	# What no policy changes, and no threads.
	json -r 2 -m 128 -p independent,shared-uar memory >/dev/null
	calls "$(for _ in 1 2 3; do echo 'memory mlx5_0 stock 1 0 -n 64 -j'; done)"
	# A program with one thread is pinned; those with more pin their threads.
	CPUS=$tmp/cpus json -r 1 -t 1 -m 8 -p stock latency memory >/dev/null
	grep -Eq '[^0-9][0-9]+$' "$tmp/cpus.memory"
	must_fail grep -q '[-,]' "$tmp/cpus.memory"
	grep Cpus_allowed_list /proc/self/status | cmp - "$tmp/cpus.msgrate"
	# By itself a simulated adapter has 512 messages.
	json -r 1 memory >/dev/null
	grep -q -- '-n 256 -j' "$CALLS"
	rm "$root/sys/class/infiniband/mlx5_0/board_id"
	json -r 1 memory >/dev/null
	grep -q -- '-n 100000 -j' "$CALLS"
}

figures()
{
	made_up
	json -r 3 -t 16 -m 8 -p stock,independent globalarray >"$tmp/out"
	jq -c '.runs[0] | del(.paper)' "$tmp/out" >"$tmp/run"
	diff "$tmp/run" - <<-'END'
	{"bench":"globalarray","variant":"tiles of 16","policy":"stock","threads":16,"figures":[{"name":"mpi-everywhere","unit":"M/s","pages":2,"median":3000,"low":2000,"high":4000,"spread":66.67,"relative":100.0,"paper_relative":100,"paper_pages":128},{"name":"static","unit":"M/s","pages":1,"median":90.00,"low":40.00,"high":160.0,"spread":133.3,"relative":3.000,"paper_relative":64,"paper_pages":8}]}
	END
	jq -e '.runs[0].paper.source == "Zambre et al. 2018" and .by_policy[0].rows ==
		[{"name": "mpi-everywhere", "unit": "M/s", "paper_relative": 100,
		  "stock": 3000, "independent": 3000},
		 {"name": "static", "unit": "M/s", "paper_relative": 64,
		  "stock": 90, "independent": 90}]' "$tmp/out"
	jq -e '.by_policy | length == 1 and .[0].threads == 16 and
		.[0].policies == ["stock", "independent"] and
		.[0].bench == "globalarray" and .[0].variant == "tiles of 16" and
		.[0].paper.source == "Zambre et al. 2018"' "$tmp/out"
	# An even number of rounds; the threads are not the paper's.
	json -r 2 -t 2,4 -m 8 -p stock globalarray >"$tmp/out"
	jq -e '[.runs[].figures[].median] == [2500, 65, 2500, 65] and
		.by_policy == [] and
		([.. | objects | select(has("paper_relative"))] | length == 0)' "$tmp/out"
	json -r 1 xsrq >"$tmp/out"
	jq -e '.runs == [.runs[0]] and (.runs[0] | has("threads") | not)' "$tmp/out"
	jq -e '.on | .device == "mlx5_0" and .firmware == "28.1.0" and .simulated and
		.board == "SIM0001" and .attached == "yes" and .kernel' "$tmp/out"
}

tables()
{
	made_up
	code 0 bench -r 3 -t 16 -m 8 -p stock,shared-uar globalarray stencil
	sed 's/ *$//' "$tmp/out" | sed '1,/^kernel/d' >"$tmp/tables"
	diff "$tmp/tables" - <<-'END'

	globalarray, tiles of 16, under stock, threads: 16 (simulated)
	NAME            MEDIAN  UNIT    LOW   HIGH  SPREAD%  RELATIVE%  PAGES  UUARS  PAPER%  PAPER-PAGES
	mpi-everywhere    3000  M/s    2000   4000    66.67      100.0      2      -     100          128
	static           90.00  M/s   40.00  160.0    133.3      3.000      1      -      64            8
	paper: Zambre et al. 2018: RDMA writes of 16 threads on a ConnectX-4, in percent of mpi-everywhere

	globalarray, tiles of 16, under shared-uar, threads: 16 (simulated)
	NAME            MEDIAN  UNIT    LOW   HIGH  SPREAD%  RELATIVE%  PAGES  UUARS  PAPER%  PAPER-PAGES
	mpi-everywhere    3000  M/s    2000   4000    66.67      100.0      2      -     100          128
	static           90.00  M/s   40.00  160.0    133.3      3.000      1      -      64            8
	paper: Zambre et al. 2018: RDMA writes of 16 threads on a ConnectX-4, in percent of mpi-everywhere

	stencil, two processes, under stock, threads: 16 (simulated)
	NAME            MEDIAN  UNIT    LOW   HIGH  SPREAD%  RELATIVE%  PAGES  UUARS
	mpi-everywhere    3000  M/s    2000   4000    66.67      100.0      2      -
	static           90.00  M/s   40.00  160.0    133.3      3.000      1      -
	paper: Zambre et al. 2018: 2xdynamic has 103 to 106 % of mpi-everywhere on a ConnectX-4

	globalarray, tiles of 16, medians by category and policy, threads: 16 (simulated)
	NAME            stock  shared-uar  UNIT  PAPER%
	mpi-everywhere   3000        3000  M/s      100
	static          90.00       90.00  M/s       64
	paper: Zambre et al. 2018: RDMA writes of 16 threads on a ConnectX-4, in percent of mpi-everywhere
	END
}

# Programs that fail, are killed, print nothing, or not the same in each round.
failures()
{
	local deep

	made_up
	export FAIL=pipeline KILLED=xsrq SILENT=memory FEWER=stencil
	code 1 bench -r 2 -t 1 -m 8 -p stock globalarray stencil pipeline xsrq memory
	grep -c '^failed: ' "$tmp/out"
	[ "$(grep '^failed: ' "$tmp/out")" = "$(printf 'failed: %s\n' \
		'the program printed no figures' \
		'the program failed; its message is above' \
		'a signal ended the program' 'the program printed no figures')" ]
	code 1 json -r 2 -t 1 -m 8 -p stock globalarray stencil pipeline xsrq memory
	jq -e '[.runs[] | has("error")] == [false, true, true, true, true] and
		[.runs[] | has("figures")] == [true, false, false, false, false]' "$tmp/out"
	unset FAIL KILLED SILENT FEWER
	rm "$tmp/bin/xsrq"
	code 1 bench -r 1 xsrq
	grep -q 'xsrq is missing: install the package mlx5ep-tests' "$tmp/err"
	code 0 bench -r 1 memory
	# The tool is in a folder whose name leaves no room for a program's.
	deep=$tmp/$(printf '%0120d/' {1..4})
	deep=${deep:0:500}/bin
	mkdir -p "$deep"
	cp "$built" "$built-bench" "$deep/"
	code 1 "$deep/mlx5ep" bench -r 1 globalarray
	grep -q 'globalarray is missing' "$tmp/err"
	# The tool alone, as without the package of the tests
	rm "$tmp/bin/mlx5ep-bench"
	code 1 bench -r 1 memory
	grep -qx 'mlx5ep: mlx5ep-bench is missing: install the package mlx5ep-tests' \
		"$tmp/err"
	code 0 "$tool" bench --help
}

noise_is_said()
{
	local tables=$root/sys/kernel/debug/mlx5_ep/0000:01:00.0

	made_up
	json -r 1 memory | jq -e '.disturbances == []'
	echo 1.00 >"$root/proc/loadavg"
	mkdir -p "$root/sys/devices/system/cpu/cpu0/cpufreq"
	echo schedutil >"$root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
	printf 'pid comm\n1 a\n2 b\n' >"$tables/contexts"
	code 0 bench -r 1 memory
	grep -qx 'warning: other programs run: load average 1.00' "$tmp/out"
	grep -q '^warning: the clock of the CPUs changes: governor schedutil; ' "$tmp/out"
	grep -qx 'warning: other programs have 2 contexts of mlx5_0: mlx5ep show contexts' \
		"$tmp/out"
	echo performance >"$root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
	echo 0.99 >"$root/proc/loadavg"
	rm -r "$root/sys/kernel" "$root/sys/devices/pci0000:00/0000:01:00.0/infiniband_verbs"
	code 0 json -r 1 memory
	jq -e '.disturbances == []' "$tmp/out"
}

# gnuplot: makes one that notes what it is called with
gnuplot()
{
	printf '#!/bin/sh\necho "$@" >>"%s/drawn"\nexit %d\n' "$tmp" "$1" \
		>"$tmp/bin/gnuplot"
	chmod +x "$tmp/bin/gnuplot"
	: >"$tmp/drawn"
}

pictures()
{
	local dir=$tmp/pictures path=$tmp/bin:$PATH
	local one=$dir/globalarray-tiles-of-16-independent

	made_up
	gnuplot 0
	PATH=$path code 0 bench -r 1 -t 2,16 -m 8 -p stock,independent -o "$dir" \
		globalarray memory
	diff "$one.dat" - <<-'END'
	"mpi-everywhere" 100.0 100.0 100
	"static" 2.000 2.000 64
	END
	diff "$dir/globalarray-tiles-of-16-by-policy-16-threads.dat" - <<-'END'
	"mpi-everywhere" 100 100 100
	"static" 2 2 64
	END
	diff "$dir/memory-64-KiB-and-pages-stock.dat" - <<-'END'
	"mpi-everywhere" 2000
	"static" 40.00
	END
	grep -qF "plot '$one.dat' using 2:xtic(1) title '2 threads', '$one.dat' using 3 title '16 threads', '$one.dat' using 4 title 'paper: Zambre et al. 2018'" \
		"$one.gp"
	grep -qF 'set title "globalarray, tiles of 16, under independent (simulated)\nmlx5_0, firmware 28.1.0, ' \
		"$one.gp"
	grep -qF "set ylabel 'percent of the first'" "$one.gp"
	grep -qF "set ylabel 'M/s'" "$dir/memory-64-KiB-and-pages-stock.gp"
	grep -qF "title 'this adapter'" "$dir/memory-64-KiB-and-pages-stock.gp"
	grep -qF "set ylabel 'percent of mpi-everywhere under stock'" \
		"$dir/globalarray-tiles-of-16-by-policy-2-threads.gp"
	# Two policies, two numbers of threads, and what has neither.
	[ "$(wc -l <"$tmp/drawn")" = 5 ]
	[ "$(sort -u "$tmp/drawn" | wc -l)" = 5 ]
	jq -e '.runs | length == 5' "$dir/bench.json"
	gnuplot 1
	PATH=$path code 1 bench -r 1 -m 8 -o "$dir" memory
	grep -q "$dir: gnuplot failed" "$tmp/err"
	rm "$tmp/bin/gnuplot"
}

options()
{
	local many

	made_up
	printf -v many '%s,' {1..16}
	json -r 101 -m 8 memory >/dev/null
	json -r 1 -t "$many" -m 8 -p stock latency >"$tmp/out"
	jq -e '[.runs[].threads] == [range(1; 17)]' "$tmp/out"
	code 2 bench -t "${many}17" latency
	code 2 bench -t 256 latency
	grep -q -- '--threads 256: numbers from 1 to 255' "$tmp/err"
	code 2 bench -t , latency
	grep -q -- '--threads: a number is needed' "$tmp/err"
	code 2 bench -p , latency
	grep -q -- '--policies: a policy is needed' "$tmp/err"
	code 2 bench -p stock,fair latency
	code 2 bench -t 1,2,1 latency
	grep -q -- '--threads 1: twice' "$tmp/err"
	code 2 bench -p stock,independent,stock latency
	grep -q -- '--policies stock: twice' "$tmp/err"
	code 2 bench -r 102
	code 2 bench -m 10000001
	code 2 bench --no-such-option
	code 2 bench latency nothing
	grep -q 'nothing: no such benchmark' "$tmp/err"
	fake mlx5_1 0000:02:00.0 attached
	code 2 bench memory
	grep -q 'name one of the devices mlx5_0, mlx5_1' "$tmp/err"
	[ ! -s "$CALLS" ]
	# Powers of two up to the CPUs, all policies and all cases.
	code 0 "$tool" -d mlx5_1 -j bench -r 1
	jq -e '[.runs[] | select(.variant == "all" and .threads == 1) | .policy] ==
		["stock", "independent", "shared-uar", "shared-uuar"] and
		([.runs[].bench] | unique == ["globalarray", "latency", "memory",
			"msgrate", "pipeline", "stencil", "xsrq"])' "$tmp/out"
	grep -q '^memory mlx5_1 ' "$CALLS"
}

plan 7
check 'programs are called as the case says' calls_are_those_of_the_case
check 'figures are medians, beside those of papers' figures
check 'tables' tables
check 'a program that fails is said, and the others go on' failures
check 'what disturbs is said' noise_is_said
check 'data and commands for gnuplot' pictures
check 'options have limits and defaults' options
ktap_finished
