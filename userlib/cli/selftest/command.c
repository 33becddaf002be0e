// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep selftest: runs the groups of checks on a device and reports. On an adapter of
 * another driver, which has no policies, that is the group about notifications.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../cli.h"
#include "../rebind.h"
#include "selftest.h"

static const struct {
	const char *name;
	selftest_group run;
	bool any;	/* an adapter of any driver will do */
} groups[] = {
	{ "stock", selftest_stock, false },
	{ "independent", selftest_independent, false },
	{ "shared-uar", selftest_shared_uar, false },
	{ "shared-uuar", selftest_shared_uuar, false },
	{ "limits", selftest_limits, false },
	{ "events", selftest_events, false },
	{ "notifier", selftest_notifier, true },
	{ "xrc", selftest_xrc, false },
};

/*
 * One group that hangs leaves time for the others. The whole run takes less than two
 * minutes, also if the last group has to be killed.
 */
#define GROUP_SECONDS 20
#define RUN_SECONDS 100
#define MOST_SECONDS 3600

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static void command_add(struct json_object *results, const char *group,
			const char *check, const char *result,
			const char *detail)
{
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "group", json_object_new_string(group));
	json_object_object_add(row, "check", json_object_new_string(check));
	json_object_object_add(row, "result", json_object_new_string(result));
	json_object_object_add(row, "detail", json_object_new_string(detail));
	json_object_array_add(results, row);
}

static unsigned int total(struct json_object *results, const char *result)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(results); i++)
		n += !strcmp(json_text(json_object_array_get_idx(results, i),
				   "result", NULL), result);
	return n;
}

/* A table cuts long details. What did not pass is wanted whole. */
static void print_not_passed(struct json_object *results)
{
	struct json_object *row;
	size_t i;

	for (i = 0; i < json_object_array_length(results); i++) {
		row = json_object_array_get_idx(results, i);
		if (strcmp(json_text(row, "result", NULL), "passed"))
			printf("%s: %s: %s: %s\n",
			       json_text(row, "result", NULL),
			       json_text(row, "group", NULL),
			       json_text(row, "check", NULL),
			       json_text(row, "detail", NULL));
	}
}

static int report(struct cli *cli, struct json_object *on,
		  struct json_object *results)
{
	static const struct column columns[] = {
		{ "group", "GROUP", true }, { "check", "CHECK", true },
		{ "result", "RESULT", true }, { "detail", "DETAIL", true },
	};
	unsigned int failed = total(results, "failed");
	struct json_object *all;

	if (cli->json) {
		all = json_object_new_object();
		json_object_object_add(all, "on", json_object_get(on));
		json_object_object_add(all, "results",
				       json_object_get(results));
		print_json(all);
		json_object_put(all);
	} else {
		json_object_object_foreach(on, key, value)
			printf("%-9s %s\n", key, json_object_get_string(value));
		print_table(cli, results, columns, 4);
		print_not_passed(results);
		printf("selftest: %u passed, %u failed, %u not testable here\n",
		       total(results, "passed"), failed,
		       total(results, "not testable"));
	}
	return failed ? EXIT_FAILED : EXIT_OK;
}

static long command_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* Says of a group that there is no time for it. */
static void no_time(const char *group, const char *check, unsigned int seconds,
		    struct json_object *results)
{
	char why[80];

	snprintf(why, sizeof(why), "the %u seconds of the run were over",
		 seconds);
	command_add(results, group, check, "not testable", why);
}

/* Runs one group after the other, as long as there is time. */
static void run_groups(const char *device, long end, unsigned int seconds,
		       struct json_object *results)
{
	size_t i;
	long left;

	for (i = 0; i < sizeof(groups) / sizeof(*groups) && !stopped; i++) {
		left = end - command_now();
		if (!groups[i].any && !device_is_mlx5(device))
			command_add(results, groups[i].name, "is begun",
				    "not testable", "only on an mlx5 adapter");
		else if (left > 0)
			selftest_process(device, groups[i].name, groups[i].run,
					 left < GROUP_SECONDS ? left :
					 GROUP_SECONDS, results);
		else
			no_time(groups[i].name, "is begun", seconds, results);
	}
}

