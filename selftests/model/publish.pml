/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What one thread fills and then publishes by a pointer, which others load without a
 * lock: the channel of a registration, behind the rest of its source of events
 * (kernel/watch/notifier_source.c), and a page of words (kernel/watch/slots.c).
 *
 * What must hold: who sees the pointer sees all that was written before it.
 *
 * Memory order: as in words.pml.
 *
 * config: -DREADERS=1
 * config: -DREADERS=3
 * variant: NO_RELEASE - mlx5_ep_notifier_source_init(), slots_grow_words(): no release
 * variant: NO_ACQUIRE - mlx5_ep_notifier_post(), notifier_vma_fault(): no acquire
 */

#ifdef NO_RELEASE
#define RELEASE 0
#else
#define RELEASE 1
#endif
#ifdef NO_ACQUIRE
#define ACQUIRE 0
#else
#define ACQUIRE 1
#endif

bool filled[2];		/* source->node and source->cookie; two words of the page */
bool published;		/* source->notifier, area->pages[i] */

proctype publisher()
{
	bool shown;

	do
	:: atomic { !filled[0] -> filled[0] = 1 }
	:: atomic { !filled[1] -> filled[1] = 1 }
	:: atomic {
		!shown && (filled[0] && filled[1] || !RELEASE) ->
		published = 1;
		shown = 1
	   }
	:: filled[0] && filled[1] && shown -> break
	od
}

proctype reader()
{
	bool pointer, asked, looked[2], seen[2];

	do
	:: atomic { !asked -> pointer = published; asked = 1 }
	:: atomic { !looked[0] && (asked || !ACQUIRE) -> seen[0] = filled[0]; looked[0] = 1 }
	:: atomic { !looked[1] && (asked || !ACQUIRE) -> seen[1] = filled[1]; looked[1] = 1 }
	:: asked && looked[0] && looked[1] -> break
	od;
	assert(!pointer || seen[0] && seen[1])
}

init {
	byte i;

	atomic {
		run publisher();
		do
		:: i < READERS -> run reader(); i++
		:: else -> break
		od
	}
}
