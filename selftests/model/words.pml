/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What user space may conclude from the mapped page. The kernel changes words,
 * then the header's counters, and last its flag; a reader looks the other way
 * round. A slot is freed and used again while a reader still holds the word
 * that it got when it armed the slot: the generation tells both apart.
 *
 * What must hold: a reader that sees a hit counted sees the word changed; a
 * reader that sees the flag DEAD sees no word armed; a reader takes no watch of
 * a later generation for its own.
 *
 * Memory order: stores reach the reader in any order, and it loads in any order,
 * unless a release or an acquire forbids it.
 *
 * config: -DCYCLES=2
 * config: -DCYCLES=3
 * variant: NO_RELEASE_TOTAL - watches_publish() stores the total without release
 * variant: NO_RELEASE_DEAD - watches_kill_words() stores the flag without release
 * variant: NO_ACQUIRE - the reader loads the header without acquire
 * variant: NO_GENERATION - watch_add_locked() reuses the last generation
 * variant: NO_KILL - watches_fini() leaves the words as they are
 */

#ifdef NO_RELEASE_TOTAL
#define RELEASE_TOTAL 0
#else
#define RELEASE_TOTAL 1
#endif
#ifdef NO_RELEASE_DEAD
#define RELEASE_DEAD 0
#else
#define RELEASE_DEAD 1
#endif
#ifdef NO_ACQUIRE
#define ACQUIRE 0
#else
#define ACQUIRE 1
#endif

mtype = { FREE, ARMED, STALE };

/* The word of one slot: its state and its generation, which change at once. */
mtype state = FREE;
byte generation;
byte total;		/* header: watch_total */
bool dead;		/* header: MLX5_EP_NOTIFIER_PAGE_DEAD */

/* What is true, whether it shows or not. */
byte armed_last;	/* generation given out last */
byte hit[4];		/* watch_total at the hit of a generation; 0: none yet */
bool freed[4];		/* mlx5ep_watch_del() has returned */

proctype kernel()
{
	byte cycle, count;
	bool stored, published;

	do
	:: cycle < CYCLES ->
		/* watch_add_locked() */
		atomic {
#ifndef NO_GENERATION
			armed_last++;
#else
			armed_last = (armed_last -> armed_last : 1);
#endif
			state = ARMED;
			generation = armed_last
		}
		/* hit_watch(), then watches_publish(); or no hit */
		if
		:: atomic { count++; stored = 0; published = 0 }
			do
			:: atomic {
				!stored ->
				state = STALE;
				hit[armed_last] = count;
				stored = 1
			   }
			:: atomic {
				!published && (stored || !RELEASE_TOTAL) ->
				total = count;
				published = 1
			   }
			:: stored && published -> break
			od
		:: skip
		fi;
		if
		:: cycle + 1 < CYCLES ->
			/* watch_del_locked() */
			atomic {
				state = FREE;
				generation = 0;
				freed[armed_last] = 1
			}
		:: else
		fi;
		cycle++
	:: else -> break
	od;

	/* watches_kill_words() */
	atomic { stored = 0; published = 0 }
	do
	:: atomic {
		!stored ->
#ifndef NO_KILL
		state = (state == FREE -> FREE : STALE);
#endif
		stored = 1
	   }
	:: atomic {
		!published && (stored || !RELEASE_DEAD) ->
		dead = 1;
		published = 1
	   }
	:: stored && published -> break
	od
}

/* mlx5ep_watch_valid() behind a look at the header */
proctype reader()
{
	byte own, counted, seen_generation;
	mtype seen;
	bool was_dead, was_freed, header, word;

	armed_last;
	do
	:: true ->
		atomic {
			/* The first watch or the last one is its own. */
			if
			:: own = 1
			:: own = armed_last
			fi;
			/* Known from a call that returned before. */
			was_freed = freed[own];
			header = 0;
			word = 0
		}
		do
		:: atomic {
			!header ->
			counted = total;
			was_dead = dead;
			header = 1
		   }
		:: atomic {
			!word && (header || !ACQUIRE) ->
			seen = state;
			seen_generation = generation;
			word = 1
		   }
		:: header && word -> break
		od;
		atomic {
			if
			:: seen == ARMED && seen_generation == own ->
				assert(!was_freed);
				assert(!was_dead);
				assert(!hit[own] || counted < hit[own])
			:: else
			fi
		}
	:: dead -> break
	od
}

init { atomic { run kernel(); run reader() } }
