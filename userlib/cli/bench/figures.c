// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Figures of a run, from what the program printed in each round: the median, the
 * spread (largest less smallest value, in percent of the median), and the median of
 * the ratios to the first name in the same round, so that what disturbs a round
 * disturbs both.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static double figures_value(struct json_object *row)
{
	return json_object_get_double(json_get(row, "value"));
}

static int figures_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Row @i of each round. */
static void figures_collect(struct json_object *rounds, size_t i,
			    double *values, double *ratios)
{
	size_t n = json_object_array_length(rounds), k;
	struct json_object *round;
	double first;

	for (k = 0; k < n; k++) {
		round = json_object_array_get_idx(rounds, k);
		first = figures_value(json_object_array_get_idx(round, 0));
		values[k] = figures_value(json_object_array_get_idx(round, i));
		ratios[k] = first ? 100 * values[k] / first : 0;
	}
	qsort(values, n, sizeof(*values), figures_by_value);
	qsort(ratios, n, sizeof(*ratios), figures_by_value);
}

/* Of sorted numbers. */
static double median_of(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* With four digits, as latencies below a microsecond need them. */
static void figures_add(struct json_object *to, const char *key, double number)
{
	int decimals = number >= 1000 ? 0 : number >= 100 ? 1 :
		       number >= 10 ? 2 : 3;
	char text[32];

	snprintf(text, sizeof(text), "%.*f", decimals, number);
	json_object_object_add(to, key,
			       json_object_new_double_s(number, text));
}

/* What the program said, with figures of all rounds in place of its value. */
static struct json_object *figure(struct json_object *last, size_t i,
				  const double *values, const double *ratios,
				  size_t n)
{
	struct json_object *made = json_object_new_object();
	double median = median_of(values, n);

	json_object_object_foreach(json_object_array_get_idx(last, i), key, val)
		json_object_object_add(made, key, json_object_get(val));
	json_object_object_del(made, "value");
	figures_add(made, "median", median);
	figures_add(made, "low", values[0]);
	figures_add(made, "high", values[n - 1]);
	figures_add(made, "spread",
		    median ? 100 * (values[n - 1] - values[0]) / median : 0);
	figures_add(made, "relative", median_of(ratios, n));
	return made;
}

/**
 * bench_figures() - the figures of a run
 * @rounds: an array of what each round printed, with the same names in all of them
 *
 * Return: an object for each name; NULL: rounds differ, or there is no memory.
 */
struct json_object *bench_figures(struct json_object *rounds)
{
	size_t n = json_object_array_length(rounds), names, i;
	double *values = calloc(n, sizeof(*values));
	double *ratios = calloc(n, sizeof(*ratios));
	struct json_object *last, *figures = NULL;

	if (!n || !values || !ratios)
		goto out;
	last = json_object_array_get_idx(rounds, n - 1);
	names = json_object_array_length(last);
	for (i = 0; i < n; i++)
		if (json_object_array_length(json_object_array_get_idx(
			    rounds, i)) != names)
			goto out;
	figures = json_object_new_array();
	for (i = 0; i < names; i++) {
		figures_collect(rounds, i, values, ratios);
		json_object_array_add(figures,
				      figure(last, i, values, ratios, n));
	}
out:
	free(values);
	free(ratios);
	return figures;
}
