// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, timeout: 120 */
/*
 * The registration cache with many threads, compiled into this program, on a
 * kernel and an adapter that consist of this file. Other threads change the memory
 * meanwhile. Each change has a number. A registration has the number of the last
 * change when it was made, so it is known which registrations may be returned.
 *
 * cache_sanitized_test.sh builds this file with sanitizers, and with broken caches.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "../../userlib/mr_cache.c"
#include "../../userlib/mr_cache_drop.c"
#include "../../userlib/mr_cache_table.c"
#include "../../userlib/mr_tree.c"

#define PAGE		4096ul
#define PAGES		64
#define BASE		0x10000000ul
#define SLOTS		(8 + CACHE_SPARE_WATCHES)
#define GETTERS		6
#define CHANGERS	2
#define HELD		3	/* registrations that a thread uses at once */
#define PHASES		20
#define ROUNDS		400
#define ALIVE		0xa11fe

/* What the kernel knows of a watch. */
struct fake_watch {
	bool used, pending, changed;
	uint64_t armed;
	uintptr_t start, end;
};

struct fake_mr {
	struct ibv_mr mr;
	uint64_t born;
};

static struct {
	pthread_mutex_t lock;
	struct mlx5ep_notifier notifier;
	struct mlx5_ep_notifier_page page;
	uint32_t token;
	uint64_t words[SLOTS];
	struct fake_watch watches[SLOTS];
	uint64_t generation;
	uint64_t change;		/* the last one */
	uint64_t changed[PAGES];	/* last change of a page */
	unsigned int registered;
	bool dereg_fails;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set_word(uint32_t slot, uint64_t state)
{
	__atomic_store_n(&fake.words[slot],
			 (fake.watches[slot].armed &
			  ~(uint64_t)MLX5_EP_WATCH_STATE_MASK) | state,
			 __ATOMIC_RELEASE);
}

static void set_pending(uint32_t slot, bool pending)
{
	if (fake.watches[slot].pending == pending)
		return;
	fake.watches[slot].pending = pending;
	__atomic_add_fetch(&fake.page.watch_pending, pending ? 1 : -1,
			   __ATOMIC_RELAXED);
}

int mlx5ep_notifier_create(struct ibv_context *context, uint32_t watches,
			   struct mlx5ep_notifier **notifier)
{
	fake.token = 1;
	fake.page.capacity = SLOTS;
	fake.notifier = (struct mlx5ep_notifier){
		.fd = open("/dev/null", O_RDONLY),
		.page = &fake.page,
		.words = fake.words,
		.token = &fake.token,
	};
	*notifier = &fake.notifier;
	return 0;
}

int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier)
{
	close(notifier->fd);
	return 0;
}

int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier)
{
	return notifier->fd;
}

bool mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier)
{
	return true;
}

const volatile struct mlx5_ep_notifier_page *
mlx5ep_notifier_page(const struct mlx5ep_notifier *notifier)
{
	return notifier->page;
}

ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_event *events, size_t count)
{
	size_t n = 0;
	uint32_t i;

	pthread_mutex_lock(&fake.lock);
	for (i = 0; i < SLOTS && n < count; i++) {
		if (!fake.watches[i].pending)
			continue;
		set_pending(i, false);
		events[n++] = (struct mlx5_ep_event){
			.type = MLX5_EP_EVENT_WATCH,
			.slot = i,
			.word = fake.watches[i].armed,
		};
	}
	pthread_mutex_unlock(&fake.lock);
	return n;
}

