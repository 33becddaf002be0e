#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI 5.0.7 (Debian trixie), eight ranks of one node in sleep(), and mpirun is killed (SIGKILL):
# the ranks go on, and each keeps a file of 16 MiB in /dev/shm, which stays when the rank is ended
# with SIGTERM. After SIGTERM to mpirun no rank and no file is left. With MPICH 4.2.1 none is left
# in both cases.
# Guessed before: a rank of Open MPI ends, as one of MPICH does, when the connection to its daemon
# is lost; and the files of /dev/shm have no names once each rank has mapped them. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1 libmpich-dev=4.3.0+really4.2.1-1 \
	openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >rank.c <<-"END"
	#include <mpi.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int rank;

		printf("pid %d\n", getpid());
		fflush(stdout);
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Barrier(MPI_COMM_WORLD);
		if (!rank)
			puts("all run");
		fflush(stdout);
		sleep(300);
		MPI_Finalize();
		return 0;
	}
	END
	pids() { sed -n "s/^pid //p" out; }
	alive() { local n=0 p; for p in $(pids); do ! kill -0 $p 2>/dev/null || n=$((n + 1)); done; echo $n; }
	left() { echo "$1: ranks $(alive), files in /dev/shm $(find /dev/shm -type f -size +15M | wc -l)"; }
	for mpi in openmpi mpich; do
		mpicc.$mpi -o rank.$mpi rank.c || exit
		for signal in TERM KILL; do
			: >out
			if [ $mpi = openmpi ]; then
				mpirun.openmpi --oversubscribe -n 8 ./rank.openmpi >out 2>&1 & pid=$!
			else
				mpiexec.mpich -n 8 ./rank.mpich >out 2>&1 & pid=$!
			fi
			until grep -q "all run" out; do sleep 0.2; done
			kill -$signal $pid
			wait $pid 2>/dev/null
			sleep 15
			left "$mpi, SIG$signal"
			if [ "$(alive)" != 0 ]; then
				kill $(pids)
				sleep 5
				left "then SIGTERM to the ranks"
			fi
			find /dev/shm -type f -delete
		done
	done' 2>"$work/log" >"$work/got"
cat >"$work/want" <<'END'
openmpi, SIGTERM: ranks 0, files in /dev/shm 0
openmpi, SIGKILL: ranks 8, files in /dev/shm 8
then SIGTERM to the ranks: ranks 0, files in /dev/shm 8
mpich, SIGTERM: ranks 0, files in /dev/shm 0
mpich, SIGKILL: ranks 0, files in /dev/shm 0
END
verdict "$work/want" "$work/got" 'ranks of Open MPI 5.0.7 go on when mpirun is killed, and their files stay for good'
