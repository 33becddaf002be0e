#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# What is measured of non-blocking collectives is asked for: the benchmark and the
# comparison with MPI fail where lines are missing or have no number, and where a figure
# misses its goal. The lines here are made up.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=workloads/test/overlap_lines.sh
. workloads/test/overlap_lines.sh

# lines LIB TESTS CPU: prints the 31 lines of a library
lines()
{
	overlap_lines "lib=$1 tests=$2" '64 65536 262144' \
		"pure=1000 overhead=50 cpu=$3 free=0.950 free_all=0.900"
}

# bench: the benchmark, whose program prints the file of lines
bench()
{
	printf '#!/bin/sh\ncat "%s"\n' "$tmp/lines" >"$tmp/nbc_overlap"
	chmod +x "$tmp/nbc_overlap"
	PATH=$tmp:$PATH workloads/bench/nbc_overlap_instr_bench.sh \
		>"$tmp/bench" 2>&1
}

all_lines()
{
	lines nbc 8 1000 >"$tmp/lines"
	bench || fail "$(cat "$tmp/bench")"
	[ "$(grep -c 'target=10 ok' "$tmp/bench")" = 20 ]
}

# without SED...: the benchmark fails with lines that sed has changed
without()
{
	lines nbc 8 1000 | sed "$1" >"$tmp/lines"
	! bench || fail "passed: $(cat "$tmp/bench")"
}

no_figures()
{
	without '/alltoall /d'
	without '/alltoall .*65536/s/free=0.950/free=nan/'
	without '/barrier/s/cpu=1000/cpu=-5/'
	without d
}

# compared CPU: our helper thread has as many instructions; Open MPI has 1000
compared()
{
	{
		lines nbc 8 700
		lines nbc 0 "$1"
		lines openmpi 8 1000
		lines mpich 8 1000
	} >"$tmp/lines"
}

report()
{
	workloads/mpi/overlap-report --check "$tmp" 2>&1
}

goal()
{
	compared 700
	report
	compared 701
	! report || fail 'above the goal'
	compared 700
	sed -i '/lib=nbc tests=8 .*=alltoall .*=64 /s/cpu=700/cpu=701/' "$tmp/lines"
	! report || fail 'above the goal at 64 bytes, where the caller tests'
}

# Two of 20 shares of the helper thread miss the goal. A length of 64 bytes has none.
busy_table()
{
	compared 700
	sed -i -e '/tests=0 .*=reduce .*bytes=65536/s/free=0.950/free=-0.120/' \
		-e '/tests=0 .*=scan .*bytes=262144/s/free=0.950/free=0.899/' \
		-e '/tests=0 .*=bcast .*bytes=64 /s/free=0.950/free=0.5/' "$tmp/lines"
	workloads/mpi/overlap-report --busy "$tmp" >"$tmp/busy"
	grep -q ': 18 of 20 reach 90 %; not reduce of 65536 bytes, 4 processes (-12 %), scan of 262144' \
		"$tmp/busy"
	grep -q '^| reduce | 4 | 65536 | 95 % | -12 % | 95 % | 95 % |$' "$tmp/busy"
	sed -i '/lib=mpich .*scan .*=64 /d' "$tmp/lines"
	must_fail workloads/mpi/overlap-report --busy "$tmp" >/dev/null 2>&1
}

no_library()
{
	compared 700
	sed -i '/lib=mpich .*scan .*=64 /d' "$tmp/lines"
	! report || fail 'a line is missing'
	compared 700
	sed -i '/=alltoall /d' "$tmp/lines"
	! report || fail 'the goal was not measured'
	: >"$tmp/lines"
	! report || fail 'nothing was measured'
}

plan 5
check 'the benchmark has 20 figures with a goal' all_lines
check 'the benchmark fails without a figure' no_figures
check 'the comparison knows its goal' goal
check 'where processes compute, it counts the shares that reach the goal' busy_table
check 'the comparison fails without a library' no_library
ktap_finished
