// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lock_hold - how long does the kernel keep the CPU while very many watches are
 * added, hit, read and deleted?
 *
 * Prints "NAME LATE N" as sleeper_print() says, for each of
 *
 * - none: the same system calls as below, and nobody watches, which includes what
 *   waking the thread takes by itself;
 * - add, hit, again, read, del: 200 000 watches on one page;
 * - unmap: the page is unmapped;
 * - skip: all watches but the last are deleted, and its event is read;
 * - blocks: 4 GiB with 255 watches in each 16 MiB are unmapped;
 * - end: the notifier is destroyed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep/mr_watch.h>

#include "sleeper.h"
#include "verbs.h"

#define PAGE		4096ul
#define WATCHES		200000u
#define BATCH		1000u
#define ROUNDS		3
#define BLOCKS_4GIB	256u	/* each has a tree of its own in the kernel */
#define BLOCK		(16ul << 20)
#define BLOCK_WATCHES	255u

enum phase { NONE, ADD, HIT, AGAIN, READ, DEL, UNMAP, SKIP, BLOCKS, END,
	     PHASES };

static const char *const names[] = {
	"none", "add", "hit", "again", "read", "del", "unmap", "skip", "blocks",
	"end",
};

static void *map_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			  MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static int clear_page(char *page)
{
	*(volatile char *)page = 1;
	return madvise(page, PAGE, MADV_DONTNEED) ? -errno : 0;
}

static int without_watches(void)
{
	int i, ret = 0;
	void *page;

	sleeper_phase(NONE);
	for (i = 0; i < 2000 && !ret; i++) {
		page = map_page();
		ret = page ? clear_page(page) : -ENOMEM;
		if (page)
			munmap(page, PAGE);
	}
	return ret;
}

static int add_all(struct mlx5ep_notifier *n, void *page,
		   struct mlx5ep_watch *watches)
{
	static struct mlx5_ep_watch_add adds[BATCH];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < BATCH; i++) {
		adds[i].addr = (uintptr_t)page;
		adds[i].length = PAGE;
	}
	for (i = 0; i < WATCHES && !ret; i += BATCH)
		ret = mlx5ep_watch_add_batch(n, adds, watches + i, BATCH);
	return ret;
}

static int read_all(struct mlx5ep_notifier *n)
{
	static struct mlx5_ep_event events[BATCH];
	unsigned int i;
	ssize_t got;

	for (i = 0; i < WATCHES; i += got) {
		got = mlx5ep_notifier_read(n, events, BATCH);
		if (got < 0)
			return got;
	}
	return 0;
}

static int del_first(struct mlx5ep_watch *watches, unsigned int count)
{
	unsigned int i, n;
	int ret = 0;

	for (i = 0; i < count && !ret; i += n) {
		n = count - i < BATCH ? count - i : BATCH;
		ret = mlx5ep_watch_del_batch(watches + i, n);
	}
	return ret;
}

static int del_all(struct mlx5ep_watch *watches)
{
	return del_first(watches, WATCHES);
}

/* The events of all watches but the last are gone when read() looks for one. */
static int read_last(struct mlx5ep_notifier *n, struct mlx5ep_watch *watches)
{
	struct mlx5_ep_event event;
	ssize_t got;
	int ret;

	sleeper_phase(DEL);
	ret = del_first(watches, WATCHES - 1);
	if (ret)
		return ret;
	sleeper_phase(SKIP);
	sleeper_wait();
	got = mlx5ep_notifier_read(n, &event, 1);
	sleeper_phase(DEL);
	if (got != 1 || event.slot != watches[WATCHES - 1].slot)
		return -EPROTO;
	return mlx5ep_watch_del_batch(watches + WATCHES - 1, 1);
}

static int add_blocks(struct mlx5ep_notifier *n, char *memory,
		      struct mlx5ep_watch *watches)
{
	static struct mlx5_ep_watch_add adds[BLOCK_WATCHES];
	unsigned int block, i;
	int ret = 0;

	for (block = 0; block < BLOCKS_4GIB && !ret; block++) {
		for (i = 0; i < BLOCK_WATCHES; i++) {
			adds[i].addr = (uintptr_t)memory + block * BLOCK +
				       i * PAGE;
			adds[i].length = PAGE;
		}
		ret = mlx5ep_watch_add_batch(n, adds,
					     watches + block * BLOCK_WATCHES,
					     BLOCK_WATCHES);
	}
	return ret;
}

static int unmap_blocks(struct mlx5ep_notifier *n, struct mlx5ep_watch *watches)
{
	size_t size = BLOCKS_4GIB * BLOCK;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int ret;

	if (memory == MAP_FAILED)
		return -errno;
	sleeper_phase(ADD);
	ret = add_blocks(n, memory, watches);
	sleeper_phase(BLOCKS);
	sleeper_wait();
	munmap(memory, size);
	sleeper_phase(DEL);
	return ret ?: del_first(watches, BLOCKS_4GIB * BLOCK_WATCHES);
}

static int one_round(struct mlx5ep_notifier *n, struct mlx5ep_watch *watches)
{
	void *page = map_page();
	int ret;

	if (!page)
		return -ENOMEM;
	sleeper_phase(ADD);
	ret = add_all(n, page, watches);
	sleeper_phase(HIT);
	ret = ret ?: clear_page(page);
	sleeper_phase(AGAIN);
	sleeper_wait();
	ret = ret ?: clear_page(page);
	sleeper_phase(READ);
	ret = ret ?: read_all(n);
	sleeper_phase(DEL);
	ret = ret ?: del_all(watches);
	sleeper_phase(ADD);
	ret = ret ?: add_all(n, page, watches);
	sleeper_phase(UNMAP);
	munmap(page, PAGE);
	ret = ret ?: read_last(n, watches);
	return ret ?: unmap_blocks(n, watches);
}

static int lock_hold_measure(struct ibv_context *context)
{
	struct mlx5ep_watch *watches = calloc(WATCHES, sizeof(*watches));
	struct mlx5ep_notifier *n;
	void *page;
	int i, ret;

	if (!watches)
		return -ENOMEM;
	/* The kernel clears a huge page for it here, and in no phase. */
	memset(watches, 1, WATCHES * sizeof(*watches));
	ret = mlx5ep_notifier_create(context, WATCHES, &n) ?:
	      sleeper_start();
	if (ret)
		return ret;
	ret = without_watches();
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = one_round(n, watches);
	page = map_page();
	sleeper_phase(ADD);
	ret = ret ?: page ? add_all(n, page, watches) : -ENOMEM;
	sleeper_phase(END);
	mlx5ep_notifier_destroy(n);
	sleeper_stop();
	free(watches);
	return ret;
}

int main(void)
{
	struct verbs_setup setup;
	int ret;

	ret = verbs_open(&setup, NULL, 1) ?: lock_hold_measure(setup.ctx);
	if (ret) {
		fprintf(stderr, "lock_hold: %s\n", strerror(-ret));
		return 1;
	}
	sleeper_print(names, PHASES);
	return 0;
}
