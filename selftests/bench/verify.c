// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * verify - what a verify costs after one page was hit, in guest instructions
 *
 * Prints "NAME V1 ... V51" for a watch of 2 MiB and for one of 1 GiB, whose pages
 * are those of the same shared memory. The page that was hit is in the middle.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mlx5ep/mr_watch.h>

#include "instr.h"
#include "verbs.h"

#define PAGE	4096ul
#define PART	(2ul << 20)
#define BIG	(1ul << 30)
#define WARM_UP	5

static void *map_all(void)
{
	void *mem = mmap(NULL, BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_NORESERVE, -1, 0);
	int fd = memfd_create("verify", MFD_CLOEXEC);
	size_t at;

	if (mem == MAP_FAILED || fd < 0 || ftruncate(fd, PART))
		return NULL;
	for (at = 0; at < BIG; at += PART)
		if (mmap(mem + at, PART, PROT_READ | PROT_WRITE, MAP_SHARED |
			 MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			return NULL;
	return mem;
}

static int verify_measure(struct mlx5ep_notifier *n, void *mem, size_t len,
			  uint64_t *samples)
{
	struct mlx5ep_watch watch;
	uint64_t before;
	int i, ret;

	ret = mlx5ep_watch_add(n, mem, len, 0, &watch) ?:
	      mlx5ep_watch_record(&watch);
	for (i = -WARM_UP; i < INSTR_SAMPLES && !ret; i++) {
		if (madvise(mem + len / 2, PAGE, MADV_DONTNEED) ||
		    mlx5ep_watch_valid(&watch))
			return -EINVAL;
		before = instr_now();
		ret = mlx5ep_watch_verify(&watch);
		if (i >= 0)
			samples[i] = instr_now() - before;
	}
	return ret ?: mlx5ep_watch_del(&watch);
}

int main(void)
{
	static uint64_t small[INSTR_SAMPLES], big[INSTR_SAMPLES];
	struct mlx5ep_notifier *n;
	struct verbs_setup setup;
	void *mem = map_all();
	int ret;

	ret = mem ? verbs_open(&setup, NULL, 1) : -ENOMEM;
	/* This pins all frames. */
	if (!ret && !ibv_reg_mr(setup.pd, mem, PART, IBV_ACCESS_LOCAL_WRITE))
		ret = -errno;
	if (!ret)
		ret = mlx5ep_notifier_create(setup.ctx, 1, &n) ?:
		      verify_measure(n, mem, PART, small) ?:
		      verify_measure(n, mem, BIG, big);
	if (ret) {
		fprintf(stderr, "verify: %s\n", strerror(-ret));
		return 1;
	}
	instr_print("verify_page_of_2m", small, 0, 1);
	instr_print("verify_page_of_1g", big, 0, 1);
	return 0;
}
