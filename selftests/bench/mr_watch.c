// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mr_watch - what watching costs, in guest instructions
 * mr_watch -m N - what N watches take of kernel memory
 *
 * Processes that are alike but for a notifier, down to their mappings: one
 * measures what munmap() costs with nobody watching, the others the same with a
 * notifier and its watches, and what adding and removing them costs. Prints
 * "NAME V1 ... V51" per figure; for munmap() what watching added.
 *
 * With -m: "CHARGED FREE", bytes that the memory cgroup of the caller was
 * charged for kernel memory, and bytes that the machine has less.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep/mr_watch.h>

#include "instr.h"
#include "verbs.h"

#define PAGE	4096ul
#define ARENA	0x500000000000ul
#define AROUND	(INSTR_ADDR - 100000 * PAGE)	/* whose middle is measured */
#define SPREAD_STEP	(160 * PAGE)	/* 100 000 of them are 64 GiB */
#define NEAR_ADDR (INSTR_ADDR + 16 * PAGE)
#define BATCH	64u
#define WATCHES	200000u

enum figure {
	UNMAP_2M, UNMAP_HUGE, UNMAP_4K, UNMAP_MANY,
	ELSEWHERE, ELSEWHERE_1000, ELSEWHERE_100000, NEAR, AMONG, SPREAD,
	SINGLE, SINGLE_1000, SINGLE_100000,
	BATCHED, BATCHED_1000, BATCHED_100000,
	VALID, FIGURES
};

static const struct {
	const char *name;
	enum figure base;	/* whose median is taken off; itself: none */
	double by;
} figures[] = {
	[UNMAP_2M] = { "munmap_2m", UNMAP_2M, 1 },
	[UNMAP_HUGE] = { "munmap_huge_page", UNMAP_HUGE, 1 },
	[UNMAP_4K] = { "munmap_4k", UNMAP_4K, 1 },
	[UNMAP_MANY] = { "munmap_1000_watches", UNMAP_MANY, INSTR_WATCHES },
	[ELSEWHERE] = { "munmap_elsewhere_0", UNMAP_4K, 1 },
	[ELSEWHERE_1000] = { "munmap_elsewhere_1000", UNMAP_4K, 1 },
	[ELSEWHERE_100000] = { "munmap_elsewhere_100000", UNMAP_4K, 1 },
	[NEAR] = { "munmap_near_100000", UNMAP_4K, 1 },
	[AMONG] = { "munmap_watched_among_100000", UNMAP_4K, 1 },
	[SPREAD] = { "munmap_spread_100000", UNMAP_4K, 1 },
	[SINGLE] = { "add_del_1", FIGURES, 1 },
	[SINGLE_1000] = { "add_del_1000", FIGURES, 1 },
	[SINGLE_100000] = { "add_del_100000", FIGURES, 1 },
	[BATCHED] = { "batch_1", FIGURES, BATCH },
	[BATCHED_1000] = { "batch_1000", FIGURES, BATCH },
	[BATCHED_100000] = { "batch_100000", FIGURES, BATCH },
	[VALID] = { "valid", FIGURES, 64 },
};

typedef uint64_t samples_t[FIGURES][INSTR_SAMPLES];

static struct mlx5ep_notifier *notifier;
static struct mlx5ep_watch watches[INSTR_WATCHES];
static unsigned int nr_watches;

static int watch(void *addr, size_t len)
{
	return mlx5ep_watch_add(notifier, addr, len, 0, &watches[nr_watches++]);
}

static int unwatch(void *addr, size_t len)
{
	return mlx5ep_watch_del(&watches[--nr_watches]);
}

static const struct instr_monitor monitor = { watch, unwatch };

/* Adds watches number @from to @to of those that begin @step bytes apart. */
static int add_many(uintptr_t base, size_t step, unsigned int from,
		    unsigned int to)
{
	static struct mlx5_ep_watch_add adds[1000];
	static struct mlx5ep_watch dropped[1000];
	unsigned int i;
	int ret = 0;

	for (; from < to && !ret; from += i) {
		for (i = 0; i < 1000 && from + i < to; i++) {
			adds[i].addr = base + step * (from + i);
			adds[i].length = PAGE;
		}
		ret = mlx5ep_watch_add_batch(notifier, adds, dropped, i);
	}
	return ret;
}

