// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lock_hold - how long does the kernel keep the CPU while very many watches are
 * added, hit, read and deleted?
 *
 * A thread of real-time priority sleeps for some microseconds, over and over. It
 * runs late by as long as the kernel could not be preempted, and a spinlock that
 * is held is such a time. In a guest with one CPU whose instructions QEMU counts
 * the clock is that count. Prints "NAME LATE N", the longest time in
 * instructions and how often the thread slept, for each of
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
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <mlx5ep/mr_watch.h>

#include "instr.h"
#include "sysfs.h"
#include "verbs.h"

#define PAGE		4096ul
#define WATCHES		200000u
#define BATCH		1000u
#define ROUNDS		3
#define BLOCKS_4GIB	256u	/* each has a tree of its own in the kernel */
#define BLOCK		(16ul << 20)
#define BLOCK_WATCHES	255u
#define SLEEP_NS	9000	/* and up to as many more */
#define THROTTLE	"/proc/sys/kernel/sched_rt_runtime_us"

enum phase { NONE, ADD, HIT, AGAIN, READ, DEL, UNMAP, SKIP, BLOCKS, END,
	     PHASES };

static const char *const names[] = {
	"none", "add", "hit", "again", "read", "del", "unmap", "skip", "blocks",
	"end",
};

static struct {
	enum phase phase;
	bool stop;
	uint64_t late[PHASES];
	unsigned long times[PHASES];
} sleeper;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *sleep_on(void *arg)
{
	unsigned int seed = 1;
	struct timespec until;
	uint64_t wanted, now;
	enum phase phase;

	while (!__atomic_load_n(&sleeper.stop, __ATOMIC_RELAXED)) {
		phase = __atomic_load_n(&sleeper.phase, __ATOMIC_RELAXED);
		seed = seed * 1103515245 + 12345;
		wanted = now_ns() + SLEEP_NS + (seed >> 8) % SLEEP_NS;
		until.tv_sec = wanted / 1000000000;
		until.tv_nsec = wanted % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		now = now_ns();
		if (phase != __atomic_load_n(&sleeper.phase, __ATOMIC_RELAXED))
			continue;
		sleeper.times[phase]++;
		if (now > wanted && now - wanted > sleeper.late[phase])
			sleeper.late[phase] = now - wanted;
	}
	return NULL;
}

static int sleeper_start(pthread_t *thread)
{
	struct sched_param param = { .sched_priority = 50 };
	pthread_attr_t attr;

	/* The thread takes most of the CPU while it measures. */
	if (file_write(THROTTLE, "-1"))
		return -EPERM;
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	return -pthread_create(thread, &attr, sleep_on, NULL);
}

static void phase_begin(enum phase phase)
{
	__atomic_store_n(&sleeper.phase, phase, __ATOMIC_RELAXED);
}

/* The thread sleeps, and has begun to in the phase that this thread is in. */
static void let_sleep(void)
{
	uint64_t until = now_ns() + 4 * SLEEP_NS;

	while (now_ns() < until)
		;
}

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

	phase_begin(NONE);
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

	phase_begin(DEL);
	ret = del_first(watches, WATCHES - 1);
	if (ret)
		return ret;
	phase_begin(SKIP);
	let_sleep();
	got = mlx5ep_notifier_read(n, &event, 1);
	phase_begin(DEL);
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
	phase_begin(ADD);
	ret = add_blocks(n, memory, watches);
	phase_begin(BLOCKS);
	let_sleep();
	munmap(memory, size);
	phase_begin(DEL);
	return ret ?: del_first(watches, BLOCKS_4GIB * BLOCK_WATCHES);
}

static int one_round(struct mlx5ep_notifier *n, struct mlx5ep_watch *watches)
{
	void *page = map_page();
	int ret;

	if (!page)
		return -ENOMEM;
	phase_begin(ADD);
	ret = add_all(n, page, watches);
	phase_begin(HIT);
	ret = ret ?: clear_page(page);
	phase_begin(AGAIN);
	let_sleep();
	ret = ret ?: clear_page(page);
	phase_begin(READ);
	ret = ret ?: read_all(n);
	phase_begin(DEL);
	ret = ret ?: del_all(watches);
	phase_begin(ADD);
	ret = ret ?: add_all(n, page, watches);
	phase_begin(UNMAP);
	munmap(page, PAGE);
	ret = ret ?: read_last(n, watches);
	return ret ?: unmap_blocks(n, watches);
}

static int measure(struct ibv_context *context)
{
	struct mlx5ep_watch *watches = calloc(WATCHES, sizeof(*watches));
	struct mlx5ep_notifier *n;
	pthread_t thread;
	void *page;
	int i, ret;

	if (!watches)
		return -ENOMEM;
	/* The kernel clears a huge page for it here, and in no phase. */
	memset(watches, 1, WATCHES * sizeof(*watches));
	ret = mlx5ep_notifier_create(context, WATCHES, &n) ?:
	      sleeper_start(&thread);
	if (ret)
		return ret;
	ret = without_watches();
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = one_round(n, watches);
	page = map_page();
	phase_begin(ADD);
	ret = ret ?: page ? add_all(n, page, watches) : -ENOMEM;
	phase_begin(END);
	mlx5ep_notifier_destroy(n);
	sleeper.stop = true;
	pthread_join(thread, NULL);
	free(watches);
	return ret;
}

int main(void)
{
	struct verbs_setup setup;
	uint64_t ns, instr;
	int i, ret;

	ns = now_ns();
	instr = instr_now();
	ret = verbs_open(&setup, NULL, 1) ?: measure(setup.ctx);
	ns = now_ns() - ns;
	instr = instr_now() - instr;
	if (ret) {
		fprintf(stderr, "lock_hold: %s\n", strerror(-ret));
		return 1;
	}
	for (i = 0; i < PHASES; i++)
		printf("%s %.0f %lu\n", names[i],
		       (double)sleeper.late[i] * instr / ns, sleeper.times[i]);
	return 0;
}
