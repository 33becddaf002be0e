#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI 5.0.7 (Debian trixie, UCX 1.18.1): with --mca pml ucx the greatest tag (MPI_TAG_UB) is 8388607, and
# with ob1, which the package takes by itself, 2147483647. MPI_Isend() with a tag of 8388608 works by ob1
# and returns MPI_ERR_TAG by ucx. With MPICH 4.2.1, over UCX too, the greatest tag is 268435455.
# Guessed before: the greatest tag belongs to the MPI library, and an option that chooses the way of
# messages leaves it alone. Seen on 1 December 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1 libmpich-dev=4.3.0+really4.2.1-1 \
	openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 libucx0=1.18.1+ds-2+b1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >tags.c <<-"END"
	#include <mpi.h>
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		int *most, found, rank, e, class = MPI_SUCCESS, out = 7, in = 0;
		MPI_Request request;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		e = MPI_Isend(&out, 1, MPI_INT, 0, 8388608, MPI_COMM_SELF, &request);
		if (e) {
			MPI_Error_class(e, &class);
		} else {
			MPI_Recv(&in, 1, MPI_INT, 0, 8388608, MPI_COMM_SELF, MPI_STATUS_IGNORE);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		if (!rank)
			printf("greatest tag %d, tag 8388608: %s\n", found ? *most : -1,
			       class == MPI_ERR_TAG ? "MPI_ERR_TAG" : in == 7 ? "came" : "lost");
		MPI_Finalize();
		return 0;
	}
	END
	for mpi in mpich openmpi; do
		mpicc.$mpi -w -o tags.$mpi tags.c || exit
	done
	says() {
		echo "$1: $(shift; timeout 60 "$@" 2>/dev/null)"
	}
	ucx="--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any"
	says "Open MPI" mpirun.openmpi --oversubscribe -n 2 ./tags.openmpi
	says "Open MPI, pml ucx" mpirun.openmpi --oversubscribe $ucx -n 2 ./tags.openmpi
	says MPICH mpiexec.hydra -n 2 ./tags.mpich' >"$work/got"
cat >"$work/want" <<'END'
Open MPI: greatest tag 2147483647, tag 8388608: came
Open MPI, pml ucx: greatest tag 8388607, tag 8388608: MPI_ERR_TAG
MPICH: greatest tag 268435455, tag 8388608: came
END
verdict "$work/want" "$work/got" 'by pml ucx, tags of Open MPI end at 8388607, and by ob1 at 2147483647'
