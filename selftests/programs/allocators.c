// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * allocators [-p] [-m cache|each|blind] [-s SECONDS] [-t THREADS] [-b BYTES] -
 * messages from memory of malloc()
 *
 * Each thread takes a buffer of a table that all share, or allocates, reallocates,
 * or frees it, and so frees what others have allocated. It fills the buffer,
 * registers it, writes it with RDMA into memory of its own, and compares.
 *
 * cache: registrations come from a cache of at most BYTES. each: each message
 * registers. blind: registrations are kept by address and never looked at again, as
 * in a cache that is not told of changes.
 *
 * Meanwhile a thread asks simhca every 200 ms how much is registered; with -p, the kernel
 * how much the process has pinned, on an adapter that pins what is registered. Prints
 * "mode=M messages=N wrong=N registrations=N hits=N rate=PERCENT stale=N
 * most=BYTES idle=BYTES left=BYTES": registrations that the cache found to be stale;
 * bytes registered at most, when all buffers were freed and the cache was trimmed,
 * and at the end. Exit status 1 only where the run failed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>

#include "simhca.h"
#include "verbs.h"

#define PAGE		4096ul
#define LEN_MAX		(256ul << 10)
#define LEN_MIN		1024ul
#define STEP		256	/* bytes of a buffer from one stamp to the next */
#define SLOTS		48
#define THREADS_MAX	16
#define BLIND_MAX	65536
#define WRITE_SECONDS	300	/* the machine may be slow */
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

enum mode { CACHE, EACH, BLIND };

static const char *const names[] = { "cache", "each", "blind" };

static struct {
	pthread_mutex_t lock;
	uint8_t *buf;
	size_t len;
} slots[SLOTS];

struct worker {
	pthread_t thread;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *dst;
	unsigned int seed;
	uint64_t stamp, messages, wrong, registrations;
};

/* What one message uses. */
struct use {
	struct ibv_mr *mr;
	struct mlx5ep_mr_cache_entry *entry;
};

static struct {
	pthread_mutex_t lock;
	struct ibv_mr *mrs[BLIND_MAX];
	unsigned int n;
} blind = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct verbs_setup setup;
static struct mlx5ep_mr_cache *cache;
static enum mode mode;
static bool stop, ask_kernel;
static int64_t base, most;

static void allocators_fail(const char *what, int ret)
{
	fprintf(stderr, "allocators: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static struct ibv_mr *allocators_reg(struct worker *w, uintptr_t start,
				     uintptr_t end)
{
	struct ibv_mr *mr = ibv_reg_mr(setup.pd, (void *)start, end - start,
				       ACCESS);

	if (!mr)
		allocators_fail("ibv_reg_mr", -errno);
	w->registrations++;
	return mr;
}

static struct ibv_mr *blind_get(struct worker *w, uintptr_t start,
				uintptr_t end)
{
	struct ibv_mr *mr = NULL;
	unsigned int i;

	pthread_mutex_lock(&blind.lock);
	for (i = 0; i < blind.n && !mr; i++)
		if ((uintptr_t)blind.mrs[i]->addr <= start &&
		    (uintptr_t)blind.mrs[i]->addr + blind.mrs[i]->length >= end)
			mr = blind.mrs[i];
	if (!mr) {
		if (blind.n == BLIND_MAX)
			allocators_fail("blind", -ENOSPC);
		mr = allocators_reg(w, start, end);
		blind.mrs[blind.n++] = mr;
	}
	pthread_mutex_unlock(&blind.lock);
	return mr;
}

static void allocators_get(struct worker *w, void *addr, size_t len,
			   struct use *use)
{
	uintptr_t start = (uintptr_t)addr & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)addr + len + PAGE - 1) & ~(PAGE - 1);
	int ret;

	switch (mode) {
	case CACHE:
		ret = mlx5ep_mr_cache_get(cache, addr, len, &use->entry);
		if (ret)
			allocators_fail("mlx5ep_mr_cache_get", ret);
		use->mr = use->entry->mr;
		break;
	case EACH:
		use->mr = allocators_reg(w, start, end);
		break;
	case BLIND:
		use->mr = blind_get(w, start, end);
		break;
	}
}

static void allocators_put(struct use *use)
{
	if (mode == CACHE)
		mlx5ep_mr_cache_put(cache, use->entry);
	else if (mode == EACH)
		ibv_dereg_mr(use->mr);
}

/* Sends a buffer with new content. */
static void message(struct worker *w, uint8_t *buf, size_t len)
{
	uint64_t first = w->stamp, stamp;
	struct use use;
	bool right = true;
	size_t at;
	int ret;

	for (at = 0; at + sizeof(stamp) <= len; at += STEP) {
		stamp = w->stamp++;
		memcpy(buf + at, &stamp, sizeof(stamp));
	}
	allocators_get(w, buf, len, &use);
	ret = verbs_write(w->qp, w->cq, buf, use.mr->lkey, w->dst, w->mr->rkey,
			  len, WRITE_SECONDS);
	if (ret)
		allocators_fail("verbs_write", ret);
	allocators_put(&use);
	for (at = 0; at + sizeof(stamp) <= len; at += STEP) {
		memcpy(&stamp, w->dst + at, sizeof(stamp));
		right = right && stamp == first++;
	}
	w->messages++;
	w->wrong += !right;
}

