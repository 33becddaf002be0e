// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UCX's lookups of kept registrations.
 *
 * The lookup is inlined into UCX's protocol library. It first looks whether
 * events are queued, then calls ucs_pgtable_lookup(), which is in another
 * library. So that call can be answered here. If this thread may not have seen
 * the newest event, all events are told to UCX, and the answer is "no such
 * registration". UCX then takes its slow path, which locks, looks at the queued
 * events, and finds the registration again if it is still right.
 *
 * Answering that on behalf of a thread which told nothing itself matters too:
 * another thread may have told the events after this one looked whether some
 * are queued.
 *
 * UCX keeps other tables as well, for instance of the kinds of memory. There
 * the answer would be wrong, so only calls of the protocol library get it.
 */
#include <ucs/memory/rcache.h>

#include "ucx.h"

EXPORT ucs_pgt_region_t *ucs_pgtable_lookup(const ucs_pgtable_t *pgtable,
					    ucs_pgt_addr_t address)
{
	if (__builtin_expect(ucx_events_new(), 0) &&
	    ucx_real_from_ucp(__builtin_return_address(0))) {
		ucx_noted.lookups++;
		ucx_events_tell();
		return NULL;
	}
	return REAL(ucs_pgtable_lookup)(pgtable, address);
}

/* The slow path; also of those that never try the fast one. */
EXPORT ucs_status_t ucs_rcache_get(ucs_rcache_t *rcache, void *address,
				   size_t length, size_t alignment, int prot,
				   void *arg, ucs_rcache_region_t **region_p)
{
	if (ucx_events_new())
		ucx_events_tell();
	return REAL(ucs_rcache_get)(rcache, address, length, alignment, prot,
				    arg, region_p);
}

/**
 * ucx_lookup_missed() - memory is registered, and nobody is told of what happens to it
 * @caller: what registers
 *
 * That is how it is in a program that uses no UCX. Where UCX registers for its cache, it has
 * looked there before. If that was another function, the library is bypassed altogether
 * (RTLD_DEEPBIND), which nothing else would show.
 */
void ucx_lookup_missed(const void *caller)
{
	static bool known;

	if (__atomic_load_n(&known, __ATOMIC_RELAXED) || ucx_env_off() ||
	    !ucx_real_is_transport(caller) ||
	    !ucx_real_is_bypassed(ucs_pgtable_lookup))
		return;
	__atomic_store_n(&known, true, __ATOMIC_RELAXED);
	ucx_env_decline("UCX's calls go past libmlx5ep-ucx (RTLD_DEEPBIND?): its hooks stay");
}
