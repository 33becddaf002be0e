/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * References to the registrations of a cache.
 *
 * A hit takes no lock. It reads a pointer to an entry from a table of hints,
 * becomes a user of the entry, and looks at the entry only then. These rules make
 * that safe:
 *
 * - One word of an entry, @refs, says whether the entry is kept (CACHE_KEPT) and
 *   how many users it has (CACHE_USER each).
 * - A thread becomes a user of a kept entry only. It does so with one
 *   compare-and-exchange of the whole word.
 * - CACHE_KEPT is set and cleared with the lock of the cache held. It is set exactly
 *   while the entry is in the tree. So a thread that found an entry in the tree and
 *   still holds the lock may become a user without a comparison.
 * - The thread that makes the word 0 owns the entry. No other thread can become a
 *   user any more, so exactly one thread deregisters, and then passes the entry's
 *   memory on to the next registration.
 * - Range, watch and registration of an entry are written by its owner only.
 *   cache_ref_init() publishes them.
 * - The memory of an entry is freed with the cache and not before. So a hint that
 *   is out of date still points to an entry. It may be the entry of another
 *   registration: the user compares the range, and the word of the watch, after it
 *   has become a user.
 */
#ifndef MLX5EP_MR_CACHE_REF_H
#define MLX5EP_MR_CACHE_REF_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_KEPT	1ull
#define CACHE_USER	2ull

/* Publishes an entry with one user. Called by its owner, with the lock held. */
static inline void cache_ref_init(uint64_t *refs, bool kept)
{
	__atomic_store_n(refs, CACHE_USER | (kept ? CACHE_KEPT : 0),
			 __ATOMIC_RELEASE);
}

/* Becomes a user. false if the entry is not kept. */
static inline bool cache_ref_get(uint64_t *refs)
{
	uint64_t now = __atomic_load_n(refs, __ATOMIC_RELAXED);

	while (now & CACHE_KEPT)
		if (__atomic_compare_exchange_n(refs, &now, now + CACHE_USER,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

/* Becomes a user of an entry that is kept. Called with the lock held. */
static inline void cache_ref_get_kept(uint64_t *refs)
{
	__atomic_add_fetch(refs, CACHE_USER, __ATOMIC_ACQUIRE);
}

/* Ends a use. true: the caller owns the entry now. */
static inline bool cache_ref_put(uint64_t *refs)
{
	return !__atomic_sub_fetch(refs, CACHE_USER, __ATOMIC_SEQ_CST);
}

/*
 * Clears CACHE_KEPT. Called with the lock held. true: the caller owns the entry now;
 * otherwise the last user will.
 */
static inline bool cache_ref_drop(uint64_t *refs)
{
	return !__atomic_and_fetch(refs, ~CACHE_KEPT, __ATOMIC_ACQ_REL);
}

/* As cache_ref_drop(), but does nothing if the entry has a user. */
static inline bool cache_ref_drop_idle(uint64_t *refs)
{
	uint64_t idle = CACHE_KEPT;

	return __atomic_compare_exchange_n(refs, &idle, 0, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static inline bool cache_ref_kept(const uint64_t *refs)
{
	return __atomic_load_n(refs, __ATOMIC_RELAXED) & CACHE_KEPT;
}

static inline bool cache_ref_idle(const uint64_t *refs)
{
	return __atomic_load_n(refs, __ATOMIC_ACQUIRE) == CACHE_KEPT;
}

#endif
