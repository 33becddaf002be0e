// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watched ranges: begun, added, deleted, ended.
 *
 * All notifiers of a process share one mmu_notifier (invalidate.c) and the
 * interval trees that have their watches by page number (tree.h).
 * Documentation/results/notifications.md has the figures of this and other
 * ways.
 *
 * A watch lives in a slot. Slots come in chunks of 4 KiB, which are found by
 * number from user space's slot and by address from the tree's nodes. A watch's
 * word, which user space maps, is
 *
 *	generation << 2 | state
 *
 * and a generation is never used twice in a notifier.
 *
 * A watch whose word cannot change any more, or whose event already covers all
 * of it, "rests": it stays in its tree, but searches pass it over until verify
 * looks at it. So the same pages are changed the second time as if nobody watched
 * them.
 *
 * What never happens:
 * - a system call that unmaps, moves or frees a page of a watched range returns
 *   while the word is still armed: the word changes in the callback, before the
 *   page table does;
 * - a watch is armed while an invalidation of its range is under way that did not
 *   change its word: add waits for those that began before;
 * - verify arms a watch that was hit after verify had begun to look: the watch's
 *   @seq counts hits, and a watch that verify looks at does not rest;
 * - a stale watch becomes armed again;
 * - a word is armed when nothing follows the address space: fini makes all words
 *   stale first, and gives the subscription back after that.
 *
 * Watches of dma-bufs share slots, words and events with these, and no tree has them
 * (dmabuf.c).
 *
 * Locking: mlx5_ep_watch_space.lock is a leaf but for the wait queues' locks. It
 * is taken in the callback, which reclaim may call: nothing sleeps, allocates or
 * touches user memory under it. Nobody holds it for long: work on many watches
 * lets it go after each batch. @grow_lock is taken before it and is held over
 * an allocation, never over a fault.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "watch/invalidate.h"
#include "watch/tree.h"

#define WATCH_MAX_PAGES		U32_MAX

/**
 * mlx5_ep_watches_init() - begin to follow the caller's address space
 * @ws: all bytes are zero
 * @capacity: watches at most, not 0
 * @wait: woken when there is an event to read
 *
 * Sleeps.
 *
 * Return: 0; -ENOMEM, -ERESTARTNOINTR
 */
int mlx5_ep_watches_init(struct mlx5_ep_watches *ws, u32 capacity,
			 wait_queue_head_t *wait)
{
	unsigned long nr_chunks = DIV_ROUND_UP((unsigned long)capacity,
					       WATCHES_PER_CHUNK);
	int ret = -ENOMEM;

	mutex_init(&ws->grow_lock);
	refcount_set(&ws->users, 1);
	INIT_LIST_HEAD(&ws->pending_chunks);
	INIT_LIST_HEAD(&ws->partial);
	INIT_LIST_HEAD(&ws->dmabufs);
	mutex_init(&ws->reap_lock);
	ws->mm = current->mm;
	ws->capacity = capacity;
	ws->wait = wait;

	ws->chunks = kvcalloc(nr_chunks, sizeof(*ws->chunks), WATCH_GFP);
	if (!ws->chunks)
		return ret;
	ws->area = mlx5_ep_watch_slots_area_alloc(capacity);
	if (!ws->area)
		goto err_chunks;
	ws->header = ws->area->pages[0];
	ws->bytes = nr_chunks * sizeof(*ws->chunks) +
		    struct_size(ws->area, pages, ws->area->nr_pages) +
		    PAGE_SIZE;
	ws->space = mlx5_ep_watch_space_get();
	if (IS_ERR(ws->space)) {
		ret = PTR_ERR(ws->space);
		goto err_area;
	}
	spin_lock(&ws->space->lock);
	list_add(&ws->node, &ws->space->watches);
	spin_unlock(&ws->space->lock);
	return 0;

err_area:
	mlx5_ep_watch_slots_area_put(ws->area);
err_chunks:
	kvfree(ws->chunks);
	return ret;
}

/* Takes a watch from the tree. Locked. */
static __always_inline void watch_unhook(struct mlx5_ep_watches *ws,
					 struct mlx5_ep_watch *w)
{
	struct mlx5_ep_watch_space *space = ws->space;

	tree_remove(space, w);
	inflight_count_watch(&space->inflight, watch_addr(w),
			     watch_addr_end(w), -1);
}

