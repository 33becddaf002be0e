#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI 5.0.7 (Debian trixie): each MPI_Session_init() and MPI_Session_finalize() leaves five
# descriptors open (both ends of a pipe, an epoll, an eventfd, a removed file of /dev/shm), so that a program
# that opens sessions as it needs them is at the usual limit of 1024 after some two hundred. MPICH 4.2.1 leaves none.
# Guessed before: what a session opened is closed with it. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1 libmpich-dev=4.3.0+really4.2.1-1 \
	openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >session.c <<-"END"
	#include <dirent.h>
	#include <mpi.h>
	#include <stdio.h>
	#include <stdlib.h>
	static int files(void)
	{
		DIR *dir = opendir("/proc/self/fd");
		int n = 0;

		while (readdir(dir))
			n++;
		closedir(dir);
		return n;
	}
	int main(int argc, char **argv)
	{
		int i, first = 0, n = atoi(argv[1]);
		MPI_Session s;

		for (i = 1; i <= n; i++) {
			if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) ||
			    MPI_Session_finalize(&s))
				return 9;
			if (i == 1)
				first = files();
		}
		printf("%d descriptors more\n", files() - first);
		return 0;
	}
	END
	for mpi in mpich openmpi; do
		mpicc.$mpi -w -o session.$mpi session.c || exit
		echo "$mpi: 1 session, and 20 further ones: $(./session.$mpi 21 2>&1 | tail -n 1)"
	done' >"$work/got"
cat >"$work/want" <<'END'
mpich: 1 session, and 20 further ones: 0 descriptors more
openmpi: 1 session, and 20 further ones: 100 descriptors more
END
verdict "$work/want" "$work/got" 'a session of Open MPI 5.0.7 leaves five descriptors open'
