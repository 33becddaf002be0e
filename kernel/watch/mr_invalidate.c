// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The mmu_notifier of an address space, and what its callbacks do to watches.
 *
 * The kernel calls back before an invalidation changes the page table and again
 * after. A thread that arms or verifies a watch in between must wait for the
 * second call (mlx5_ep_watches_wait_inflight()). Therefore mr_inflight.h counts
 * all invalidations under way, whether they hit a watch or not. A thread waits
 * for invalidations of its own range only, so it does not starve while other
 * threads unmap all the time. With an mmu_interval_notifier over the whole
 * address space it would: the core knows only when all invalidations have
 * ended. It also costs more (Documentation/notifications.md).
 *
 * Every munmap() of the process comes here, and most are of memory that nobody
 * watches. What these cost matters as much as the cost of a hit.
 *
 * All notifiers of a process share one subscription, so a munmap() costs the
 * same with one notifier and with a thousand. mmu_notifier_get() counts them.
 * mmu_notifier_put() waits for no grace period: it frees the space after one,
 * and callbacks may run until then. A callback uses a notifier's watches only
 * under the lock, where it finds them in the tree, and does not use them after.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "mr_invalidate.h"
#include "mr_tree.h"

#define WATCH_MAX_COUNT		U16_MAX

/* Watches that are hit before the lock is let go for a moment. */
#define WATCH_HIT_BATCH		256

/*
 * Waking is done under the lock, as nothing else keeps the watches there. Only
 * the first event after a read() gets here.
 */
static noinline void watches_wake(struct mlx5_ep_watches *ws)
{
	wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLRDNORM);
}

/* Not inline, as it would cost registers in the path of each hit. */
static noinline void chunk_queue(struct mlx5_ep_watches *ws,
				 struct mlx5_ep_watch_chunk *chunk)
{
	list_add_tail(&chunk->pending_node, &ws->pending_chunks);
}

/*
 * A watch of the chunk has got an event. Returns true if it is the first one to
 * have one.
 */
static __always_inline bool watch_queue(struct mlx5_ep_watches *ws,
				 struct mlx5_ep_watch_chunk *chunk)
{
	u64 pending = ws->pending + 1;

	if (unlikely(list_empty(&chunk->pending_node)))
		chunk_queue(ws, chunk);
	/* Waiting readers look at it without the lock. */
	WRITE_ONCE(ws->pending, pending);
	WRITE_ONCE(ws->header->watch_pending, pending);
	return pending == 1;
}

/* @w: at @index of @chunk */
static __always_inline void watch_add_event(struct mlx5_ep_watches *ws,
					    struct mlx5_ep_watch_chunk *chunk,
					    unsigned int index,
					    struct mlx5_ep_watch *w,
					    u32 first, u32 last,
					    enum mlx5_ep_watch_cause cause)
{
	if (__test_and_set_bit(index, &chunk->pending)) {
		w->hit_first = min(w->hit_first, first);
		w->hit_last = max(w->hit_last, last);
		w->cause |= cause;
		if (w->count < WATCH_MAX_COUNT)
			w->count++;
		return;
	}
	w->hit_first = first;
	w->hit_last = last;
	w->count = 1;
	w->cause = cause;
	if (watch_queue(ws, chunk) && unlikely(wq_has_sleeper(ws->wait)))
		watches_wake(ws);
}

/* A hit that leaves a watch suspect. @whole: all of it was hit */
static __always_inline void watch_count_hit(struct mlx5_ep_watch *w, bool whole)
{
	if (w->hits < WATCH_MAX_HITS)
		w->hits++;
	if (whole || w->hits == WATCH_MAX_HITS)
		w->resting = true;
}

/*
 * A watched range was hit, see mlx5_ep_watch_report(). Inline, as munmap() of
 * memory with many watches does little else.
 */
static __always_inline void watch_hit(struct mlx5_ep_watch *w,
				      unsigned long first, unsigned long last,
				      enum mlx5_ep_watch_cause cause)
{
	struct mlx5_ep_watch_chunk *chunk = watch_chunk(w);
	struct mlx5_ep_watches *ws = chunk->ws;
	struct mlx5_ep_notifier_page *header = ws->header;
	unsigned int index = w->slot - chunk->base;
	u64 *word = chunk_word(chunk, index), was = *word;
	bool clear = cause == MLX5_EP_WATCH_CAUSE_CLEAR;
	u32 from = max(first, w->start) - w->start;
	u32 to = min(last, watch_last(w)) - w->start;

