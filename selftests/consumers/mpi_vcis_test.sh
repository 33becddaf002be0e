#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 400
#
# Eight threads of each of two MPI processes, with a communicator each: how many
# communication interfaces (VCIs) they have in Debian's MPICH and Open MPI, and what
# these share, as the HCA counts it. All messages are right.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# measure NAME OPTION...: the rows are in $tmp/NAME
measure()
{
	selftests/cluster/vcis --kernel "${MLX5_EP_KERNEL:-7.2}" --threads 8 \
		--pages 256 "${@:2}" >"$tmp/$1" 2>"$tmp/$1.err" || {
		tail -n 20 "$tmp/$1.err"
		return 1
	}
}

# has NAME ROW WORD...: the row of NAME has each word
has()
{
	local line word

	line=$(grep "^vcis: $2 " "$tmp/$1") || fail "no row $2"
	for word in "${@:3}"; do
		[[ " $line " = *" $word "* ]] || fail "not $word: $line"
	done
}

# value NAME ROW WORD: prints the number behind WORD=
value()
{
	sed -n "s/^vcis: $2 .* $3=\([0-9]*\) .*/\1/p" "$tmp/$1"
}

mpich='library=mpich operation=send transport=rc_v'
one='library=mpich-1 operation=send transport=rc_v'
openmpi='library=openmpi operation=send transport=rc_v'

mpich_stock()
{
	has rows "$mpich policy=stock" vcis=8 qps=16 wrong=0
	[ "$(value rows "$mpich policy=stock" shared)" -gt 0 ]
}

mpich_independent()
{
	has rows "$mpich policy=independent" vcis=8 qps=16 \
		pages=16 uuars=16 shared=0 own_page=8 wrong=0
}

# one_interface LIBRARY: a policy has nothing to give, because the threads share the QPs
one_interface()
{
	local policy

	for policy in stock independent; do
		has rows "$1 policy=$policy" vcis=1 qps=2 wrong=0
	done
}

notices()
{
	if measure corrupt --libraries mpich --transports rc_v --policies stock \
		--corrupt; then
		return 1
	fi
	grep -q '^mpi_vcis: rank 1: wrong data$' "$tmp/corrupt.err"
}

plan 6
check 'the programs run' measure rows --libraries 'mpich mpich-1 openmpi' \
	--transports rc_v --policies 'stock independent'
check 'MPICH, stock: interfaces share uUARs' mpich_stock
check 'MPICH, independent: each interface has its pages to itself' mpich_independent
check 'Open MPI: the threads share one interface' one_interface "$openmpi"
check 'MPICH with one VCI: the threads share it' one_interface "$one"
check 'a wrong byte is noticed' notices
ktap_finished