/* Makes the words of a chunk stale and takes its watches from the tree. */
static void watch_kill_chunk(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_watch_chunk *chunk, u32 from,
			     u32 to)
{
	struct mlx5_ep_watch_space *space = ws->space;
	struct mlx5_ep_watch *w;
	u32 i;

	spin_lock(&space->lock);
	for (i = from; i < to; i++) {
		w = &chunk->watches[i];
		if (chunk->base + i >= ws->capacity ||
		    (chunk->free & BIT_ULL(i)))
			continue;
		slots_set_state(slots_word(ws, chunk->base + i),
				MLX5_EP_WATCH_STATE_STALE);
		if (w->is_dmabuf)
			slots_drop_dmabuf(ws, w);
		else if (!space->mm_gone)
			watch_unhook(ws, w);
	}
	spin_unlock(&space->lock);
	cond_resched();
}

/**
 * mlx5_ep_watches_fini() - stop following
 * @ws: watches that are in use; called once, without the lock of their address
 *	space
 *
 * All words become stale, then the address space and the dma-bufs are given back.
 * Mappings may outlive the notifier: none of their words stays armed. The structure
 * stays valid: every other call fails with -EIO from here on. Waits for no call that
 * runs, but for one that detaches dma-bufs. Sleeps.
 */
void mlx5_ep_watches_fini(struct mlx5_ep_watches *ws)
{
	u32 i, from;

	spin_lock(&ws->space->lock);
	WRITE_ONCE(ws->dead, true);
	list_del(&ws->node);
	spin_unlock(&ws->space->lock);
	wake_up_all(&ws->space->ended);

	/* Nothing is added any more. Verify cannot arm, but hits still count. */
	for (i = 0; i < ws->nr_chunks; i++)
		for (from = 0; from < WATCHES_PER_CHUNK;
		     from += WATCH_PIECE)
			watch_kill_chunk(ws, ws->chunks[i], from,
					 min(from + WATCH_PIECE,
					     WATCHES_PER_CHUNK));
	/* The words come before the flag that says so. */
	smp_store_release(&ws->header->flags, MLX5_EP_NOTIFIER_PAGE_DEAD);
	mlx5_ep_watch_dmabuf_reap(ws);
	mlx5_ep_watch_slots_put(ws);
}

