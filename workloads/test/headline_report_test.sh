#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# The table of headlines is whole, or it fails: where a line is missing, where a result
# was wrong. A target that is missed is in the table. The lines here are made up.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=workloads/test/overlap_lines.sh
. workloads/test/overlap_lines.sh

programs()
{
	local run

	for run in 1 2 3; do
		echo "nbc_programs: program=fft form=blocking us=200$run lost=0.5 wrong=0"
		echo "nbc_programs: program=fft form=non-blocking us=100$run lost=0.5 wrong=0"
		echo "nbc_programs: program=cg form=blocking us=1000 lost=0.5 wrong=0"
		echo "nbc_programs: program=cg form=non-blocking us=100$run lost=0.5 wrong=0"
	done
}

messages()
{
	local bytes reuse protocol ppn category

	for bytes in 65536 1048576 4194304; do
		for reuse in 1 8; do
			for protocol in copy register cache pipeline caching openmpi mpich; do
				echo "pipeline: protocol=$protocol bytes=$bytes reuse=$reuse MB/s=10 wrong=0"
			done
		done
	done
	for ppn in 1 2 4; do
		echo "xsrq: ppn=$ppn qps_per_node=8 expected=8 bsrq_qps_per_node=9 setup_us=20000 bytes_per_registration=5"
	done
	for protocol in nbc openmpi mpich; do
		overlap_lines lib=$protocol 1024 'pure=2500000 free_all=1' |
			sed 's/^overlap:/alone:/'
	done
	for category in a b c d e f; do
		echo "registers: {\"name\":\"$category\",\"pages\":1,\"uuars\":2}"
	done
}

# all: writes what a whole run has measured
all()
{
	local lib

	{
		echo 'logp: {"primitives":[
			{"primitive":"ucx am","bytes":8,"o_send":1,"o_recv":1,"o_done":1,"gap":2},
			{"primitive":"am_request","bytes":8,"o_send":1,"o_recv":1,"o_done":1,"gap":3},
			{"primitive":"splitc get","bytes":8,"o_send":1,"o_recv":1,"o_done":1,"gap":4}]}' |
			paste -sd' '
		for lib in tested tested_write helper openmpi; do
			overlap_lines lib=$lib '1024 65536 1048576' free_all=0.95
		done
		overlap_lines lib=mpich '1024 65536 1048576' free_all=0.91
		programs
		messages
	} >"$tmp/lines"
}

report()
{
	workloads/headline/report 'latency=1,rate=1' "$tmp" overlap programs messages \
		>"$tmp/out" 2>"$tmp/err"
}

# row STUDY TEXT FILTER: one headline with this text, for which the filter holds
row()
{
	jq -e --arg study "$1" --arg text "$2" "[.tables.Headlines[] |
		select((.study | startswith(\$study)) and (.headline | contains(\$text)))] |
		length == 1 and (.[0] | $3)" "$tmp/table.json" >"$tmp/row" ||
		fail "$1, $2: $3: $(cat "$tmp/table.json")"
}

# A processor is shared by two: 95 % free are 90 % with one for each.
whole()
{
	all
	report || fail "$(cat "$tmp/err")"
	row Hoefler 'best cell' '.here == "90.0 %" and .MPICH == "82.0 %" and .verdict == "MISSED"'
	row Hoefler 'free, helper' '.here == "20/20" and .MPICH == "0/20"
		and .verdict == "reached"'
	row Hoefler fft '.here == "2.00" and .verdict == "reached"'
	row Hoefler cg '.here == "1.00" and .verdict == "MISSED"'
	row Woodall '67 % above registering, 4 MiB' '.verdict == "MISSED"'
	row Woodall 'as fast as the cache, 1 MiB' '.verdict == "reached"'
	jq -e '.tables["QPs of a node, two nodes"] | map(."set-up, ms") == ["20", "20", "20"]' \
		"$tmp/table.json"
	row Shipman barrier '.here == "2.5" and .MPICH == "2.5"'
	row Begel '' '.here == "splitc get: 4, UCX: 2"'
	row Zambre rates '.here | startswith("not shown: ")'
	diff "$tmp/out" "$tmp/table.md"
	[ -s "$tmp/free.svg" ]
	[ -s "$tmp/bandwidth.svg" ]
}

# lacks PATTERN: without the first line of this form it fails, and says what is missing
lacks()
{
	all
	sed -i "0,/$1/{/$1/d}" "$tmp/lines"
	must_fail report
	grep -q "^headline: $2: [0-9]* of [0-9]* lines$" "$tmp/err"
	jq -e '.missing | length > 0' "$tmp/table.json" >/dev/null
}

missing()
{
	lacks '^overlap: lib=helper' overlap
	all
	sed -i '/^overlap: lib=helper/d' "$tmp/lines"
	must_fail workloads/headline/report latency=1,rate=1 "$tmp" programs overlap \
		2>"$tmp/err"
	grep -qx 'headline: overlap: 124 of 155 lines' "$tmp/err"
	lacks '^nbc_programs: ' nbc_programs
	lacks '^pipeline: ' pipeline
	lacks '^xsrq: ' xsrq
	lacks '^alone: ' alone
	lacks '^registers: ' registers
	lacks '^logp: ' logp
}

wrong()
{
	all
	sed -i '/^pipeline: protocol=copy bytes=65536 reuse=1/s/wrong=0/wrong=3/' "$tmp/lines"
	must_fail report
	grep -qx 'headline: pipeline: 3 messages are wrong' "$tmp/err"
	all
	sed -i '/program=fft form=blocking/s/wrong=0/wrong=1/' "$tmp/lines"
	must_fail report
	grep -qx 'headline: fft: wrong=1' "$tmp/err"
}

# One QP more than the study counts
exact()
{
	all
	sed -i 's/ppn=4 qps_per_node=8/ppn=4 qps_per_node=9/' "$tmp/lines"
	report || fail "$(cat "$tmp/err")"
	row Shipman 'QPs of a node' '.verdict == "MISSED"'
}

refused()
{
	code 2 workloads/headline/headline everything
	grep -q '^usage: workloads/headline/headline ' "$tmp/err"
}

plan 5
check 'a whole run has each headline, with its verdict' whole
check 'a line that is missing is named' missing
check 'a wrong result is named' wrong
check 'a QP too many is a target that is missed' exact
check 'a part that does not exist is refused' refused
ktap_finished
