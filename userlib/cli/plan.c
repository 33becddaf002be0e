// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep plan. Computes what a job of processes and threads needs of one
 * adapter in each category of endpoints, and which categories fit.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mlx5ep/endpoints.h>

#include "cli.h"

#define UAR_PAGE 4096ULL
/*
 * UAR pages are numbered from the start of the BAR. The initialisation segment
 * is there, so the first numbers are never allocated.
 */
#define RESERVED_PAGES 16
#define LEAST_BAR (1ULL << 20)
#define TOO_MUCH_BAR (1ULL << 44)
/* As Debian builds MPICH 4.2.1: findings/mpich-is-built-for-ucx-with-64-vcis.sh */
#define MPICH_VCIS 64

#define CATEGORIES "mpi-everywhere, 2xdynamic, dynamic, shared-dynamic, static, mpi-threads"

static const struct column columns[] = {
	{ "category", "CATEGORY", true },
	{ "uar_pages_per_process", "PAGES/PROC", false },
	{ "uar_pages", "UAR-PAGES", false },
	{ "published_pages", "PUBLISHED", false },
	{ "uuars", "UUARS", false }, { "qps", "QPS=CQS", false },
	{ "memory_mib", "MEM-MIB", false }, { "bar_mib", "BAR-MIB", false },
	{ "level", "LEVEL", false }, { "fits", "FITS", false },
};

struct job {
	unsigned int threads, processes;
	int category;
	unsigned long long bar;		/* bytes, 0: not known */
};

static unsigned long long bar_of(const char *device)
{
	char path[PATH_LEN];
	struct stat st;

	root_path(path, "sys/class/infiniband/%s/device/resource0", device);
	return stat(path, &st) ? 0 : st.st_size;
}

/* A BAR's size is a power of two, and at least 1 MiB on these adapters. */
static unsigned long long bar_for(unsigned long long pages)
{
	unsigned long long bar = LEAST_BAR;

	while (bar < (pages + RESERVED_PAGES) * UAR_PAGE)
		bar *= 2;
	return bar;
}

static unsigned int worst_level(const struct mlx5ep_endpoints_info *info)
{
	unsigned int level = 4;

	while (level > 1 && !info->level[level])
		level--;
	return level;
}

static void plan_add(struct json_object *row, const char *key,
		     unsigned long long value)
{
	json_object_object_add(row, key, json_object_new_int64(value));
}

static void add_mib(struct json_object *row, const char *key,
		    unsigned long long bytes)
{
	double mib = bytes / 1048576.0;
	char text[32];

	snprintf(text, sizeof(text), "%.*f", mib < 100 ? 2 : 0, mib);
	json_object_object_add(row, key, json_object_new_double_s(mib, text));
}

static struct json_object *row_of(const struct job *job,
				  const struct mlx5ep_endpoints_info *info,
				  bool *fits)
{
	struct json_object *row = json_object_new_object();
	unsigned long long procs = job->processes;
	unsigned long long own = info->uar_pages + info->own_pages;

	*fits = !job->bar ||
		(own * procs + RESERVED_PAGES) * UAR_PAGE <= job->bar;
	json_object_object_add(row, "category", json_object_new_string(
		mlx5ep_category_name(info->category)));
	plan_add(row, "uar_pages_per_process", own);
	plan_add(row, "uar_pages", own * procs);
	plan_add(row, "published_pages",
		 (info->uar_pages + info->absent_pages) * procs);
	plan_add(row, "uuars", info->uuars * procs);
	plan_add(row, "qps", info->qps * procs);
	plan_add(row, "cqs", info->cqs * procs);
	plan_add(row, "contexts", info->contexts * procs);
	add_mib(row, "memory_mib", info->bytes * procs);
	add_mib(row, "bar_mib", bar_for(own * procs));
	plan_add(row, "level", worst_level(info));
	json_object_object_add(row, "fits", json_object_new_boolean(*fits));
	return row;
}

static struct json_object *plan(const struct job *job, const char **best)
{
	struct json_object *rows = json_object_new_array();
	struct mlx5ep_endpoints_info info;
	unsigned int c;
	bool fits;

