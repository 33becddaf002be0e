// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cache_hit THREADS: what a hit of the registration cache costs, get and put
 * together, in guest instructions: "NAME V V ...". With several threads it is the
 * time of all hits divided by their number, on one CPU.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep/mr_cache.h>

#include "instr.h"
#include "verbs.h"

#define HITS		20000
#define BUFFER		65536ul
#define REGIONS		256
#define MAX_THREADS	64

static struct mlx5ep_mr_cache *cache;
static char *buffers;

static void cache_hit_hit(unsigned int i)
{
	struct mlx5ep_mr_cache_entry *entry;

	if (mlx5ep_mr_cache_get(cache, buffers + i % REGIONS * 2 * BUFFER,
				BUFFER, &entry))
		errx(1, "no registration");
	mlx5ep_mr_cache_put(cache, entry);
}

static void *hits(void *arg)
{
	unsigned int i;

	for (i = 0; i < HITS; i++)
		cache_hit_hit((uintptr_t)arg + i);
	return NULL;
}

static void cache_hit_measure(unsigned int threads, uint64_t *sample)
{
	pthread_t thread[MAX_THREADS];
	uint64_t began = instr_now();
	uintptr_t i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, hits, (void *)(i * 31)))
			err(1, "pthread_create");
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	*sample = instr_now() - began;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 1 ? atoi(argv[1]) : 1;
	struct mlx5ep_mr_cache_attr attr = {};
	uint64_t samples[INSTR_SAMPLES];
	struct verbs_setup setup;
	unsigned int i;

	if (!threads || threads > MAX_THREADS || verbs_open(&setup, NULL, 1) ||
	    mlx5ep_mr_cache_create(setup.pd, &attr, &cache))
		errx(1, "no cache");
	buffers = mmap(NULL, 2 * BUFFER * REGIONS, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffers == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < REGIONS; i++)
		cache_hit_hit(i);
	for (i = 0; i < INSTR_SAMPLES; i++)
		cache_hit_measure(threads, &samples[i]);
	instr_print("hit", samples, 0, (double)HITS * threads);
	return 0;
}
