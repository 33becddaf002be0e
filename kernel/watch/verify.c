// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Verify: is a suspect watch what it was?
 *
 * The answer comes from fingerprints (fingerprint.c). They are compared for
 * the parts of the watch that were hit since verify armed it last, so a verify
 * costs what was hit, and not what is watched.
 *
 * One thread at a time looks at a watch. Others that ask for the same watch wait
 * until it has looked, and read the answer from the word. So their answer is about
 * all hits until they read it, whenever the look began. If the word is still
 * suspect then, one of them looks.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/wait_bit.h>

#include "watch/hit.h"
#include "watch/invalidate.h"

/* Verify answers "suspect" if the range changes during each of so many looks. */
#define VERIFY_TRIES		16

/* A look at a watch, which is done without the lock. */
struct watch_look {
	struct mlx5_ep_watch *w;	/* the slot, whatever is in it by now */
	unsigned long start;	/* first page number of the watch */
	u32 npages;		/* of the watch */
	u32 first;		/* first and last page to look at, from @start */
	u32 last;
	u32 seq;
	bool record;
	bool wanted;	/* there is a fingerprint to compare with or to take */
	bool wait;	/* an invalidation of the range may be under way */
	u64 fingerprint;	/* of a watch of one part */
	struct mlx5_ep_watch_parts *parts;	/* of a longer one; held */
};

/* Sets which pages of a new look to look at: all parts that were hit. Locked. */
static void verify_set_range(struct watch_look *look,
			     const struct mlx5_ep_watch_parts *parts)
{
	look->last = look->npages - 1;
	if (look->record || !parts)
		return;
	look->first = rounddown(parts->hit_first, WATCH_PART_PAGES);
	look->last = min_t(u64, look->last,
			   roundup(parts->hit_last + 1ULL, WATCH_PART_PAGES) -
				   1);
}

/*
 * Begins to look: from now on every hit changes seq. Returns 0, or the state
 * if there is nothing to look at, or an errno. -EAGAIN: another thread looks, at
 * @look->w.
 */
static int verify_begin(struct mlx5_ep_watches *ws,
			const struct mlx5_ep_watch_ref *ref,
			struct watch_look *look)
{
	struct mlx5_ep_watch_parts *parts;
	struct mlx5_ep_watch *w;
	int state;

	state = mlx5_ep_watch_slots_check(ws);
	if (state)
		return state;
	w = mlx5_ep_watch_slots_find(ws, ref);
	if (!w)
		return -ENOENT;
	state = *slots_word(ws, ref->slot) & MLX5_EP_WATCH_STATE_MASK;
	if (state != (look->record ? MLX5_EP_WATCH_STATE_ARMED :
				     MLX5_EP_WATCH_STATE_SUSPECT) ||
	    w->is_dmabuf)
		return state;
	look->w = w;
	if (w->looked_at)
		return -EAGAIN;
	w->looked_at = true;
	tree_wake(ws->space, w);

	parts = watch_parts(w);
	look->start = w->start;
	look->npages = w->npages;
	look->seq = w->seq;
	look->wanted = look->record || w->recorded;
	verify_set_range(look, parts);
	look->wait = space_in_flight(ws->space, w->start + look->first,
				     w->start + look->last);
	if (look->record)
		return 0;
	if (parts) {
		refcount_inc(&parts->users);
		look->parts = parts;
	} else {
		look->fingerprint = w->fingerprint;
	}
	return 0;
}

/*
 * Takes or compares the fingerprints. Returns 0; -ESTALE: one differs, or a frame is
 * not pinned any more; -EFAULT: a page is not mapped or is not memory; -ENOMEM; -EINTR: a
 * fatal signal.
 */
static int verify_pages(struct watch_look *look)
{
	u64 *fingerprints = look->parts ? look->parts->fingerprints :
					  &look->fingerprint;
	u64 at, fingerprint;
	int ret;

	for (at = look->first; at <= look->last; at += WATCH_PART_PAGES) {
		ret = mlx5_ep_fingerprint_take(
			look->start + at,
			min_t(u64, WATCH_PART_PAGES, look->npages - at),
			!look->record, &fingerprint);
		if (ret)
			return ret;
		if (look->record)
			fingerprints[at / WATCH_PART_PAGES] = fingerprint;
		else if (fingerprints[at / WATCH_PART_PAGES] != fingerprint)
			return -ESTALE;
	}
	return 0;
}

/*
 * Looks, without the lock. Returns as verify_pages(), -ESTALE also if there is
 * nothing to compare with; -ENOMEM.
 */
static int verify_watch(struct mlx5_ep_watches *ws, struct watch_look *look)
{
	int ret;

	if (look->record && look->npages > WATCH_PART_PAGES) {
		look->parts = mlx5_ep_fingerprint_parts_alloc(look->npages);
		if (!look->parts)
			return -ENOMEM;
	}
	/* Earlier hits may still have to change the page table: wait for them. */
	if (look->wait) {
		ret = mlx5_ep_watch_invalidate_wait(ws,
						    look->start + look->first,
						    look->start + look->last);
		if (ret)
			return ret;
	}
	return look->wanted ? verify_pages(look) : -ESTALE;
}

