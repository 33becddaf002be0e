// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pictures of the runs of a case under a policy, drawn by gnuplot: a group of bars
 * for each name, with a bar for each number of threads, and the paper's where there
 * is one. What depends on threads is drawn relative to the first name, as the papers
 * do. Each picture has its data (.dat) and its commands (.gp) beside it.
 */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"
#include "bench.h"

extern char **environ;

/* The runs that one picture shows. */
struct picture {
	struct json_object *first;	/* of them */
	struct json_object *runs[BENCH_MAX_LIST];
	size_t n;
	struct json_object *paper;	/* the run that has its figures, or NULL */
	char path[PATH_LEN];		/* without an ending */
};

static struct json_object *get(struct json_object *from, const char *key)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(from, key, &found);
	return found;
}

static const char *text(struct json_object *from, const char *key)
{
	const char *found = json_object_get_string(get(from, key));

	return found ? found : "";
}

static struct json_object *figure(struct json_object *run, size_t i)
{
	return json_object_array_get_idx(get(run, "figures"), i);
}

static bool same(struct json_object *a, struct json_object *b)
{
	return !strcmp(text(a, "bench"), text(b, "bench")) &&
	       !strcmp(text(a, "variant"), text(b, "variant")) &&
	       !strcmp(text(a, "policy"), text(b, "policy"));
}

static bool by_threads(const struct picture *picture)
{
	return json_object_get_int(get(picture->first, "threads"));
}

static void name(struct picture *picture, const char *dir)
{
	int len = snprintf(picture->path, sizeof(picture->path), "%s/", dir);
	char *p;

	snprintf(picture->path + len, sizeof(picture->path) - len, "%s-%s-%s",
		 text(picture->first, "bench"), text(picture->first, "variant"),
		 text(picture->first, "policy"));
	for (p = picture->path + len; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '-';
}

/* Returns false if an earlier run has the picture. */
static bool gather(struct json_object *runs, size_t at, struct picture *picture)
{
	struct json_object *run;
	size_t i;

	memset(picture, 0, sizeof(*picture));
	picture->first = json_object_array_get_idx(runs, at);
	for (i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!same(run, picture->first))
			continue;
		if (i < at)
			return false;
		if (picture->n < BENCH_MAX_LIST)
			picture->runs[picture->n++] = run;
		if (get(figure(run, 0), "paper_relative"))
			picture->paper = run;
	}
	return true;
}

static FILE *create(const struct picture *picture, const char *ending)
{
	char path[PATH_LEN + 8];

	snprintf(path, sizeof(path), "%s%s", picture->path, ending);
	return fopen(path, "w");
}

static int write_data(const struct picture *picture)
{
	const char *key = by_threads(picture) ? "relative" : "median";
	FILE *to = create(picture, ".dat");
	size_t i, k;

	if (!to)
		return -errno;
	for (i = 0; figure(picture->first, i); i++) {
		fprintf(to, "\"%s\"", text(figure(picture->first, i), "name"));
		for (k = 0; k < picture->n; k++)
			fprintf(to, " %s",
				text(figure(picture->runs[k], i), key));
		if (picture->paper)
			fprintf(to, " %s", text(figure(picture->paper, i),
						"paper_relative"));
		fputc('\n', to);
	}
	return fclose(to) ? -errno : 0;
}

static int write_commands(const struct picture *picture,
			  struct json_object *on)
{
	bool simulated = json_object_get_boolean(get(on, "simulated"));
	FILE *to = create(picture, ".gp");
	size_t k;

	if (!to)
		return -errno;
	fprintf(to, "set terminal svg size 800,480 background 'white' noenhanced\n"
		"set output '%s.svg'\n"
		"set title \"%s, %s, under %s%s\\n%s, firmware %s, %s\"\n",
		picture->path, text(picture->first, "bench"),
		text(picture->first, "variant"), text(picture->first, "policy"),
		simulated ? " (simulated)" : "", text(on, "device"),
		text(on, "firmware"), text(on, "kernel"));
	fprintf(to, "set ylabel '%s'\nset yrange [0:*]\nset grid y\n"
		"set style data histogram\nset style fill solid 0.8\n"
		"set xtics rotate by -20\nset key below\n",
		by_threads(picture) ? "percent of the first" :
				      text(figure(picture->first, 0), "unit"));
	fputs("plot ", to);
	for (k = 0; k < picture->n; k++)
		fprintf(to, "%s'%s.dat' using %zu%s title '%s%s'",
			k ? ", " : "", picture->path, k + 2,
			k ? "" : ":xtic(1)",
			by_threads(picture) ? text(picture->runs[k], "threads") :
					      "this adapter",
			by_threads(picture) ? " threads" : "");
	if (picture->paper)
		fprintf(to, ", '%s.dat' using %zu title 'paper, 16 threads, ConnectX-4'",
			picture->path, picture->n + 2);
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

/**
 * bench_plot() - draw all runs
 * @dir: an existing folder for the files; its name leaves 128 bytes of PATH_LEN
 * @on: the device, as device_describe() made it
 *
 * Return: 0; %BENCH_NO_GNUPLOT: data and commands are written, gnuplot is not
 * installed; -EIO: gnuplot failed; another -errno
 */
int bench_plot(const char *dir, struct json_object *on,
	       struct json_object *runs)
{
	struct picture picture;
	int ret = 0, drawn = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(runs) && !ret; i++) {
		if (!gather(runs, i, &picture))
			continue;
		name(&picture, dir);
		ret = write_data(&picture);
		if (!ret)
			ret = write_commands(&picture, on);
		if (!ret && !drawn)
			drawn = draw(&picture);
	}
	return ret ? ret : drawn;
}
