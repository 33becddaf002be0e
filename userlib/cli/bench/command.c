// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Measures cases on a device, and reports. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli.h"
#include "bench.h"

/* A simulated adapter carries some ten thousand messages a second. */
#define MESSAGES 200000
#define MESSAGES_SIMULATED 512

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static void progress(const struct bench_case *bench, const char *policy,
		     unsigned int threads, unsigned int round,
		     unsigned int rounds)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Kbench: %s, %s, under %s, ", bench->bench,
		bench->variant, policy);
	if (threads)
		fprintf(stderr, "%u threads, ", threads);
	if (round)
		fprintf(stderr, "round %u of %u", round, rounds);
	else
		fputs("warming up", stderr);
}

/* Calls the program in each round. The first call does not count. */
static int command_measure(const struct bench_plan *plan,
			   const struct bench_case *bench, const char *policy,
			   unsigned int threads, struct json_object *rounds)
{
	struct json_object *rows;
	unsigned int round;
	int ret = 0;

	for (round = 0; round <= plan->rounds && !ret; round++) {
		progress(bench, policy, threads, round, plan->rounds);
		rows = json_object_new_array();
		ret = bench_program_call(plan, bench, policy, threads, rows);
		if (stopped)
			ret = -EINTR;
		if (!ret && !json_object_array_length(rows))
			ret = -ENODATA;
		if (round && !ret)
			json_object_array_add(rounds, rows);
		else
			json_object_put(rows);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return ret;
}

static const char *reason(int ret)
{
	switch (ret) {
	case -ENOENT:
		return "the program is missing: install the package mlx5ep-tests";
	case -EIO:
		return "the program failed; its message is above";
	case -EINTR:
		return "interrupted";
	case -ECANCELED:
		return "a signal ended the program";
	case -ENODATA:
		return "the program printed no figures";
	default:
		return strerror(-ret);
	}
}

static void command_run(const struct bench_plan *plan,
			const struct bench_case *bench, const char *policy,
			unsigned int threads, struct json_object *runs)
{
	struct json_object *rounds = json_object_new_array();
	struct json_object *made = json_object_new_object();
	struct json_object *figures = NULL;
	int ret = command_measure(plan, bench, policy, threads, rounds);

	json_add_text(made, "bench", bench->bench);
	json_add_text(made, "variant", bench->variant);
	json_add_text(made, "policy", policy);
	if (threads)
		json_object_object_add(made, "threads",
				       json_object_new_int(threads));
	if (!ret)
		figures = bench_figures(rounds);
	if (figures) {
		json_object_object_add(made, "figures", figures);
		bench_add_papers(bench, threads, made);
	} else {
		json_add_text(made, "error", reason(ret ? ret : -ENODATA));
	}
	json_object_array_add(runs, made);
	json_object_put(rounds);
}

static void run_case(const struct bench_plan *plan,
		     const struct bench_case *bench, struct json_object *runs)
{
	static const unsigned int none[] = { 0 };
	const unsigned int *threads;
	const char *policy;
	size_t i;

	for (i = 0; plan->policies[i]; i++) {
		/* What no policy changes is measured once. */
		policy = bench->by_policy ? plan->policies[i] : "stock";
		threads = bench->by_threads ? plan->threads : none;
		do {
			command_run(plan, bench, policy, *threads, runs);
		} while (!stopped && *threads && *++threads);
		if (stopped || !bench->by_policy)
			return;
	}
}

static struct json_object *run_all(const struct bench_request *request)
{
	struct json_object *runs = json_object_new_array();
	size_t i;

	for (i = 0; i < bench_n_cases && !stopped; i++)
		if (bench_wanted(request, bench_cases[i].bench))
			run_case(&request->plan, &bench_cases[i], runs);
	return runs;
}

static int bench(struct cli *cli, struct bench_request *request)
{
	struct json_object *all = json_object_new_object();
	struct json_object *on = device_describe(request->plan.device);
	struct sigaction action = { .sa_handler = stop };
	int code = EXIT_OK;
	bool failed;

	request->plan.attached = json_get(on, "attached");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!request->plan.messages)
		request->plan.messages =
			json_object_get_boolean(
				json_get(on, "simulated")) ?
				MESSAGES_SIMULATED : MESSAGES;
	json_object_object_add(all, "on", on);
	json_object_object_add(all, "disturbances",
			       bench_disturbances(request->plan.device));
	json_object_object_add(all, "runs", run_all(request));
	json_object_object_add(all, "by_policy", bench_matrices(
		json_get(all, "runs")));
	failed = bench_print(cli, all);
	if (request->output)
		code = bench_save(request->output, all);
	if (!code && (stopped || failed))
		code = EXIT_FAILED;
	json_object_put(all);
	return code;
}

/* A program that is missing is said before anything is measured. */
static int prepare(const struct bench_request *request)
{
	char path[PATH_LEN];
	size_t i;

	for (i = 0; i < bench_n_cases; i++)
		if (bench_wanted(request, bench_cases[i].bench) &&
		    bench_program_path(bench_cases[i].program, path,
				       sizeof(path)))
			return complain(EXIT_FAILED, "%s is missing: install the package mlx5ep-tests",
					bench_cases[i].program);
	return EXIT_OK;
}

/* The folder for the report. gnuplot would end a name at a quote. */
static int prepare_output(const char *dir)
{
	char path[PATH_LEN];
	FILE *file;

	if (strpbrk(dir, "'\n") || strlen(dir) > PATH_LEN - 128)
		return complain(EXIT_FAILED, "--output: a shorter name without quotes is needed");
	snprintf(path, sizeof(path), "%s/bench.json", dir);
	if (mkdir(dir, 0777) && errno != EEXIST)
		return complain(exit_code(-errno), "%s: %s", dir, strerror(errno));
	file = fopen(path, "w");
	if (!file)
		return complain(exit_code(-errno), "%s: %s", path,
				strerror(errno));
	fclose(file);
	return EXIT_OK;
}

/**
 * bench_command() - mlx5ep bench [OPTION...] [BENCH...]
 */
int bench_command(struct cli *cli, int argc, char **argv)
{
	struct bench_request request;
	struct json_object *devices = NULL;
	int code;

	code = bench_options(&request, argc, argv);
	if (!code)
		code = prepare(&request);
	if (code)
		return code;
	request.plan.device = device_choose(cli, "bench", &devices, &code);
	if (!code && request.output)
		code = prepare_output(request.output);
	if (!code)
		code = bench(cli, &request);
	json_object_put(devices);
	return code;
}