int mlx5ep_reg_mr_iova(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
		       void *addr, size_t length, uint64_t iova, int access,
		       uint64_t cookie, struct mlx5ep_mr *mr)
{
	struct fake_mr *made = calloc(1, sizeof(*made));
	uint32_t slot = 0;

	pthread_mutex_lock(&fake.lock);
	while (fake.watches[slot].used)
		slot++;
	fake.watches[slot] = (struct fake_watch){
		.used = true,
		.armed = ++fake.generation << 8 | MLX5_EP_WATCH_STATE_ARMED,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + length,
	};
	set_word(slot, MLX5_EP_WATCH_STATE_ARMED);
	made->mr = (struct ibv_mr){
		.addr = addr,
		.length = length,
		.lkey = ALIVE,
	};
	made->born = fake.change;
	mr->mr = &made->mr;
	mr->watch = (struct mlx5ep_watch){
		.word = &fake.words[slot],
		.armed = fake.watches[slot].armed,
		.notifier = notifier,
		.slot = slot,
	};
	fake.registered++;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

/* The threads register no dma-bufs. */
int mlx5ep_reg_dmabuf_mr(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
			 int fd, uint64_t offset, size_t length, uint64_t iova,
			 int access, uint64_t cookie, struct mlx5ep_mr *mr)
{
	return -EOPNOTSUPP;
}

int mlx5ep_dereg_mr(struct mlx5ep_mr *mr)
{
	static unsigned int calls;
	uint32_t slot = mr->watch.slot;

	pthread_mutex_lock(&fake.lock);
	if (fake.dereg_fails && !(calls++ % 16)) {
		pthread_mutex_unlock(&fake.lock);
		return -EBUSY;
	}
	mr->mr->lkey = 0;
	free((struct fake_mr *)mr->mr);
	set_pending(slot, false);
	fake.watches[slot].used = false;
	fake.registered--;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int verify(uint32_t slot, uint64_t word)
{
	struct fake_watch *watch = &fake.watches[slot];
	int state = MLX5_EP_WATCH_STATE_STALE;

	if (!watch->used || watch->armed != word)
		return -ENOENT;
	if (!watch->changed) {
		state = MLX5_EP_WATCH_STATE_ARMED;
		set_pending(slot, false);
	}
	set_word(slot, state);
	return state;
}

int mlx5ep_watch_verify(struct mlx5ep_watch *watch)
{
	int ret;

	pthread_mutex_lock(&fake.lock);
	ret = verify(watch->slot, watch->armed);
	pthread_mutex_unlock(&fake.lock);
	return ret == MLX5_EP_WATCH_STATE_ARMED ? 0 : -ESTALE;
}

int mlx5ep_watch_verify_refs(const struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_watch_ref *refs, unsigned int count)
{
	unsigned int i;

	pthread_mutex_lock(&fake.lock);
	for (i = 0; i < count; i++)
		refs[i].result = verify(refs[i].slot, refs[i].word);
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

enum change { UNMAPPED, CLEARED, TOUCHED };

/* Changes a page; TOUCHED leaves it as it is, but the watches cannot know. */
static void change(unsigned int page, enum change how)
{
	uintptr_t addr = BASE + page * PAGE;
	struct fake_watch *watch;
	uint32_t i;

	pthread_mutex_lock(&fake.lock);
	for (i = 0; i < SLOTS; i++) {
		watch = &fake.watches[i];
		if (!watch->used || addr < watch->start || addr >= watch->end)
			continue;
		watch->changed |= how != TOUCHED;
		if ((fake.words[i] & MLX5_EP_WATCH_STATE_MASK) !=
		    MLX5_EP_WATCH_STATE_STALE)
			set_word(i, how == UNMAPPED ?
				 MLX5_EP_WATCH_STATE_STALE :
				 MLX5_EP_WATCH_STATE_SUSPECT);
		set_pending(i, true);
	}
	if (how != TOUCHED)
		__atomic_store_n(&fake.changed[page], ++fake.change,
				 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&fake.lock);
}

struct run {
	struct mlx5ep_mr_cache *cache;
	pthread_barrier_t barrier;
	uint64_t gets;
	const char *wrong;
};

struct thread {
	pthread_t thread;
	struct run *run;
	unsigned int seed;
};

static void wrong(struct run *run, const char *what)
{
	__atomic_store_n(&run->wrong, what, __ATOMIC_RELAXED);
}

/* What may have been changed last when a get begins. */
static uint64_t last_change(unsigned int page, unsigned int pages)
{
	uint64_t last = 0, now;
	unsigned int i;

	for (i = page; i < page + pages; i++) {
		now = __atomic_load_n(&fake.changed[i], __ATOMIC_ACQUIRE);
		if (now > last)
			last = now;
	}
	return last;
}

static struct mlx5ep_mr_cache_entry *get(struct thread *t)
{
	unsigned int page = rand_r(&t->seed) % (PAGES - 4);
	unsigned int pages = 1 + rand_r(&t->seed) % 3;
	uint64_t before = last_change(page, pages);
	struct mlx5ep_mr_cache_entry *entry;
	uintptr_t addr = BASE + page * PAGE;
	struct fake_mr *mr;

	if (mlx5ep_mr_cache_get(t->run->cache, (void *)(addr + 5),
				pages * PAGE - 10, &entry)) {
		wrong(t->run, "a get failed");
		return NULL;
	}
	__atomic_add_fetch(&t->run->gets, 1, __ATOMIC_RELAXED);
	mr = (struct fake_mr *)entry->mr;
	if ((uintptr_t)mr->mr.addr > addr ||
	    (uintptr_t)mr->mr.addr + mr->mr.length < addr + pages * PAGE)
		wrong(t->run, "a registration of other memory");
	if (mr->born < before)
		wrong(t->run, "a registration of memory that changed before");
	return entry;
}

static void put(struct thread *t, struct mlx5ep_mr_cache_entry *entry)
{
	if (entry->mr->lkey != ALIVE)
		wrong(t->run, "deregistered while in use");
	mlx5ep_mr_cache_put(t->run->cache, entry);
}

static void *getter(void *arg)
{
	struct mlx5ep_mr_cache_entry *held[HELD] = {};
	struct thread *t = arg;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < ROUNDS; i++) {
			if (held[i % HELD])
				put(t, held[i % HELD]);
			held[i % HELD] = get(t);
		}
		for (i = 0; i < HELD; i++) {
			if (held[i])
				put(t, held[i]);
			held[i] = NULL;
		}
		pthread_barrier_wait(&t->run->barrier);
		pthread_barrier_wait(&t->run->barrier);
	}
	return NULL;
}

static void *changer(void *arg)
{
	struct mlx5ep_mr_cache_stats stats;
	struct thread *t = arg;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < ROUNDS; i++) {
			change(rand_r(&t->seed) % PAGES, rand_r(&t->seed) % 3);
			if (!(i % 16))
				mlx5ep_mr_cache_trim(t->run->cache);
			if (!(i % 32))
				mlx5ep_mr_cache_query(t->run->cache, &stats);
		}
		pthread_barrier_wait(&t->run->barrier);
		pthread_barrier_wait(&t->run->barrier);
	}
	return NULL;
}

