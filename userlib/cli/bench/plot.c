// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pictures, drawn by gnuplot. Of the runs of a case under a policy: a group of bars
 * for each name, with a bar for each number of threads, and the paper's where there
 * is one. Of a case under several policies: a bar for each policy. What depends on
 * threads is drawn relative to the first name, as the papers do. Each picture has its
 * data (.dat) and its commands (.gp) beside it.
 */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"
#include "bench.h"

extern char **environ;

/* A group of bars for each line of the data, a bar for each column. */
struct picture {
	char path[PATH_LEN];		/* without an ending */
	char title[PATH_LEN];
	char y[PATH_LEN];		/* what the bars are */
	char columns[BENCH_MAX_LIST + 1][64];
	size_t n;
};

/* The runs that one picture shows. */
struct group {
	struct json_object *first;	/* of them */
	struct json_object *runs[BENCH_MAX_LIST];
	size_t n;
	struct json_object *paper;	/* the run that has its figures, or NULL */
};

static struct json_object *figure(struct json_object *run, size_t i)
{
	return json_object_array_get_idx(json_get(run, "figures"), i);
}

static bool same(struct json_object *a, struct json_object *b)
{
	return !strcmp(json_text(a, "bench", ""), json_text(b, "bench", "")) &&
	       !strcmp(json_text(a, "variant", ""),
		       json_text(b, "variant", "")) &&
	       !strcmp(json_text(a, "policy", ""), json_text(b, "policy", ""));
}

static bool by_threads(const struct group *group)
{
	return json_object_get_int(json_get(group->first, "threads"));
}

/* What a paper's figure is called; NULL: there is none. */
static const char *paper_key(struct json_object *figure)
{
	static const char *const keys[] = { "paper_relative", "paper_value" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (json_get(figure, keys[i]))
			return keys[i];
	return NULL;
}

__attribute__((format(printf, 3, 4)))
static void name(struct picture *picture, const char *dir, const char *fmt, ...)
{
	int len = snprintf(picture->path, sizeof(picture->path), "%s/", dir);
	va_list args;
	char *p;

	va_start(args, fmt);
	vsnprintf(picture->path + len, sizeof(picture->path) - len, fmt, args);
	va_end(args);
	for (p = picture->path + len; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '-';
}

__attribute__((format(printf, 2, 3)))
static void column(struct picture *picture, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(picture->columns[picture->n++], sizeof(*picture->columns),
		  fmt, args);
	va_end(args);
}

static void column_of_paper(struct picture *picture, struct json_object *from)
{
	column(picture, "paper: %s",
	       json_text(json_get(from, "paper"), "source", ""));
}

/* Returns false if an earlier run has the picture. */
static bool gather(struct json_object *runs, size_t at, struct group *group)
{
	struct json_object *run;
	size_t i;

	memset(group, 0, sizeof(*group));
	group->first = json_object_array_get_idx(runs, at);
	for (i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!same(run, group->first))
			continue;
		if (i < at)
			return false;
		if (group->n < BENCH_MAX_LIST)
			group->runs[group->n++] = run;
		if (paper_key(figure(run, 0)))
			group->paper = run;
	}
	return true;
}

static FILE *plot_create(const struct picture *picture, const char *ending)
{
	char path[PATH_LEN + 8];

	snprintf(path, sizeof(path), "%s%s", picture->path, ending);
	return fopen(path, "w");
}

static int write_group(const struct group *group, const struct picture *picture)
{
	const char *key = by_threads(group) ? "relative" : "median";
	FILE *to = plot_create(picture, ".dat");
	struct json_object *paper;
	size_t i, k;

	if (!to)
		return -errno;
	for (i = 0; figure(group->first, i); i++) {
		fprintf(to, "\"%s\"",
			json_text(figure(group->first, i), "name", ""));
		for (k = 0; k < group->n; k++)
			fprintf(to, " %s",
				json_text(figure(group->runs[k], i), key, ""));
		if (group->paper) {
			paper = figure(group->paper, i);
			fprintf(to, " %s", paper_key(paper) ?
				json_text(paper, paper_key(paper), "") : "?");
		}
		fputc('\n', to);
	}
	return fclose(to) ? -errno : 0;
}

static int write_commands(const struct picture *picture,
			  struct json_object *on)
{
	bool simulated = json_object_get_boolean(json_get(on, "simulated"));
	FILE *to = plot_create(picture, ".gp");
	size_t k;

	if (!to)
		return -errno;
	fprintf(to,
		"set terminal svg size 800,480 background 'white' noenhanced\n"
		"set output '%s.svg'\n"
		"set title \"%s%s\\n%s, firmware %s, %s\"\n",
		picture->path, picture->title, simulated ? " (simulated)" : "",
		json_text(on, "device", ""), json_text(on, "firmware", ""),
		json_text(on, "kernel", ""));
	fprintf(to, "set ylabel '%s'\nset yrange [0:*]\nset grid y\n"
		"set datafile missing '?'\n"
		"set style data histogram\nset style fill solid 0.8\n"
		"set xtics rotate by -20\nset key below\n", picture->y);
	fputs("plot ", to);
	for (k = 0; k < picture->n; k++)
		fprintf(to, "%s'%s.dat' using %zu%s title '%s'", k ? ", " : "",
			picture->path, k + 2, k ? "" : ":xtic(1)",
			picture->columns[k]);
	fputc('\n', to);
	return fclose(to) ? -errno : 0;
}

/* Returns 0; BENCH_NO_GNUPLOT: it is not installed; -EIO: it failed. */
static int draw(const struct picture *picture)
{
	char path[PATH_LEN + 8];
	char * const argv[] = { (char *)"gnuplot", path, NULL };
	int ret, status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s.gp", picture->path);
	ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (ret)
		return ret == ENOENT ? BENCH_NO_GNUPLOT : -ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EIO : 0;
}

/* The runs of a case under a policy: a bar for each number of threads. */
static int plot_group(const char *dir, struct json_object *on,
		      const struct group *group)
{
	struct picture picture = {};
	int ret;
	size_t k;

	name(&picture, dir, "%s-%s-%s", json_text(group->first, "bench", ""),
	     json_text(group->first, "variant", ""),
	     json_text(group->first, "policy", ""));
	snprintf(picture.title, sizeof(picture.title), "%s, %s, under %s",
		 json_text(group->first, "bench", ""),
		 json_text(group->first, "variant", ""),
		 json_text(group->first, "policy", ""));
	snprintf(picture.y, sizeof(picture.y), "%s", by_threads(group) ?
		 "percent of the first" :
		 json_text(figure(group->first, 0), "unit", ""));
	for (k = 0; k < group->n; k++)
		if (by_threads(group))
			column(&picture, "%s threads",
			       json_text(group->runs[k], "threads", ""));
		else
			column(&picture, "this adapter");
	if (group->paper)
		column_of_paper(&picture, group->paper);
	ret = write_group(group, &picture);
	if (!ret)
		ret = write_commands(&picture, on);
	return ret ? ret : draw(&picture);
}

/* Percent of the first name under the first policy; what lacks is "?". */
static int write_matrix(struct json_object *matrix, struct picture *picture)
{
	struct json_object *policies = json_get(matrix, "policies");
	struct json_object *rows = json_get(matrix, "rows"), *row, *value;
	size_t i, k, n = json_object_array_length(policies);
	FILE *to = plot_create(picture, ".dat");
	double first = 0;

	if (!to)
		return -errno;
	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		fprintf(to, "\"%s\"", json_text(row, "name", ""));
		for (k = 0; k < n; k++) {
			value = json_get(row, json_object_get_string(
				json_object_array_get_idx(policies, k)));
			if (!i && !k)
				first = json_object_get_double(value);
			if (value && first)
				fprintf(to, " %.4g", 100 / first *
					json_object_get_double(value));
			else
				fputs(" ?", to);
		}
		if (picture->n > n)
			fprintf(to, " %s",
				json_text(row, "paper_relative", ""));
		fputc('\n', to);
	}
	return fclose(to) ? -errno : 0;
}

