// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Published figures, to stand beside those of a run, with their sources:
 *
 * Zambre, Chandramowlishwaran, Balaji, 2018 (scalable communication endpoints): rate
 *	and UAR pages of the global array, with two uUARs on each page; the stencil.
 * Woodall, Shipman, Bosilca, Maccabe, 2006 (RDMA pipeline): the pipeline.
 * Shipman, Poole, Shamis, Rabinovitz, 2008 (X-SRQ): QPs of a node.
 */
#include <string.h>

#include "bench.h"

/* A name of a program that a paper has measured, too; 0: it does not say. */
static const struct published {
	const char *bench;
	unsigned int threads;	/* of the paper; 0: there are none */
	const char *name;
	int relative;		/* percent of the first name */
	int pages;
	int value;		/* in the unit of the program */
} published[] = {
	{ "globalarray", 16, "mpi-everywhere", 100, 128, 0 },
	{ "globalarray", 16, "2xdynamic", 108, 40, 0 },
	{ "globalarray", 16, "dynamic", 94, 24, 0 },
	{ "globalarray", 16, "shared-dynamic", 65, 16, 0 },
	{ "globalarray", 16, "static", 64, 8, 0 },
	{ "globalarray", 16, "mpi-threads", 3, 8, 0 },
	/* PPN^2 * NSRQ * (N - 1) and PPN * 2 * (N - 1), of the case in cases.c */
	{ "xsrq", 0, "one QP for each SRQ", 0, 0, 2 * 2 * 4 * (4 - 1) },
	{ "xsrq", 0, "shared XRC QPs", 0, 0, 2 * 2 * (4 - 1) },
};

/* What a paper says of a benchmark, in a line. */
static const struct {
	const char *bench;
	const char *source, *note;
} papers[] = {
	{ "globalarray", "Zambre et al. 2018",
	  "RDMA writes of 16 threads on a ConnectX-4, in percent of mpi-everywhere" },
	{ "stencil", "Zambre et al. 2018",
	  "2xdynamic has 103 to 106 % of mpi-everywhere on a ConnectX-4" },
	{ "pipeline", "Woodall et al. 2006",
	  "the pipeline has up to 67 % more bandwidth than a cache without reuse; a cache needs 40 to 50 reuses to catch up (8 MB)" },
	{ "xsrq", "Shipman et al. 2008",
	  "PPN^2 * NSRQ * (N - 1) QPs without and PPN * 2 * (N - 1) with shared ones" },
};

static void add_number(struct json_object *to, const char *key, int value)
{
	if (value)
		json_object_object_add(to, key, json_object_new_int(value));
}

static void add_figure(const char *bench, unsigned int threads,
		       struct json_object *figure)
{
	const struct published *at;
	const char *name = json_text(figure, "name", "");
	size_t i;

	for (i = 0; i < sizeof(published) / sizeof(*published); i++) {
		at = &published[i];
		if (strcmp(bench, at->bench) || threads != at->threads ||
		    strcmp(name, at->name))
			continue;
		add_number(figure, "paper_relative", at->relative);
		add_number(figure, "paper_pages", at->pages);
		add_number(figure, "paper_value", at->value);
	}
}

/**
 * bench_add_papers() - what a paper has measured of the same
 * @threads: of the run
 * @run: gets "paper", where there is one: its "source" and a "note". Of its
 *	"figures" those with a name of the paper get the paper's, if the number of
 *	threads is the paper's
 */
void bench_add_papers(const struct bench_case *bench, unsigned int threads,
		      struct json_object *run)
{
	struct json_object *figures = json_get(run, "figures"), *paper;
	size_t i;

	for (i = 0; i < sizeof(papers) / sizeof(*papers); i++) {
		if (strcmp(bench->bench, papers[i].bench))
			continue;
		paper = json_object_new_object();
		json_object_object_add(paper, "source",
			json_object_new_string(papers[i].source));
		json_object_object_add(paper, "note",
			json_object_new_string(papers[i].note));
		json_object_object_add(run, "paper", paper);
	}
	for (i = 0; i < json_object_array_length(figures); i++)
		add_figure(bench->bench, threads,
			   json_object_array_get_idx(figures, i));
}
