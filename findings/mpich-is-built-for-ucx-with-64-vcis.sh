#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# MPICH 4.2.1 of Debian trixie (package version 4.3.0+really4.2.1-1) is built for the device ch4:ucx,
# not for libfabric, and gives two ranks with MPI_THREAD_MULTIPLE as many VCIs as
# MPIR_CVAR_CH4_NUM_VCIS asks for, up to 64: it says "num_vcis: 64" and the ranks run. 64 is a limit
# that it does not clamp to: what lies above is an internal error of MPI_Init_thread (not run here).
# Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1 libmpich-dev=4.3.0+really4.2.1-1 gcc libc6-dev
mkdir "$work/root-trixie/m"
cat >"$work/root-trixie/m/two.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int provided, rank, got = -1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Sendrecv(&rank, 1, MPI_INT, !rank, 0, &got, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("ran %d\n", provided == MPI_THREAD_MULTIPLE && got == !rank);
	MPI_Finalize();
	return 0;
}
END
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie 'cd /m; mpicc.mpich -o two two.c; mpichversion | sed -n "s/^MPICH Device:  */device /p"
	for n in 1 16 64; do
		MPIR_CVAR_DEBUG_SUMMARY=1 timeout 100 mpiexec.mpich -n 2 -genv MPIR_CVAR_CH4_NUM_VCIS $n ./two >/tmp/o 2>&1; r=$?
		echo "$n: exit $r, ranks that ran: $(grep -c "^ran 1" /tmp/o)" $(grep -oE "num_vcis: [0-9]*" /tmp/o | sort -u)
	done' >"$work/got"
cat >"$work/want" <<'END'
device ch4:ucx
1: exit 0, ranks that ran: 2 num_vcis: 1
16: exit 0, ranks that ran: 2 num_vcis: 16
64: exit 0, ranks that ran: 2 num_vcis: 64
END
verdict "$work/want" "$work/got" 'Debian builds MPICH 4.2.1 for UCX, with up to 64 VCIs'
