// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The medians of the runs of a case with the same number of threads, under all
 * policies that were measured: a row for each category, a column for each policy.
 */
#include <string.h>

#include "bench.h"

static bool same_text(struct json_object *a, struct json_object *b,
		      const char *key)
{
	return !strcmp(json_object_get_string(json_get(a, key)),
		       json_object_get_string(json_get(b, key)));
}

/* Differ the two in their policies only? */
static bool same_case(struct json_object *a, struct json_object *b)
{
	return json_get(a, "threads") && json_get(b, "threads") &&
	       json_object_get_int(json_get(a, "threads")) ==
		       json_object_get_int(json_get(b, "threads")) &&
	       same_text(a, b, "bench") && same_text(a, b, "variant");
}

/* Finds the row of a name, or makes it. */
static struct json_object *row_of(struct json_object *rows,
				  struct json_object *figure)
{
	static const char *const keys[] = { "name", "unit", "paper_relative" };
	struct json_object *row, *value;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		if (same_text(row, figure, "name"))
			return row;
	}
	row = json_object_new_object();
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		value = json_get(figure, keys[i]);
		if (value)
			json_object_object_add(row, keys[i],
					       json_object_get(value));
	}
	json_object_array_add(rows, row);
	return row;
}

static void add_run(struct json_object *rows, struct json_object *run)
{
	const char *policy = json_object_get_string(json_get(run, "policy"));
	struct json_object *figures = json_get(run, "figures"), *figure;
	size_t i;

	for (i = 0; i < json_object_array_length(figures); i++) {
		figure = json_object_array_get_idx(figures, i);
		json_object_object_add(
			row_of(rows, figure), policy,
			json_object_get(json_get(figure, "median")));
	}
}

static struct json_object *matrix_of(struct json_object *runs, size_t first)
{
	static const char *const keys[] = { "bench", "variant", "threads",
					    "paper" };
	struct json_object *from = json_object_array_get_idx(runs, first);
	struct json_object *made = json_object_new_object();
	struct json_object *policies = json_object_new_array();
	struct json_object *rows = json_object_new_array();
	struct json_object *run, *value;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		value = json_get(from, keys[i]);
		if (value)
			json_object_object_add(made, keys[i],
					       json_object_get(value));
	}
	for (i = first; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_get(run, "figures") || !same_case(run, from))
			continue;
		json_object_array_add(
			policies, json_object_get(json_get(run, "policy")));
		add_run(rows, run);
	}
	json_object_object_add(made, "policies", policies);
	json_object_object_add(made, "rows", rows);
	return made;
}

/* Has an earlier run with figures the same case? */
static bool is_first(struct json_object *runs, size_t at)
{
	struct json_object *run = json_object_array_get_idx(runs, at), *before;
	size_t i;

	for (i = 0; i < at; i++) {
		before = json_object_array_get_idx(runs, i);
		if (json_get(before, "figures") && same_case(before, run))
			return false;
	}
	return true;
}

/**
 * bench_matrices() - medians by category and policy
 * @runs: of all cases; those without figures are left out
 *
 * Return: an array with an object for each case and number of threads that was
 * measured under two policies at least: "bench", "variant", "threads", "policies",
 * and "rows" with "name", "unit" and a median for each policy that has the name.
 */
struct json_object *bench_matrices(struct json_object *runs)
{
	struct json_object *all = json_object_new_array(), *run, *matrix;
	size_t i;

	for (i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_get(run, "figures") || !is_first(runs, i))
			continue;
		matrix = matrix_of(runs, i);
		if (json_object_array_length(json_get(matrix, "policies")) > 1)
			json_object_array_add(all, matrix);
		else
			json_object_put(matrix);
	}
	return all;
}