/* Makes it @n watches, of every other page of the arena. */
static int fill_arena(unsigned int n)
{
	static unsigned int filled;
	int ret = add_many(ARENA, 2 * PAGE, filled, n);

	filled = n;
	return ret;
}

static int measure_single(unsigned int n, uint64_t *samples)
{
	struct mlx5ep_watch w;
	uint64_t before;
	int i, ret = 0;

	for (i = -3; i < INSTR_SAMPLES && !ret; i++) {
		/*
		 * Ranges all over the arena, between the watches that are
		 * there.
		 */
		void *addr = (void *)(ARENA + PAGE + 2 * PAGE *
				      ((i + 3) * 7919ul % n));

		before = instr_now();
		ret = mlx5ep_watch_add(notifier, addr, PAGE, 0, &w);
		if (!ret)
			ret = mlx5ep_watch_del(&w);
		if (i >= 0)
			samples[i] = instr_now() - before;
	}
	return ret;
}

static int measure_batch(unsigned int n, uint64_t *samples)
{
	struct mlx5_ep_watch_add adds[BATCH] = {};
	struct mlx5ep_watch w[BATCH];
	uint64_t before;
	unsigned int j;
	int i, ret = 0;

	for (i = -3; i < INSTR_SAMPLES && !ret; i++) {
		for (j = 0; j < BATCH; j++) {
			adds[j].addr = ARENA + PAGE + 2 * PAGE *
				       (((i + 3) * BATCH + j) * 7919ul % n);
			adds[j].length = PAGE;
		}
		before = instr_now();
		ret = mlx5ep_watch_add_batch(notifier, adds, w, BATCH);
		if (!ret)
			ret = mlx5ep_watch_del_batch(w, BATCH);
		if (i >= 0)
			samples[i] = instr_now() - before;
	}
	return ret;
}

#define CHECK do {					\
	asm volatile("" : "+r" (w) : : "memory");	\
	if (!mlx5ep_watch_valid(w))			\
		goto not_valid;				\
} while (0)
#define CHECK4 do { CHECK; CHECK; CHECK; CHECK; } while (0)
#define CHECK16 do { CHECK4; CHECK4; CHECK4; CHECK4; } while (0)

/*
 * The cost of 64 checks in a row, without the cost of reading the counter
 * twice.
 */
static int measure_valid(uint64_t *samples)
{
	struct mlx5ep_watch one, *w = &one;
	uint64_t start, before, after;
	int i, ret;

	ret = mlx5ep_watch_add(notifier, (void *)(ARENA - PAGE), PAGE, 0, &one);
	if (ret)
		return ret;
	for (i = 0; i < INSTR_SAMPLES; i++) {
		start = instr_now();
		before = instr_now();
		CHECK16;
		CHECK16;
		CHECK16;
		CHECK16;
		after = instr_now();
		samples[i] = after - before - (before - start);
	}
	return mlx5ep_watch_del(&one);

not_valid:
	return -ESTALE;
}

/* What a process without a notifier can do too. */
static int measure_unmap(const struct instr_monitor *m, samples_t samples)
{
	static const enum instr_range ranges[] = {
		[UNMAP_2M] = INSTR_2M, [UNMAP_HUGE] = INSTR_HUGE,
		[UNMAP_4K] = INSTR_4K, [UNMAP_MANY] = INSTR_MANY,
	};
	int f, ret = 0;

	for (f = UNMAP_2M; f <= UNMAP_MANY && !ret; f++)
		ret = instr_munmap(ranges[f], m, samples[f]);
	return ret;
}

static int measure_watches(samples_t samples)
{
	static const unsigned int sizes[] = { 1, 1000, 100000 };
	unsigned int i;
	int ret;

	ret = instr_munmap(INSTR_4K, NULL, samples[ELSEWHERE]);
	if (!ret)
		ret = measure_valid(samples[VALID]);
	for (i = 0; i < 3 && !ret; i++) {
		ret = fill_arena(sizes[i]);
		if (!ret && i)
			ret = instr_munmap(INSTR_4K, NULL,
					   samples[ELSEWHERE + i]);
		if (!ret)
			ret = measure_single(sizes[i], samples[SINGLE + i]);
		if (!ret)
			ret = measure_batch(sizes[i], samples[BATCHED + i]);
	}
	if (!ret)
		ret = watch((void *)NEAR_ADDR, PAGE);
	if (!ret)
		ret = instr_munmap(INSTR_4K, NULL, samples[NEAR]);
	return ret;
}

