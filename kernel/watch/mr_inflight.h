/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invalidations of an address space that have begun and not ended, and where in
 * it there are watches at all.
 *
 * Between its two callbacks an invalidation changes the page table, so who arms
 * or looks at a range has to wait for those of that range. All of them, watched or
 * not, pass here; most hit no watch, and hardly ever does anybody wait. So the
 * address space is cut into blocks, with a table of two numbers for each, which
 * blocks 4 GiB apart share:
 *
 * - @small, of the invalidations under way that began in the block and are no
 *   longer than one;
 * - @watched, of the watches that such an invalidation may hit: those in
 *   the block and in the next.
 *
 * One that finds @watched to be zero is done: it has taken no lock. Longer
 * ones are in a list with their range, and while somebody waits the short ones
 * that begin are too: so the numbers fall to zero, however many threads unmap all
 * the time, and one that takes long delays nobody who is elsewhere. Where the list
 * is full a short one stays a number, and a longer one is everywhere.
 *
 * An invalidation is found in the list by the address of its range, which is the
 * caller's and the same in both callbacks. When nobody waits any more the short
 * ones in the list become numbers: one is in the list only while @listed is true,
 * and whoever reads there that it is false finds itself among the numbers.
 *
 * Locking: mlx5_ep_watches.lock protects all but @small. Who begins raises @small
 * and then looks at @listed and @watched; who waits or adds a watch sets these and
 * then looks at @small. A full barrier is between the two on either side.
 */
#ifndef MLX5_EP_MR_INFLIGHT_H
#define MLX5_EP_MR_INFLIGHT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/mmu_notifier.h>
#include <linux/types.h>

#define INFLIGHT_BLOCK_SHIFT	24
#define INFLIGHT_BLOCKS		256UL
#define INFLIGHT_LIST		32

/**
 * struct mlx5_ep_inflight_range - one in the list
 * @key: what the core calls it by
 * @start: first address
 * @end: behind the last one
 */
struct mlx5_ep_inflight_range {
	const struct mmu_notifier_range *key;
	unsigned long start;
	unsigned long end;
};

/**
 * struct mlx5_ep_inflight - invalidations that have begun and not ended
 * @listed: the list is not empty, or to be used; read without the lock
 * @waiters: who waits for some to end
 * @count: length of the list
 * @more: long ones that found no room in it
 * @list: long ones, and with @waiters any
 * @blocks: the table
 */
struct mlx5_ep_inflight {
	bool listed;
	unsigned int waiters;
	unsigned int count;
	unsigned int more;
	struct mlx5_ep_inflight_range list[INFLIGHT_LIST];
	struct mlx5_ep_inflight_block {
		atomic_t small;
		unsigned int watched;
	} blocks[INFLIGHT_BLOCKS];
};

static __always_inline struct mlx5_ep_inflight_block *
inflight_block(struct mlx5_ep_inflight *f, unsigned long start)
{
	return &f->blocks[start >> INFLIGHT_BLOCK_SHIFT &
			  (INFLIGHT_BLOCKS - 1)];
}

static __always_inline bool inflight_is_small(unsigned long start,
					      unsigned long end)
{
	return end - start <= 1UL << INFLIGHT_BLOCK_SHIFT;
}

/*
 * An invalidation begins. Returns false where it hits no watch and all is done;
 * else the caller takes the lock and, where *@list is set, calls
 * mlx5_ep_inflight_list(). A full barrier.
 */
static __always_inline bool
inflight_begin(struct mlx5_ep_inflight *f,
	       const struct mmu_notifier_range *range, bool *list)
{
	struct mlx5_ep_inflight_block *block = inflight_block(f, range->start);

	atomic_inc(&block->small);
	/* Pairs with inflight_overlaps(). */
	smp_mb__after_atomic();
	*list = READ_ONCE(f->listed) ||
		!inflight_is_small(range->start, range->end);
	return unlikely(*list) || READ_ONCE(block->watched);
}

/*
 * One has ended. Returns true where it may be in the list, and the caller takes
 * the lock and calls mlx5_ep_inflight_end_listed(); else *@wake says whether
 * somebody may wait for it.
 */
static __always_inline bool
inflight_end(struct mlx5_ep_inflight *f,
	     const struct mmu_notifier_range *range, bool *wake)
{
	*wake = false;
	if (unlikely(READ_ONCE(f->listed)))
		return true;
	/* After what was done to the page table. */
	smp_mb__before_atomic();
	atomic_dec(&inflight_block(f, range->start)->small);
	/* Pairs with inflight_overlaps(). */
	smp_mb__after_atomic();
	*wake = READ_ONCE(f->listed);
	return false;
}

/*
 * The blocks where a short invalidation of a range may begin: those of the range,
 * and the one before, from which it may reach into it. All of them are
 * INFLIGHT_BLOCKS at most; a watch has hardly ever more than two.
 */
#define inflight_for_each_block(f, block, i, start, end)		\
	for (i = inflight_first(start);					\
	     i <= inflight_last(start, end) &&				\
	     (block = &(f)->blocks[i % INFLIGHT_BLOCKS]);		\
	     i++)

/* Of the block before; moved up, as it may not be there. */
static __always_inline unsigned long inflight_first(unsigned long start)
{
	return (start >> INFLIGHT_BLOCK_SHIFT) + INFLIGHT_BLOCKS - 1;
}

static __always_inline unsigned long inflight_last(unsigned long start,
						   unsigned long end)
{
	return min(((end - 1) >> INFLIGHT_BLOCK_SHIFT) + INFLIGHT_BLOCKS,
		   inflight_first(start) + INFLIGHT_BLOCKS - 1);
}

/* A watch is added (@by 1) or removed (-1). Locked. */
static __always_inline void inflight_count_watch(struct mlx5_ep_inflight *f,
						 unsigned long start,
						 unsigned long end, int by)
{
	struct mlx5_ep_inflight_block *block;
	unsigned long i;

	inflight_for_each_block(f, block, i, start, end)
		WRITE_ONCE(block->watched, block->watched + by);
}

/*
 * May an invalidation of a range be under way? A full barrier: one that did not
 * see what the caller has written before is seen. Locked.
 */
static inline bool inflight_overlaps(struct mlx5_ep_inflight *f,
				     unsigned long start, unsigned long end)
{
	struct mlx5_ep_inflight_block *block;
	unsigned long i;

	/* Pairs with inflight_begin() and inflight_end(). */
	smp_mb();
	inflight_for_each_block(f, block, i, start, end)
		if (atomic_read(&block->small))
			return true;
	if (likely(!f->listed))
		return false;
	for (i = 0; i < f->count; i++)
		if (f->list[i].start < end && f->list[i].end > start)
			return true;
	return f->more;
}

bool mlx5_ep_inflight_list(struct mlx5_ep_inflight *f,
			   const struct mmu_notifier_range *range);
bool mlx5_ep_inflight_end_listed(struct mlx5_ep_inflight *f,
				 const struct mmu_notifier_range *range);
void mlx5_ep_inflight_wait_begin(struct mlx5_ep_inflight *f);
void mlx5_ep_inflight_wait_end(struct mlx5_ep_inflight *f);

#endif /* MLX5_EP_MR_INFLIGHT_H */
