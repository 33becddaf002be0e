// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * memory [-n TIMES] [-j] - what memory that is registered or watched costs
 *
 * Prints nanoseconds for each of them: ibv_reg_mr() and ibv_dereg_mr() of 64 KiB; a
 * hit of the registration cache; the question whether a watched registration is
 * valid; munmap() of a page of a process without a notifier, with one that
 * watches other memory, and of a page that is watched. With -j: a JSON object a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "verbs.h"

#define BUFFER (64 << 10)

static struct verbs_setup setup;
static struct mlx5ep_notifier *notifier;
static char *buffer;
static unsigned int times = 1000;
static bool json;
static double clock_cost;	/* of one measurement, in nanoseconds */

static double memory_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void memory_fail(const char *what, int ret)
{
	fprintf(stderr, "memory: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void *memory_map(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		memory_fail("mmap", -errno);
	return at;
}

static void print(const char *name, double ns)
{
	printf(json ? "{\"name\":\"%s\",\"unit\":\"ns\",\"value\":%.1f}\n" :
		      "memory: %s: %.1f ns\n", name, ns);
}

/* What reading the clock costs is part of everything that is timed singly. */
static void calibrate(void)
{
	unsigned int i;
	double start = memory_now();

	for (i = 0; i < times; i++)
		memory_now();
	clock_cost = (memory_now() - start) / times;
}

static void registration(void)
{
	double start = memory_now();
	struct ibv_mr *mr;
	unsigned int i;

	for (i = 0; i < times; i++) {
		mr = ibv_reg_mr(setup.pd, buffer, BUFFER,
				IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			memory_fail("ibv_reg_mr", -errno);
		if (ibv_dereg_mr(mr))
			memory_fail("ibv_dereg_mr", -errno);
	}
	print("registration", (memory_now() - start) / times);
}

static void cache_hit(void)
{
	struct mlx5ep_mr_cache_attr attr = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct mlx5ep_mr_cache_entry *entry;
	struct mlx5ep_mr_cache_stats stats;
	struct mlx5ep_mr_cache *cache;
	double start = 0;
	unsigned int i;
	int ret;

	ret = mlx5ep_mr_cache_create(setup.pd, &attr, &cache);
	if (ret)
		memory_fail("mlx5ep_mr_cache_create", ret);
	/* The first one registers. */
	for (i = 0; i <= times; i++) {
		ret = mlx5ep_mr_cache_get(cache, buffer, BUFFER, &entry);
		if (ret)
			memory_fail("mlx5ep_mr_cache_get", ret);
		mlx5ep_mr_cache_put(cache, entry);
		if (!i)
			start = memory_now();
	}
	print("cache hit", (memory_now() - start) / times);
	mlx5ep_mr_cache_query(cache, &stats);
	if (stats.misses != 1 || stats.hits != times)
		memory_fail("the cache did not hit", -EBADMSG);
	mlx5ep_mr_cache_destroy(cache);
}

static void valid(void)
{
	struct mlx5ep_watch watch;
	unsigned int i, right = 0;
	double start;
	int ret;

	ret = mlx5ep_watch_add(notifier, buffer, BUFFER, 0, &watch);
	if (ret)
		memory_fail("mlx5ep_watch_add", ret);
	start = memory_now();
	for (i = 0; i < times; i++)
		right += mlx5ep_watch_valid(&watch);
	print("valid", (memory_now() - start) / times);
	if (right != times)
		memory_fail("a watch changed by itself", -EBADMSG);
	mlx5ep_watch_del(&watch);
}

static void unmap(const char *name, bool watched)
{
	struct mlx5ep_watch watch;
	double start, spent = 0;
	unsigned int i;
	char *page;
	int ret = 0;

	for (i = 0; i < times; i++) {
		page = memory_map(4096);
		if (watched)
			ret = mlx5ep_watch_add(notifier, page, 4096, 0, &watch);
		if (ret)
			memory_fail("mlx5ep_watch_add", ret);
		start = memory_now();
		munmap(page, 4096);
		spent += memory_now() - start - clock_cost;
		if (watched && mlx5ep_watch_valid(&watch))
			memory_fail("munmap() was not noticed", -EBADMSG);
		if (watched)
			mlx5ep_watch_del(&watch);
	}
	print(name, spent / times);
}

int main(int argc, char **argv)
{
	struct mlx5ep_watch elsewhere;
	int c, ret;

	while ((c = getopt(argc, argv, "n:j")) != -1) {
		if (c == 'j')
			json = true;
		else if (c == 'n')
			times = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (!times || optind < argc) {
		fputs("usage: memory [-n TIMES] [-j]\n", stderr);
		return 2;
	}
	ret = verbs_open(&setup, NULL, 1);
	if (ret)
		memory_fail("open", ret);
	buffer = memory_map(BUFFER);
	/* The first time brings code and clock into the caches. */
	calibrate();
	calibrate();
	registration();
	unmap("munmap, no notifier", false);
	ret = mlx5ep_notifier_create(setup.ctx, 16, &notifier);
	if (!ret)
		ret = mlx5ep_watch_add(notifier, buffer, BUFFER, 0, &elsewhere);
	if (ret)
		memory_fail("a notifier", ret);
	unmap("munmap elsewhere", false);
	unmap("munmap of a watched page", true);
	valid();
	mlx5ep_watch_del(&elsewhere);
	mlx5ep_notifier_destroy(notifier);
	cache_hit();
	munmap(buffer, BUFFER);
	verbs_close(&setup);
	return 0;
}
