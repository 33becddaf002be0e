// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages of a context: for whom they count, which the context holds, and where its
 * static pages are.
 *
 * A page is charged before the driver allocates it, so that contexts which
 * allocate at the same time do not pass a limit together. It is uncharged after
 * the driver has freed it. Each page counts for the device (uar_in_use or
 * uar_observed), for the user who opened the context, and for the cgroup in which
 * that process was.
 *
 * Where pages of the system are larger than 4 KiB, the device gives all UAR
 * pages of one such page at once (uars_together of the device), and all of them
 * count.
 *
 * Static pages come and go with the context. A page that is allocated after
 * open is tracked by the page offset of its mapping, which is the same for each
 * mapping of that page.
 *
 * libmlx5 allocates one page for its CQs right after open, and ignores that the
 * allocation fails: the context then has no working CQ. So that page is charged
 * at open and at import, where the refusal can be told, and kept in reserve for the
 * first page that is charged after that.
 */

#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "account/limit.h"
#include "account/user.h"
#include "cmd.h"
#include "device.h"
#include "uuar/cgroup.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"

static bool context_pages_are_managed(const struct mlx5_ep_context *ectx)
{
	return ectx->pages == &ectx->edev->managed_pages;
}

/**
 * mlx5_ep_context_pages_budget() - UAR pages that all managed contexts may hold
 * @edev: whose contexts they are
 *
 * If the administrator has set no budget, it is three quarters of the device's
 * pages; the rest is left to the other contexts.
 *
 * Return: pages of 4 KiB.
 */
unsigned int mlx5_ep_context_pages_budget(struct mlx5_ep_device *edev)
{
	return READ_ONCE(edev->values.budget) ?:
	       mlx5_ep_cmd_uar_pages(edev->mdev) / 4 * 3;
}

static unsigned int
context_pages_user_limit(const struct mlx5_ep_device *edev)
{
	return READ_ONCE(edev->values.user_limit) ?: UINT_MAX;
}

/* What the device may hold in @ectx->pages. A managed context always opens. */
static unsigned int context_pages_most(const struct mlx5_ep_context *ectx,
				       bool opening)
{
	return context_pages_are_managed(ectx) && !opening ?
		       mlx5_ep_context_pages_budget(ectx->edev) : UINT_MAX;
}

static int context_pages_refuse(struct mlx5_ep_context *ectx,
				unsigned int pages, unsigned int most)
{
	struct mlx5_ep_refusal refusal = {
		.what = "UAR pages",
		.who = "the sum of managed contexts",
		.held = atomic_read(ectx->pages),
		.refused = pages,
		.reason = MLX5_EP_REASON_BUDGET,
		.limit = most,
	};

	return mlx5_ep_limit_refuse(ectx->edev, &refusal);
}

static int context_pages_check(struct mlx5_ep_context *ectx,
			       unsigned int pages, bool opening)
{
	unsigned int most = context_pages_most(ectx, opening);
	struct mlx5_ep_device *edev = ectx->edev;
	int ret;

	ret = mlx5_ep_cgroup_check(edev, ectx->cgroup, pages) ?:
	      mlx5_ep_user_check(edev, ectx->user, MLX5_EP_UAR_PAGES, pages,
				 context_pages_user_limit(edev));
	if (!ret && !mlx5_ep_account_fits(pages, atomic_read(ectx->pages), most))
		ret = context_pages_refuse(ectx, pages, most);
	return ret;
}

/* Count pages for the device. */
static int context_pages_charge_device(struct mlx5_ep_context *ectx,
				       unsigned int pages, bool opening)
{
	unsigned int most = context_pages_most(ectx, opening);
	int held = atomic_read(ectx->pages);

	do {
		if (!mlx5_ep_account_fits(pages, held, most))
			return context_pages_refuse(ectx, pages, most);
	} while (!atomic_try_cmpxchg(ectx->pages, &held, held + pages));
	return 0;
}

static int context_pages_charge_all(struct mlx5_ep_context *ectx,
				    unsigned int pages, bool opening)
{
	struct mlx5_ep_device *edev = ectx->edev;
	int ret;

	/*
	 * A charge that is taken back refuses others in between. So all limits are
	 * looked at first, and what most share is charged last.
	 */
	ret = context_pages_check(ectx, pages, opening);
	if (ret)
		return ret;
	ret = mlx5_ep_cgroup_charge(edev, ectx->cgroup, pages);
	if (ret)
		return ret;
	ret = mlx5_ep_user_charge(edev, ectx->user, MLX5_EP_UAR_PAGES, pages,
				  context_pages_user_limit(edev));
	if (ret)
		goto err_cgroup;
	ret = context_pages_charge_device(ectx, pages, opening);
	if (ret)
		goto err_user;
	return 0;

err_user:
	mlx5_ep_account_uncharge(ectx->user, MLX5_EP_UAR_PAGES, pages);
err_cgroup:
	mlx5_ep_account_uncharge(ectx->cgroup, MLX5_EP_UAR_PAGES, pages);
	return ret;
}

