// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The figures of mlx5ep metrics, as OpenMetrics text. Only attributes and tables
 * whose length does not grow with the number of QPs are read, and added up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli.h"
#include "metrics.h"

/**
 * struct metric - one metric family
 * @name: without the prefix mlx5ep_, and without _total
 * @unit: the last part of @name, or NULL
 * @table: the array of rows below a device; NULL: the device itself
 * @key: of the value
 * @label: of a row that becomes a label, or NULL: the rows are added up
 */
struct metric {
	const char *name;
	const char *type;
	const char *unit;
	const char *help;
	const char *table;
	const char *key;
	const char *label;
};

static const struct metric metrics[] = {
	{ "device_attached", "gauge", NULL,
	  "Is the module attached to the device?", NULL, "attached", NULL },
	{ "tables_readable", "gauge", NULL,
	  "Are the tables of debugfs readable? If not, figures of contexts, users and notifiers are absent.",
	  NULL, "tables_readable", NULL },
	{ "uar_pages_managed", "gauge", NULL,
	  "UAR pages that managed contexts hold.", NULL, "in_use", NULL },
	{ "uar_pages_observed", "gauge", NULL,
	  "UAR pages that other contexts are seen to hold.", NULL, "observed",
	  NULL },
	{ "uar_pages_budget", "gauge", NULL,
	  "UAR pages that managed contexts may hold; 0: three quarters of those of the device.",
	  NULL, "budget", NULL },
	{ "uar_pages_budget_effective", "gauge", NULL,
	  "UAR pages that managed contexts may hold, also if no budget is set.",
	  NULL, "budget_effective", NULL },
	{ "uar_pages_user_limit", "gauge", NULL,
	  "UAR pages that any one user may hold; 0: no limit.", NULL,
	  "user_limit", NULL },
	{ "context_fallbacks", "counter", NULL,
	  "Contexts that should have been managed and are not.", NULL,
	  "fallbacks", NULL },
	{ "refusals", "counter", NULL,
	  "What a limit or a strict policy has refused, by the limit.",
	  "refusals", "number", "reason" },
	{ "contexts", "gauge", NULL, "Open contexts, by policy.", "contexts",
	  SUMS_ROWS, "policy" },
	{ "qps", "gauge", NULL, "QPs of users, by the policy of the context.",
	  "contexts", "qps", "policy" },
	{ "placed_qps", "gauge", NULL, "QPs that a policy placed.", "contexts",
	  "placed", "policy" },
	{ "uuars_used", "gauge", NULL, "uUARs with a placed QP.", "contexts",
	  "used_uuars", "policy" },
	{ "uuars_shared", "gauge", NULL,
	  "uUARs with more than one placed QP.", "contexts", "shared_uuars",
	  "policy" },
	{ "user_contexts", "gauge", NULL, "Open contexts of a user.", "users",
	  "contexts", "uid" },
	{ "user_uar_pages", "gauge", NULL, "UAR pages that a user holds.",
	  "users", "pages", "uid" },
	{ "cgroup_uar_pages_limit", "gauge", NULL,
	  "UAR pages that a cgroup may hold with those below it.", "limits",
	  "limit", "cgroup" },
	{ "xrc_domains", "gauge", NULL, "XRC domains.", NULL, "xrc_domains",
	  NULL },
	{ "xrc_qps", "gauge", NULL, "Shared XRC receive QPs.", NULL, "xrc_qps",
	  NULL },
	{ "xrc_registrations", "gauge", NULL,
	  "Registrations with shared XRC receive QPs.", NULL,
	  "xrc_registrations", NULL },
	{ "notifiers", "gauge", NULL, "Open notifiers.", "watches",
	  SUMS_ROWS, NULL },
	{ "watches", "gauge", NULL, "Watches of open notifiers.", "watches",
	  "watches", NULL },
	{ "notifier_memory_bytes", "gauge", "bytes",
	  "Kernel memory of open notifiers.", "watches", "bytes", NULL },
	{ "watch_invalidations", "gauge", NULL,
	  "Invalidations that the notifiers that are open now have counted.",
	  "watches", "events", NULL },
	{ "watch_unread", "gauge", NULL,
	  "Watches of which something is still to be read.", "watches",
	  "unread", NULL },
};

#define METRICS (sizeof(metrics) / sizeof(*metrics))

/* Backslash, quote and newline are escaped in the value of a label. */
static void print_value(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", to);
		else if (*text == '\\' || *text == '"')
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
	}
}

static void print_sample(FILE *to, const struct metric *metric,
			 struct json_object *dev, const char *label,
			 long long value)
{
	fprintf(to, "mlx5ep_%s%s{device=\"", metric->name,
		strcmp(metric->type, "counter") ? "" : "_total");
	print_value(to, json_text(dev, "device", ""));
	if (label) {
		fprintf(to, "\",%s=\"", metric->label);
		print_value(to, label);
	}
	fprintf(to, "\"} %lld\n", value);
}

