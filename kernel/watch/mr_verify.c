// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Verify: is a suspect watch what it was?
 *
 * The answer comes from a fingerprint of the range, a hash of the frames that
 * are mapped there, in order. It takes constant memory per watch. While the range
 * is registered its frames are pinned and cannot be freed. So a frame with another
 * number is another page.
 *
 * Looking must not change the memory. FOLL_DUMP makes a hole in anonymous memory
 * an error instead of a new zeroed page. It waits for a page that has a migration
 * entry for the moment, as pinned pages do when move_pages() tries and fails. It
 * does read in a page of a file: a page of shared memory that was only unmapped
 * (MADV_PAGEOUT) comes back that way. FOLL_FORCE: protection does not matter.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "mr_tree.h"

#define FINGERPRINT_BATCH	64UL

/* Verify answers "suspect" if the range changes during each of so many looks. */
#define VERIFY_TRIES		16

/* Each step is a bijection of the state, so one other frame changes the result. */
static u64 fingerprint_mix(u64 hash, unsigned long pfn)
{
	hash = (hash ^ pfn) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* Returns how many pages from @addr on were found, or an errno. */
static long fingerprint_get_pages(unsigned long addr, unsigned long npages,
				  struct page **pages)
{
	long got;

	got = get_user_pages_fast_only(addr, npages, FOLL_FORCE, pages);
	if (got > 0)
		return got;
	got = get_user_pages_unlocked(addr, npages, pages,
				      FOLL_FORCE | FOLL_DUMP);
	return got ?: -EFAULT;
}

/*
 * Hashes the frames of a range of current->mm. May wait for a page of a file to
 * be read, or for a userfaultfd. Returns 0; -EFAULT: a page is not mapped or is
 * not memory; -EINTR: a fatal signal.
 */
static int fingerprint_take(unsigned long first, unsigned long npages,
			    u64 *fingerprint)
{
	struct page *pages[FINGERPRINT_BATCH];
	u64 hash = npages;

	while (npages) {
		long i, got;

		if (fatal_signal_pending(current))
			return -EINTR;
		got = fingerprint_get_pages(first << PAGE_SHIFT,
					    min(npages, FINGERPRINT_BATCH),
					    pages);
		if (got < 0)
			return fatal_signal_pending(current) ? -EINTR : -EFAULT;
		for (i = 0; i < got; i++) {
			hash = fingerprint_mix(hash, page_to_pfn(pages[i]));
			put_page(pages[i]);
		}
		first += got;
		npages -= got;
		cond_resched();
	}

	*fingerprint = hash;
	return 0;
}

/* A look at a watch, which is done without the lock. */
struct watch_look {
	unsigned long first;
	unsigned long npages;
	u64 fingerprint;
	u32 seq;
	bool wanted;	/* there is a fingerprint to compare with or to take */
	bool wait;	/* an invalidation of the range may be under way */
	int ret;	/* of the look */
};

/*
 * Begins to look: from now on every hit changes seq. Returns 0, or the state
 * if there is nothing to look at, or an errno.
 */
static int look_begin(struct mlx5_ep_watches *ws,
		      const struct mlx5_ep_watch_ref *ref, bool record,
		      struct watch_look *look)
{
	struct mlx5_ep_watch *w;
	int state;

	state = mlx5_ep_watches_check(ws);
	if (state)
		return state;
	w = mlx5_ep_watch_find(ws, ref);
	if (!w)
		return -ENOENT;
	state = *watch_word(ws, ref->slot) & MLX5_EP_WATCH_STATE_MASK;
	if (state != (record ? MLX5_EP_WATCH_STATE_ARMED :
			       MLX5_EP_WATCH_STATE_SUSPECT))
		return state;
	watch_wake(ws->space, w);
	*look = (struct watch_look){
		.first = w->start,
		.npages = w->npages,
		.seq = w->seq,
		.wanted = record || w->recorded,
		.wait = watches_in_flight(ws, w->start, watch_last(w)),
	};
	return 0;
}

/*
 * Draws the conclusion. Returns the state that the word has afterwards, -EAGAIN
 * if the watch was hit meanwhile, or an errno.
 */
static int look_end(struct mlx5_ep_watches *ws,
		    const struct mlx5_ep_watch_ref *ref, bool record,
		    const struct watch_look *look)
{
	struct mlx5_ep_watch *w;
	int ret;

	ret = mlx5_ep_watches_check(ws);
	if (ret)
		return ret;
	w = mlx5_ep_watch_find(ws, ref);
	if (!w)
		return -ENOENT;
	if (w->seq != look->seq)
		return -EAGAIN;
	if (record) {
		/* If the range is not memory, a later hit counts as a change. */
		w->recorded = !look->ret;
		w->fingerprint = look->fingerprint;
		return MLX5_EP_WATCH_STATE_ARMED;
	}
	if (look->wanted && !look->ret &&
	    look->fingerprint == w->fingerprint) {
		w->hits = 0;
		watch_set_state(watch_word(ws, ref->slot),
				MLX5_EP_WATCH_STATE_ARMED);
		return MLX5_EP_WATCH_STATE_ARMED;
	}
	mlx5_ep_watch_report(w, w->start, watch_last(w),
			     MLX5_EP_WATCH_CAUSE_VERIFY);
	return MLX5_EP_WATCH_STATE_STALE;
}

/* One look at a suspect watch, or at an armed one to record. See look_end(). */
static int watch_verify_once(struct mlx5_ep_watches *ws,
			     const struct mlx5_ep_watch_ref *ref, bool record)
{
	struct watch_look look;
	int ret;

	spin_lock(&ws->space->lock);
	ret = look_begin(ws, ref, record, &look);
	spin_unlock(&ws->space->lock);
	if (ret)
		return ret;

	/* Earlier hits may still have to change the page table: wait for them. */
	if (look.wait) {
		ret = mlx5_ep_watches_wait_inflight(
			ws, look.first, look.first + look.npages - 1);
		if (ret)
			return ret;
	}
	if (look.wanted) {
		look.ret = fingerprint_take(look.first, look.npages,
					    &look.fingerprint);
		if (look.ret == -EINTR)
			return look.ret;
	}

	spin_lock(&ws->space->lock);
	ret = look_end(ws, ref, record, &look);
	spin_unlock(&ws->space->lock);
	return ret;
}

/**
 * mlx5_ep_watches_verify() - resolve a suspect watch, or record its pages
 * @ws: used by the caller
 * @ref: which; @result is filled in: a state, or -ENOENT
 * @record: take the fingerprint
 *
 * Sleeps, takes mmap_lock for reading, may fault in pages of files. If the range
 * changes all the time, the answer is MLX5_EP_WATCH_STATE_SUSPECT.
 *
 * Return: 0; -EXDEV; -EIO; -EINTR: a fatal signal
 */
int mlx5_ep_watches_verify(struct mlx5_ep_watches *ws,
			   struct mlx5_ep_watch_ref *ref, bool record)
{
	int i, ret = -EAGAIN;

	for (i = 0; i < VERIFY_TRIES && ret == -EAGAIN; i++)
		ret = watch_verify_once(ws, ref, record);
	if (ret == -EAGAIN)
		ret = MLX5_EP_WATCH_STATE_SUSPECT;
	if (ret < 0 && ret != -ENOENT)
		return ret;
	ref->result = ret;
	return 0;
}
