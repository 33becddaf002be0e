#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A process of MPICH 4.2.1 (Debian trixie, package 4.3.0+really4.2.1-1) can copy MPI_COMM_SELF 2046
# times, and the next MPI_Comm_dup() returns an error of class MPI_ERR_OTHER, which says nothing of a
# limit; with Open MPI 5.0.7 it is 65532 times, and an error of MPI_ERR_INTERN. Communicators that are
# freed do not count.
# Guessed before: tens of thousands at least. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1 libmpich-dev=4.3.0+really4.2.1-1 \
	openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >dup.c <<-"END"
	#include <mpi.h>
	#include <stdio.h>
	#include <stdlib.h>
	int main(int argc, char **argv)
	{
		int freed, kept, class = 0, e = 0;
		MPI_Comm c;

		MPI_Init(&argc, &argv);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		for (freed = 0; freed < 5000 && !e; freed++)
			e = MPI_Comm_dup(MPI_COMM_SELF, &c) || MPI_Comm_free(&c);
		for (kept = 0; kept < 100000; kept++) {
			e = MPI_Comm_dup(MPI_COMM_SELF, &c);
			if (e)
				break;
		}
		MPI_Error_class(e, &class);
		printf("%d freed, %d kept, then an error of %s\n", freed, kept,
		       class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : class == MPI_ERR_INTERN ?
		       "MPI_ERR_INTERN" : "another class");
		fflush(stdout);
		_Exit(0);
	}
	END
	for mpi in mpich openmpi; do
		mpicc.$mpi -w -o dup.$mpi dup.c || exit
		echo "$mpi: $(./dup.$mpi 2>&1 | tail -n 1)"
	done' >"$work/got"
cat >"$work/want" <<'END'
mpich: 5000 freed, 2046 kept, then an error of MPI_ERR_OTHER
openmpi: 5000 freed, 65532 kept, then an error of MPI_ERR_INTERN
END
verdict "$work/want" "$work/got" 'MPICH 4.2.1 has 2046 communicators a process, and Open MPI 5.0.7 has 65532'
