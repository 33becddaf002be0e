/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invalidations of an address space that have begun and not ended, and the parts
 * of it that have watches.
 *
 * An invalidation changes the page table between its two callbacks. Therefore a
 * thread that arms or verifies a watch must wait for the invalidations of that
 * range. Every invalidation is counted here, also of memory that nobody watches.
 * Most hit no watch, and a thread hardly ever waits. So the address space is cut
 * into blocks of 16 MiB, and a table has two numbers per block:
 *
 * - @small: invalidations under way that began in the block and are not longer
 *   than a block, and three flags;
 * - @watched: watches that such an invalidation may hit. These are the watches in
 *   the block and in the next one.
 *
 * Blocks that are a multiple of INFLIGHT_BLOCKS apart share their numbers.
 *
 * INFLIGHT_LISTED says that an invalidation that begins or ends in the block must
 * look at the list. INFLIGHT_LOOK, the sign, is set if that flag is or if @watched
 * is not 0: the add that counts an invalidation returns it. Without it the
 * invalidation returns without taking the lock. INFLIGHT_WIDE says that a watch
 * that may be hit reaches into a second block. It stays until @watched is 0.
 *
 * Longer invalidations are in a list, with their range. While a thread waits,
 * short ones that begin enter the list too. So the numbers fall to zero even if
 * other threads unmap all the time, and a slow invalidation delays only those
 * who wait for its range. So a thread waits for what overlaps its range and for what
 * was under way in its blocks when it began to wait, and for nothing that begins
 * later elsewhere. The list has room for an invalidation of each CPU of a large node.
 * If it is full, a short invalidation stays a number, and a longer one is taken to
 * cover everything.
 *
 * The list is searched by the address of the core's range structure, which is
 * the same in both callbacks. When the last thread has stopped waiting, short
 * invalidations in the list become numbers again. All blocks have INFLIGHT_LISTED
 * while a thread waits, and the block where an invalidation of the list began has
 * it as long as that is in the list. An end callback that does not read the flag
 * subtracts from the number.
 *
 * Locking: the lock of the address space protects all but @small. An
 * invalidation that begins adds to @small, which returns the sign, and then reads
 * the other flags. A thread that waits or adds a watch sets a flag and then reads
 * the number. Both have a full barrier in between.
 */
#ifndef MLX5_EP_WATCH_INFLIGHT_H
#define MLX5_EP_WATCH_INFLIGHT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/mmu_notifier.h>
#include <linux/types.h>

#define INFLIGHT_BLOCK_SHIFT	24
#define INFLIGHT_BLOCKS		256UL
#define INFLIGHT_LIST		128

/* In @small, above the number. */
#define INFLIGHT_WIDE		BIT(29)
#define INFLIGHT_LISTED		BIT(30)
#define INFLIGHT_LOOK		BIT(31)
#define INFLIGHT_NUMBER		(INFLIGHT_WIDE - 1)

/**
 * struct mlx5_ep_inflight_range - an invalidation in the list
 * @key: the core's structure, compared only
 * @start: first address
 * @end: behind the last address
 */
struct mlx5_ep_inflight_range {
	const struct mmu_notifier_range *key;
	unsigned long start;
	unsigned long end;
};

/**
 * struct mlx5_ep_inflight - invalidations that have begun and not ended
 * @waiters: threads that wait for invalidations to end
 * @count: length of the list
 * @more: long invalidations that found no room in the list
 * @list: long invalidations; short ones too while threads wait
 * @blocks: two numbers per block of the address space
 */
struct mlx5_ep_inflight {
	unsigned int waiters;
	unsigned int count;
	unsigned int more;
	struct mlx5_ep_inflight_range list[INFLIGHT_LIST];
	struct mlx5_ep_inflight_block {
		atomic_t small;
		unsigned int watched;
	} blocks[INFLIGHT_BLOCKS];
};

static __always_inline unsigned long inflight_index(unsigned long start)
{
	return start >> INFLIGHT_BLOCK_SHIFT & (INFLIGHT_BLOCKS - 1);
}

static __always_inline struct mlx5_ep_inflight_block *
inflight_block(struct mlx5_ep_inflight *f, unsigned long start)
{
	return &f->blocks[inflight_index(start)];
}

static __always_inline bool inflight_is_small(unsigned long start,
					      unsigned long end)
{
	return end - start <= 1UL << INFLIGHT_BLOCK_SHIFT;
}

/*
 * An invalidation begins in block @i. Returns true if that has INFLIGHT_LOOK:
 * otherwise a short one hits no watch. If the block has INFLIGHT_LISTED, or the
 * invalidation is not short, the caller takes the lock and calls
 * mlx5_ep_inflight_list(). A full barrier, which pairs with inflight_overlaps().
 */
