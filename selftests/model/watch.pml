/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One watched range, one thread that registers and uses it, threads that
 * invalidate the range or a neighbour in its block, and one thread that waits
 * for the block. kernel/watch/ has the code; each part names its function.
 *
 * What must hold at every moment: while the registration is in use and its word
 * is ARMED, the frame that the adapter uses is the frame that is mapped.
 * Besides: no count falls below 0, all counts return to 0, nobody sleeps for ever.
 *
 * Memory order: between two barriers a processor's accesses happen in any order,
 * unless one depends on the other. A loop with one guarded step for each access
 * says so; a step that a barrier orders waits for the steps before the barrier.
 *
 * config: -DINVALIDATORS=2 -DWAITERS=1
 * config: -DINVALIDATORS=1 -DWAITERS=2
 * variant: NO_MB_BEGIN - inflight_begin() is no barrier before the flags and bounds
 * variant: NO_MB_END_BEFORE - the subtraction of inflight_end() is not ordered
 * variant: NO_RELEASE_END - the unlock behind mlx5_ep_inflight_end_listed() is not ordered
 * variant: NO_MB_OVERLAPS - inflight_overlaps() without smp_mb()
 * variant: NO_WMB_WAIT_END - mlx5_ep_inflight_wait_end() clears the flag first
 * variant: NO_WAIT_ADD - adding a watch does not wait for what is under way
 * variant: NO_WAIT_VERIFY - VERIFY does not wait for what is under way
 * variant: NO_SEQ - VERIFY does not look again whether the watch was hit
 * variant: NO_MORE - long invalidations without room in the list are forgotten
 * variant: NO_WAKE_END - the end of a listed invalidation wakes nobody
 * variant: NO_LOOK_QUEUED - who waits does not look again once it is queued
 * variant: REGISTER_FIRST - the library registers before it arms
 * variant: NO_ARMED - the fingerprint is taken although the watch was hit before
 */

#define LIST_ROOM 1	/* INFLIGHT_LIST */

#ifdef NO_MB_BEGIN
#define MB_BEGIN 0
#else
#define MB_BEGIN 1
#endif
#ifdef NO_MB_END_BEFORE
#define MB_END_BEFORE 0
#else
#define MB_END_BEFORE 1
#endif
#ifdef NO_RELEASE_END
#define RELEASE_END 0
#else
#define RELEASE_END 1
#endif
#ifdef NO_MB_OVERLAPS
#define MB_OVERLAPS 0
#else
#define MB_OVERLAPS 1
#endif
#ifdef NO_WMB_WAIT_END
#define WMB_WAIT_END 0
#else
#define WMB_WAIT_END 1
#endif

mtype = { FREE, ARMED, SUSPECT, STALE };

/* struct mlx5_ep_inflight, and of one block its number and flags; the sign of the
 * number, INFLIGHT_LOOK, is watched or listed
 */
short small;
bool watched;
bool listed;
/* The bounds of the block's tree include the watch. */
bool bounds;
byte waiters;
byte count;
byte more;
bool in_list[INVALIDATORS];
/* of the invalidation: does it overlap the range, is it longer than a block? */
bool overlaps[INVALIDATORS];
bool is_long[INVALIDATORS];

/* struct mlx5_ep_watch and its word */
mtype word = FREE;
bool live;
byte seq;
bool recorded;
byte fingerprint;

/* the page table entry of the range: which frame is mapped; frames are not used
 * again while the registration pins one
 */
byte mapped = 1;
byte fresh = 2;

/* the registration, while the library's user has it */
bool registered;
byte pinned;

bool lock;			/* mlx5_ep_watch_space.lock */
bool queued[WAITERS];		/* on the wait queue of those who wait */
byte ended;			/* invalidators that are through */
bool others_done;

#define LOCK() atomic { !lock; lock = 1 }
#define UNLOCK() lock = 0
#define CHECK() assert(!registered || word != ARMED || pinned == mapped)

inline wake_all()
{
	atomic {
		n = 0;
		do
		:: n < WAITERS -> queued[n] = 0; n++
		:: else -> break
		od;
		n = 0
	}
}

/* inflight_overlaps() but for its barrier; locked */
inline look_inflight(found)
{
	atomic {
		found = small > 0;
		n = 0;
		do
		:: n < INVALIDATORS ->
			found = found || (in_list[n] && overlaps[n]);
			n++
		:: else -> break
		od;
#ifndef NO_MORE
		found = found || more > 0;
#endif
		n = 0
	}
}

/* The page table changes, or not. */
inline change_page_table()
{
	if
	:: overlaps[me] ->
		mapped = fresh;
		fresh++;
		CHECK()
	:: !overlaps[me] || clear
	fi;
	changed = 1
}

