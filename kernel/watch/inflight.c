// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The slow paths of inflight.h: the list, and threads that wait. */
#include <linux/bitmap.h>
#include <linux/bug.h>

#include "watch/inflight.h"

/*
 * Must an invalidation that begins or ends at @start look at the list? If one
 * found no room there, nobody knows where it began.
 */
static bool inflight_is_listed(struct mlx5_ep_inflight *f, unsigned long start)
{
	unsigned int i;

	if (f->waiters || f->more)
		return true;
	for (i = 0; i < f->count; i++)
		if (inflight_index(f->list[i].start) == inflight_index(start))
			return true;
	return false;
}

/**
 * mlx5_ep_inflight_list() - list an invalidation that inflight_begin() counted
 * @f: the lock of the address space is held
 * @range: of the invalidation
 *
 * A short invalidation stays a number if no thread waits, or if the list is
 * full.
 *
 * Return: true if threads that wait must be woken
 */
bool mlx5_ep_inflight_list(struct mlx5_ep_inflight *f,
			   const struct mmu_notifier_range *range)
{
	bool is_small = inflight_is_small(range->start, range->end);
	struct mlx5_ep_inflight_block *block = inflight_block(f, range->start);

	if (is_small && (!f->waiters || f->count == INFLIGHT_LIST))
		return false;
	if (f->count < INFLIGHT_LIST)
		f->list[f->count++] = (struct mlx5_ep_inflight_range){
			range, range->start, range->end
		};
	else
		f->more++;
	/* The list has the invalidation before the number falls: no waiter misses it. */
	atomic_or(INFLIGHT_LISTED | INFLIGHT_LOOK, &block->small);
	return !(atomic_dec_return(&block->small) & INFLIGHT_NUMBER) &&
	       f->waiters;
}

/**
 * mlx5_ep_inflight_end_listed() - end an invalidation that may be in the list
 * @f: the lock of the address space is held
 * @range: of the invalidation
 *
 * Return: true if threads that wait must be woken
 */
bool mlx5_ep_inflight_end_listed(struct mlx5_ep_inflight *f,
				 const struct mmu_notifier_range *range)
{
	struct mlx5_ep_inflight_block *block = inflight_block(f, range->start);
	unsigned int i;

	for (i = 0; i < f->count && f->list[i].key != range; i++)
		;
	if (i < f->count) {
		f->list[i] = f->list[--f->count];
	} else if (inflight_is_small(range->start, range->end)) {
		/*
		 * No barrier: the number is read under the lock only. A reader that
		 * sees it lower took the lock later, and sees the changed page table.
		 */
		atomic_dec(&block->small);
	} else if (!WARN_ON_ONCE(!f->more)) {
		f->more--;
	}
	if (!inflight_is_listed(f, range->start))
		inflight_unlist(block);
	return f->waiters;
}

/**
 * mlx5_ep_inflight_wait_begin() - list all invalidations that begin from now on
 * @f: the lock of the address space is held
 */
void mlx5_ep_inflight_wait_begin(struct mlx5_ep_inflight *f)
{
	unsigned int i;

	if (f->waiters++)
		return;
	for (i = 0; i < INFLIGHT_BLOCKS; i++)
		atomic_or(INFLIGHT_LISTED | INFLIGHT_LOOK, &f->blocks[i].small);
}

/**
 * mlx5_ep_inflight_wait_end() - a thread has stopped waiting
 * @f: the lock of the address space is held
 */
void mlx5_ep_inflight_wait_end(struct mlx5_ep_inflight *f)
{
	DECLARE_BITMAP(listed, INFLIGHT_BLOCKS) = {};
	unsigned int i, kept = 0;

	if (--f->waiters)
		return;
	for (i = 0; i < f->count; i++) {
		struct mlx5_ep_inflight_range *range = &f->list[i];

		if (inflight_is_small(range->start, range->end)) {
			atomic_inc(&inflight_block(f, range->start)->small);
		} else {
			__set_bit(inflight_index(range->start), listed);
			f->list[kept++] = *range;
		}
	}
	f->count = kept;
	/* The numbers are right before the flag says to use them. */
	smp_mb__before_atomic();
	for (i = 0; i < INFLIGHT_BLOCKS && !f->more; i++)
		if (!test_bit(i, listed))
			inflight_unlist(&f->blocks[i]);
}
