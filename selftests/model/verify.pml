/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A registered and watched range of two parts, threads that invalidate either or
 * both, and threads that ask VERIFY about the same watch. kernel/watch/ has the
 * code; each part names its function. watch.pml has what this model assumes: that
 * an invalidation is counted before it hits, and who waits for it sees it.
 *
 * What must hold at every moment: while the word is ARMED, the frames that are
 * mapped are those that the adapter uses. Besides: no thread is told ARMED if the
 * memory had changed before it asked, and nobody sleeps for ever.
 *
 * Memory order: the load by which wake_up_var() finds out whether somebody waits
 * happens anywhere behind the beginning of the section with the lock.
 *
 * config: -DINVALIDATORS=2 -DASKERS=2
 * config: -DINVALIDATORS=2 -DASKERS=3
 * variant: NO_SEQ - verify_end() does not look whether the watch was hit
 * variant: NO_WHOLE - a watch that rests has only the parts looked at that it had
 * variant: NO_WAKE_WATCH - verify_begin() leaves a watch at rest
 * variant: FORGET_EARLY - verify_begin() forgets the hits, and not verify_end()
 * variant: KEEP_LAST - a hit replaces the range of the hits before it
 * variant: TAKE_ANSWER - who waits takes the answer of the look, not the word
 * variant: NO_WAIT_RANGE - VERIFY does not wait for what is under way
 * variant: NO_WAKE_WAITERS - the end of a look wakes nobody
 * variant: NO_LOCK_LOOK - who waits asks without the lock whether a thread looks
 */

mtype = { ARMED, SUSPECT, STALE };

/* struct mlx5_ep_watch, its parts and its word */
mtype word = ARMED;
byte seq;
bool resting;
bool looked_at;
bool hit_part[2];	/* hit_first to hit_last, which are two parts at most */

/* the page table, and what is pinned; a frame is not used again */
byte mapped[2] = 0;
byte fresh = 1;
byte flying[2];		/* invalidations under way */

bool lock;			/* mlx5_ep_watch_space.lock */
bool queued[ASKERS];		/* waits for the end of a look */
bool answer;			/* of the last look: all were the same */

#define CHANGED() (mapped[0] != 0 || mapped[1] != 0)
#define CHECK() assert(word != ARMED || !CHANGED())

/* One madvise() or the like. */
proctype invalidator()
{
	bool part[2], change;

	atomic {
		if
		:: part[0] = 1
		:: part[1] = 1
		:: part[0] = 1; part[1] = 1
		fi;
		if
		:: change = 1
		:: change = 0
		fi;
		/* inflight_begin() */
		flying[0] = flying[0] + part[0];
		flying[1] = flying[1] + part[1]
	}
	atomic {
		!lock;
		if
		:: resting
		:: else ->
			/* hit_watch() */
			seq++;
			word = SUSPECT;
			if
			:: resting = 1	/* WATCH_MAX_HITS */
			:: resting = (part[0] && part[1])
			fi;
#ifdef KEEP_LAST
			hit_part[0] = part[0];
			hit_part[1] = part[1];
#else
			hit_part[0] = hit_part[0] || part[0];
			hit_part[1] = hit_part[1] || part[1];
#endif
#ifndef NO_WHOLE
			/* mlx5_ep_fingerprint_parts_hit() */
			hit_part[0] = hit_part[0] || resting;
			hit_part[1] = hit_part[1] || resting
#endif
		fi
	}
	atomic {
		if
		:: change && part[0] -> mapped[0] = fresh; fresh++
		:: else
		fi;
		if
		:: change && part[1] -> mapped[1] = fresh; fresh++
		:: else
		fi;
		CHECK()
	}
	atomic {
		/* inflight_end() */
		flying[0] = flying[0] - part[0];
		flying[1] = flying[1] - part[1]
	}
}

/* wait_var_event_killable() in verify_once() */
inline wait_look()
{
	do
	:: queued[me] = 1;
#ifdef NO_LOCK_LOOK
		busy = looked_at;
#else
		atomic { !lock -> busy = looked_at }
#endif
		if
		:: !busy -> break
		:: else -> !queued[me]
		fi
	od;
	atomic { queued[me] = 0; busy = 0 }
}

/* verify_end() of a look that found @same, and the wake-up behind it */
inline end_look()
{
	atomic { !lock -> lock = 1 }
	do
	:: atomic {
		!ended ->
		looked_at = 0;
		answer = same;
#ifdef NO_SEQ
		again = 0;
#else
		again = (seq != seen);
#endif
		if
		:: !again && same ->
			word = ARMED;
			hit_part[0] = 0;
			hit_part[1] = 0;
			CHECK()
		:: !again && !same ->
			word = STALE;
			resting = 1
		:: else
		fi;
		result = word;
		ended = 1
	   }
	:: atomic {
		!waits ->
		n = 0;
		do
		:: n < ASKERS -> sleeper[n] = queued[n]; n++
		:: else -> break
		od;
		waits = 1
	   }
	:: atomic { ended && waits -> ended = 0; waits = 0; lock = 0; break }
	od;
	atomic {
		n = 0;
		do
		:: n < ASKERS ->
#ifndef NO_WAKE_WAITERS
			queued[n] = queued[n] && !sleeper[n];
#endif
			sleeper[n] = 0;
			n++
		:: else -> break
		od;
		n = 0
	}
}

/* mlx5_ep_watch_verify() */
proctype asker(byte me)
{
	mtype result;
	bool was_changed, part[2], same, again, busy, ended, waits;
	bool sleeper[ASKERS];
	byte seen, n;

end_idle:
	/* A thread may never have had a reason to ask. */
	atomic { word == SUSPECT -> was_changed = CHANGED() }
retry:
	/* verify_begin() */
	atomic {
		!lock;
		result = word;
		busy = looked_at;
		if
		:: word == SUSPECT && !looked_at ->
			looked_at = 1;
#ifndef NO_WAKE_WATCH
			resting = 0;
#endif
			seen = seq;
			part[0] = hit_part[0];
			part[1] = hit_part[1];
#ifdef FORGET_EARLY
			hit_part[0] = 0;
			hit_part[1] = 0
#endif
		:: else
		fi
	}
	if
	:: result != SUSPECT -> busy = 0; goto done
	:: result == SUSPECT && busy ->
		wait_look();
#ifdef TAKE_ANSWER
		result = (answer -> ARMED : STALE);
		goto done
#else
		goto retry
#endif
	:: else
	fi;
#ifndef NO_WAIT_RANGE
	/* mlx5_ep_watch_invalidate_wait() */
	(!part[0] || !flying[0]) && (!part[1] || !flying[1]);
#endif
	/* verify_pages() */
	same = 1;
	same = same && (!part[0] || mapped[0] == 0);
	same = same && (!part[1] || mapped[1] == 0);
	end_look();
	atomic { part[0] = 0; part[1] = 0; same = 0; seen = 0 }
	if
	:: again -> again = 0; goto retry
	:: else
	fi;
done:
	assert(!was_changed || result != ARMED)
}

init {
	byte i;

	atomic {
		do
		:: i < INVALIDATORS -> run invalidator(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < ASKERS -> run asker(i); i++
		:: else -> break
		od
	}
}