	w->seq++;
	/* User space that sees the change also sees what came before it. */
	smp_store_release(word, (was & ~MLX5_EP_WATCH_STATE_MASK) |
			  (clear ? MLX5_EP_WATCH_STATE_SUSPECT :
				   MLX5_EP_WATCH_STATE_STALE));
	/* The word comes before the number that counts it. */
	smp_store_release(&header->watch_total, header->watch_total + 1);

	watch_add_event(ws, chunk, index, w, from, to, cause);
	if (!clear) {
		w->resting = true;
		return;
	}
	watch_count_hit(w, to - from + 1 == w->npages);
	if (unlikely(w->npages > WATCH_PART_PAGES))
		mlx5_ep_watch_parts_hit(w, from, to);
}

/**
 * mlx5_ep_watch_report() - change the word of a watch and queue its event
 * @w: not stale; the lock of its address space is held
 * @first: first page hit, may lie before the range
 * @last: last page hit, may lie behind the range
 * @cause: MLX5_EP_WATCH_CAUSE_CLEAR makes it suspect, any other stale
 */
void mlx5_ep_watch_report(struct mlx5_ep_watch *w, unsigned long first,
			  unsigned long last, enum mlx5_ep_watch_cause cause)
{
	watch_hit(w, first, last, cause);
}

/* Links a watch that rests behind @w, in the order of the tree. */
static void cursor_insert(struct mlx5_ep_watch *cursor,
			  struct mlx5_ep_watch *w,
			  struct mlx5_ep_watch_tree *tree)
{
	struct rb_node **link = &w->node.rb_right, *parent = &w->node;

	cursor->start = w->start;
	cursor->resting = true;
	cursor->subtree_last = 0;
	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	rb_link_node(&cursor->node, parent, link);
	rb_insert_augmented_cached(&cursor->node, &tree->root, false,
				   &watch_tree_augment);
}

/*
 * Lets the lock go for a moment. Returns the next watch after @w, as
 * watch_walk_next() does. @w may be gone meanwhile, hence the cursor.
 */
static noinline struct mlx5_ep_watch *
watches_break(struct mlx5_ep_watch_space *space,
	      struct mlx5_ep_watch_tree *tree, struct mlx5_ep_watch *w,
	      unsigned long first, bool may_sleep)
	__must_hold(&space->lock)
{
	struct mlx5_ep_watch cursor = {};

	cursor_insert(&cursor, w, tree);
	spin_unlock(&space->lock);
	if (may_sleep)
		cond_resched();
	spin_lock(&space->lock);
	if (space->mm_gone)
		return NULL;
	w = watch_walk_next(&cursor, first, true);
	watch_tree_remove(&cursor, &tree->root);
	return w;
}

/*
 * Hits the watches of a tree that overlap. Locked; lets the lock go for a moment
 * after each WATCH_HIT_BATCH watches that it came by.
 */
static __always_inline void tree_hit(struct mlx5_ep_watch_space *space,
				     struct mlx5_ep_watch_tree *tree,
				     const struct mmu_notifier_range *range,
				     enum mlx5_ep_watch_cause cause)
{
	unsigned long first = range->start >> PAGE_SHIFT;
	unsigned long last = (range->end - 1) >> PAGE_SHIFT;
	struct mlx5_ep_watch *w = watch_walk_first(tree, first);
	unsigned int left = WATCH_HIT_BATCH;

	while (w && w->start <= last) {
		bool correct = true;

		if (!w->resting && watch_last(w) >= first) {
			watch_hit(w, first, last, cause);
			correct = cause == MLX5_EP_WATCH_CAUSE_CLEAR;
		}
		if (likely(--left)) {
			w = correct ? watch_walk_next(w, first, true) :
				      watch_walk_next(w, first, false);
			continue;
		}
		w = watches_break(space, tree, w, first,
				  mmu_notifier_range_blockable(range));
		left = WATCH_HIT_BATCH;
	}
}

/* The trees of the blocks behind the first one, and of wide watches. */
static noinline void
watches_hit_rest(struct mlx5_ep_watch_space *space,
		 const struct mmu_notifier_range *range,
		 enum mlx5_ep_watch_cause cause)
{
	unsigned long block = range->start >> INFLIGHT_BLOCK_SHIFT;
	unsigned long n = ((range->end - 1) >> INFLIGHT_BLOCK_SHIFT) - block;

