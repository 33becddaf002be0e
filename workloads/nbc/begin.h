/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SELFTESTS_NBC_BEGIN_H
#define SELFTESTS_NBC_BEGIN_H

#include "plan.h"

/* Begin a planned collective with the workloads' own collectives. */
int plan_begin(struct nbc *nbc, const struct plan_item *item, const void *in,
	       void *out, struct nbc_req **req);

#endif