/* Also removes the tag of a tagged address. */
static int watch_add_check(struct mlx5_ep_watch_add *add)
{
	u64 end;

	add->addr = compat_untagged_addr(add->addr);
	if (add->flags || !add->length ||
	    check_add_overflow(add->addr, add->length, &end) ||
	    end > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	if (PFN_UP(end) - PFN_DOWN(add->addr) > WATCH_MAX_PAGES)
		return -EINVAL;
	if (PAGE_ALIGN(end) > TASK_SIZE)
		return -EFAULT;
	return 0;
}

/* Returns true if the caller must wait for an invalidation to end. Locked. */
static __always_inline bool watch_add_locked(struct mlx5_ep_watches *ws,
					     struct mlx5_ep_watch_add *add)
{
	unsigned long first = PFN_DOWN(add->addr);
	unsigned long behind = PFN_UP(add->addr + add->length);
	unsigned long start = first << PAGE_SHIFT, end = behind << PAGE_SHIFT;
	struct mlx5_ep_watch *w = slots_take(ws);

	w->start = first;
	w->npages = behind - first;
	w->fingerprint = 0;
	slots_begin(ws, w, add->cookie, false);
	tree_insert(ws->space, w);
	inflight_count_watch(&ws->space->inflight, start, end, 1);

	add->slot = watch_chunk(w)->base + w->index;
	add->word = slots_arm(ws, w);
	return space_in_flight(ws->space, first, behind - 1);
}

static __always_inline int
watch_del_locked(struct mlx5_ep_watches *ws,
		 const struct mlx5_ep_watch_ref *ref,
		 struct mlx5_ep_watch_parts **dropped)
{
	struct mlx5_ep_watch *w = slots_find(ws, ref);
	struct mlx5_ep_watch_chunk *chunk;
	unsigned int index;

	if (!w)
		return -ENOENT;
	chunk = watch_chunk(w);
	index = ref->slot - chunk->base;

	/* User space that sees the word also sees what came before it. */
	smp_store_release(slots_chunk_word(chunk, index),
			  MLX5_EP_WATCH_STATE_FREE);
	if (unlikely(w->is_dmabuf)) {
		slots_drop_dmabuf(ws, w);
	} else {
		watch_unhook(ws, w);
		slots_drop_parts(ws, w, dropped);
	}
	ws->live--;
	if (chunk->pending & BIT_ULL(index))
		slots_unqueue(ws, chunk, index);
	if (unlikely(!chunk->free))
		list_add(&chunk->partial_node, &ws->partial);
	chunk->free |= BIT_ULL(index);
	return 0;
}

/**
 * mlx5_ep_watches_undo_add() - delete watches that were just added
 * @ws: used by the caller
 * @adds: what mlx5_ep_watches_add() has filled in
 * @count: length of @adds
 */
void mlx5_ep_watches_undo_add(struct mlx5_ep_watches *ws,
			      const struct mlx5_ep_watch_add *adds,
			      unsigned int count)
{
	while (count--) {
		struct mlx5_ep_watch_ref ref = {
			.word = adds[count].word,
			.slot = adds[count].slot,
		};

		mlx5_ep_watches_del(ws, &ref, 1);
	}
}

/* Waits for invalidations that began before the watches were in the tree. */
static int watches_wait(struct mlx5_ep_watches *ws,
			const struct mlx5_ep_watch_add *adds,
			unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = mlx5_ep_watch_invalidate_wait(
			ws, PFN_DOWN(adds[i].addr),
			PFN_UP(adds[i].addr + adds[i].length) - 1);
	return ret;
}

/* Adds from @adds on. Returns their number, 0 to grow, or errno. */
static int watches_add_some(struct mlx5_ep_watches *ws,
			    struct mlx5_ep_watch_add *adds, unsigned int count,
			    bool *wait)
{
	unsigned int i;
	int ret = 0;

	spin_lock(&ws->space->lock);
	if (unlikely(ws->dead))
		ret = -EIO;
	for (i = 0; !ret && i < count; i++) {
		if (unlikely(list_empty(&ws->partial)))
			break;
		*wait |= watch_add_locked(ws, &adds[i]);
	}
	spin_unlock(&ws->space->lock);
	return ret ?: i;
}

/**
 * mlx5_ep_watches_add() - arm watches
 * @ws: used by the caller
 * @adds: the ranges; @word and @slot are filled in
 * @count: length of @adds, at most WATCH_PIECE
 *
 * When it has returned, every system call that changes a range changes the
 * watch's word before it returns. Sleeps.
 *
 * Return: 0; else none was added: -EINVAL, -EFAULT, -ENOSPC, -ENOMEM, -EINTR or
 * -EIO, as uapi/rdma/mlx5_ep_notifier.h says
 */
int mlx5_ep_watches_add(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_add *adds, unsigned int count)
{
	unsigned int i;
	bool wait = false;
	int ret;

	for (i = 0; i < count; i++) {
		ret = watch_add_check(&adds[i]);
		if (ret)
			return ret;
	}

	for (i = 0; i < count;) {
		ret = watches_add_some(ws, &adds[i], count - i, &wait);
		if (ret > 0)
			i += ret;
		else if (!ret)
			ret = mlx5_ep_watch_slots_grow(ws);
		if (ret < 0)
			goto err_undo;
	}
	if (unlikely(wait)) {
		ret = watches_wait(ws, adds, count);
		if (ret)
			goto err_undo;
	}
	return 0;

err_undo:
	mlx5_ep_watches_undo_add(ws, adds, i);
	return ret;
}

/**
 * mlx5_ep_watches_del() - delete watches
 * @ws: used by the caller
 * @refs: which; @result is filled in
 * @count: length of @refs, at most WATCH_PIECE
 *
 * Return: 0; -ENOENT: at least one was not found, the others are deleted;
 * -EIO
 */
int mlx5_ep_watches_del(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_ref *refs, unsigned int count)
{
	struct mlx5_ep_watch_parts *dropped = NULL;
	unsigned int i;
	bool reap;
	int ret = 0;

	spin_lock(&ws->space->lock);
	if (unlikely(ws->dead))
		ret = -EIO;
	for (i = 0; ret != -EIO && i < count; i++) {
		refs[i].result = watch_del_locked(ws, &refs[i], &dropped);
		if (refs[i].result)
			ret = refs[i].result;
	}
	reap = !list_empty(&ws->dmabufs);
	spin_unlock(&ws->space->lock);
	mlx5_ep_fingerprint_parts_put_list(dropped);
	if (unlikely(reap))
		mlx5_ep_watch_dmabuf_reap(ws);
	return ret;
}
