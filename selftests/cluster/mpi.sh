# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Debian's Open MPI and MPICH, which are not in the lab: how scripts get them and start
# programs with them.

# mpi_fetch FOLDER: unpacks both below FOLDER, which must be in the checkout for a
# guest to see it
mpi_fetch()
{
	local fetched

	fetched=$(selftests/cluster/fetch)
	rm -rf "$1"
	mkdir -p "$1"
	cp -a "$fetched/usr" "$1"
}

# mpi_show FOLDER: shows usr/ of FOLDER above the usual one
mpi_show()
{
	mount -t overlay -o "lowerdir=$PWD/$1/usr:/usr" none /usr
}

# mpi_launcher NAME N: sets launcher to the words that start N processes with this MPI,
# over UCX
mpi_launcher()
{
	case $1 in
	mpich) launcher=(mpiexec.mpich -launcher fork) ;;
	openmpi)
		launcher=(mpirun.openmpi --allow-run-as-root --oversubscribe
			--mca pml ucx) ;;
	esac
	launcher+=(-n "$2")
}
