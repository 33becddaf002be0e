// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uUAR policies: pure functions over a context's table.
 *
 * The model. A context has nr_pages static UAR pages of two uUARs each, named
 * by static bfreg index 0 .. 2 * nr_pages - 1. libmlx5 decides from the index
 * alone how it rings (providers/mlx5/mlx5.c, need_uuar_lock()):
 *
 *   - index 0: the 64-bit doorbell only, no lock, no BlueFlame. Any number of
 *     QPs may share it, but it is the slowest, and page 0 takes the doorbells
 *     of all CQs too. It is the last resort.
 *   - index >= 2 * nr_pages - low_latency: BlueFlame without a lock. Two QPs
 *     there would tear each other's writes.
 *   - the others: BlueFlame under a lock. Any number of QPs may share them.
 *
 * What never happens:
 *
 *   - a second QP on a uUAR that libmlx5 rings with BlueFlame and no lock;
 *   - QPs of two processes on one uUAR but 0: each has a lock of its own for it;
 *   - a pick on a page that the device has not and the library has not mapped, or
 *     that the caller has found to be of no use to the creator of the QP;
 *   - a pick that another policy level would have made better, or under
 *     "strict" any pick of a worse level than the policy's own.
 *
 * Pages are taken from the top, where the uUARs without a lock are; page 0
 * comes last, its second uUAR first.
 */

#include <linux/kernel.h>

#include "uuar_policy.h"

/* Pages of a context whose QPs share uUARs, if uuar_pages is 0. */
#define SHARED_PAGES 4

/*
 * The most pages that a policy takes for its CPUs, if uuar_pages is 0: libmlx5 maps
 * each of them when it opens the context.
 */
#define AUTOMATIC_PAGES 16U

/* What a process may map: the default of vm.max_map_count, which no module can ask. */
#define MOST_MAPPINGS 65530U

/* A context takes this part, at most, of the mappings that its process has left. */
#define PART_OF_MAPPINGS 512U

#define POLICY_NAME(policy, name)                                              \
	[policy] = name,

const char *const mlx5_ep_uuar_policy_names[MLX5_EP_NR_POLICIES] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

static unsigned int policy_nr_uuars(const struct mlx5_ep_uuar_table *t)
{
	return t->nr_pages * MLX5_EP_UUARS_PER_PAGE;
}

/* Lowest index that libmlx5 rings with BlueFlame and no lock. */
static unsigned int policy_first_low_latency(const struct mlx5_ep_uuar_table *t)
{
	if (t->low_latency >= policy_nr_uuars(t))
		return 1;
	return policy_nr_uuars(t) - t->low_latency;
}

/* Was this page found to be of no use to the creator of the next QP? */
static bool policy_is_avoided(const struct mlx5_ep_uuar_table *t,
			      unsigned int page)
{
	const unsigned int bits = 8 * sizeof(*t->avoid);

	return t->avoid && t->avoid[page / bits] >> page % bits & 1;
}

/* Can a QP be placed on this page? */
static bool policy_usable_page(const struct mlx5_ep_uuar_table *t,
			       unsigned int page)
{
	if (policy_is_avoided(t, page))
		return false;
	return t->pages[page].known || (t->pages[page].empty && !t->closed);
}

/*
 * Has another process QPs on this uUAR? A forked child has a copy of the parent's
 * locks, and the two would tear each other's writes.
 */
static bool policy_is_anothers(const struct mlx5_ep_uuar_table *t,
			       unsigned int uuar)
{
	const struct mlx5_ep_uuar_page *page =
		&t->pages[uuar / MLX5_EP_UUARS_PER_PAGE];

	return uuar && mlx5_ep_uuar_table_qps(t, uuar) &&
	       page->owner[uuar % MLX5_EP_UUARS_PER_PAGE] != t->owner;
}

static bool policy_usable(const struct mlx5_ep_uuar_table *t, unsigned int uuar)
{
	return policy_usable_page(t, uuar / MLX5_EP_UUARS_PER_PAGE) &&
	       !policy_is_anothers(t, uuar);
}

/* An empty known page, from the top; -ENOSPC when there is none. */
static int policy_pick_empty_page(const struct mlx5_ep_uuar_table *t)
{
	unsigned int page = t->nr_pages;

	while (page-- > 0) {
		if (!policy_usable_page(t, page) ||
		    mlx5_ep_uuar_page_qps(&t->pages[page]))
			continue;
		/* uUAR 0 has no BlueFlame: page 0 starts with its second. */
		return page * MLX5_EP_UUARS_PER_PAGE + (page == 0);
	}
	return -ENOSPC;
}