	for (n = min(n, INFLIGHT_BLOCKS - 1); n && !space->mm_gone; n--)
		tree_hit(space, watch_block_tree(space, ++block
						 << INFLIGHT_BLOCK_SHIFT),
			 range, cause);
	if (!space->mm_gone)
		tree_hit(space, &space->wide, range, cause);
}

/*
 * Hits all watches that overlap, most often one. @tree: of the block where the
 * range begins. Locked.
 */
static __always_inline void watches_hit(struct mlx5_ep_watch_space *space,
					struct mlx5_ep_watch_tree *tree,
					const struct mmu_notifier_range *range,
					enum mlx5_ep_watch_cause cause)
{
	tree_hit(space, tree, range, cause);
	if ((range->start ^ (range->end - 1)) >> INFLIGHT_BLOCK_SHIFT ||
	    !RB_EMPTY_ROOT(&space->wide.root.rb_root))
		watches_hit_rest(space, range, cause);
}

/*
 * May mprotect() of the range unshare a page table? Processes that map the same
 * hugetlbfs file share the page tables of whole, aligned ranges of PUD_SIZE
 * (1 GiB). Unsharing clears the whole table, and the kernel calls it a change of
 * protection. It first widens the range so that it includes all of the table
 * (adjust_range_if_pmd_sharing_possible() in mm/hugetlb.c).
 */
static bool range_may_unshare(const struct mmu_notifier_range *range)
{
	return ALIGN(range->start, PUD_SIZE) + PUD_SIZE <= range->end;
}

/* Returns false if the pages stay what they are. */
static __always_inline bool range_cause(const struct mmu_notifier_range *range,
					enum mlx5_ep_watch_cause *cause)
{
	*cause = MLX5_EP_WATCH_CAUSE_CLEAR;
	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
		return range_may_unshare(range);
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		return false;
	case MMU_NOTIFY_UNMAP:
		*cause = MLX5_EP_WATCH_CAUSE_UNMAP;
		return true;
	default:
		return true;
	}
}

static noinline void
watches_begin_locked(struct mlx5_ep_watch_space *space,
		     const struct mmu_notifier_range *range, bool list)
{
	enum mlx5_ep_watch_cause cause;
	bool ended = false;

	spin_lock(&space->lock);
	if (list)
		ended = mlx5_ep_inflight_list(&space->inflight, range);
	if (range_cause(range, &cause) && likely(!space->mm_gone))
		watches_hit(space, watch_block_tree(space, range->start), range,
			    cause);
	spin_unlock(&space->lock);
	if (unlikely(ended))
		wake_up_all(&space->ended);
}

/* Most invalidations that hit a watch are of this kind: munmap(). */
static noinline void watches_unmap(struct mlx5_ep_watch_space *space,
				   struct mlx5_ep_watch_tree *tree,
				   const struct mmu_notifier_range *range)
{
	spin_lock(&space->lock);
	if (likely(!space->mm_gone))
		watches_hit(space, tree, range, MLX5_EP_WATCH_CAUSE_UNMAP);
	spin_unlock(&space->lock);
}

/* An invalidation begins in a block that has a flag. */
static noinline void watches_begin(struct mlx5_ep_watch_space *space,
				   const struct mmu_notifier_range *range,
				   unsigned int flags)
{
	if (unlikely(flags & INFLIGHT_LISTED))
		watches_begin_locked(space, range, true);
	else if (watch_bounds_miss(space, range))
		return;
	else if (range->event == MMU_NOTIFY_UNMAP)
		watches_unmap(space, watch_block_tree(space, range->start),
			      range);
	else
		watches_begin_locked(space, range, false);
}

static int space_range_start(struct mmu_notifier *mn,
			     const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	unsigned int flags = inflight_begin(&space->inflight, range);

	if (unlikely(!inflight_is_small(range->start, range->end)))
		watches_begin_locked(space, range, true);
	else if (flags > INFLIGHT_NUMBER)
		watches_begin(space, range, flags);
	return 0;
}

