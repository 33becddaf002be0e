/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * References of shared XRC receive QPs: GET by one key, REG by number, close,
 * and an upstream opener of the QP. kernel/xrc/xrc_qp.c has the code.
 *
 * What must hold: nobody touches a record that is freed or a QP that is
 * destroyed; a record that is open has a QP, and no other open record has it;
 * racing GETs create one QP; in the end nothing is left.
 *
 * config: -DGETTERS=2 -DREGISTRARS=1
 * config: -DGETTERS=1 -DREGISTRARS=2
 *
 * A registrar may guess the number of a QP before the call that creates it has
 * answered.
 *
 * variant: NO_QP_LOCK - mlx5_ep_xrc_qp_open() without the record's lock
 * variant: INC_FROM_ZERO - joining by number adds to a count that is 0
 * variant: GONE_ALWAYS - qp_gone() clears the pointer of another record too
 * variant: LEAVE_FIRST - a registration leaves its record before it closes
 * variant: NO_HANDLE - REG looks the record up without a handle on the QP
 * variant: NO_WAIT - REG does not wait for the record of a QP that is new
 * variant: NO_LOCK_BORN - qp_create() gives a record its QP without the tables' lock
 */

#define THREADS (GETTERS + REGISTRARS)
#define MAX (2 * THREADS + 1)	/* records and QPs; number 0 is none */

bool tables;			/* mlx5_ep_xrc.lock */
byte by_key;			/* record of the key */

/* struct mlx5_ep_xrc_qp, a record */
byte records;
bool alive[MAX];
bool busy[MAX];			/* its lock */
byte regs[MAX];
byte num_open[MAX];
byte qp_of[MAX];		/* eqp */

/* ib_core's QPs */
byte qps;
bool exists[MAX];
byte handles[MAX];
byte shared[MAX];		/* mlx5_ep_qp.shared */

byte through;
byte told;			/* number that a caller knows, or guesses */
byte creating;			/* calls between a QP's creation and its record */

#define LOCK(l) atomic { !l; l = 1 }
#define UNLOCK(l) l = 0

/* qp_add(), qp_enter(); tables locked */
inline record_add(rec)
{
	records++;
	rec = records;
	alive[rec] = 1;
	regs[rec] = 1
}

/* qp_born(); tables locked, so its stores may be seen in any order before the unlock */
inline born(rec, qp)
{
	assert(num_open[rec] == 0);
	assert(shared[qp] == 0 || num_open[shared[qp]] == 0);
	do
	:: atomic { !has_qp -> qp_of[rec] = qp; has_qp = 1 }
	:: atomic { !is_shared -> shared[qp] = rec; is_shared = 1 }
	:: atomic { !is_open -> num_open[rec] = 1; is_open = 1 }
	:: atomic {
		has_qp && is_shared && is_open ->
		has_qp = 0;
		is_shared = 0;
		is_open = 0;
		break
	   }
	od
}

inline use(rec, qp)
{
	atomic {
		assert(alive[rec] && num_open[rec] > 0);
		assert(qp_of[rec] == qp && exists[qp] && handles[qp] > 0);
		assert(shared[qp] == rec);
		told = qp
	}
}

/* mlx5_ep_xrc_qp_close() */
inline close(rec, qp)
{
	assert(alive[rec]);
	LOCK(busy[rec]);
	assert(alive[rec]);
	num_open[rec]--;
	if
	:: num_open[rec] == 0 ->
		/* qp_gone() */
		LOCK(tables);
		atomic {
#ifdef GONE_ALWAYS
			shared[qp] = 0;
#else
			shared[qp] = (shared[qp] == rec -> 0 : shared[qp]);
#endif
			qp_of[rec] = 0;
			UNLOCK(tables)
		}
	:: else
	fi;
	atomic {
		assert(exists[qp]);
		handles[qp]--;
		exists[qp] = handles[qp] > 0;
		UNLOCK(busy[rec])
	}
}

