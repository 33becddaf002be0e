// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uuar_doorbells [-h HCA] [-l LABEL] [-q] - where the user QPs ring, as counted by
 * the simulated HCA since its counters were zeroed
 *
 * Prints a table (not with -q) and a line of figures that starts with LABEL.
 * Exit status 1 when a doorbell went to a wrong page, a BlueFlame write was torn,
 * or a QP rang two uUARs; 2 when the HCA could not be asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doorbells.h"

static const char *const levels[] = {
	"-", "own page", "own uUAR", "shared uUAR",
};

static void print_table(const struct doorbells_report *doorbells)
{
	const struct doorbells_qp *qp;
	size_t i;

	printf("  %-8s %-6s %-5s %-13s %9s %10s\n", "QP", "UAR", "slot",
	       "level", "doorbells", "BlueFlame");
	for (i = 0; i < doorbells->n; i++) {
		qp = &doorbells->qps[i];
		printf("  %06x   %-6u %-5u %u %-11s %9ju %10ju\n", qp->qpn,
		       qp->uar, qp->slot, qp->level, levels[qp->level],
		       (uintmax_t)qp->doorbells, (uintmax_t)qp->blueflame);
	}
}

int main(int argc, char **argv)
{
	const char *label = "doorbells:";
	unsigned int hca = 0;
	bool quiet = false;
	struct doorbells_report doorbells;
	int c, ret;

	while ((c = getopt(argc, argv, "h:l:q")) != -1) {
		if (c == 'h')
			hca = atoi(optarg);
		else if (c == 'l')
			label = optarg;
		else if (c == 'q')
			quiet = true;
		else
			return 2;
	}
	ret = doorbells_look(hca, &doorbells);
	if (ret) {
		fprintf(stderr, "uuar_doorbells: %s\n", strerror(-ret));
		return 2;
	}
	if (!quiet)
		print_table(&doorbells);
	printf("%s qps=%zu uar_pages=%zu uuars=%zu shared=%zu wrong_uar=%jd torn=%jd\n",
	       label, doorbells.n, doorbells.pages, doorbells.uuars,
	       doorbells.shared, (intmax_t)doorbells.wrong_uar,
	       (intmax_t)doorbells.torn);
	ret = doorbells.wrong_uar || doorbells.torn || doorbells.astray ||
		doorbells.silent;
	doorbells_put(&doorbells);
	return ret;
}
