/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * References of shared XRC receive QPs: GET by one key with a QP that is offered, REG by
 * number, the end of a registration, and an upstream opener of the QP.
 * kernel/xrc/xrc_qp.c has the code.
 *
 * What must hold: nobody touches a record that is freed or a QP that is destroyed; each
 * registration is in the record of its QP, and no QP has two; all registrations with
 * the key at one time have one QP; in the end nothing is left, also of a process that is
 * killed between creating a QP and GET.
 *
 * config: -DGETTERS=2 -DREGISTRARS=1
 * config: -DGETTERS=1 -DREGISTRARS=2
 * config: -DGETTERS=3 -DREGISTRARS=0 -DROUNDS=1
 *
 * A registrar may guess the number of a QP before GET has been called with it.
 *
 * variant: NO_SECOND_LOOK - GET enters the record of the QP that it opened, whoever has the key
 * variant: NO_RECORD_LOOK - the QP that is offered gets a record though it has one
 * variant: NO_RCU - a key is looked up without an RCU section
 * variant: NO_TABLES_LOCK - a registration enters without the tables' lock
 * variant: ENTER_FIRST - a registration by number enters before it has a handle
 * variant: CLOSE_FIRST - a registration closes its handle before it leaves
 * variant: KEEP_SHARED - the last registration leaves the QP pointing to its record
 * variant: KEEP_KEY - the last registration leaves the key in the table
 * variant: NO_DESTROY - a caller keeps the QP that it offered
 */

#ifndef ROUNDS
#define ROUNDS 2
#endif
#define THREADS (GETTERS + REGISTRARS)
#define MAX (ROUNDS * GETTERS + REGISTRARS + 1)	/* number 0 is none */

bool tables;			/* mlx5_ep_xrc.lock */
byte by_key;			/* record of the key */

/* struct mlx5_ep_xrc_qp, a record */
byte records;
bool alive[2 * MAX];
byte regs[2 * MAX];
byte qp_of[2 * MAX];

/* ib_core's QPs */
byte qps;
bool exists[MAX];
byte handles[MAX];
byte shared[MAX];		/* mlx5_ep_qp.shared */

byte through;
byte told;			/* number that a caller knows, or guesses */

#define LOCK(l) atomic { !l; l = 1 }
#define UNLOCK(l) l = 0

/* ib_open_qp(); qp becomes 0 if there is none of the number */
inline open(qp)
{
	atomic {
		if
		:: exists[qp] -> handles[qp]++
		:: else -> qp = 0
		fi
	}
}

/* ib_destroy_qp_user(), ibv_destroy_qp() */
inline close(qp)
{
	atomic {
		assert(exists[qp] && handles[qp] > 0);
		handles[qp]--;
		exists[qp] = handles[qp] > 0
	}
}

/* qp_add(); tables locked */
inline record_add(rec, qp)
{
	assert(exists[qp] && handles[qp] > 0);
	records++;
	rec = records;
	alive[rec] = 1;
	qp_of[rec] = qp;
	shared[qp] = rec
}

inline use(rec, qp)
{
	atomic {
		assert(alive[rec] && regs[rec] > 0);
		assert(qp_of[rec] == qp && exists[qp] && handles[qp] > 0);
		assert(shared[qp] == rec);
		told = qp
	}
}

/* mlx5_ep_xrc_qp_leave() */
inline leave(rec, qp)
{
#ifdef CLOSE_FIRST
	close(qp);
#endif
	LOCK(tables);
	assert(alive[rec] && exists[qp]);
	regs[rec]--;
	if
	:: regs[rec] == 0 ->
		/* qp_del() */
#ifndef KEEP_SHARED
		shared[qp] = 0;
#endif
#ifndef KEEP_KEY
		by_key = (by_key == rec -> 0 : by_key);
#endif
		alive[rec] = 0
	:: else
	fi;
	UNLOCK(tables);
#ifndef CLOSE_FIRST
	close(qp);
#endif
}

/* mlx5_ep_xrc_rcv_qp_get() of the library, use, and the end of the registration */
proctype getter()
{
	byte rec, qp, offer, round;

	do
	:: round < ROUNDS ->
		round++;
		offer = 0;
again:
		/* qp_num_of_key() */
#ifdef NO_RCU
		rec = by_key;
		if
		:: rec -> assert(alive[rec]); qp = qp_of[rec]
		:: else -> qp = 0
		fi;
#else
		atomic { rec = by_key; qp = (rec -> qp_of[rec] : 0) }
#endif
		if
		:: qp ->
			open(qp);
			if
			:: qp == 0 -> goto again
			:: else
			fi
		:: qp == 0 && offer -> qp = offer; open(qp); assert(qp)
		:: qp == 0 && !offer ->
			/* GET said ENOENT: ibv_create_qp_ex(), which may fail */
			if
			:: atomic {
				qps++;
				offer = qps;
				told = offer;
				exists[offer] = 1;
				handles[offer] = 1
			   }
			   if
			   :: goto again
			   :: break		/* killed */
			   fi
			:: break
			fi
		fi;
		/* qp_enter() */
#ifndef NO_TABLES_LOCK
		LOCK(tables);
#endif
		rec = shared[qp];
#ifndef NO_SECOND_LOOK
		if
		:: (by_key && by_key != rec) || (!by_key && qp != offer) ->
			UNLOCK(tables);
			close(qp);
			goto again
		:: else
		fi;
#endif
		if
#ifdef NO_RECORD_LOOK
		:: by_key == 0 -> record_add(rec, qp)
		:: else
#else
		:: rec == 0 -> record_add(rec, qp)
		:: else -> assert(alive[rec])
#endif
		fi;
		regs[rec]++;
		if
		:: by_key == 0 && qp == offer -> by_key = rec
		:: else
		fi;
#ifndef NO_TABLES_LOCK
		UNLOCK(tables);
#endif
#ifndef NO_DESTROY
		if
		:: offer -> close(offer); offer = 0
		:: else
		fi;
#endif
		use(rec, qp);
		/* Others with the key have the same record. */
		assert(by_key == rec);
		leave(rec, qp)
	:: else -> break
	od;
	/* The end of the process. */
	if
	:: offer -> close(offer)
	:: else
	fi;
	through++
}

/* REG of the QP that is the newest or was heard of last, if it is there still */
proctype registrar()
{
	byte rec, qp;

	told > 0 || through >= GETTERS;
	qp = told;
#ifndef ENTER_FIRST
	open(qp);
#endif
	if
	:: qp ->
		LOCK(tables);
		rec = shared[qp];
		if
		:: rec == 0 -> record_add(rec, qp)
		:: else -> assert(alive[rec])
		fi;
		regs[rec]++;
		UNLOCK(tables);
#ifdef ENTER_FIRST
		open(qp);
#endif
		use(rec, qp);
		/* The handle may be an upstream opener's instead. */
		leave(rec, qp)
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
			assert(!exists[i] && !handles[i] && !shared[i]);
			i++
		}
	:: else -> break
	od;
	i = 1;
	do
	:: i < 2 * MAX -> atomic { assert(!alive[i] && !regs[i]); i++ }
	:: else -> break
	od
}