/* mlx5_ep_xrc_qp_leave() */
inline leave(rec)
{
	LOCK(tables);
	atomic {
		assert(alive[rec]);
		regs[rec]--;
		if
		:: regs[rec] == 0 ->
			alive[rec] = 0;
			by_key = (by_key == rec -> 0 : by_key)
		:: else
		fi;
		UNLOCK(tables)
	}
}

/* close and leave, as destroying a registration does */
inline destroy(rec, qp)
{
#ifdef LEAVE_FIRST
	leave(rec);
	close(rec, qp);
#else
	close(rec, qp);
	leave(rec);
#endif
}

/* GET, use, and the end of the registration; twice */
proctype getter()
{
	byte rec, qp, round;
	bool has_qp, is_shared, is_open;

	do
	:: round < 2 ->
		round++;
		/* mlx5_ep_xrc_qp_join_key() */
		LOCK(tables);
		atomic {
			if
			:: by_key -> rec = by_key; regs[rec]++
			:: else -> record_add(rec); by_key = rec
			fi;
			UNLOCK(tables)
		}
		/* mlx5_ep_xrc_qp_open() */
#ifndef NO_QP_LOCK
		LOCK(busy[rec]);
#endif
		assert(alive[rec]);
		if
		:: num_open[rec] > 0 ->
			atomic {
				qp = qp_of[rec];
				assert(exists[qp]);
				handles[qp]++
			}
			num_open[rec]++
		:: else ->
			if
			:: creating++;	/* mlx5_ep_xrc_domain.births, for reading */
				atomic {
					qps++;
					qp = qps;
					told = qp;
					exists[qp] = 1;
					handles[qp] = 1
				}
#ifndef NO_LOCK_BORN
				LOCK(tables);
#endif
				born(rec, qp);
#ifndef NO_LOCK_BORN
				UNLOCK(tables);
#endif
				creating--
			:: qp = 0	/* the firmware refuses */
			fi
		fi;
#ifndef NO_QP_LOCK
		UNLOCK(busy[rec]);
#endif
		if
		:: qp ->
			use(rec, qp);
			destroy(rec, qp)
		:: else -> leave(rec)
		fi;
		atomic { rec = 0; qp = 0 }
	:: else -> break
	od;
	through++
}

/* REG of the QP that is the newest or was heard of last, if it is there still */
proctype registrar()
{
	byte rec, qp;
	bool joined, has_qp, is_shared, is_open;

	told > 0 || through >= GETTERS;
	/* mlx5_ep_xrc_qp_find(): ib_open_qp() */
	atomic {
		qp = told;
		if
		:: exists[qp] ->
#ifndef NO_HANDLE
			handles[qp]++
#else
			skip
#endif
		:: else -> qp = 0
		fi
	}
	if
	:: qp ->
#ifndef NO_WAIT
		/* mlx5_ep_xrc_qp_wait_record(): births, for writing */
		if
		:: shared[qp] == 0 -> creating == 0
		:: else
		fi;
#endif
		/* mlx5_ep_xrc_qp_join() */
		LOCK(tables);
		rec = shared[qp];
		/* atomic_inc_not_zero() */
		atomic {
			if
			:: rec && num_open[rec] > 0 -> num_open[rec]++; joined = 1
#ifdef INC_FROM_ZERO
			:: rec && num_open[rec] == 0 ->
				num_open[rec]++;
				joined = 1
#endif
			:: else
			fi
		}
		if
		:: joined -> assert(alive[rec]); regs[rec]++
		:: else ->
			record_add(rec);
			born(rec, qp)
		fi;
#ifdef NO_HANDLE
		handles[qp]++;
#endif
		UNLOCK(tables);
		use(rec, qp);
		/* The handle may be an upstream opener's instead. */
		destroy(rec, qp)
	:: else
	fi;
	through++
}

init {
	byte i;

	atomic {
		do
		:: i < GETTERS -> run getter(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < REGISTRARS -> run registrar(); i++
		:: else -> break
		od;
		i = 1
	}
	through == THREADS;
	assert(!by_key);
	do
	:: i < MAX -> atomic {
			assert(!alive[i] && !exists[i] && !handles[i]);
			assert(!regs[i] && !num_open[i]);
			i++
		}
	:: else -> break
	od
}