/* The notifier has no watches yet, here and below. */
static int measure_among(samples_t samples)
{
	int ret = add_many(AROUND + PAGE, 2 * PAGE, 0, 100000);

	return ret ?: instr_munmap(INSTR_4K, &monitor, samples[AMONG]);
}

static int measure_spread(samples_t samples)
{
	int ret = add_many(ARENA, SPREAD_STEP, 0, 100000);

	return ret ?: instr_munmap(INSTR_4K, NULL, samples[SPREAD]);
}

/*
 * Make as many mappings as a notifier has, because a lookup among more mappings
 * costs more.
 */
static int map_like_notifier(void)
{
	size_t len = MLX5_EP_NOTIFIER_WORDS_OFFSET + WATCHES * sizeof(uint64_t);

	return mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
		       MAP_FAILED ? -errno : 0;
}

static int without(samples_t samples)
{
	return measure_unmap(NULL, samples);
}

static int with(samples_t samples)
{
	return measure_unmap(&monitor, samples) ?: measure_watches(samples);
}

static int mr_watch_child(samples_t samples, int (*measure)(samples_t samples))
{
	struct verbs_setup setup;
	int ret;

	ret = verbs_open(&setup, NULL, 1);
	if (!ret)
		ret = measure == without ?
			      map_like_notifier() :
			      mlx5ep_notifier_create(setup.ctx, WATCHES,
						     &notifier);
	if (!ret)
		ret = measure(samples);
	if (ret)
		fprintf(stderr, "mr_watch: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}

static int run_child(samples_t samples, int (*measure)(samples_t samples))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(mr_watch_child(samples, measure));
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static int measure_all(void)
{
	samples_t *samples = mmap(NULL, 2 * sizeof(samples_t),
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t base;
	int f;

	if (samples == MAP_FAILED || run_child(samples[0], without) ||
	    run_child(samples[1], with) ||
	    run_child(samples[1], measure_among) ||
	    run_child(samples[1], measure_spread))
		return 1;
	for (f = 0; f < FIGURES; f++) {
		base = figures[f].base == FIGURES ? 0 :
		       instr_median(samples[0][figures[f].base]);
		instr_print(figures[f].name, samples[1][f], base,
			    figures[f].by);
	}
	return 0;
}

/* The numbers behind a word at the start of lines, added up. */
static unsigned long long file_number(const char *path, const char *word)
{
	FILE *file = fopen(path, "r");
	unsigned long long n, found = 0;
	char line[256], key[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %llu", key, &n) == 2 &&
		    !strcmp(key, word))
			found += n;
	if (file)
		fclose(file);
	return found;
}

/* The kernel adds up what CPUs have charged every two seconds. */
static unsigned long long charged(void)
{
	char path[512], group[256] = "";
	FILE *file = fopen("/proc/self/cgroup", "r");

	if (!file || fscanf(file, "0::%255s", group) != 1)
		return 0;
	fclose(file);
	sleep(3);
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.stat", group);
	return file_number(path, "kernel");
}

/* CPUs keep pages at hand that MemFree leaves out. */
static unsigned long long free_bytes(void)
{
	return 1024 * file_number("/proc/meminfo", "MemFree:") +
	       PAGE * file_number("/proc/zoneinfo", "count:");
}

static int measure_memory(unsigned int n)
{
	unsigned long long before, free_before;
	struct verbs_setup setup;
	int ret;

	ret = verbs_open(&setup, NULL, 1);
	if (!ret)
		ret = mlx5ep_notifier_create(setup.ctx, n, &notifier);
	if (ret)
		return 1;
	/*
	 * The notifier counts too, so it is a new one. All code has run before.
	 */
	mlx5ep_notifier_destroy(notifier);
	before = charged();
	free_before = free_bytes();
	ret = mlx5ep_notifier_create(setup.ctx, n, &notifier);
	if (!ret)
		ret = fill_arena(n);
	if (ret) {
		fprintf(stderr, "mr_watch: %s\n", strerror(-ret));
		return 1;
	}
	printf("%lld", (long long)(charged() - before));
	printf(" %lld\n", (long long)(free_before - free_bytes()));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "-m"))
		return measure_memory(atoi(argv[2]));
	if (argc != 1)
		return 2;
	return measure_all();
}
