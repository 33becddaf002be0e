// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Published figures, to stand beside those of a run. Zambre, Chandramowlishwaran and
 * Balaji (2018): global array, 16 threads, ConnectX-4; rate and UAR pages.
 */
#include <string.h>

#include "bench.h"

#define PAPER_THREADS 16

static const struct {
	const char *category;
	int rate;		/* percent of mpi-everywhere */
	int pages;
} zambre[] = {
	{ "mpi-everywhere", 100, 128 }, { "2xdynamic", 108, 40 },
	{ "dynamic", 94, 24 }, { "shared-dynamic", 65, 16 },
	{ "static", 64, 8 }, { "mpi-threads", 3, 8 },
};

static void add(struct json_object *figure)
{
	struct json_object *name;
	size_t i;

	json_object_object_get_ex(figure, "name", &name);
	for (i = 0; i < sizeof(zambre) / sizeof(*zambre); i++) {
		if (strcmp(json_object_get_string(name), zambre[i].category))
			continue;
		json_object_object_add(figure, "paper_relative",
				       json_object_new_int(zambre[i].rate));
		json_object_object_add(figure, "paper_pages",
				       json_object_new_int(zambre[i].pages));
	}
}

/**
 * bench_add_papers() - what a paper has measured of the same
 * @threads: of the run
 * @figures: as bench_figures() makes them; those with a name of the paper get its
 *	figures, if case and number of threads are the paper's
 */
void bench_add_papers(const struct bench_case *bench, unsigned int threads,
		      struct json_object *figures)
{
	size_t i;

	if (strcmp(bench->bench, "globalarray") || threads != PAPER_THREADS)
		return;
	for (i = 0; i < json_object_array_length(figures); i++)
		add(json_object_array_get_idx(figures, i));
}