/* A free uUAR on the page with the fewest QPs, never uUAR 0. */
static int policy_pick_free_uuar(const struct mlx5_ep_uuar_table *t)
{
	unsigned int least = 0;
	unsigned int uuar = policy_nr_uuars(t);
	int best = -ENOSPC;

	while (--uuar > 0) {
		unsigned int load = mlx5_ep_uuar_page_qps(
			&t->pages[uuar / MLX5_EP_UUARS_PER_PAGE]);

		if (!policy_usable(t, uuar) || mlx5_ep_uuar_table_qps(t, uuar))
			continue;
		if (best < 0 || load < least) {
			best = uuar;
			least = load;
		}
	}
	return best;
}

/* A free uUAR whose sibling is in use, so that pages fill up one by one. */
static int policy_pick_half_page(const struct mlx5_ep_uuar_table *t)
{
	unsigned int uuar = policy_nr_uuars(t);

	while (--uuar > 0) {
		if (policy_usable(t, uuar) &&
		    !mlx5_ep_uuar_table_qps(t, uuar) &&
		    mlx5_ep_uuar_table_qps(t, uuar ^ 1))
			return uuar;
	}
	return -ENOSPC;
}

/* The least shared uUAR that is locked; page 0 only if no other is better. */
static int policy_pick_shared_uuar(const struct mlx5_ep_uuar_table *t)
{
	unsigned int end = policy_first_low_latency(t);
	unsigned int uuar, least = 0;
	int best = -ENOSPC;

	for (uuar = MLX5_EP_UUARS_PER_PAGE; uuar < end; uuar++) {
		if (!policy_usable(t, uuar))
			continue;
		if (best < 0 || mlx5_ep_uuar_table_qps(t, uuar) < least) {
			best = uuar;
			least = mlx5_ep_uuar_table_qps(t, uuar);
		}
	}
	if (end > 1 && policy_usable(t, 1) &&
	    (best < 0 || mlx5_ep_uuar_table_qps(t, 1) < least))
		best = 1;
	return best;
}

/*
 * As mlx5_ib picks on static pages (alloc_bfreg()): one QP on each uUAR without a
 * lock, from the lowest, and then the least used of the others.
 */
static int policy_pick_stock(const struct mlx5_ep_uuar_table *t)
{
	unsigned int end = policy_first_low_latency(t);
	unsigned int uuar, least = 0;
	int best = -ENOSPC;

	for (uuar = end; uuar < policy_nr_uuars(t); uuar++)
		if (policy_usable(t, uuar) && !mlx5_ep_uuar_table_qps(t, uuar))
			return uuar;
	for (uuar = 1; uuar < end; uuar++) {
		if (!policy_usable(t, uuar))
			continue;
		if (best < 0 || mlx5_ep_uuar_table_qps(t, uuar) < least) {
			best = uuar;
			least = mlx5_ep_uuar_table_qps(t, uuar);
		}
	}
	return best;
}

/* If no uUAR is locked: a free one, or else uUAR 0 with its doorbell. */
static int policy_pick_last_resort(const struct mlx5_ep_uuar_table *t)
{
	int uuar = policy_pick_free_uuar(t);

	if (uuar < 0 && policy_usable(t, 0))
		return 0;
	return uuar;
}

/**
 * mlx5_ep_uuar_policy_pick() - choose the uUAR of the next QP
 * @t: table of the context; its policy is stock if the context was managed and
 *	its owner asked for stock later
 *
 * Does not change the table.
 *
 * Return: static bfreg index; -ENOSPC where the policy is strict and its level
 * is used up, or where the table is not ready.
 */
int mlx5_ep_uuar_policy_pick(const struct mlx5_ep_uuar_table *t)
{
	int uuar = -ENOSPC;

	switch (t->policy) {
	case MLX5_EP_UUAR_POLICY_INDEPENDENT:
		uuar = policy_pick_empty_page(t);
		if (uuar >= 0 || t->strict)
			return uuar;
		uuar = policy_pick_free_uuar(t);
		break;
	case MLX5_EP_UUAR_POLICY_SHARED_UAR:
		uuar = policy_pick_half_page(t);
		if (uuar < 0)
			uuar = policy_pick_empty_page(t);
		if (uuar >= 0 || t->strict)
			return uuar;
		break;
	case MLX5_EP_UUAR_POLICY_STOCK:
		uuar = policy_pick_stock(t);
		break;
	case MLX5_EP_UUAR_POLICY_SHARED_UUAR:
		break;
	}
	if (uuar < 0)
		uuar = policy_pick_shared_uuar(t);
	if (uuar < 0)
		uuar = policy_pick_last_resort(t);
	return uuar;
}

/* Pages of a context that spreads its QPs, where nobody said how many. */
static unsigned int policy_automatic_pages(const struct mlx5_ep_uuar_sizing *s)
{
	unsigned int left = s->mappings < MOST_MAPPINGS ?
		MOST_MAPPINGS - s->mappings : 0;

	return max(min3(s->cpus, AUTOMATIC_PAGES, left / PART_OF_MAPPINGS),
		   s->library);
}