/* Small ones are more frequent than large ones. */
static size_t length(struct worker *w)
{
	size_t max = LEN_MIN << rand_r(&w->seed) % 9;

	return max / 2 + rand_r(&w->seed) % (max / 2);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int slot;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		slot = rand_r(&w->seed) % SLOTS;
		pthread_mutex_lock(&slots[slot].lock);
		switch (slots[slot].buf ? rand_r(&w->seed) % 8 : 0) {
		case 0:
			free(slots[slot].buf);
			slots[slot].len = length(w);
			slots[slot].buf = malloc(slots[slot].len);
			break;
		case 1:
			slots[slot].len = length(w);
			slots[slot].buf = realloc(slots[slot].buf,
						  slots[slot].len);
			break;
		}
		if (!slots[slot].buf)
			allocators_fail("malloc", -ENOMEM);
		message(w, slots[slot].buf, slots[slot].len);
		pthread_mutex_unlock(&slots[slot].lock);
	}
	return NULL;
}

static int64_t pinned(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];
	long long kib = -1;

	while (kib < 0 && file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %lld kB", &kib) != 1)
			kib = -1;
	if (file)
		fclose(file);
	return kib < 0 ? -1 : kib << 10;
}

static int64_t registered(void)
{
	int64_t bytes = ask_kernel ? pinned() : simhca_registered();

	if (bytes < 0)
		allocators_fail(ask_kernel ? "VmPin" : "simhca", -EIO);
	return bytes - base;
}

static void *allocators_look(void *arg)
{
	int64_t now;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		now = registered();
		if (now > most)
			most = now;
		usleep(200000);
	}
	return arg;
}

static void worker_open(struct worker *w, unsigned int i)
{
	w->seed = i + 1;
	w->stamp = (uint64_t)(i + 1) << 48;
	w->dst = mmap(NULL, LEN_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		      MAP_ANONYMOUS, -1, 0);
	if (w->dst == MAP_FAILED)
		allocators_fail("mmap", -errno);
	w->mr = ibv_reg_mr(setup.pd, w->dst, LEN_MAX, ACCESS);
	w->cq = ibv_create_cq(setup.ctx, 16, NULL, NULL, 0);
	w->qp = w->cq ? verbs_qp_create(setup.pd, w->cq, IBV_QPT_RC) : NULL;
	if (!w->mr || !w->qp ||
	    verbs_qp_connect(w->qp, w->qp->qp_num, &setup.address))
		allocators_fail("endpoint", -EIO);
}

/* Each allocator has a call of its own that gives back what is free. */
static void give_back(void)
{
	int (*mallctl)(const char *name, void *old, size_t *old_len, void *new,
		       size_t new_len) = dlsym(RTLD_DEFAULT, "mallctl");
	void (*collect)(bool force) = dlsym(RTLD_DEFAULT, "mi_collect");
	void (*release)(void) =
		dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		free(slots[i].buf);
		slots[i].buf = NULL;
	}
	if (mallctl)
		mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
	else if (collect)
		collect(true);
	else if (release)
		release();
	else
		malloc_trim(0);
}

static void report(const struct worker *workers, unsigned int threads)
{
	uint64_t messages = 0, wrong = 0, registrations = 0, hits = 0;
	struct mlx5ep_mr_cache_stats stats = {};
	int64_t idle = 0;
	unsigned int i;

	for (i = 0; i < threads; i++) {
		messages += workers[i].messages;
		wrong += workers[i].wrong;
		registrations += workers[i].registrations;
	}
	give_back();
	if (mode == CACHE) {
		mlx5ep_mr_cache_trim(cache);
		mlx5ep_mr_cache_query(cache, &stats);
		registrations = stats.misses;
		idle = registered();
		if (mlx5ep_mr_cache_destroy(cache))
			allocators_fail("mlx5ep_mr_cache_destroy", -EBUSY);
	}
	hits = messages - registrations;
	printf("mode=%s messages=%llu wrong=%llu registrations=%llu hits=%llu "
	       "rate=%.1f stale=%llu most=%lld idle=%lld left=%lld\n",
	       names[mode],
	       (unsigned long long)messages, (unsigned long long)wrong,
	       (unsigned long long)registrations, (unsigned long long)hits,
	       messages ? 100.0 * hits / messages : 0,
	       (unsigned long long)stats.stale, (long long)most,
	       (long long)idle, (long long)registered());
}

static enum mode mode_of(const char *name)
{
	enum mode m;

	for (m = CACHE; m <= BLIND; m++)
		if (!strcmp(name, names[m]))
			return m;
	allocators_fail(name, -EINVAL);
	return CACHE;
}

int main(int argc, char **argv)
{
	struct mlx5ep_mr_cache_attr attr = { .max_bytes = 8ul << 20 };
	static struct worker workers[THREADS_MAX];
	unsigned int seconds = 10, threads = 4, i;
	pthread_t looker;
	int c, ret;

	while ((c = getopt(argc, argv, "pm:s:t:b:")) != -1)
		switch (c) {
		case 'p':
			ask_kernel = true;
			break;
		case 'm':
			mode = mode_of(optarg);
			break;
		case 's':
			seconds = atoi(optarg);
			break;
		case 't':
			threads = atoi(optarg);
			break;
		case 'b':
			attr.max_bytes = strtoull(optarg, NULL, 0);
			break;
		default:
			return 1;
		}
	if (!threads || threads > THREADS_MAX)
		allocators_fail("threads", -EINVAL);
	ret = verbs_open(&setup, NULL, 1);
	if (ret)
		allocators_fail("verbs_open", ret);
	if (mode == CACHE) {
		ret = mlx5ep_mr_cache_create(setup.pd, &attr, &cache);
		if (ret)
			allocators_fail("mlx5ep_mr_cache_create", ret);
	}
	for (i = 0; i < SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	for (i = 0; i < threads; i++)
		worker_open(&workers[i], i);
	base = registered();
	for (i = 0; i < threads; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	pthread_create(&looker, NULL, allocators_look, NULL);
	sleep(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_join(looker, NULL);
	report(workers, threads);
	return 0;
}
