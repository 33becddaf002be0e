/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls of one process that use the same memory for their requests or answers: one
 * at a time has it, the others wait. kernel/request.c has the code; each part names
 * its function.
 *
 * What must hold: no two calls have the memory at once, and nobody sleeps for ever.
 *
 * Memory order: the load by which wake_up_var() finds out whether somebody waits
 * happens anywhere behind the beginning of the section with the lock, before its end
 * or behind that. So it may come before the store that lets others begin.
 *
 * config: -DCALLS=2
 * config: -DCALLS=4
 * variant: NO_LOOK_QUEUED - who waits does not look again once it is queued
 * variant: NO_LOCK_LOOK - who waits looks without the lock
 * variant: NO_ORDER_LOCK - the load may come before the section with the lock
 * variant: NO_WAKE - the end of a call wakes nobody
 */

#ifdef NO_ORDER_LOCK
#define ORDER_LOCK 0
#else
#define ORDER_LOCK 1
#endif

bool lock;			/* of in_use[] */
bool used;			/* the list of requests has one that uses the memory */
byte users;			/* calls that have begun and not ended */
bool queued[CALLS];		/* on the wait queue of the address space */

/* request_try_begin() */
inline try_begin()
{
	atomic {
		!lock;
		ok = !used;
		used = 1
	}
}

/* mlx5_ep_request_begin() */
inline begin()
{
	try_begin();
	if
	:: !ok ->
		/* wait_var_event_killable() */
		do
#ifdef NO_LOOK_QUEUED
		:: queued[me] = 1;
			!queued[me];
			try_begin();
			if
			:: ok -> break
			:: else
			fi
#else
		:: queued[me] = 1;
#ifdef NO_LOCK_LOOK
			ok = !used;
			if
			:: ok -> try_begin()
			:: else
			fi;
#else
			try_begin();
#endif
			if
			:: ok -> break
			:: else -> !queued[me]
			fi
#endif
		od;
		queued[me] = 0
	:: else
	fi;
	ok = 0
}

/* mlx5_ep_request_end() */
inline end()
{
	do
	:: atomic { !locked -> !lock; lock = 1; locked = 1 }
	:: atomic { locked && !stored -> used = 0; stored = 1 }
	:: atomic { stored && !unlocked -> lock = 0; unlocked = 1 }
	:: atomic {
		!looked && (locked || !ORDER_LOCK) ->
		n = 0;
		do
		:: n < CALLS -> sleeper[n] = queued[n]; n++
		:: else -> break
		od;
		looked = 1
	   }
	:: unlocked && looked -> break
	od;
	atomic {
		n = 0;
		do
		:: n < CALLS ->
#ifndef NO_WAKE
			queued[n] = queued[n] && !sleeper[n];
#endif
			sleeper[n] = 0;
			n++
		:: else -> break
		od;
		n = 0
	}
}

proctype call(byte me)
{
	bool ok, locked, stored, unlocked, looked, sleeper[CALLS];
	byte n;

	begin();
	users++;
	assert(users == 1);
	users--;
	end()
}

init {
	byte i;

	atomic {
		do
		:: i < CALLS -> run call(i); i++
		:: else -> break
		od
	}
}