/**
 * mlx5_ep_uuar_policy_pages() - how many static pages a context asks for
 * @s: what decides
 *
 * Where nobody said how many, the policies that spread QPs take one page per CPU,
 * at most 16. They take fewer in a process that has used up most of the mappings
 * that it may have, but no fewer than the library asked for. A policy of shared
 * uUARs takes a few, and needs at least one uUAR that is locked and has BlueFlame
 * beside the library's low latency range. Where the budget has less, less is taken, but
 * always one page: a context without a page cannot ring at all.
 *
 * Return: pages, 1 to MLX5_EP_MAX_PAGES
 */
unsigned int mlx5_ep_uuar_policy_pages(const struct mlx5_ep_uuar_sizing *s)
{
	unsigned int pages = s->wanted;

	if (!pages && s->policy == MLX5_EP_UUAR_POLICY_SHARED_UUAR)
		pages = SHARED_PAGES;
	if (!pages)
		pages = policy_automatic_pages(s);
	if (s->policy == MLX5_EP_UUAR_POLICY_SHARED_UUAR) {
		/* uUAR 0, one that is locked, and the low latency range */
		unsigned int least = (s->low_latency + 2 + 1) / 2;

		if (pages < least)
			pages = least;
	}
	if (pages > s->available)
		pages = s->available;
	if (pages > MLX5_EP_MAX_PAGES)
		pages = MLX5_EP_MAX_PAGES;
	return pages ? pages : 1;
}

/**
 * mlx5_ep_uuar_policy_low_latency() - the count to ask the driver for
 * @library: the library's count of uUARs that it rings without a lock
 * @pages: static pages of the context
 *
 * mlx5_ib wants at least one uUAR outside of the range. The library's view is
 * not changed by what is asked for: with a smaller count here mlx5_ib, where it
 * places QPs itself, still puts one QP only on each uUAR but the first.
 *
 * Return: uUARs, never more than the library's
 */
unsigned int mlx5_ep_uuar_policy_low_latency(unsigned int library,
					     unsigned int pages)
{
	unsigned int most = pages * MLX5_EP_UUARS_PER_PAGE - 1;

	return min(library, most);
}

/**
 * mlx5_ep_uuar_table_ready() - can the table place any number of QPs?
 * @t: table of a context, whose lock is held
 *
 * A QP that fits on no other page goes to page 0, which libmlx5 maps first. A
 * table that is ready stays so.
 *
 * Return: true when it can
 */
bool mlx5_ep_uuar_table_ready(const struct mlx5_ep_uuar_table *t)
{
	return t->pages[0].known;
}

/**
 * mlx5_ep_uuar_table_add() - note a QP on a uUAR
 * @t: table of a context, whose lock is held
 * @uuar: static bfreg index
 */
void mlx5_ep_uuar_table_add(struct mlx5_ep_uuar_table *t, unsigned int uuar)
{
	struct mlx5_ep_uuar_page *page =
		&t->pages[uuar / MLX5_EP_UUARS_PER_PAGE];

	page->qps[uuar % MLX5_EP_UUARS_PER_PAGE]++;
	page->owner[uuar % MLX5_EP_UUARS_PER_PAGE] = t->owner;
}

/**
 * mlx5_ep_uuar_table_del() - forget a QP on a uUAR
 * @t: table of a context, whose lock is held
 * @uuar: static bfreg index that was added before
 */
void mlx5_ep_uuar_table_del(struct mlx5_ep_uuar_table *t, unsigned int uuar)
{
	t->pages[uuar / MLX5_EP_UUARS_PER_PAGE]
		.qps[uuar % MLX5_EP_UUARS_PER_PAGE]--;
}

/**
 * mlx5_ep_uuar_table_locked() - does libmlx5 ring this uUAR under a lock?
 * @t: table of a context; no lock is needed, since the layout never changes
 * @uuar: static bfreg index
 *
 * Return: true when it does
 */
bool mlx5_ep_uuar_table_locked(const struct mlx5_ep_uuar_table *t,
			       unsigned int uuar)
{
	return uuar && uuar < policy_first_low_latency(t);
}

/**
 * mlx5_ep_uuar_table_level() - how much a QP on this uUAR shares
 * @t: table of a context, whose lock is held
 * @uuar: static bfreg index with at least one QP
 *
 * Return: 1 alone on its page, 2 own uUAR, 3 shared uUAR
 */
unsigned int mlx5_ep_uuar_table_level(const struct mlx5_ep_uuar_table *t,
				      unsigned int uuar)
{
	const struct mlx5_ep_uuar_page *page =
		&t->pages[uuar / MLX5_EP_UUARS_PER_PAGE];

	if (mlx5_ep_uuar_table_qps(t, uuar) > 1)
		return 3;
	return mlx5_ep_uuar_page_qps(page) > 1 ? 2 : 1;
}
