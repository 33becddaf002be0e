/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SELFTESTS_MPI_BEGIN_H
#define SELFTESTS_MPI_BEGIN_H

#include <mpi.h>

#include "nbc/plan.h"

/* Begin a planned collective with an MPI. Return: what MPI said, 0 if all is well. */
int mpi_begin(MPI_Comm comm, const struct plan_item *item, const void *in,
	      void *out, MPI_Request *req);

#endif
