#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, smp: 2, timeout: 300
#
# mlx5ep bench runs programs under the policies that it names, and its figures and
# pages are those of the programs and of the HCA. What fails is said.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# bench JQ: whether it holds for the report of the last mlx5ep -j bench
bench()
{
	jq -e "$1" "$tmp/out" >/dev/null || {
		jq -c '.runs[]' "$tmp/out"
		return 1
	}
}

rates_and_pages()
{
	code 0 mlx5ep -j bench -r 3 -t 2 -m 32 -p stock globalarray
	bench '.on.simulated and .on.device == "'"$dev"'"'
	bench '[.runs[0].figures[].name] == ["mpi-everywhere", "2xdynamic",
		"dynamic", "shared-dynamic", "static", "mpi-threads"]'
	bench 'all(.runs[0].figures[]; .low > 0 and .low <= .median and
		.median <= .high and .high > .low)'
	bench '[.runs[0].figures[].pages] == [2, 4, 2, 1, 1, 1]'
}

# rung POLICY: uUARs that the HCA saw rung while four threads of a program ran
rung()
{
	simhca-ctl '{"op":"reset"}' >/dev/null
	code 0 mlx5ep -j bench -r 1 -t 4 -m 32 -p "$1" latency >&2
	simhca-ctl dump | jq '[.hcas[0].uars[] | select(.uid > 0) | .slots[] |
		select(.qpns | length > 0)] | length'
}

# Under stock all categories run, else mpi-everywhere and static.
policies_hold()
{
	local stock own shared

	stock=$(rung stock)
	bench '[.runs[0].figures[].name] | length == 6'
	bench 'all(.runs[].figures[]; .unit == "us" and .median > 0)'
	own=$(rung independent)
	bench '[.runs[0].figures[].name] == ["mpi-everywhere", "static"]'
	shared=$(rung shared-uuar)
	echo "stock $stock, independent $own, shared-uuar $shared"
	[ "$own" -gt "$shared" ]
	simhca-ctl dump | jq -e '.hcas[0].errors.wrong_uar == 0'
}

# A device that has a policy already; and what no policy changes is measured once.
stock_is_stock()
{
	local stock

	stock=$(rung stock)
	ep_policy independent 16
	[ "$(rung stock)" = "$stock" ]
	code 0 mlx5ep -j bench -r 1 -m 32 -t 1 -p independent,shared-uar \
		globalarray msgrate stencil
	ep_policy stock
	bench '[.runs[] | select(.bench == "globalarray") | .policy] ==
		["independent", "shared-uar"]'
	bench '[.runs[] | select(.bench == "msgrate")] | length == 10'
	bench '[.runs[] | select(.bench == "stencil") | .policy] == ["stock"]'
	# A row for each category, a column for each policy, for each variant.
	bench '[.by_policy[] | select(.bench == "msgrate")] | length == 5'
	bench 'all(.by_policy[]; .policies == ["independent", "shared-uar"] and
		([.rows[].name] == ["mpi-everywhere", "static"]) and
		all(.rows[]; .independent > 0 and ."shared-uar" > 0))'
	bench '[.by_policy[].bench] | index("stencil") == null'
	bench 'all(.runs[].figures[]; .median > 0)'
}

papers_beside()
{
	code 0 mlx5ep -j bench -r 1 -t 16 -p stock,shared-uar globalarray xsrq
	bench '[.runs[0].figures[].paper_relative] == [100, 108, 94, 65, 64, 3]'
	bench '[.runs[0].figures[].pages] == [16, 32, 16, 8, 8, 1]'
	bench '[.runs[0].figures[].paper_pages] == [128, 40, 24, 16, 8, 8]'
	bench '.runs[0].paper.source == "Zambre et al. 2018"'
	bench '[.runs[1].figures[].paper_relative] == [100, 64]'
	bench '.by_policy | length == 1'
	bench '[.by_policy[0].rows[].paper_relative] == [100, 108, 94, 65, 64, 3]'
	# A policy places none but QPs of the category static.
	bench '[.by_policy[0].rows[] | select(."shared-uar") | .name] ==
		["mpi-everywhere", "static"]'
	bench 'all(.by_policy[0].rows[]; .stock > 0)'
	# They are the medians of the runs.
	bench '[.by_policy[0].rows[].stock] == [.runs[0].figures[].median]'
	bench '[.runs[2].figures[].paper_value] == [48, 12]'
}

