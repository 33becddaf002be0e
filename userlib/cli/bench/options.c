// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The options of mlx5ep bench. */
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <mlx5ep/uuar.h>

#include "../cli.h"
#include "bench.h"

#define ROUNDS 5
#define MOST_ROUNDS 101
#define MOST_MESSAGES 10000000	/* stencil takes a tenth of it */

#define POLICY_NAME(policy, name) [policy] = name,
#define POLICY_WORD(policy, name) " " name

static const char *const policies[] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

/* Powers of two up to the CPUs that the tool may use, which are pinned to. */
static void default_threads(struct bench_plan *plan)
{
	unsigned int n = 0, threads, cpus = 1;
	cpu_set_t may;

	if (!sched_getaffinity(0, sizeof(may), &may))
		cpus = CPU_COUNT(&may);
	for (threads = 1; threads <= cpus && threads <= BENCH_MAX_THREADS;
	     threads *= 2)
		plan->threads[n++] = threads;
}

static bool has_threads(const struct bench_plan *plan, unsigned int threads)
{
	unsigned int i;

	for (i = 0; i < BENCH_MAX_LIST; i++)
		if (plan->threads[i] == threads)
			return true;
	return false;
}

/* Each number once: a table has a column for each run of a case. */
static int parse_threads(struct bench_plan *plan, char *text)
{
	unsigned int n = 0, threads;
	char *word, *rest;

	memset(plan->threads, 0, sizeof(plan->threads));
	for (word = strtok_r(text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (n == BENCH_MAX_LIST ||
		    !number_parse(word, BENCH_MAX_THREADS, &threads))
			return usage_error("bench", "--threads %s: numbers from 1 to %u, with commas, at most %u of them",
					   word, BENCH_MAX_THREADS, BENCH_MAX_LIST);
		if (has_threads(plan, threads))
			return usage_error("bench", "--threads %s: twice", word);
		plan->threads[n++] = threads;
	}
	return n ? 0 : usage_error("bench", "--threads: a number is needed");
}

static bool has_policy(const struct bench_plan *plan, const char *policy)
{
	unsigned int i;

	for (i = 0; i < BENCH_MAX_LIST; i++)
		if (plan->policies[i] == policy)
			return true;
	return false;
}

static int parse_policies(struct bench_plan *plan, char *text)
{
	const size_t known = sizeof(policies) / sizeof(*policies);
	unsigned int n = 0;
	char *word, *rest;
	size_t i;

	memset(plan->policies, 0, sizeof(plan->policies));
	for (word = strtok_r(text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		for (i = 0; i < known && strcmp(word, policies[i]); i++)
			;
		if (i == known || n == BENCH_MAX_LIST)
			return usage_error("bench", "--policies %s: not one of" MLX5_EP_UUAR_POLICIES(POLICY_WORD)
					   ", with commas", word);
		if (has_policy(plan, policies[i]))
			return usage_error("bench", "--policies %s: twice", word);
		plan->policies[n++] = policies[i];
	}
	return n ? 0 : usage_error("bench", "--policies: a policy is needed");
}

static int parse_option(struct bench_request *request, int option)
{
	struct bench_plan *plan = &request->plan;

	switch (option) {
	case 'r':
		return number_parse(optarg, MOST_ROUNDS, &plan->rounds) ? 0 :
			usage_error("bench", "--rounds %s: a number from 1 to %u",
				    optarg, MOST_ROUNDS);
	case 'm':
		return number_parse(optarg, MOST_MESSAGES, &plan->messages) ? 0 :
			usage_error("bench", "--messages %s: a number from 1 to %d",
				    optarg, MOST_MESSAGES);
	case 't':
		return parse_threads(plan, optarg);
	case 'p':
		return parse_policies(plan, optarg);
	case 'o':
		request->output = optarg;
		return 0;
	default:
		return EXIT_USAGE;
	}
}

static int check_names(const struct bench_request *request)
{
	size_t k;
	int i;

	for (i = 0; i < request->n_names; i++) {
		for (k = 0; k < bench_n_cases; k++)
			if (!strcmp(request->names[i], bench_cases[k].bench))
				break;
		if (k == bench_n_cases)
			return usage_error("bench", "%s: no such benchmark",
					   request->names[i]);
	}
	return 0;
}

/**
 * bench_options() - what the user wants, and defaults for the rest
 * @request: filled in; its texts are those of @argv
 *
 * Return: 0, or an exit code after a message.
 */
int bench_options(struct bench_request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "messages", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "policies", required_argument, NULL, 'p' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{}
	};
	int c, ret;

	memset(request, 0, sizeof(*request));
	request->plan.rounds = ROUNDS;
	memcpy(request->plan.policies, policies, sizeof(policies));
	default_threads(&request->plan);
	while ((c = getopt_long(argc, argv, "m:o:p:r:t:", options,
				NULL)) != -1) {
		ret = parse_option(request, c);
		if (ret)
			return ret;
	}
	request->names = argv + optind;
	request->n_names = argc - optind;
	return check_names(request);
}

/**
 * bench_wanted() - is a benchmark asked for?
 */
bool bench_wanted(const struct bench_request *request, const char *bench)
{
	int i;

	for (i = 0; i < request->n_names; i++)
		if (!strcmp(request->names[i], bench))
			return true;
	return !request->n_names;
}
