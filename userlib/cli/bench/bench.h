/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mlx5ep bench. The tool starts mlx5ep-bench of the package mlx5ep-tests, which measures.
 * A case is another program of that package with arguments. A
 * run of a case is for one policy and one number of threads. The program is called
 * once to warm up, and then once a round. It prints a JSON object a line, with
 * "name", "unit" and "value"; what else is there is kept. Data flows from the cases
 * (cases.c) by the program's lines (program.c) to figures (figures.c) and the tables
 * of categories and policies (matrix.c), and from there to the report (report.c) and
 * pictures (plot.c).
 */
#ifndef MLX5EP_CLI_BENCH_H
#define MLX5EP_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "../json.h"

#define BENCH_MAX_ARGS 12
#define BENCH_MAX_LIST 16
#define BENCH_MAX_SIDE 64
#define BENCH_MAX_THREADS 255	/* of them on pages of their own, see program.c */

/**
 * struct bench_case - what can be asked for
 * @bench: its name on the command line
 * @variant: what is special about it; several cases may have one name
 * @program: file name
 * @args: of the program, the last one NULL. "%t" stands for the threads, "%m" for
 *	the messages, which are divided by @share, "%q" for the sides of a square of
 *	so many, at most BENCH_MAX_SIDE
 * @share: as said
 * @by_threads: a run for each number of threads
 * @by_policy: a run for each policy; under one, QPs of the category static alone
 *	are measured, as a policy places no others
 * @one_cpu: the program has one thread, which is pinned
 */
struct bench_case {
	const char *bench;
	const char *variant;
	const char *program;
	const char *args[BENCH_MAX_ARGS];
	unsigned int share;
	bool by_threads;
	bool by_policy;
	bool one_cpu;
};

extern const struct bench_case bench_cases[];
extern const size_t bench_n_cases;

/* What the user wants. The lists end with 0 and NULL. */
struct bench_plan {
	const char *device;
	bool attached;		/* so that a policy can be asked for */
	unsigned int rounds;
	unsigned int messages;
	unsigned int threads[BENCH_MAX_LIST + 1];
	const char *policies[BENCH_MAX_LIST + 1];
};

/* What is asked for besides the plan. */
struct bench_request {
	struct bench_plan plan;
	const char *output;	/* a folder, or NULL */
	char **names;		/* of benches; none: all */
	int n_names;
};

struct cli;

/* command.c */
int bench_command(struct cli *cli, int argc, char **argv);

/* options.c */
int bench_options(struct bench_request *request, int argc, char **argv);
bool bench_wanted(const struct bench_request *request, const char *bench);

/* program.c */
int bench_program_path(const char *program, char *path, size_t len);
int bench_program_call(const struct bench_plan *plan,
		       const struct bench_case *bench, const char *policy,
		       unsigned int threads, struct json_object *rows);

/* figures.c */
struct json_object *bench_figures(struct json_object *rounds);

/* papers.c */
void bench_add_papers(const struct bench_case *bench, unsigned int threads,
		      struct json_object *run);

/* matrix.c */
struct json_object *bench_matrices(struct json_object *runs);

/* quiet.c */
struct json_object *bench_disturbances(const char *device);

/* report.c */
struct cli;

bool bench_print(struct cli *cli, struct json_object *all);
int bench_save(const char *dir, struct json_object *all);

/* plot.c */
#define BENCH_NO_GNUPLOT 1

int bench_plot(const char *dir, struct json_object *on,
	       struct json_object *runs, struct json_object *matrices);

#endif
