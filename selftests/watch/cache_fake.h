/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The registration cache, compiled into the program that includes this file, on a
 * kernel and an adapter that consist of this file. Each change of the memory has a
 * number. A registration has the number of the last change when it was made, so it is
 * known which registrations may be returned.
 */
#ifndef SELFTESTS_CACHE_FAKE_H
#define SELFTESTS_CACHE_FAKE_H

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "../../userlib/mr_cache.c"
#include "../../userlib/mr_cache_drop.c"
#include "../../userlib/mr_cache_life.c"
#include "../../userlib/mr_cache_table.c"
#include "../../userlib/mr_tree.c"
#include "../../userlib/process.c"

#define PAGE		4096ul
#define PAGES		64
#define BASE		0x10000000ul
#define SLOTS		(3 * (8 + CACHE_SPARE_WATCHES))	/* of three small caches */
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
	uint64_t iova;
	int access;
	bool dmabuf;
	int fd;		/* of a dma-buf */
};

static struct {
	pthread_mutex_t lock;
	struct mlx5ep_notifier notifier;
	struct mlx5_ep_notifier_page page;
	uint64_t words[SLOTS];
	struct fake_watch watches[SLOTS];
	uint64_t generation;
	uint64_t change;		/* the last one */
	uint64_t changed[PAGES];	/* last change of a page */
	unsigned int registered;
	bool dereg_fails;		/* now and then */
	bool dereg_broken;		/* always */
	int create_fails;		/* an errno */
	uint32_t capacity;		/* of a notifier; 0: SLOTS */
	bool no_file;			/* a notifier has none */
	uint32_t asked;			/* watches that a notifier was made for */
	uint64_t locked, may_lock;	/* bytes; 0: any number */
	bool born_stale;		/* changed while it is registered */
	bool unseen;			/* memory that cannot be watched */
	unsigned int verified;		/* watches, by calls for several */
	int read_fails;			/* an errno */
	void (*on_read)(void);		/* what another thread does meanwhile */
	unsigned int notifiers;
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

int mlx5ep_notifier_any(struct ibv_context *context, uint32_t watches,
			struct mlx5ep_notifier **notifier)
{
	fake.asked = watches;
	if (fake.create_fails)
		return -fake.create_fails;
	fake.notifiers++;
	fake.page.capacity = fake.capacity ? fake.capacity : SLOTS;
	fake.notifier = (struct mlx5ep_notifier){
		.fd = fake.no_file ? -1 : open("/dev/null", O_RDONLY),
		.page = &fake.page,
		.words = fake.words,
		.memory = mlx5ep_process_memory(),
	};
	*notifier = &fake.notifier;
	return 0;
}

int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier)
{
	close(notifier->fd);
	fake.notifiers--;
	return 0;
}

/* Does the program find a notifier as in a forked child? */
static inline void fake_forked(bool forked)
{
	fake.notifier.memory = mlx5ep_process_memory() + forked;
}

int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier)
{
	return notifier->fd;
}

bool mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier)
{
	return notifier_usable(notifier);
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

	if (fake.on_read)
		fake.on_read();
	if (fake.read_fails)
		return -fake.read_fails;
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

static int fake_register(struct mlx5ep_notifier *notifier, uintptr_t start,
			 size_t length, struct mlx5ep_mr *mr)
{
	struct fake_mr *made;
	uint32_t slot = 0;

	pthread_mutex_lock(&fake.lock);
	if (fake.may_lock && fake.locked + length > fake.may_lock) {
		pthread_mutex_unlock(&fake.lock);
		return -ENOMEM;
	}
	fake.locked += length;
	made = calloc(1, sizeof(*made));
	while (fake.watches[slot].used)
		slot++;
	fake.watches[slot] = (struct fake_watch){
		.used = true,
		.armed = ++fake.generation << 8 | MLX5_EP_WATCH_STATE_ARMED,
		.start = start,
		.end = start + length,
	};
	set_word(slot, fake.born_stale ? MLX5_EP_WATCH_STATE_STALE :
					 MLX5_EP_WATCH_STATE_ARMED);
	made->mr = (struct ibv_mr){
		.addr = (void *)start,
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
	if (fake.unseen) {
		set_word(slot, MLX5_EP_WATCH_STATE_FREE);
		fake.watches[slot].used = false;
	}
	fake.registered++;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int mlx5ep_reg_mr_iova(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
		       void *addr, size_t length, uint64_t iova, int access,
		       uint64_t cookie, struct mlx5ep_mr *mr)
{
	int ret = fake_register(notifier, (uintptr_t)addr, length, mr);

	if (!ret) {
		((struct fake_mr *)mr->mr)->iova = iova;
		((struct fake_mr *)mr->mr)->access = access;
	}
	return ret;
}

int mlx5ep_reg_dmabuf_mr(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
			 int fd, uint64_t offset, size_t length, uint64_t iova,
			 int access, uint64_t cookie, struct mlx5ep_mr *mr)
{
	int ret = mlx5ep_reg_mr_iova(notifier, pd, (void *)offset, length, iova,
				     access, cookie, mr);

	if (!ret) {
		((struct fake_mr *)mr->mr)->dmabuf = true;
		((struct fake_mr *)mr->mr)->fd = fd;
	}
	return ret;
}

int mlx5ep_dereg_mr(struct mlx5ep_mr *mr)
{
	static unsigned int calls;
	uint32_t slot = mr->watch.slot;

	pthread_mutex_lock(&fake.lock);
	if (fake.dereg_broken || (fake.dereg_fails && !(calls++ % 16))) {
		pthread_mutex_unlock(&fake.lock);
		return -EBUSY;
	}
	mr->mr->lkey = 0;
	fake.locked -= mr->mr->length;
	free((struct fake_mr *)mr->mr);
	/* Another watch may have the slot by now. */
	if (fake.watches[slot].armed == mr->watch.armed) {
		set_pending(slot, false);
		fake.watches[slot].used = false;
	}
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
	fake.verified += count;
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

#endif