static __always_inline bool inflight_begin(struct mlx5_ep_inflight *f,
					   unsigned long i)
{
	return atomic_add_negative(1, &f->blocks[i].small);
}

/* The flags of a block, and its number. */
static __always_inline unsigned int
inflight_flags(const struct mlx5_ep_inflight_block *block)
{
	return atomic_read(&block->small);
}

/*
 * An invalidation has ended. Returns true if it may be in the list: the caller
 * takes the lock and calls mlx5_ep_inflight_end_listed(). Otherwise *@wake says
 * whether a thread may wait for it.
 */
static __always_inline bool
inflight_end(struct mlx5_ep_inflight *f,
	     const struct mmu_notifier_range *range, bool *wake)
{
	struct mlx5_ep_inflight_block *block = inflight_block(f, range->start);

	*wake = false;
	if (unlikely(inflight_flags(block) & INFLIGHT_LISTED))
		return true;
	/* The change of the page table comes before: a full barrier. */
	if (atomic_add_negative(-1, &block->small))
		*wake = inflight_flags(block) & INFLIGHT_LISTED;
	return false;
}

/*
 * The blocks in which a short invalidation that hits a range may begin: those of
 * the range and the one before. There are INFLIGHT_BLOCKS at most, and hardly
 * ever more than two.
 */
#define inflight_for_each_block(f, block, i, start, end)		\
	for (i = inflight_first(start);					\
	     i <= inflight_last(start, end) &&				\
	     (block = &(f)->blocks[i % INFLIGHT_BLOCKS]);		\
	     i++)

/* The block before; shifted up by a whole table, as block 0 has none before. */
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

/* A watch that may be hit from a block is added or removed. Locked. */
static __always_inline void
inflight_count_block(struct mlx5_ep_inflight_block *block, int by, u32 wide)
{
	if (by > 0 && (!block->watched || wide))
		atomic_or(INFLIGHT_LOOK | wide, &block->small);
	block->watched += by;
	if (by < 0 && !block->watched)
		atomic_andnot(atomic_read(&block->small) & INFLIGHT_LISTED ?
			      INFLIGHT_WIDE : INFLIGHT_LOOK | INFLIGHT_WIDE,
			      &block->small);
}

/* Invalidations in a block need not look at the list any more. Locked. */
static inline void inflight_unlist(struct mlx5_ep_inflight_block *block)
{
	atomic_andnot(block->watched ? INFLIGHT_LISTED :
				       INFLIGHT_LISTED | INFLIGHT_LOOK,
		      &block->small);
}

/* Does a range lie in one block? */
static __always_inline bool inflight_is_narrow(unsigned long start,
					       unsigned long end)
{
	return !((start ^ (end - 1)) >> INFLIGHT_BLOCK_SHIFT);
}

static __always_inline struct mlx5_ep_inflight_block *
inflight_block_before(struct mlx5_ep_inflight *f, unsigned long start)
{
	return inflight_block(f, start - (1UL << INFLIGHT_BLOCK_SHIFT));
}

/* A watch is added (@by 1) or removed (-1). Locked. */
static __always_inline void inflight_count_watch(struct mlx5_ep_inflight *f,
						 unsigned long start,
						 unsigned long end, int by)
{
	struct mlx5_ep_inflight_block *block;
	unsigned long i;

	if (likely(inflight_is_narrow(start, end))) {
		inflight_count_block(inflight_block_before(f, start), by, 0);
		inflight_count_block(inflight_block(f, start), by, 0);
		return;
	}
	inflight_for_each_block(f, block, i, start, end)
		inflight_count_block(block, by, INFLIGHT_WIDE);
}

/*
 * May an invalidation of a range be under way? A full barrier: an invalidation
 * that did not see what the caller wrote before is found. Locked.
 */
static __always_inline bool inflight_overlaps(struct mlx5_ep_inflight *f,
					      unsigned long start,
					      unsigned long end)
{
	struct mlx5_ep_inflight_block *block;
	unsigned long i;

	/* Pairs with inflight_begin() and inflight_end(). */
	smp_mb();
	if (likely(inflight_is_narrow(start, end))) {
		if ((atomic_read(&inflight_block(f, start)->small) |
		     atomic_read(&inflight_block_before(f, start)->small)) &
		    INFLIGHT_NUMBER)
			return true;
	} else {
		inflight_for_each_block(f, block, i, start, end)
			if (atomic_read(&block->small) & INFLIGHT_NUMBER)
				return true;
	}
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

#endif /* MLX5_EP_WATCH_INFLIGHT_H */