/* Without an address, or the calls of libmlx5ep, nothing else is tested. */
static void device_group(struct selftest *st)
{
	if (is_half_attached(st->device))
		selftest_say(st, NOT_TESTABLE, "the device has the whole module",
			     "it had registered before: mlx5ep attach %s",
			     st->device);
	else if (loopback_managed(st->device))
		selftest_say(st, PASSED, "the device is known",
			     "its QPs connect by rdma_cm only, so no data is compared");
	else if (loopback_possible(st->device))
		selftest_say(st, PASSED, "QPs can connect to themselves",
			     "port 1 has an address");
	else
		selftest_say(st, NOT_TESTABLE, "QPs can connect to themselves",
			     "port 1 has no address, as with representors (switchdev)");
}

/* The module is unloaded only if the user has said so. */
static void reload(const char *device, bool wanted, long end,
		   unsigned int seconds, struct json_object *results)
{
	if (!wanted)
		command_add(results, "module", "the module is unloaded", "not testable",
			    "only with --reload, where nobody uses a device");
	else if (command_now() < end)
		selftest_process(device, "module", selftest_reload, 0, results);
	else
		no_time("module", "the module is unloaded", seconds, results);
}

/* What the user has asked for. */
struct command_options {
	bool reloads;
	unsigned int seconds;
	const char *file;	/* of the report; NULL: none */
};

static void run_all(const char *device, const struct command_options *asked,
		    struct json_object *results)
{
	long end = command_now() + asked->seconds;

	selftest_limits_clean();
	selftest_process(device, "device", device_group, GROUP_SECONDS, results);
	if (!total(results, "not testable"))
		run_groups(device, end, asked->seconds, results);
	selftest_limits_clean();
	if (stopped)
		command_add(results, "selftest", "runs to its end", "failed",
			    "interrupted; nothing of the device had been set");
	else
		reload(device, asked->reloads, end, asked->seconds, results);
}

static int command_run(struct cli *cli, const char *device,
		       const struct command_options *asked)
{
	struct sigaction action = { .sa_handler = stop };
	struct json_object *results, *on;
	int code, written, fd = -1;

	if (asked->file) {
		fd = report_open(asked->file);
		if (fd < 0)
			return EXIT_FAILED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	on = device_describe(device);
	results = json_object_new_array();
	run_all(device, asked, results);
	code = report(cli, on, results);
	if (asked->file) {
		written = report_write(cli, fd, asked->file, on, results);
		code = code ?: written;
	}
	json_object_put(results);
	json_object_put(on);
	return code;
}

/**
 * cmd_selftest() - mlx5ep selftest [OPTION...] [DEVICE]
 */
int cmd_selftest(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "reload", no_argument, NULL, 'r' },
		{ "report", required_argument, NULL, 'R' },
		{ "seconds", required_argument, NULL, 's' },
		{}
	};
	struct command_options asked = { .seconds = RUN_SECONDS };
	struct json_object *devices;
	const char *device;
	int c, code;

	while ((c = getopt_long(argc, argv, "rs:", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'r')
			asked.reloads = true;
		else if (c == 'R')
			asked.file = optarg;
		else if (!number_parse(optarg, MOST_SECONDS, &asked.seconds))
			return usage_error("selftest", "--seconds %s: a number from 1 to %u",
					   optarg, MOST_SECONDS);
	}
	if (argc - optind > 1)
		return usage_error("selftest", "%s: unexpected",
				   argv[optind + 1]);
	if (optind < argc)
		cli->device = argv[optind];
	if (cli->device && device_is_anothers(cli->device))
		return command_run(cli, cli->device, &asked);
	device = device_choose(cli, "selftest", &devices, &code);
	if (device)
		code = command_run(cli, device, &asked);
	json_object_put(devices);
	return code;
}
