// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What mlx5ep bench has measured: tables, JSON, and files in a folder. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "bench.h"

static void print_paper(struct json_object *run)
{
	struct json_object *paper = json_get(run, "paper");

	if (paper)
		printf("paper: %s: %s\n", json_text(paper, "source", NULL),
		       json_text(paper, "note", NULL));
}

/* Columns of the paper only where it has measured the same. */
static void print_run(struct cli *cli, struct json_object *run, bool simulated)
{
	static const struct column columns[] = {
		{ "name", "NAME", true }, { "median", "MEDIAN", false },
		{ "unit", "UNIT", true }, { "low", "LOW", false },
		{ "high", "HIGH", false }, { "spread", "SPREAD%", false },
		{ "relative", "RELATIVE%", false }, { "pages", "PAGES", false },
		{ "uuars", "UUARS", false },
		{ "paper_relative", "PAPER%", false },
		{ "paper_pages", "PAPER-PAGES", false },
	};
	static const struct column values[] = {
		{ "name", "NAME", true }, { "median", "MEDIAN", false },
		{ "unit", "UNIT", true }, { "low", "LOW", false },
		{ "high", "HIGH", false }, { "paper_value", "PAPER", false },
	};
	size_t n = sizeof(columns) / sizeof(*columns);
	struct json_object *figures = json_get(run, "figures"), *first;

	print_heading(
		cli, "\n%s, %s, under %s%s%s%s", json_text(run, "bench", NULL),
		json_text(run, "variant", NULL), json_text(run, "policy", NULL),
		json_get(run, "threads") ? ", threads: " : "",
		json_get(run, "threads") ? json_text(run, "threads", NULL)
					  : "",
		simulated ? " (simulated)" : "");
	if (!figures) {
		printf("failed: %s\n", json_text(run, "error", NULL));
		return;
	}
	first = json_object_array_get_idx(figures, 0);
	if (!json_get(first, "paper_relative"))
		n -= 2;
	if (!json_get(first, "pages"))
		n = 7;
	if (json_get(first, "paper_value"))
		print_table(cli, figures, values,
			    sizeof(values) / sizeof(*values));
	else
		print_table(cli, figures, columns, n);
	print_paper(run);
}

/* The columns of the policies that were measured, with the name before them. */
static void print_matrix(struct cli *cli, struct json_object *matrix,
			 bool simulated)
{
	struct column columns[BENCH_MAX_LIST + 3] = {
		{ "name", "NAME", true },
	};
	struct json_object *policies = json_get(matrix, "policies");
	struct json_object *rows = json_get(matrix, "rows");
	size_t n = 1, i;

	for (i = 0; i < json_object_array_length(policies); i++) {
		columns[n].key = json_object_get_string(
			json_object_array_get_idx(policies, i));
		columns[n].title = columns[n].key;
		n++;
	}
	columns[n++] = (struct column){ "unit", "UNIT", true };
	if (json_get(json_object_array_get_idx(rows, 0), "paper_relative"))
		columns[n++] = (struct column){ "paper_relative", "PAPER%",
						false };
	print_heading(cli,
		      "\n%s, %s, medians by category and policy, threads: %s%s",
		      json_text(matrix, "bench", NULL),
		      json_text(matrix, "variant", NULL),
		      json_text(matrix, "threads", NULL),
		      simulated ? " (simulated)" : "");
	print_table(cli, rows, columns, n);
	print_paper(matrix);
}

static unsigned int failures(struct json_object *runs)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(runs); i++)
		n += !!json_get(json_object_array_get_idx(runs, i), "error");
	return n;
}

/**
 * bench_print() - print a table for each run, or JSON
 * @all: "on", "disturbances", "runs" and "by_policy"
 *
 * Return: did a run fail?
 */
bool bench_print(struct cli *cli, struct json_object *all)
{
	struct json_object *runs = json_get(all, "runs");
	struct json_object *on = json_get(all, "on");
	struct json_object *noise = json_get(all, "disturbances");
	struct json_object *matrices = json_get(all, "by_policy");
	bool simulated = json_object_get_boolean(json_get(on, "simulated"));
	size_t i;

	if (cli->json) {
		print_json(all);
		return failures(runs);
	}
	json_object_object_foreach(on, key, value)
		printf("%-9s %s\n", key, json_object_get_string(value));
	for (i = 0; i < json_object_array_length(noise); i++)
		printf("warning: %s\n", json_object_get_string(
			       json_object_array_get_idx(noise, i)));
	for (i = 0; i < json_object_array_length(runs); i++)
		print_run(cli, json_object_array_get_idx(runs, i), simulated);
	for (i = 0; i < json_object_array_length(matrices); i++)
		print_matrix(cli, json_object_array_get_idx(matrices, i),
			     simulated);
	return failures(runs);
}

/* Keeps only the runs that have figures. */
static struct json_object *measured(struct json_object *runs)
{
	struct json_object *kept = json_object_new_array(), *run;
	size_t i;

	for (i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (json_get(run, "figures"))
			json_object_array_add(kept, json_object_get(run));
	}
	return kept;
}

/**
 * bench_save() - write the report and the pictures
 * @dir: an existing folder
 *
 * Return: exit code, after a message if something failed.
 */
int bench_save(const char *dir, struct json_object *all)
{
	struct json_object *runs = measured(json_get(all, "runs"));
	char path[PATH_LEN];
	int ret = 0;

	snprintf(path, sizeof(path), "%s/bench.json", dir);
	if (json_object_to_file_ext(path, all, JSON_C_TO_STRING_PRETTY |
				    JSON_C_TO_STRING_NOSLASHESCAPE))
		ret = -errno;
	if (!ret)
		ret = bench_plot(dir, json_get(all, "on"), runs,
				 json_get(all, "by_policy"));
	json_object_put(runs);
	if (ret == BENCH_NO_GNUPLOT) {
		fprintf(stderr, "mlx5ep bench: no pictures: install gnuplot, then gnuplot %s/*.gp\n",
			dir);
		ret = 0;
	}
	return ret ? complain(EXIT_FAILED, "%s: %s", dir, ret == -EIO ?
			      "gnuplot failed" : strerror(-ret)) : EXIT_OK;
}
