// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What both kinds of measurements share; see sides.h. */
#include <stdlib.h>

#include "sides.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double logp_median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}
