// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * globalarray - tiled matrix product over global memory, one-sided
 *
 *	globalarray [-c CATEGORY] [-t THREADS] [-n TILES] [-b TILE] [-R ROUNDS]
 *
 * A, B and C are square arrays of TILES x TILES tiles of TILE x TILE doubles in
 * memory that threads reach by RDMA only. Each thread takes its share of C's
 * tiles; for each it reads a row of A's and a column of B's tiles, multiplies,
 * and writes the tile. Elements are small integers, so the result is exact and
 * is compared with a plain product.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_program.h"

#define PAGE 4096

static struct {
	unsigned int threads, tiles, tile;
} opt = { 4, 6, 16 };

static const struct job_option options[] = {
	{ 't', "THREADS", &opt.threads, 1, 1024 },
	{ 'n', "TILES", &opt.tiles, 1, 64 },
	{ 'b', "TILE", &opt.tile, 1, 128 },
	{}
};

/* Tiles lie one after the other, each of tile_bytes() */
static double *global[3];		/* A, B, C */
static double *local;			/* three tiles per thread */
static struct job_mem global_mem[3], local_mem;

static size_t tile_len(void)
{
	return (size_t)opt.tile * opt.tile;
}

static size_t array_len(void)
{
	return tile_len() * opt.tiles * opt.tiles;
}

static double *global_tile(unsigned int array, unsigned int i, unsigned int k)
{
	return global[array] + tile_len() * (i * opt.tiles + k);
}

static double *local_tile(unsigned int thread, unsigned int which)
{
	return local + tile_len() * (3 * thread + which);
}

static int fetch(struct job_thread *t, unsigned int array, unsigned int i,
		 unsigned int k)
{
	return job_rdma(t, IBV_WR_RDMA_READ, &local_mem,
			local_tile(t->id, array), &global_mem[array],
			global_tile(array, i, k),
			tile_len() * sizeof(double));
}

static void multiply_add(double *c, const double *a, const double *b)
{
	unsigned int i, j, k;

	for (i = 0; i < opt.tile; i++)
		for (k = 0; k < opt.tile; k++)
			for (j = 0; j < opt.tile; j++)
				c[i * opt.tile + j] += a[i * opt.tile + k] *
					b[k * opt.tile + j];
}

static int one_tile(struct job_thread *t, unsigned int i, unsigned int j)
{
	double *c = local_tile(t->id, 2);
	unsigned int k;
	int ret;

	memset(c, 0, tile_len() * sizeof(*c));
	for (k = 0; k < opt.tiles; k++) {
		ret = fetch(t, 0, i, k);
		if (!ret)
			ret = fetch(t, 1, k, j);
		if (!ret)
			ret = job_wait(t);
		if (ret)
			return ret;
		multiply_add(c, local_tile(t->id, 0), local_tile(t->id, 1));
	}
	ret = job_rdma(t, IBV_WR_RDMA_WRITE, &local_mem, c, &global_mem[2],
		       global_tile(2, i, j), tile_len() * sizeof(*c));
	return ret ? ret : job_wait(t);
}

static int globalarray_run(struct job_thread *t)
{
	unsigned int i;
	int ret = 0;

	for (i = t->id; i < opt.tiles * opt.tiles && !ret; i += opt.threads)
		ret = one_tile(t, i / opt.tiles, i % opt.tiles);
	return ret;
}

static double element(unsigned int array, unsigned int row, unsigned int col)
{
	return global_tile(array, row / opt.tile, col / opt.tile)
		[(row % opt.tile) * opt.tile + col % opt.tile];
}

static int globalarray_check(void)
{
	unsigned int side = opt.tiles * opt.tile;
	unsigned int i, j, k;
	double sum;

	for (i = 0; i < side; i++)
		for (j = 0; j < side; j++) {
			sum = 0;
			for (k = 0; k < side; k++)
				sum += element(0, i, k) * element(1, k, j);
			if (element(2, i, j) != sum)
				return -EBADMSG;
		}
	return 0;
}

static int reg_all(struct job *job)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 3 && !ret; i++)
		ret = job_mem_reg(job, &global_mem[i], global[i],
				  array_len() * sizeof(double));
	if (!ret)
		ret = job_mem_reg(job, &local_mem, local, 3 * opt.threads *
				  tile_len() * sizeof(double));
	return ret;
}

static int globalarray_measure(unsigned int category, double *rate,
			       struct mlx5ep_endpoints_info *info)
{
	struct job job;
	double start;
	unsigned int i;
	int ret;

	ret = job_open(&job, category, opt.threads, 4, 0);
	if (ret)
		return ret;
	*info = job.info;
	/*
	 * Not a number, so that a tile that was not fetched or not written is
	 * found.
	 */
	memset(global[2], 0xff, array_len() * sizeof(double));
	memset(local, 0xff, 3 * opt.threads * tile_len() * sizeof(double));
	ret = reg_all(&job);
	start = job_now();
	if (!ret)
		ret = job_run(&job, globalarray_run);
	*rate = opt.tiles * opt.tiles * (2.0 * opt.tiles + 1) /
		(job_now() - start);
	for (i = 0; i < 3; i++)
		job_mem_dereg(&global_mem[i]);
	job_mem_dereg(&local_mem);
	job_close(&job);
	return ret ? ret : globalarray_check();
}

static int allocate(void)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < 3; i++) {
		if (posix_memalign((void **)&global[i], PAGE,
				   array_len() * sizeof(double)))
			return -ENOMEM;
		for (k = 0; k < array_len(); k++)
			global[i][k] = (double)((k * (i + 3) + k / 7) % 17) - 8;
	}
	if (posix_memalign((void **)&local, PAGE, 3 * opt.threads *
			   tile_len() * sizeof(double)))
		return -ENOMEM;
	return 0;
}

int main(int argc, char **argv)
{
	struct job_program program;
	int ret;

	ret = job_options(argc, argv, &program, options);
	if (ret)
		return ret;
	job_say(&program, "globalarray: threads=%u tiles=%ux%u tile=%ux%u\n",
		opt.threads, opt.tiles, opt.tiles, opt.tile, opt.tile);
	ret = allocate() ? 1 :
		job_compare("globalarray", "tiles/s", &program, globalarray_measure);
	if (!ret)
		job_say(&program, "globalarray: every element of the product is right\n");
	for (unsigned int i = 0; i < 3; i++)
		free(global[i]);
	free(local);
	return ret;
}