FIXTURE(threads)
{
	struct run run;
	struct thread threads[GETTERS + CHANGERS];
	struct ibv_pd pd;
};

FIXTURE_VARIANT(threads)
{
	unsigned int max_regions;
	bool dereg_fails;
};

FIXTURE_VARIANT_ADD(threads, with_room) { .max_regions = PAGES };
FIXTURE_VARIANT_ADD(threads, without_room) { .max_regions = 8 };
FIXTURE_VARIANT_ADD(threads, failing) { .max_regions = 8, .dereg_fails = true };

FIXTURE_SETUP(threads)
{
	struct mlx5ep_mr_cache_attr attr = {
		.max_regions = variant->max_regions,
	};
	unsigned int i;

	fake.dereg_fails = variant->dereg_fails;
	ASSERT_EQ(0, mlx5ep_mr_cache_create(&self->pd, &attr,
					    &self->run.cache));
	pthread_barrier_init(&self->run.barrier, NULL, GETTERS + CHANGERS + 1);
	for (i = 0; i < GETTERS + CHANGERS; i++) {
		self->threads[i].run = &self->run;
		self->threads[i].seed = i + 1;
		ASSERT_EQ(0, pthread_create(&self->threads[i].thread, NULL,
					    i < GETTERS ? getter : changer,
					    &self->threads[i]));
	}
}

FIXTURE_TEARDOWN(threads)
{
}

TEST_F(threads, use_valid_registrations_and_lose_none)
{
	struct mlx5ep_mr_cache_stats stats;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		pthread_barrier_wait(&self->run.barrier);
		mlx5ep_mr_cache_query(self->run.cache, &stats);
		if (!variant->dereg_fails)
			EXPECT_GE(variant->max_regions, stats.regions);
		EXPECT_EQ(fake.registered, stats.regions);
		EXPECT_EQ(self->run.gets, stats.hits + stats.misses);
		pthread_barrier_wait(&self->run.barrier);
	}
	for (i = 0; i < GETTERS + CHANGERS; i++)
		pthread_join(self->threads[i].thread, NULL);
	EXPECT_EQ(NULL, self->run.wrong)
		TH_LOG("%s", self->run.wrong);
	EXPECT_LT(0, stats.hits);
	EXPECT_LT(0, stats.stale);
	fake.dereg_fails = false;
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->run.cache));
	EXPECT_EQ(0, fake.registered);
}

TEST(what_exceeds_the_maximum_goes_with_its_last_put)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = 4 };
	struct mlx5ep_mr_cache_entry *entries[8];
	struct mlx5ep_mr_cache_stats stats;
	struct mlx5ep_mr_cache *cache;
	struct ibv_pd pd;
	int i;

	ASSERT_EQ(0, mlx5ep_mr_cache_create(&pd, &attr, &cache));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_get(cache,
						 (void *)(BASE + 2 * i * PAGE),
						 PAGE, &entries[i]));
	EXPECT_EQ(8, fake.registered);
	for (i = 0; i < 8; i++) {
		mlx5ep_mr_cache_put(cache, entries[i]);
		EXPECT_EQ(i < 4 ? 7 - i : 4, fake.registered);
	}
	mlx5ep_mr_cache_query(cache, &stats);
	EXPECT_EQ(4, stats.regions);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
}

TEST_HARNESS_MAIN