	*best = NULL;
	for (c = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	     c <= MLX5EP_CATEGORY_MPI_THREADS; c++) {
		struct mlx5ep_endpoints_attr attr = { .category = c };

		if (job->category >= 0 && (unsigned int)job->category != c)
			continue;
		if (mlx5ep_endpoints_predict(&attr, job->threads, &info))
			continue;
		json_object_array_add(rows, row_of(job, &info, &fits));
		/* mpi-everywhere is not a choice; the others come fastest first. */
		if (fits && !*best &&
		    (c != MLX5EP_CATEGORY_MPI_EVERYWHERE || job->category >= 0))
			*best = mlx5ep_category_name(c);
	}
	return rows;
}

static int print_plan(struct cli *cli, const struct job *job)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *rows;
	const char *best;

	rows = plan(job, &best);
	plan_add(obj, "threads", job->threads);
	plan_add(obj, "processes", job->processes);
	if (job->bar)
		plan_add(obj, "bar_bytes", job->bar);
	json_object_object_add(obj, "categories", rows);
	json_object_object_add(obj, "fastest_that_fits", best ?
			       json_object_new_string(best) : NULL);
	if (cli->json) {
		print_json(obj);
	} else {
		print_heading(cli, "%u process%s of %u thread%s",
			      job->processes, job->processes == 1 ? "" : "es",
			      job->threads, job->threads == 1 ? "" : "s");
		print_table(cli, rows, columns,
			    sizeof(columns) / sizeof(*columns));
		printf("\nfastest that fits: %s\n", best ? best : "none");
		if (job->threads > MPICH_VCIS)
			printf("note: Debian's MPICH has at most %d VCIs, so some of the %u threads share one\n",
			       MPICH_VCIS, job->threads);
	}
	json_object_put(obj);
	return best ? EXIT_OK : EXIT_FAILED;
}

static bool size_arg(const char *text, unsigned long long *bytes)
{
	unsigned long long number;
	unsigned int shift = 0;
	char *end;

	number = strtoull(text, &end, 10);
	if (end == text || *text == '-' || !number)
		return false;
	if (*end == 'G' || *end == 'g')
		shift = 30;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end)
		return false;
	*bytes = number << shift;
	return number < TOO_MUCH_BAR >> shift && (!*end || !end[1]);
}

static bool category_arg(const char *text, int *category)
{
	*category = mlx5ep_category_parse(text);
	return *category >= 0 && *category != MLX5EP_CATEGORY_AUTO;
}

static int plan_parse(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "processes", required_argument, NULL, 'p' },
		{ "category", required_argument, NULL, 'c' },
		{ "bar", required_argument, NULL, 'b' },
		{}
	};
	const char *error;
	int c;

	while ((c = getopt_long(argc, argv, "t:p:c:b:", options, NULL)) != -1) {
		error = NULL;
		if (c == '?')
			return EXIT_USAGE;
		if (c == 't' && !number_parse(optarg, 4096, &job->threads))
			error = "--threads %s: a number from 1 to 4096";
		if (c == 'p' && !number_parse(optarg, 4096, &job->processes))
			error = "--processes %s: a number from 1 to 4096";
		if (c == 'b' && !size_arg(optarg, &job->bar))
			error = "--bar %s: a number, with K, M or G";
		if (c == 'c' && !category_arg(optarg, &job->category))
			error = "--category %s: not one of " CATEGORIES;
		if (error)
			return usage_error("plan", error, optarg);
	}
	if (optind != argc)
		return usage_error("plan", "%s: unexpected", argv[optind]);
	if (!job->threads)
		return usage_error("plan", "--threads is needed");
	return 0;
}

/**
 * cmd_plan() - mlx5ep plan --threads T [--processes P] [--category C] ...
 * @cli: with -d the size of the BAR is read from that device
 */
int cmd_plan(struct cli *cli, int argc, char **argv)
{
	struct job job = { .processes = 1, .category = -1 };
	int ret;

	ret = plan_parse(&job, argc, argv);
	if (ret)
		return ret;
	if (cli->device && !job.bar) {
		job.bar = bar_of(cli->device);
		if (!job.bar)
			return complain(EXIT_NO_DEVICE, "%s: no such device, or its BAR cannot be seen; --bar gives its size",
					cli->device);
	}
	return print_plan(cli, &job);
}
