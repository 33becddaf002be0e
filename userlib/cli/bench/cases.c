// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What mlx5ep bench can measure. The variants of msgrate are those of Zambre et al.
 * (2018), who leave out one at a time: postlist, unsignaled completions, inline data,
 * BlueFlame.
 */
#include "bench.h"

#define MSGRATE(label, ...) { \
	.bench = "msgrate", .variant = label, .program = "msgrate", \
	.args = { "-t", "%t", "-n", "%m", __VA_ARGS__ }, \
	.share = 1, .by_threads = true, .by_policy = true, \
}

const struct bench_case bench_cases[] = {
	MSGRATE("all", "-p", "32"),
	MSGRATE("no postlist", "-p", "1"),
	MSGRATE("no unsignaled", "-p", "32", "-q", "1"),
	MSGRATE("no inline data", "-I"),
	MSGRATE("no BlueFlame", "-B"),
	{
		.bench = "latency", .variant = "one message",
		.program = "msgrate",
		.args = { "-t", "%t", "-n", "%m", "-L" },
		.share = 8, .by_threads = true, .by_policy = true,
	},
	{
		.bench = "globalarray", .variant = "tiles of 16",
		.program = "globalarray",
		.args = { "-t", "%t", "-n", "%q", "-b", "16" },
		.share = 8, .by_threads = true, .by_policy = true,
	},
	{
		.bench = "stencil", .variant = "two processes",
		.program = "stencil",
		.args = { "-P", "2", "-t", "%t", "-i", "%m" },
		.share = 10, .by_threads = true,
	},
	{
		.bench = "pipeline", .variant = "1 MiB, four times",
		.program = "pipeline", .args = { "-m", "%m" },
		.share = 64, .one_cpu = true,
	},
	{
		.bench = "xsrq", .variant = "four nodes of two processes",
		.program = "xsrq",
		.args = { "-n", "4", "-p", "2", "-s", "4", "-m", "10" },
		.share = 1,
	},
	{
		.bench = "memory", .variant = "64 KiB and pages",
		.program = "memory", .args = { "-n", "%m" },
		.share = 2, .one_cpu = true,
	},
};

const size_t bench_n_cases = sizeof(bench_cases) / sizeof(*bench_cases);