memory_and_xsrq()
{
	code 0 mlx5ep bench -r 1 -m 64 memory xsrq pipeline
	grep -q '^memory, .* (simulated)$' "$tmp/out"
	grep -q '^cache hit  *[0-9]' "$tmp/out"
	# 8 processes: 2 for each of 3 other nodes, and as many that receive.
	grep -q '^shared XRC QPs  *12.00  *QPs' "$tmp/out"
	grep -q '^one QP for each SRQ  *48.00  *QPs' "$tmp/out"
	grep -q '^caching  *[0-9].* MB/s' "$tmp/out"
	grep -q '^paper: Woodall et al. 2006: the pipeline' "$tmp/out"
	grep -q '^paper: Shipman et al. 2008: ' "$tmp/out"
}

pictures()
{
	code 0 mlx5ep bench -r 1 -t 1,2 -m 32 -p stock,independent \
		-o "$tmp/pictures" latency
	ls "$tmp/pictures"
	grep -q '<svg' "$tmp/pictures/latency-one-message-stock.svg"
	grep -q '(simulated)' "$tmp/pictures/latency-one-message-stock.svg"
	[ "$(wc -l <"$tmp/pictures/latency-one-message-stock.dat")" = 6 ]
	[ "$(wc -l <"$tmp/pictures/latency-one-message-independent.dat")" = 2 ]
	jq -e '.runs | length == 4' "$tmp/pictures/bench.json"
	local all=$tmp/pictures/latency-one-message-by-policy-2-threads
	grep -q '<svg' "$all.svg"
	grep -q '(simulated)' "$all.svg"
	[ "$(wc -l <"$all.dat")" = 6 ]
	grep -q '^"mpi-everywhere" 100 [0-9.]*$' "$all.dat"
	[ "$(grep -c ' ?$' "$all.dat")" = 4 ]
	(cd "$tmp" && ln -s nowhere/at/all dangling)
	code 1 mlx5ep bench -r 1 -m 32 -o "$tmp/dangling" memory
	code 1 mlx5ep bench -r 1 -m 32 -o "$tmp/it's" memory
	code 1 mlx5ep bench -r 1 -m 32 -o "$tmp/$(printf '%0400d' 0)" memory
	# Without gnuplot the data is there, and a message says what to do.
	mkdir "$tmp/bin"
	code 0 env "PATH=$tmp/bin" "$(command -v mlx5ep)" bench -r 1 -m 32 \
		-o "$tmp/plain" memory
	grep -q 'install gnuplot' "$tmp/err"
	[ -s "$tmp/plain/memory-64-KiB-and-pages-stock.gp" ]
}

# A program that fails is named, and the others go on.
failures()
{
	simhca-ctl '{"op":"fault","kind":"cmd","opcode":"CREATE_CQ","count":0,"status":1}'
	code 1 mlx5ep -j bench -r 1 -t 1 -m 8 -p stock latency xsrq
	simhca-ctl '{"op":"clear"}'
	bench '.runs | length == 2 and all(.[]; .error | test("program failed"))'
}

held()
{
	grep -q python3 /sys/kernel/debug/mlx5_ep/*/contexts
}

# A context that somebody else has.
hold_context()
{
	exec python3 -c 'import time, pyverbs.device as d
c = d.Context(name="'"$dev"'")
time.sleep(60)'
}

noise_is_said()
{
	hold_context &
	local holder=$!
	wait_for 30 held
	code 0 mlx5ep -j bench -r 1 -m 8 memory
	kill $holder
	wait $holder || :
	bench '.disturbances | any(test("other programs have 1 contexts"))'
}

refusals()
{
	code 2 mlx5ep bench -r 0
	code 2 mlx5ep bench -t 1,x
	code 2 mlx5ep bench -t ''
	code 2 mlx5ep bench -p fair
	code 2 mlx5ep bench -m -1
	code 2 mlx5ep bench nothing
	code 4 mlx5ep -d mlx5_99 bench memory
	code 1 mlx5ep bench -o /proc/nothing/there memory
	[ ! -e /proc/nothing ]
}

plan 9
check 'rates, spread and pages of all categories' rates_and_pages
check 'policies hold for the programs' policies_hold
check 'stock where the device has a policy' stock_is_stock
check "the paper's figures stand beside" papers_beside
check 'memory, shared receive QPs and protocols' memory_and_xsrq
check 'pictures' pictures
check 'a program that fails' failures
check 'what disturbs is said' noise_is_said
check 'bad options are refused' refusals
ktap_finished