/* A label stands once in a family: rows with the same one are added up. */
static void print_rows(FILE *to, const struct metric *metric,
		       struct json_object *dev, struct json_object *rows)
{
	struct json_object *sums = json_object_new_object();
	size_t i, n = json_object_array_length(rows);
	const char *label;

	if (!metric->label)
		json_object_object_add(sums, "", json_object_new_int64(0));
	for (i = 0; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		label = metric->label ? json_text(row, metric->label, "") : "";
		json_object_object_add(sums, label, json_object_new_int64(
			json_number(sums, label, 0) +
			json_number(row, metric->key, 0)));
	}
	json_object_object_foreach(sums, name, sum)
		print_sample(to, metric, dev, metric->label ? name : NULL,
			     json_object_get_int64(sum));
	json_object_put(sums);
}

static void print_family(FILE *to, const struct metric *metric,
			 struct json_object *devices)
{
	struct json_object *dev, *rows;
	size_t i;

	fprintf(to, "# HELP mlx5ep_%s %s\n# TYPE mlx5ep_%s %s\n", metric->name,
		metric->help, metric->name, metric->type);
	if (metric->unit)
		fprintf(to, "# UNIT mlx5ep_%s %s\n", metric->name,
			metric->unit);
	for (i = 0; i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		if (metric->table) {
			rows = json_get(dev, metric->table);
			if (rows)
				print_rows(to, metric, dev, rows);
		} else if (json_get(dev, metric->key)) {
			print_sample(to, metric, dev, NULL,
				     json_number(dev, metric->key, 0));
		}
	}
}

static void add_limits(struct json_object *dev, const char *name)
{
	struct json_object *rows;

	rows = attribute_table(name, "uar_cgroup_limits", "cgroup limit");
	if (rows)
		json_object_object_add(dev, "limits", rows);
}

/* What the module counts by itself. */
static void add_counts(struct json_object *dev, const char *name)
{
	static const char *const counts[] = {
		"xrc_domains", "xrc_qps", "xrc_registrations",
	};
	struct json_object *rows;
	char buf[64];
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (attribute_read(name, counts[i], buf, sizeof(buf)) >= 0)
			json_object_object_add(dev, counts[i],
				json_object_new_int64(strtoll(buf, NULL, 10)));
	rows = attribute_table(name, "refusals", "reason number");
	if (rows)
		json_object_object_add(dev, "refusals", rows);
}

static void add_sums(struct json_object *dev, const char *pci)
{
	static const struct {
		const char *table, *label;
		const char *keys[SUMS_MOST_KEYS + 1];
	} tables[] = {
		{ "contexts", "policy",
		  { "qps", "placed", "used_uuars", "shared_uuars" } },
		{ "users", "uid", { "contexts", "pages" } },
		{ "watches", NULL, { "watches", "bytes", "events", "unread" } },
	};
	struct json_object *rows;
	char path[PATH_LEN];
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		root_path(path, "sys/kernel/debug/mlx5_ep/%s/%s", pci,
			  tables[i].table);
		rows = sums_of(path, tables[i].label, tables[i].keys);
		if (rows)
			json_object_object_add(dev, tables[i].table, rows);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Returns false if the devices cannot be read. */
static bool print_all(struct cli *cli, FILE *to)
{
	struct json_object *devices, *dev;
	double start = seconds();
	size_t i;
	int code;

	cli->bare = true;
	devices = devices_get(cli, &code);
	for (i = 0; i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		if (!json_number(dev, "attached", 0))
			continue;
		add_sums(dev, json_text(dev, "pci", ""));
		json_object_object_add(dev, "tables_readable",
			json_object_new_boolean(!!json_get(dev, "contexts")));
		add_limits(dev, json_text(dev, "device", ""));
		add_counts(dev, json_text(dev, "device", ""));
	}
	fprintf(to, "# HELP mlx5ep_module_loaded Is the kernel module mlx5_ep loaded?\n"
		"# TYPE mlx5ep_module_loaded gauge\nmlx5ep_module_loaded %d\n",
		module_loaded());
	for (i = 0; i < METRICS; i++)
		print_family(to, &metrics[i], devices);
	fprintf(to, "# HELP mlx5ep_collect_seconds Time that collecting this took.\n"
		"# TYPE mlx5ep_collect_seconds gauge\n# UNIT mlx5ep_collect_seconds seconds\n"
		"mlx5ep_collect_seconds %.6f\n# EOF\n", seconds() - start);
	json_object_put(devices);
	return !devices_unread(code);
}

/**
 * metrics_text() - collect all figures
 * @cli: with -d only that device's
 * @len: written: the length of the text
 *
 * Without the module the text has no device, and is valid all the same.
 *
 * Return: the text, which the caller frees; NULL: no memory, or the devices cannot be read.
 */
char *metrics_text(struct cli *cli, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);
	bool whole;

	if (!to)
		return NULL;
	whole = print_all(cli, to);
	if (!fclose(to) && whole)
		return text;
	free(text);
	return NULL;
}