/* One munmap(), madvise() or the like: both callbacks, and the change between. */
proctype invalidator(byte me)
{
	bool list, hit, wake, clear, changed, out;
	bool counted, look, saw_listed, saw_bounds, near;
	byte n;

	atomic {
		if
		:: overlaps[me] = 1
		:: overlaps[me] = 0
		fi;
		if
		:: is_long[me] = 1
		:: is_long[me] = 0
		fi;
		if
		:: clear = 1
		:: clear = 0
		fi
	}

	/* inflight_begin() */
	do
	:: atomic { !counted -> small++; look = watched || listed; counted = 1 }
	:: atomic {
		!saw_listed && (counted || !MB_BEGIN) ->
		list = listed;
		saw_listed = 1
	   }
	:: atomic {
		/* watch_bounds_miss() */
		!saw_bounds && (counted || !MB_BEGIN) ->
		near = bounds;
		saw_bounds = 1
	   }
	:: atomic {
		counted && saw_listed && saw_bounds ->
		/* invalidate_begin_look() */
		list = look && list || is_long[me];
		hit = look && near;
		look = 0;
		saw_listed = 0;
		saw_bounds = 0;
		near = 0;
		counted = 0;
		break
	   }
	od;

	/* invalidate_begin_locked() */
	if
	:: list || hit ->
		LOCK();
		if
		:: list && (is_long[me] || (waiters && count < LIST_ROOM)) ->
			/* mlx5_ep_inflight_list() */
			atomic {
				if
				:: count < LIST_ROOM ->
					in_list[me] = 1;
					count++
				:: else -> more++
				fi;
				listed = 1
			}
			atomic { small--; wake = small == 0 && waiters }
		:: else
		fi;
		atomic {
			if
			:: overlaps[me] && live ->
				/* hit_watch() */
				seq++;
				if
				:: word != STALE ->
					if
					:: clear -> word = SUSPECT
					:: else -> word = STALE
					fi
				:: else
				fi
			:: else
			fi;
			UNLOCK()
		}
		if
		:: wake -> wake_all()
		:: else
		fi
	:: else
	fi;

	/* The page table changes; then inflight_end(). */
	atomic { wake = 0; list = 0; hit = 0 }
	do
	:: atomic { !changed -> change_page_table() }
	:: atomic { !saw_listed -> list = listed; saw_listed = 1 }
	:: atomic {
		!out && saw_listed && !list && (changed || !MB_END_BEFORE) ->
		/* atomic_add_negative() */
		small--;
		assert(small >= 0);
		look = watched || listed;
		out = 1
	   }
	:: saw_listed && (list || changed && out) -> break
	od;
	if
	:: out && look -> wake = listed; look = 0
	:: else
	fi;
	if
	:: list ->
		/*
		 * invalidate_end_locked(), mlx5_ep_inflight_end_listed(). The change may
		 * come as late as in this section: who looks for invalidations has
		 * the lock.
		 */
		LOCK();
		do
		:: atomic { !changed -> change_page_table() }
		:: atomic {
			!out ->
			if
			:: in_list[me] -> in_list[me] = 0; count--
			:: !in_list[me] && !is_long[me] ->
				small--;
				assert(small >= 0)
			:: !in_list[me] && is_long[me] ->
				assert(more > 0);
				more--
			fi;
			out = 1
		   }
		:: atomic {
			out && (changed || !RELEASE_END) ->
			listed = waiters || count || more;
#ifndef NO_WAKE_END
			wake = waiters > 0;
#endif
			UNLOCK();
			break
		   }
		od;
		if
		:: atomic { !changed -> change_page_table() }
		:: else
		fi
	:: else
	fi;
	if
	:: wake -> wake_all()
	:: else
	fi;
	ended++
}