/* Keeps what was recorded; @look gets the parts that it replaces. Locked. */
static void verify_keep(struct mlx5_ep_watches *ws, struct mlx5_ep_watch *w,
			struct watch_look *look)
{
	if (!look->parts) {
		w->fingerprint = look->fingerprint;
		return;
	}
	if (!w->parts)
		ws->parts_bytes += watch_parts_size(w->npages);
	swap(w->parts, look->parts);
}

/*
 * Ends the look, which returned @ret, and draws the conclusion. Returns the state
 * that the word has afterwards, -EAGAIN if the watch was hit meanwhile, or an
 * errno.
 */
static int verify_end(struct mlx5_ep_watches *ws,
		      const struct mlx5_ep_watch_ref *ref,
		      struct watch_look *look, int ret)
{
	struct mlx5_ep_watch *w = mlx5_ep_watch_slots_find(ws, ref);
	int check = mlx5_ep_watch_slots_check(ws);

	if (w)
		w->looked_at = false;
	if (check || ret == -EINTR || ret == -ENOMEM)
		return check ?: ret;
	if (!w)
		return -ENOENT;
	if (w->seq != look->seq)
		return -EAGAIN;
	if (look->record) {
		/* If the range is not memory, a later hit counts as a change. */
		w->recorded = !ret;
		if (ret)
			return -EFAULT;
		verify_keep(ws, w, look);
		return MLX5_EP_WATCH_STATE_ARMED;
	}
	if (!ret) {
		w->hits = 0;
		if (look->parts)
			watch_parts_clean(look->parts);
		slots_set_state(slots_word(ws, ref->slot),
				MLX5_EP_WATCH_STATE_ARMED);
		return MLX5_EP_WATCH_STATE_ARMED;
	}
	mlx5_ep_watch_hit_report(w, w->start, watch_last(w),
				 MLX5_EP_WATCH_CAUSE_VERIFY);
	return MLX5_EP_WATCH_STATE_STALE;
}

/* Does another thread look at the watch? */
static bool verify_is_under_way(struct mlx5_ep_watches *ws,
				const struct mlx5_ep_watch_ref *ref)
{
	struct mlx5_ep_watch *w;
	bool looked_at;

	spin_lock(&ws->space->lock);
	w = mlx5_ep_watch_slots_find(ws, ref);
	looked_at = w && w->looked_at;
	spin_unlock(&ws->space->lock);
	return looked_at;
}

/*
 * One look at a suspect watch, or at an armed one to record. Returns as
 * verify_end(), -EAGAIN also if another thread has looked.
 */
static int verify_once(struct mlx5_ep_watches *ws,
		       const struct mlx5_ep_watch_ref *ref, bool record)
{
	struct watch_look looking = { .record = record };
	int ret;

	spin_lock(&ws->space->lock);
	ret = verify_begin(ws, ref, &looking);
	spin_unlock(&ws->space->lock);
	if (ret == -EAGAIN)
		return wait_var_event_killable(looking.w,
					       !verify_is_under_way(ws, ref)) ?
			       -EINTR : ret;
	if (ret)
		return ret;

	ret = verify_watch(ws, &looking);

	spin_lock(&ws->space->lock);
	ret = verify_end(ws, ref, &looking, ret);
	spin_unlock(&ws->space->lock);
	/* A waiting thread queued itself before it asked under the lock. */
	wake_up_var(looking.w);
	mlx5_ep_fingerprint_parts_put(looking.parts);
	return ret;
}

/**
 * mlx5_ep_watch_verify() - resolve a suspect watch, or record its pages
 * @ws: used by the caller
 * @ref: which; @result is filled in: a state, or -ENOENT; -EFAULT: nothing can be
 *	recorded of a range that is not mapped, or not memory
 * @record: take the fingerprints
 *
 * Sleeps, takes mmap_lock for reading, may fault in pages of files. If the range
 * changes all the time, the answer is MLX5_EP_WATCH_STATE_SUSPECT.
 *
 * Return: 0; -EXDEV; -EIO; -ENOMEM: no room for the fingerprints, or for a page that is
 * read in; -EINTR: a fatal signal
 */
int mlx5_ep_watch_verify(struct mlx5_ep_watches *ws,
			 struct mlx5_ep_watch_ref *ref, bool record)
{
	int i, ret = -EAGAIN;

	for (i = 0; i < VERIFY_TRIES && ret == -EAGAIN; i++)
		ret = verify_once(ws, ref, record);
	if (ret == -EAGAIN)
		ret = MLX5_EP_WATCH_STATE_SUSPECT;
	if (ret < 0 && ret != -ENOENT && ret != -EFAULT)
		return ret;
	ref->result = ret;
	return 0;
}