/**
 * mlx5_ep_context_pages_are_limited() - may a limit refuse the context a page?
 * @ectx: context after mlx5_ep_context_init()
 *
 * Return: false if no limit is set for the user or for the cgroup
 */
bool mlx5_ep_context_pages_are_limited(const struct mlx5_ep_context *ectx)
{
	return READ_ONCE(ectx->edev->values.user_limit) ||
	       mlx5_ep_account_is_limited(ectx->cgroup);
}

/**
 * mlx5_ep_context_pages_charge() - charge the pages that are allocated at open
 * @ectx: context whose @pages is set
 * @pages: how many; the budget does not refuse them
 *
 * Return: 0; -EDQUOT: the user would hold more than uar_user_limit, or the
 * cgroup more than its limit
 */
int mlx5_ep_context_pages_charge(struct mlx5_ep_context *ectx,
				 unsigned int pages)
{
	return context_pages_charge_all(ectx, pages, true);
}

/**
 * mlx5_ep_context_pages_uncharge() - give charged pages back
 * @ectx: context for which the pages were charged; no lock is needed
 * @pages: how many of them; not more than are charged
 */
void mlx5_ep_context_pages_uncharge(struct mlx5_ep_context *ectx,
				    unsigned int pages)
{
	atomic_sub(pages, ectx->pages);
	mlx5_ep_account_uncharge(ectx->user, MLX5_EP_UAR_PAGES, pages);
	mlx5_ep_account_uncharge(ectx->cgroup, MLX5_EP_UAR_PAGES, pages);
}

/**
 * mlx5_ep_context_pages_reserve() - charge the page that is allocated next
 * @ectx: open context; no lock is needed
 *
 * Nothing is charged if a page is in reserve already. The budget refuses none.
 *
 * Return: 0; -EDQUOT: as mlx5_ep_context_pages_charge()
 */
int mlx5_ep_context_pages_reserve(struct mlx5_ep_context *ectx)
{
	unsigned int pages = ectx->edev->uars_together;
	int ret;

	if (READ_ONCE(ectx->reserved))
		return 0;
	ret = mlx5_ep_context_pages_charge(ectx, pages);
	if (ret)
		return ret;
	if (cmpxchg(&ectx->reserved, 0, pages))
		mlx5_ep_context_pages_uncharge(ectx, pages);
	return 0;
}

/**
 * mlx5_ep_context_pages_charge_one() - charge what one allocation after open gives
 * @ectx: open context; no lock is needed
 *
 * The caller passes the page on to mlx5_ep_context_pages_track(), or gives the
 * charge back by mlx5_ep_context_pages_uncharge_one().
 *
 * Return: 0; -EDQUOT: uar_user_limit, the limit of a cgroup or, in a managed
 * context, uar_budget is reached
 */
int mlx5_ep_context_pages_charge_one(struct mlx5_ep_context *ectx)
{
	if (xchg(&ectx->reserved, 0))
		return 0;
	return context_pages_charge_all(ectx, ectx->edev->uars_together, false);
}

/**
 * mlx5_ep_context_pages_uncharge_one() - give the charge of one allocation back
 * @ectx: open context for which the page was charged; no lock is needed
 *
 * The page has been freed, or could not be allocated, or is not a UAR page.
 */
void mlx5_ep_context_pages_uncharge_one(struct mlx5_ep_context *ectx)
{
	mlx5_ep_context_pages_uncharge(ectx, ectx->edev->uars_together);
}

/**
 * mlx5_ep_context_pages_tracks() - is the page at an offset charged already?
 * @ectx: open context; no lock is needed
 * @pgoff: page offset of the page's mapping
 */
bool mlx5_ep_context_pages_tracks(struct mlx5_ep_context *ectx,
				  unsigned long pgoff)
{
	return xa_load(&ectx->dynamic, pgoff);
}

/**
 * mlx5_ep_context_pages_track() - remember a charged page by its offset
 * @ectx: open context for which the page was charged; its lock is not held, as
 *	memory is allocated
 * @pgoff: page offset of the page's mapping
 * @entry: entry of the core for that mapping; for a page that has none and
 *	stays until the context is closed, xa_mk_value() of its number
 *
 * Two threads can track one page: the one that allocated it and one that maps
 * it. The page counts once.
 *
 * When a page is freed, the core first gives its offset free, and the driver
 * frees the page later. In between another page can be tracked at that offset.
 * It takes the old page's place in the count, and mlx5_ep_context_pages_untrack()
 * tells whoever frees the old page so.
 *
 * If there is no memory to remember the page, the page is uncharged again.
 */