/* mlx5_ep_watch_invalidate_wait() */
inline wait_inflight(who)
{
	atomic { !lock -> look_inflight(found) }
	if
	:: found ->
		/* mlx5_ep_inflight_wait_begin() */
		atomic { !lock -> waiters++; listed = 1 }
		/* wait_event() */
#ifdef NO_LOOK_QUEUED
		do
		:: atomic { !lock -> look_inflight(found) }
			if
			:: !found -> break
			:: else -> queued[who] = 1; !queued[who]
			fi
		od;
#else
		do
		:: queued[who] = 1;
			atomic { !lock -> look_inflight(found) }
			if
			:: !found -> break
			:: else -> !queued[who]
			fi
		od;
#endif
		queued[who] = 0;
		/* mlx5_ep_inflight_wait_end() */
		LOCK();
		waiters--;
		if
		:: waiters == 0 ->
			moved = 0;
			stored = 0;
			kept = 0;
			atomic {
				n = 0;
				do
				:: n < INVALIDATORS ->
					if
					:: in_list[n] && !is_long[n] -> moved++
					:: in_list[n] && is_long[n] -> kept++
					:: else
					fi;
					n++
				:: else -> break
				od;
				n = 0
			}
			do
			:: atomic { moved > 0 -> small++; moved-- }
			:: atomic {
				!stored && (moved == 0 || !WMB_WAIT_END) ->
				listed = kept || more;
				stored = 1
			   }
			:: moved == 0 && stored -> break
			od;
			atomic {
				n = 0;
				do
				:: n < INVALIDATORS ->
					in_list[n] = in_list[n] && is_long[n];
					n++
				:: else -> break
				od;
				n = 0;
				count = kept;
				kept = 0;
				stored = 0
			}
		:: else
		fi;
		UNLOCK()
	:: else
	fi;
	found = 0
}

/* verify_once(); to record, or to resolve SUSPECT */
inline verify(record, result)
{
	do
	:: atomic {
			!lock ->
			result = word;
			seen = seq;
			look_inflight(found)
		}
		if
#ifdef NO_ARMED
		:: !record && result != SUSPECT -> break
#else
		:: result != (record -> ARMED : SUSPECT) -> break
#endif
		:: else
		fi;
#ifndef NO_WAIT_VERIFY
		if
		:: found -> wait_inflight(0)
		:: else
		fi;
#endif
		found = 0;
		taken = mapped;		/* fingerprint_take() */
		atomic {
			!lock;
			if
#ifndef NO_SEQ
			:: seq != seen -> again = 1
			:: seq == seen && record ->
#else
			:: record ->
#endif
				recorded = 1;
				fingerprint = taken;
				result = ARMED
#ifndef NO_SEQ
			:: seq == seen && !record ->
#else
			:: !record ->
#endif
				if
				:: recorded && taken == fingerprint ->
					word = ARMED;
					CHECK()
				:: else -> word = STALE
				fi;
				result = word
			fi;
			taken = 0;
			seen = 0
		}
		if
		:: again -> again = 0
		:: else -> break
		fi
	od
}

/* watch_add_locked(), then the wait of mlx5_ep_watches_add() */
inline add()
{
	atomic { LOCK(); live = 1; recorded = 0 }
	do
	:: atomic { !set_watched -> watched = 1; set_watched = 1 }
	:: atomic { !set_bounds -> bounds = 1; set_bounds = 1 }
	:: atomic { !set_word -> word = ARMED; set_word = 1 }
	:: atomic {
		!looked && ((set_watched && set_bounds && set_word) ||
			    !MB_OVERLAPS) ->
		look_inflight(found);
		looked = 1
	   }
	:: set_watched && set_bounds && set_word && looked -> break
	od;
	atomic {
		set_watched = 0;
		set_bounds = 0;
		set_word = 0;
		looked = 0;
		UNLOCK()
	}
#ifndef NO_WAIT_ADD
	if
	:: found -> wait_inflight(0)
	:: else
	fi;
#endif
	found = 0
}

/* watch_del_locked() */
inline del()
{
	atomic { !lock -> word = FREE; live = 0; bounds = 0; watched = 0 }
}

/* mlx5ep_reg_mr(), and then uses of the registration */
proctype user()
{
	mtype result;
	bool found, set_watched, set_bounds, set_word, looked, again, stored;
	byte seen, taken, moved, kept, n;

retry:
#ifdef REGISTER_FIRST
	pinned = mapped;
	add();
#else
	add();
	pinned = mapped;		/* ibv_reg_mr() */
#endif
	verify(1, result);
	if
	:: atomic { result == ARMED -> registered = 1; CHECK() }
	:: result != ARMED -> del(); goto retry
	fi;

	do
	:: word == SUSPECT -> verify(0, result)
	:: word == STALE ->
		registered = 0;
		del();
		break
	:: word == ARMED && ended == INVALIDATORS ->
		CHECK();
		registered = 0;
		del();
		break
	od;
	ended == INVALIDATORS;
	(WAITERS == 1 || others_done);
	assert(small == 0 && !listed && !waiters && !count && !more)
}

/* Another thread that waits for the same block. */
proctype other_waiter()
{
	bool found, stored;
	byte moved, kept, n;

	wait_inflight(1);
	others_done = 1
}

init {
	byte i;

	atomic {
		do
		:: i < INVALIDATORS -> run invalidator(i); i++
		:: else -> break
		od;
#if WAITERS > 1
		run other_waiter();
#endif
		run user()
	}
}
