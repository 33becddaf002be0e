// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What decides whether a suspect watch is as it was: the fingerprint of its
 * range, a hash of the frames mapped there, in order, so that comparing takes
 * constant memory per watch. While the range is registered its frames are
 * pinned and cannot be freed, so another frame is another page.
 *
 * Looking must not change what is looked at. FOLL_DUMP makes a hole in
 * anonymous memory an error instead of a new zeroed page; it waits for
 * a page that is only passing through a migration entry, as pinned pages do
 * when move_pages() tries and fails; and it does read in a page of a file, which
 * is how a page that was merely unmapped (MADV_PAGEOUT of shared memory)
 * comes back. FOLL_FORCE: protection is not the question.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "mr_slots.h"

#define FINGERPRINT_BATCH	64UL

/* Verify gives up, and says so, where the range changes all the time. */
#define VERIFY_TRIES		16

/* Each step is a bijection of the state, so any one frame decides. */
static u64 fingerprint_mix(u64 hash, unsigned long pfn)
{
	hash = (hash ^ pfn) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* Returns the number of pages found from @addr on, or an errno. */
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
 * be read, or for a userfaultfd. Returns 0; -EFAULT where a page is not mapped or
 * is not memory; -EINTR on a fatal signal.
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

/*
 * One look at a suspect watch, or at an armed one to record. Returns the state
 * that the word has afterwards, -EAGAIN where it was hit meanwhile, or an errno.
 */
static int watch_verify_once(struct mlx5_ep_watches *ws,
			     const struct mlx5_ep_watch_ref *ref, bool record)
{
	unsigned long first, npages;
	struct mlx5_ep_watch *w;
	u64 fingerprint = 0;
	bool look, wait, wake = false;
	int ret, state;
	u32 seq;

	spin_lock(&ws->lock);
	ret = watches_check(ws);
	w = ret ? NULL : mlx5_ep_watch_find(ws, ref);
	if (!w) {
		spin_unlock(&ws->lock);
		return ret ?: -ENOENT;
	}
	state = *watch_word(ws, ref->slot) & MLX5_EP_WATCH_STATE_MASK;
	first = w->start;
	npages = w->npages;
	seq = w->seq;
	look = record || w->recorded;
	wait = watches_in_flight(ws, first, watch_last(w));
	spin_unlock(&ws->lock);

	if (state != (record ? MLX5_EP_WATCH_ARMED : MLX5_EP_WATCH_SUSPECT))
		return state;

	/*
	 * Hits from here on show in seq; those before may not have changed the
	 * page table yet: wait until they have, then look.
	 */
	if (wait)
		mlx5_ep_watches_settle(ws, first, first + npages - 1);
	if (look) {
		ret = fingerprint_take(first, npages, &fingerprint);
		if (ret == -EINTR)
			return ret;
	}

	spin_lock(&ws->lock);
	state = watches_check(ws);
	w = state ? NULL : mlx5_ep_watch_find(ws, ref);
	if (!w) {
		state = state ?: -ENOENT;
	} else if (w->seq != seq) {
		state = -EAGAIN;
	} else if (record) {
		/* Not memory: a later hit is taken as a change. */
		w->recorded = !ret;
		w->fingerprint = fingerprint;
		state = MLX5_EP_WATCH_ARMED;
	} else if (look && !ret && fingerprint == w->fingerprint) {
		state = MLX5_EP_WATCH_ARMED;
		watch_set_state(watch_word(ws, ref->slot), state);
	} else {
		state = MLX5_EP_WATCH_STALE;
		wake = mlx5_ep_watch_report(ws, w, w->start, watch_last(w),
					    MLX5_EP_WATCH_CAUSE_VERIFY);
		watches_publish(ws);
	}
	spin_unlock(&ws->lock);
	if (wake)
		mlx5_ep_watches_wake(ws);
	return state;
}

/**
 * mlx5_ep_watches_verify - resolve a suspect watch, or record its pages
 * @ws: the watches
 * @ref: which; @result is filled in: a state, or -ENOENT
 * @record: take the fingerprint
 *
 * Sleeps, takes mmap_lock for reading, may fault in pages of files. It answers
 * MLX5_EP_WATCH_SUSPECT where the range is changing all the time.
 *
 * Return: 0; -EXDEV; -EIO; -EINTR on a fatal signal.
 */
int mlx5_ep_watches_verify(struct mlx5_ep_watches *ws,
			   struct mlx5_ep_watch_ref *ref, bool record)
{
	int i, ret = -EAGAIN;

	for (i = 0; i < VERIFY_TRIES && ret == -EAGAIN; i++)
		ret = watch_verify_once(ws, ref, record);
	if (ret == -EAGAIN)
		ret = MLX5_EP_WATCH_SUSPECT;
	if (ret < 0 && ret != -ENOENT)
		return ret;
	ref->result = ret;
	return 0;
}
