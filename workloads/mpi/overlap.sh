# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scripts share that measure the collectives of the MPIs, after cluster/mpi.sh.

# overlap_compile NAME PROGRAM: in the lab, with the MPI of that name
overlap_compile()
{
	"mpicc.$1" -O2 -D_GNU_SOURCE -Iworkloads -o "$2" workloads/mpi/mpi_{overlap,begin}.c \
		workloads/nbc/{overlap,compute,plan,fold}.c workloads/timeline/mark.c -lm
}

# overlap_environment: in a guest, for two processes that are two nodes
overlap_environment()
{
	ip link set lo up
	# As two processes of one node would use memory.
	export UCX_MEM_EVENTS=n UCX_TLS=rc_x
	# MPICH has a transport of its own for one node.
	export MPIR_CVAR_NOLOCAL=1
}
