// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fingerprints of watched ranges: hashes of the frames that are mapped there, in
 * order. While the range is registered its frames are pinned and cannot be freed.
 * So a frame with another number is another page. A frame that is not pinned may have
 * been freed, and may have come back: to compare it would tell a process which frames the
 * kernel gives it. So it counts as another page. Whoever pins what it has now, before it
 * asks, is still told whether these are the frames that were recorded.
 *
 * A watch is cut into parts of 2 MiB from its first page on, and each part has a
 * fingerprint. A watch of one part keeps it in itself. A longer one has an array
 * of them, which is made when they are recorded and never changed after.
 *
 * Looking must not change the memory. FOLL_DUMP makes a hole in anonymous memory
 * an error instead of a new zeroed page. It waits for a page that has a migration
 * entry for the moment, as pinned pages do when move_pages() tries and fails. It
 * does read in a page of a file: a page of shared memory that was only unmapped
 * (MADV_PAGEOUT) comes back that way. FOLL_FORCE: protection does not matter.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "watch/slots.h"

#define FINGERPRINT_BATCH	64UL

/* Why nothing is looked at; NULL: it is. */
static const char *fingerprint_refusal;

/**
 * mlx5_ep_fingerprint_init() - see whether looking at a hole leaves it one
 *
 * Looks at a page of the process that loads the module. Without one, and where all memory
 * of it is locked and so has no holes, nothing is found out. Sleeps.
 */
void __init mlx5_ep_fingerprint_init(void)
{
	unsigned long hole;
	struct page *page;

	if (!current->mm || current->mm->def_flags & VM_LOCKED)
		return;
	hole = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(hole))
		return;
	if (get_user_pages_unlocked(hole, 1, &page,
				    FOLL_FORCE | FOLL_DUMP) == 1) {
		put_page(page);
		fingerprint_refusal =
			"this kernel fills memory that is looked at";
		pr_warn("mlx5_ep: %s, so no watch is recorded\n",
			fingerprint_refusal);
	}
	vm_munmap(hole, PAGE_SIZE);
}

/**
 * mlx5_ep_fingerprint_refusal() - say why no watch is recorded
 *
 * Return: the reason; NULL where watches are recorded
 */
const char *mlx5_ep_fingerprint_refusal(void)
{
	return fingerprint_refusal;
}

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

	got = compat_get_pages_fast(addr, npages, pages);
	if (got > 0)
		return got;
	got = get_user_pages_unlocked(addr, npages, pages,
				      FOLL_FORCE | FOLL_DUMP);
	return got ?: -EFAULT;
}

/**
 * mlx5_ep_fingerprint_take() - hash the frames of a range of current->mm
 * @first: first page number
 * @npages: how many
 * @pinned: to be compared: all frames must be pinned
 * @fingerprint: written on success
 *
 * May wait for a page of a file to be read, or for a userfaultfd.
 *
 * Return: 0; -EFAULT: a page is not mapped or is not memory, or the kernel cannot look
 * without changing the memory; -ESTALE: a frame is not
 * pinned; -ENOMEM: a page cannot be read in now; -EINTR: a fatal signal
 */
int mlx5_ep_fingerprint_take(unsigned long first, unsigned long npages,
			     bool pinned, u64 *fingerprint)
{
	struct page *pages[FINGERPRINT_BATCH];
	u64 hash = npages;
	bool free = false;

	if (fingerprint_refusal)
		return -EFAULT;
	while (npages && !free) {
		long i, got;

		if (fatal_signal_pending(current))
			return -EINTR;
		got = fingerprint_get_pages(first << PAGE_SHIFT,
					    min(npages, FINGERPRINT_BATCH),
					    pages);
		if (got < 0)
			return fatal_signal_pending(current) ? -EINTR :
			       got == -ENOMEM ? -ENOMEM : -EFAULT;
		for (i = 0; i < got; i++) {
			free |= pinned && !compat_page_pinned(pages[i]);
			hash = fingerprint_mix(hash, page_to_pfn(pages[i]));
			put_page(pages[i]);
		}
		first += got;
		npages -= got;
		cond_resched();
	}

	*fingerprint = hash;
	return free ? -ESTALE : 0;
}

/**
 * mlx5_ep_fingerprint_parts_alloc() - make room for fingerprints
 * @npages: length of a watch of more than one part
 *
 * Sleeps.
 *
 * Return: the room, with one reference and no page hit; NULL: no memory
 */
struct mlx5_ep_watch_parts *mlx5_ep_fingerprint_parts_alloc(u32 npages)
{
	struct mlx5_ep_watch_parts *parts =
		kvmalloc(watch_parts_size(npages), WATCH_GFP);

	if (!parts)
		return NULL;
	refcount_set(&parts->users, 1);
	watch_parts_clean(parts);
	return parts;
}

/**
 * mlx5_ep_fingerprint_parts_hit() - note which pages verify must look at
 * @w: was hit and is suspect; the lock of its address space is held
 * @first: first page hit, from the start of the watch
 * @last: last page hit, likewise
 *
 * A watch that rests is not told of further hits, so all of it counts as hit.
 */
void mlx5_ep_fingerprint_parts_hit(struct mlx5_ep_watch *w, u32 first, u32 last)
{
	struct mlx5_ep_watch_parts *parts = watch_parts(w);

	if (!parts)
		return;
	if (w->resting) {
		first = 0;
		last = w->npages - 1;
	}
	parts->hit_first = min(parts->hit_first, first);
	parts->hit_last = max(parts->hit_last, last);
}

/**
 * mlx5_ep_fingerprint_parts_put() - drop a reference to the fingerprints of a watch
 * @parts: the last reference frees them; may be NULL
 *
 * Sleeps.
 */
void mlx5_ep_fingerprint_parts_put(struct mlx5_ep_watch_parts *parts)
{
	if (parts && refcount_dec_and_test(&parts->users))
		kvfree(parts);
}

/**
 * mlx5_ep_fingerprint_parts_put_list() - drop a reference to each in a list
 * @parts: the first, linked by slots_drop_parts(); may be NULL
 *
 * Sleeps.
 */
void mlx5_ep_fingerprint_parts_put_list(struct mlx5_ep_watch_parts *parts)
{
	struct mlx5_ep_watch_parts *next;

	for (; parts; parts = next) {
		next = parts->next;
		mlx5_ep_fingerprint_parts_put(parts);
	}
}
