# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Made-up lines of nbc_overlap, for tests of what reads them.

# overlap_lines WORDS "BYTES..." FIGURES: a line for each collective and length, and one of
# the barrier with the first length. WORDS come before what was measured, FIGURES behind it.
overlap_lines()
{
	local collective bytes

	for collective in bcast reduce allreduce gather scatter allgather alltoall gatherv \
		alltoallv scan; do
		for bytes in $2; do
			echo "overlap: $1 collective=$collective processes=4 bytes=$bytes $3"
		done
	done
	echo "overlap: $1 collective=barrier processes=4 bytes=${2%% *} $3"
}
