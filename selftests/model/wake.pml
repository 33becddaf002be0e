/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events and those who wait for one: a poster queues an event and wakes sleepers
 * only if there are any; a reader queues itself and then looks once more.
 *
 * What must hold: a reader does not sleep while an event is pending, and the
 * count of pending events never falls below 0.
 *
 * Memory order: as in watch.pml.
 *
 * config: -DPOSTERS=2 -DREADERS=2
 * config: -DPOSTERS=3 -DREADERS=1
 * variant: NO_MB_SLEEPER - wq_has_sleeper() without its barrier
 * variant: NO_MB_QUEUE - the reader looks before others see it queued
 * variant: NO_LOOK_QUEUED - the reader does not look again once it is queued
 * variant: WAKE_EARLY - the sleepers are woken before the event is counted
 * variant: NO_LOCK_TAKE - the reader takes an event without the lock
 */

#ifdef NO_MB_SLEEPER
#define MB_SLEEPER 0
#else
#define MB_SLEEPER 1
#endif
#ifdef NO_MB_QUEUE
#define MB_QUEUE 0
#else
#define MB_QUEUE 1
#endif

short pending;		/* mlx5_ep_watches.pending */
bool lock;		/* mlx5_ep_watches.lock */
bool queued[READERS];	/* on mlx5_ep_notifier.wait */
byte posted;
byte taken;

#define LOCK() atomic { !lock; lock = 1 }
#define UNLOCK() lock = 0

inline wake_up()
{
	atomic {
		n = 0;
		do
		:: n < READERS -> queued[n] = 0; n++
		:: else -> break
		od;
		n = 0
	}
}

inline look_sleepers()
{
	atomic {
		n = 0;
		sleepers = 0;
		do
		:: n < READERS -> sleepers = sleepers || queued[n]; n++
		:: else -> break
		od;
		n = 0
	}
}

/* watch_queue(), then mlx5_ep_watches_wake() */
proctype poster()
{
	bool first, sleepers, stored, unlocked, looked;
	byte n;

	LOCK();
#ifdef WAKE_EARLY
	first = pending == 0;
	if
	:: first -> wake_up()
	:: else
	fi;
	atomic { pending++; posted++; UNLOCK() }
#else
	/* Who finds an event pending already leaves the waking to its poster. */
	first = pending == 0;
	do
	:: atomic { !stored -> pending++; posted++; stored = 1 }
	:: atomic { stored && !unlocked -> UNLOCK(); unlocked = 1 }
	:: atomic {
		!looked && (unlocked || !MB_SLEEPER) ->
		look_sleepers();
		looked = 1
	   }
	:: unlocked && looked -> break
	od;
	if
	:: first && sleepers -> wake_up()
	:: else
	fi
#endif
}

/* wait_event_interruptible() and mlx5_ep_watch_event_take() */
proctype reader(byte me)
{
	bool seen, stored, looked;
	short was;

	do
	:: taken == POSTERS -> break
	:: else ->
		atomic { stored = 0; looked = 0; seen = 0 }
#ifdef NO_LOOK_QUEUED
		seen = pending > 0;
		if
		:: !seen -> queued[me] = 1; (!queued[me] || taken == POSTERS)
		:: else
		fi;
#else
		do
		:: atomic { !stored -> queued[me] = 1; stored = 1 }
		:: atomic {
			!looked && (stored || !MB_QUEUE) ->
			seen = pending > 0;
			looked = 1
		   }
		:: stored && looked -> break
		od;
		if
		:: seen -> queued[me] = 0
		:: else -> (!queued[me] || taken == POSTERS)
		fi;
#endif
		/* Takes all that there is, as read() with room for it does. */
#ifdef NO_LOCK_TAKE
		was = pending;
#else
		LOCK();
		was = pending;
#endif
		if
		:: was > 0 -> pending = pending - was; taken = taken + was
		:: else
		fi;
		assert(pending >= 0);
#ifndef NO_LOCK_TAKE
		UNLOCK()
#endif
	od
}

init {
	byte i;

	atomic {
		do
		:: i < POSTERS -> run poster(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < READERS -> run reader(i); i++
		:: else -> break
		od
	}
}
