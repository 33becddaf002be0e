#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# OpenSHMEM of Open MPI 5.0.7 (Debian trixie, over UCX 1.18.1) says by shmem_info_get_version() that it is 1.4. Its
# header has much of 1.5, and a program that uses that compiles and links without a warning. A call for a team gives
# -7: a reduction, a broadcast and a split as their status, and shmem_team_n_pes(SHMEM_TEAM_WORLD) as the number of
# processes. Worst is shmem_long_put_signal(), which has no status to return: neither the data nor the signal ever
# come, although shmem_barrier_all() follows, and the job ends with 0. "Internal error is appeared rc = -7" on stderr
# is all. A plain put comes, and the collectives of 1.4 work.
# Guessed before: what is declared is there, or does not link. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 libucx0=1.18.1+ds-2+b1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >p.c <<-"END"
	#include <shmem.h>
	#include <stdio.h>
	#include <stdlib.h>
	static long in, out, from[2], into[2], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[SHMEM_REDUCE_SYNC_SIZE];
	static uint64_t flag;
	int main(int argc, char **argv)
	{
		shmem_team_t team = SHMEM_TEAM_INVALID;
		int what = atoi(argv[1]), major, minor, i, me, other;

		shmem_init();
		me = shmem_my_pe();
		other = !me;
		in = from[0] = from[1] = 100 + me;
		for (i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
			sync[i] = SHMEM_SYNC_VALUE;
		shmem_barrier_all();
		if (what == 0) {
			shmem_info_get_version(&major, &minor);
			printf("%d: version %d.%d\n", me, major, minor);
		} else if (what == 1) {
			shmem_long_put(into, from, 2, other);
			shmem_barrier_all();
			printf("%d: put: %ld came\n", me, into[0]);
		} else if (what == 2) {
			shmem_long_sum_to_all(&out, &in, 1, 0, 0, 2, work, sync);
			printf("%d: sum of 1.4: %ld\n", me, out);
		} else if (what == 3) {
			i = shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 1);
			printf("%d: sum of a team: status %d, %ld\n", me, i, out);
		} else if (what == 4) {
			i = shmem_long_broadcast(SHMEM_TEAM_WORLD, into, from, 2, 0);
			printf("%d: broadcast of a team: status %d, %ld came\n", me, i, into[0]);
		} else if (what == 5) {
			printf("%d: processes of the world team: %d of %d\n", me,
			       shmem_team_n_pes(SHMEM_TEAM_WORLD), shmem_n_pes());
		} else if (what == 6) {
			i = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
			printf("%d: split: status %d\n", me, i);
		} else {
			shmem_long_put_signal(into, from, 2, &flag, 7, SHMEM_SIGNAL_SET, other);
			shmem_barrier_all();
			printf("%d: put with a signal: %ld came, signal %lu\n", me, into[0], (unsigned long)flag);
		}
		fflush(stdout);
		shmem_barrier_all();
		shmem_finalize();
		return 0;
	}
	END
	oshcc -o p p.c || exit
	for what in 0 1 2 3 4 5 6 7; do
		UCX_TLS=sm,self,tcp timeout 60 oshrun --oversubscribe -n 2 ./p $what >out 2>err
		echo "$?"
		sort out
		grep -o "pshmem_[a-z_]*" err | sort -u
	done' >"$work/got" || cat "$work/got"
cat >"$work/want" <<'END'
0
0: version 1.4
1: version 1.4
0
0: put: 101 came
1: put: 100 came
0
0: sum of 1.4: 201
1: sum of 1.4: 201
0
0: sum of a team: status -7, 0
1: sum of a team: status -7, 0
pshmem_long_sum_reduce
0
0: broadcast of a team: status -7, 0 came
1: broadcast of a team: status -7, 0 came
pshmem_long_broadcast
0
0: processes of the world team: -7 of 2
1: processes of the world team: -7 of 2
pshmem_team_n_pes
0
0: split: status -7
1: split: status -7
pshmem_team_split_strided
0
0: put with a signal: 0 came, signal 0
1: put with a signal: 0 came, signal 0
pshmem_long_put_signal
END
verdict "$work/want" "$work/got" 'OpenSHMEM of Open MPI 5.0.7 loses what is put with a signal, and answers -7 for teams'
