// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The list of mr_inflight.h, and what waiters do. */
#include <linux/bug.h>

#include "mr_inflight.h"

static void inflight_set_listed(struct mlx5_ep_inflight *f)
{
	WRITE_ONCE(f->listed, f->waiters || f->count || f->more);
}

/**
 * mlx5_ep_inflight_list - list an invalidation that inflight_begin() counted
 * @f: what is under way, locked
 * @range: its range
 *
 * Unless it is short and nobody waits any more, or there is no room.
 *
 * Return: true where waiters are to be woken.
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
	/* In the list before it is out of the numbers. */
	return atomic_dec_and_test(&inflight_block(f, range->start)->small) &&
	       f->waiters;
}

/**
 * mlx5_ep_inflight_end_listed - one that may be in the list has ended
 * @f: what is under way, locked
 * @range: its range
 *
 * Return: true where waiters are to be woken.
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
		/* After what was done to the page table. */
		smp_mb__before_atomic();
		atomic_dec(&inflight_block(f, range->start)->small);
	} else if (!WARN_ON_ONCE(!f->more)) {
		f->more--;
	}
	inflight_set_listed(f);
	return f->waiters;
}

/**
 * mlx5_ep_inflight_wait_begin - from now on list all that begin
 * @f: what is under way, locked
 */
void mlx5_ep_inflight_wait_begin(struct mlx5_ep_inflight *f)
{
	f->waiters++;
	inflight_set_listed(f);
}

/**
 * mlx5_ep_inflight_wait_end - a waiter has waited enough
 * @f: what is under way, locked
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
	/* Numbers before they are looked for there. */
	smp_wmb();
	inflight_set_listed(f);
}
