// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The slow paths of mr_inflight.h: the list, and threads that wait. */
#include <linux/bug.h>

#include "mr_inflight.h"

static void inflight_set_listed(struct mlx5_ep_inflight *f)
{
	WRITE_ONCE(f->listed, f->waiters || f->count || f->more);
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

	if (is_small && (!f->waiters || f->count == INFLIGHT_LIST))
		return false;
	if (f->count < INFLIGHT_LIST)
		f->list[f->count++] = (struct mlx5_ep_inflight_range){
			range, range->start, range->end
		};
	else
		f->more++;
	inflight_set_listed(f);
	/* It is in the list before the number falls. */
	return atomic_dec_and_test(&inflight_block(f, range->start)->small) &&
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
	unsigned int i;

	for (i = 0; i < f->count && f->list[i].key != range; i++)
		;
	if (i < f->count) {
		f->list[i] = f->list[--f->count];
	} else if (inflight_is_small(range->start, range->end)) {
		/* The change of the page table comes before. */
		smp_mb__before_atomic();
		atomic_dec(&inflight_block(f, range->start)->small);
	} else if (!WARN_ON_ONCE(!f->more)) {
		f->more--;
	}
	inflight_set_listed(f);
	return f->waiters;
}

/**
 * mlx5_ep_inflight_wait_begin() - list all invalidations that begin from now on
 * @f: the lock of the address space is held
 */
void mlx5_ep_inflight_wait_begin(struct mlx5_ep_inflight *f)
{
	f->waiters++;
	inflight_set_listed(f);
}

/**
 * mlx5_ep_inflight_wait_end() - a thread has stopped waiting
 * @f: the lock of the address space is held
 */
void mlx5_ep_inflight_wait_end(struct mlx5_ep_inflight *f)
{
	unsigned int i, kept = 0;

	if (--f->waiters)
		return;
	for (i = 0; i < f->count; i++) {
		struct mlx5_ep_inflight_range *range = &f->list[i];

		if (inflight_is_small(range->start, range->end))
			atomic_inc(&inflight_block(f, range->start)->small);
		else
			f->list[kept++] = *range;
	}
	f->count = kept;
	/* The numbers are right before @listed says to use them. */
	smp_wmb();
	inflight_set_listed(f);
}
