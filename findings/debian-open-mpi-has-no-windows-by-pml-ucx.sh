#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Open MPI 5.0.7-1 of Debian trixie (UCX 1.18.1, kernel 6.12.117-1, rdma_rxe), a rank on each of two
# nodes: the package's /etc/openmpi/openmpi-mca-params.conf leaves UCX and libfabric out of
# point-to-point messages and of windows. So a job makes no queue pair, and goes by TCP without a
# word. With "--mca pml ucx" it makes queue pairs, and MPI_Win_allocate() returns MPI_ERR_WIN: no
# component for windows is left that can work between nodes, as "osc = ^ucx" still holds. With
# "--mca osc ucx" too, or without the lines of the file, windows are made. On one node windows are
# made in all cases, in shared memory, so a trial there does not show it.
# The two nodes are one guest here, with a host name for each daemon.
# Guessed before: Open MPI takes UCX by itself where there is an adapter, and "--mca pml ucx" is what one says
# to be sure. Seen on 30 November 2026.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup trixie 'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=56.1-1 libibverbs-dev=56.1-1 iproute2=6.15.0-1 \
	openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 libucx0=1.18.1+ds-2+b1

guest_cc window -I/usr/lib/x86_64-linux-gnu/openmpi/include -lmpi <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	int rank, class, token = 0;
	MPI_Win window;
	void *base;

	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!rank && system("rdma resource show qp | grep -q 'comm window' && "
			    "echo some >qps || echo none >qps") < 0)
		return 1;
	MPI_Error_class(MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window),
			&class);
	if (!rank)
		puts(class == MPI_SUCCESS ? "made" : class == MPI_ERR_WIN ? "MPI_ERR_WIN" : "error");
	if (class == MPI_SUCCESS)
		MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
END
GUEST_SMP=2 GUEST_MEM=3G guest_run 6.12.117+deb13-amd64 <<'GUEST'
rxe_on
hostname one
echo '10.9.0.1 one two' >>/etc/hosts
# starts a daemon in the place of ssh: HOST COMMAND...
cat >agent <<'END'
#!/bin/bash
exec unshare -u bash -c "hostname $1; ${*:2}"
END
chmod +x agent
export PRTE_MCA_plm_ssh_agent=/share/agent
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# run NAME OPTION...
run()
{
	local window

	rm -f qps
	window=$(timeout 60 mpirun --host "$hosts" -n 2 "${@:2}" ./window 2>err)
	echo "$1: queue pairs $(cat qps), window $window"
}
file=/etc/openmpi/openmpi-mca-params.conf
grep -E '^(pml|osc) ' $file | paste -s -d ';'
hosts=one:2
run 'one node, pml ucx' --mca pml ucx
hosts=one:1,two:1
run 'two nodes' --mca pml_base_verbose 0
run 'two nodes, pml ucx' --mca pml ucx
run 'two nodes, pml ucx, osc ucx' --mca pml ucx --mca osc ucx
sed -i -E '/^(pml|osc) /d' $file
run 'two nodes, lines removed, pml ucx' --mca pml ucx
GUEST
guest_same 'queue pairs and windows' <<'END'
pml = ^ucx;osc = ^ucx,pt2pt
one node, pml ucx: queue pairs some, window made
two nodes: queue pairs none, window made
two nodes, pml ucx: queue pairs some, window MPI_ERR_WIN
two nodes, pml ucx, osc ucx: queue pairs some, window made
two nodes, lines removed, pml ucx: queue pairs some, window made
END

verdict "Debian's Open MPI uses UCX when told, and has windows between nodes when told twice"
