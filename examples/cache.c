// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends messages from a buffer through the registration cache. Only the first send
 * registers. After the buffer is unmapped and mapped again, at the same address, the
 * cache registers anew.
 *
 *	cc -o cache cache.c $(pkg-config --cflags --libs mlx5ep)
 *	./cache [DEVICE]
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep.h>

#define LENGTH (64 * 4096)
#define MESSAGE 8192

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			context = ibv_open_device(list[i]);
	if (!context)
		errx(1, "cannot open %s", name ? name : "a device");
	ibv_free_device_list(list);
	return context;
}

static void send_message(struct mlx5ep_mr_cache *cache, char *message)
{
	struct mlx5ep_mr_cache_entry *entry;
	int ret;

	ret = mlx5ep_mr_cache_get(cache, message, MESSAGE, &entry);
	if (ret)
		errx(1, "mlx5ep_mr_cache_get: %s", strerror(-ret));
	/* Here a program posts a send with entry->mr->lkey and waits for it. */
	mlx5ep_mr_cache_put(cache, entry);
}

static void print_stats(struct mlx5ep_mr_cache *cache, const char *when)
{
	struct mlx5ep_mr_cache_stats stats;

	mlx5ep_mr_cache_query(cache, &stats);
	printf("%s: %lu hits, %lu misses, %lu stale, %lu bytes registered\n",
	       when, stats.hits, stats.misses, stats.stale, stats.bytes);
}

int main(int argc, char **argv)
{
	struct ibv_context *context = open_device(argc > 1 ? argv[1] : NULL);
	struct mlx5ep_mr_cache_attr attr = { .max_bytes = 1 << 30 };
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct mlx5ep_mr_cache *cache;
	int i, ret;
	char *buffer;

	buffer = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		err(1, "mmap");
	ret = mlx5ep_mr_cache_create(pd, &attr, &cache);
	if (ret)
		errx(1, "mlx5ep_mr_cache_create: %s", strerror(-ret));

	for (i = 0; i < 1000; i++)
		send_message(cache, buffer);
	print_stats(cache, "1000 messages");

	/* Other memory at the same address: the registration is stale. */
	if (mmap(buffer, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < 1000; i++)
		send_message(cache, buffer);
	print_stats(cache, "mapped anew");

	/* A program that is idle calls this when mlx5ep_mr_cache_fd() is readable. */
	munmap(buffer, LENGTH);
	printf("trim: %d dropped\n", mlx5ep_mr_cache_trim(cache));
	print_stats(cache, "unmapped");

	mlx5ep_mr_cache_destroy(cache);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return 0;
}