/* The categories of a case: a bar for each policy. */
static int plot_matrix(const char *dir, struct json_object *on,
		       struct json_object *matrix)
{
	struct json_object *policies = json_get(matrix, "policies");
	struct json_object *first =
		json_object_array_get_idx(json_get(matrix, "rows"), 0);
	struct picture picture = {};
	size_t k;
	int ret;

	name(&picture, dir, "%s-%s-by-policy-%s-threads",
	     json_text(matrix, "bench", ""), json_text(matrix, "variant", ""),
	     json_text(matrix, "threads", ""));
	snprintf(picture.title, sizeof(picture.title),
		 "%s, %s, by policy, %s threads",
		 json_text(matrix, "bench", ""),
		 json_text(matrix, "variant", ""),
		 json_text(matrix, "threads", ""));
	for (k = 0; k < json_object_array_length(policies) &&
	     k < BENCH_MAX_LIST; k++)
		column(&picture, "%s", json_object_get_string(
			       json_object_array_get_idx(policies, k)));
	snprintf(picture.y, sizeof(picture.y), "percent of %s under %s",
		 json_text(first, "name", ""), picture.columns[0]);
	if (json_get(first, "paper_relative"))
		column_of_paper(&picture, matrix);
	ret = write_matrix(matrix, &picture);
	if (!ret)
		ret = write_commands(&picture, on);
	return ret ? ret : draw(&picture);
}

/* The worse of two results: an error of a file, then one of gnuplot. */
static int worse(int was, int is)
{
	return was < 0 && was != -EIO ? was : is ? is : was;
}

/**
 * bench_plot() - draw all runs
 * @dir: an existing folder for the files; its name leaves 128 bytes of PATH_LEN
 * @on: the device, as device_describe() made it
 * @matrices: as bench_matrices() made them
 *
 * Return: 0; %BENCH_NO_GNUPLOT: data and commands are written, gnuplot is not
 * installed; -EIO: gnuplot failed; another -errno
 */
int bench_plot(const char *dir, struct json_object *on,
	       struct json_object *runs, struct json_object *matrices)
{
	struct group group;
	int ret = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(runs); i++)
		if (gather(runs, i, &group))
			ret = worse(ret, plot_group(dir, on, &group));
	for (i = 0; i < json_object_array_length(matrices); i++)
		ret = worse(ret, plot_matrix(dir, on,
				json_object_array_get_idx(matrices, i)));
	return ret;
}