static noinline void
watches_end_locked(struct mlx5_ep_watch_space *space,
		   const struct mmu_notifier_range *range)
{
	bool wake;

	spin_lock(&space->lock);
	wake = mlx5_ep_inflight_end_listed(&space->inflight, range);
	spin_unlock(&space->lock);
	if (wake)
		wake_up_all(&space->ended);
}

static void space_range_end(struct mmu_notifier *mn,
			    const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	bool wake;

	if (inflight_end(&space->inflight, range, &wake))
		watches_end_locked(space, range);
	else if (unlikely(wake))
		wake_up_all(&space->ended);
}

/* The address space goes: from now on nobody touches the tree. May sleep. */
static void space_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	struct mlx5_ep_watches *ws;

	spin_lock(&space->lock);
	space->mm_gone = true;
	while (!list_empty(&space->watches)) {
		ws = list_first_entry(&space->watches, struct mlx5_ep_watches,
				      node);
		list_move(&ws->node, &space->gone);
		WRITE_ONCE(ws->mm_gone, true);
		wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLHUP);
		if (need_resched() || spin_is_contended(&space->lock)) {
			spin_unlock(&space->lock);
			cond_resched();
			spin_lock(&space->lock);
		}
	}
	spin_unlock(&space->lock);
}

/* Called with mmap_lock held for write. */
static struct mmu_notifier *space_alloc(struct mm_struct *mm)
{
	struct mlx5_ep_watch_space *space =
		kvzalloc(sizeof(*space), WATCH_GFP);
	unsigned int i;

	if (!space)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&space->lock);
	space->wide.start = ULONG_MAX;
	for (i = 0; i < INFLIGHT_BLOCKS; i++)
		space->blocks[i].start = ULONG_MAX;
	INIT_LIST_HEAD(&space->watches);
	INIT_LIST_HEAD(&space->gone);
	init_waitqueue_head(&space->ended);
	return &space->mn;
}

/* Called when no callback can run any more. */
static void space_free(struct mmu_notifier *mn)
{
	kvfree(container_of(mn, struct mlx5_ep_watch_space, mn));
}

static const struct mmu_notifier_ops space_mn_ops = {
	.invalidate_range_start = space_range_start,
	.invalidate_range_end = space_range_end,
	.release = space_release,
	.alloc_notifier = space_alloc,
	.free_notifier = space_free,
};

/**
 * mlx5_ep_watch_space_get() - the caller's address space
 *
 * The first call subscribes to it; then no invalidation is under way, as the
 * core locks out all who could begin one. Holds mm_count, never mm_users.
 * Sleeps.
 *
 * Return: the space, for mlx5_ep_watch_space_put(); -ENOMEM, -EINTR
 */
struct mlx5_ep_watch_space *mlx5_ep_watch_space_get(void)
{
	struct mmu_notifier *mn =
		mmu_notifier_get(&space_mn_ops, current->mm);

	if (IS_ERR(mn))
		return ERR_CAST(mn);
	return container_of(mn, struct mlx5_ep_watch_space, mn);
}

/**
 * mlx5_ep_watch_spaces_flush() - wait until all spaces that were put are freed
 *
 * For the end of the module. Sleeps.
 */
void mlx5_ep_watch_spaces_flush(void)
{
	mmu_notifier_synchronize();
}

static bool range_ended(struct mlx5_ep_watches *ws, unsigned long first,
			unsigned long last)
{
	bool ended;

	spin_lock(&ws->space->lock);
	ended = ws->dead || !watches_in_flight(ws, first, last);
	spin_unlock(&ws->space->lock);
	return ended;
}

/**
 * mlx5_ep_watches_wait_inflight() - wait until no invalidation of a range is
 *	under way
 * @ws: watches between mlx5_ep_watches_get() and _put(); the lock of their
 *	address space is not held
 * @first: first page number
 * @last: last page number
 *
 * Sleeps.
 *
 * Return: 0; -EINTR: a fatal signal
 */
int mlx5_ep_watches_wait_inflight(struct mlx5_ep_watches *ws,
				  unsigned long first, unsigned long last)
{
	struct mlx5_ep_watch_space *space = ws->space;
	int ret;

	if (range_ended(ws, first, last))
		return 0;
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_begin(&space->inflight);
	spin_unlock(&space->lock);
	ret = wait_event_killable(space->ended, range_ended(ws, first, last));
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_end(&space->inflight);
	spin_unlock(&space->lock);
	return ret ? -EINTR : 0;
}