void mlx5_ep_context_pages_track(struct mlx5_ep_context *ectx,
				 unsigned long pgoff, void *entry)
{
	if (xa_store(&ectx->dynamic, pgoff, entry, GFP_KERNEL))
		mlx5_ep_context_pages_uncharge_one(ectx);
}

/**
 * mlx5_ep_context_pages_untrack() - an entry of the core is about to be freed
 * @ectx: context that owns @entry; no lock is needed
 * @entry: the entry, which may be that of something else than a UAR page
 *
 * Return: true if the page of @entry is charged. The caller must then call
 * mlx5_ep_context_pages_uncharge_one() after the driver has freed the page.
 */
bool mlx5_ep_context_pages_untrack(struct mlx5_ep_context *ectx,
				   struct rdma_user_mmap_entry *entry)
{
	return xa_cmpxchg(&ectx->dynamic, entry->start_pgoff, entry, NULL, 0) ==
	       entry;
}

/**
 * mlx5_ep_context_pages_uncharge_all() - give back all charges of a closed context
 * @ectx: context that the driver does not have any more; its @user is still
 *	valid
 */
void mlx5_ep_context_pages_uncharge_all(struct mlx5_ep_context *ectx)
{
	unsigned int pages = ectx->static_pages + ectx->reserved;
	unsigned long index;
	void *entry;

	xa_for_each(&ectx->dynamic, index, entry)
		pages += ectx->edev->uars_together;
	xa_destroy(&ectx->dynamic);
	mlx5_ep_context_pages_uncharge(ectx, pages);
}

/**
 * mlx5_ep_context_pages_note_mm() - a UAR page was put behind a static page
 * @entry: the static page; the context's back_lock is held
 * @mm: address space where that was done
 *
 * The address space is held, so that its address is not that of another one later.
 */
void mlx5_ep_context_pages_note_mm(struct mlx5_ep_uuar_page *entry,
				   struct mm_struct *mm)
{
	struct mm_struct *was = entry->mm;

	mmgrab(mm);
	WRITE_ONCE(entry->mm, mm);
	if (was)
		mmdrop(was);
}

/**
 * mlx5_ep_context_pages_note_static() - static pages were mapped
 * @ectx: open context, managed or not; its lock is taken here
 * @page: index of the first of the pages that the device gave at once; the
 *	driver has checked that the context owns them
 * @uar: number of that page in the device
 */
void mlx5_ep_context_pages_note_static(struct mlx5_ep_context *ectx,
				       unsigned int page, u32 uar)
{
	unsigned int end = page + ectx->edev->uars_together;
	struct mlx5_ep_uuar_page *entry;

	spin_lock(&ectx->lock);
	for (; ectx->table && page < min(end, ectx->table->nr_pages);
	     page++, uar++) {
		entry = &ectx->table->pages[page];
		if (!entry->known) {
			entry->uar = uar;
			entry->known = true;
			entry->empty = false;
		}
		WARN_ON_ONCE(entry->uar != uar);
	}
	spin_unlock(&ectx->lock);
}

/**
 * mlx5_ep_context_pages_note_empty() - note a mapping without UAR pages
 * @ectx: open context with a table; its lock is taken here
 * @page: index of the first page
 * @addr: address of the mapping
 *
 * The library maps each page once, while it opens the context, and rings there.
 * So the first mapping counts; one that a program makes later does not.
 */
void mlx5_ep_context_pages_note_empty(struct mlx5_ep_context *ectx,
				      unsigned int page, unsigned long addr)
{
	unsigned int end = page + ectx->edev->uars_together;

	spin_lock(&ectx->lock);
	for (; page < end; page++) {
		struct mlx5_ep_uuar_page *entry = &ectx->table->pages[page];

		if (entry->empty || entry->known)
			continue;
		entry->addr = addr;
		entry->empty = true;
	}
	spin_unlock(&ectx->lock);
}

/**
 * mlx5_ep_context_pages_uar() - look up the number of a static page in the device
 * @ectx: open context with a table; its lock is taken here
 * @page: index of the page
 * @uar: answer, valid where true is returned
 *
 * Return: false if no UAR page of the device is behind the static page yet
 */
bool mlx5_ep_context_pages_uar(struct mlx5_ep_context *ectx, unsigned int page,
			       u32 *uar)
{
	bool known;

	spin_lock(&ectx->lock);
	known = ectx->table->pages[page].known;
	*uar = ectx->table->pages[page].uar;
	spin_unlock(&ectx->lock);
	return known;
}
