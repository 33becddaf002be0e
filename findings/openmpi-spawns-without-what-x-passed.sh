#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI 5.0.7 (Debian trixie): a rank that MPI_Comm_spawn() makes has none of the variables that mpirun -x
# gave its parent, none of `env NAME=VALUE` before the program, and none that the parent set before the call.
# It has the environment of mpirun (here on the same node). So LD_PRELOAD by -x, or by a command that starts
# the program, does not reach spawned ranks, and nothing says so.
# Guessed before: -x is for the whole job, or a spawned rank has what its parent has.
# Seen on 1 December 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >spawn.c <<-"END"
	#include <mpi.h>
	#include <stdio.h>
	#include <stdlib.h>
	static const char *names[] = { "OF_MPIRUN", "OF_X", "OF_ENV", "OF_PARENT", "LD_PRELOAD" };
	int main(int argc, char **argv)
	{
		MPI_Comm parent, other;
		int i;

		MPI_Init(&argc, &argv);
		MPI_Comm_get_parent(&parent);
		setenv(parent == MPI_COMM_NULL ? "OF_PARENT" : "UNUSED", "1", 1);
		if (parent == MPI_COMM_NULL)
			MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
				       MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
		else
			other = parent;
		MPI_Comm_disconnect(&other);
		FILE *f = fopen(parent == MPI_COMM_NULL ? "parent" : "spawned", "w");
		for (i = 0; i < 5; i++)
			if (getenv(names[i]))
				fprintf(f, " %s", names[i]);
		fclose(f);
		MPI_Finalize();
		return 0;
	}
	END
	mpicc.openmpi -w -o spawn spawn.c || exit
	OF_MPIRUN=1 timeout 60 mpirun.openmpi --oversubscribe -x OF_X=1 -x LD_PRELOAD=libm.so.6 -n 1 \
		env OF_ENV=1 ./spawn >out 2>&1
	echo "status $?"
	for rank in parent spawned; do echo "$rank has$(cat $rank)"; done' >"$work/got"
cat >"$work/want" <<'END'
status 0
parent has OF_MPIRUN OF_X OF_ENV OF_PARENT LD_PRELOAD
spawned has OF_MPIRUN
END
verdict "$work/want" "$work/got" 'a rank that Open MPI 5.0.7 spawns has nothing of what -x passed'
