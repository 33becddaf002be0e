/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Error sweeps: a body is run again and again, with its 1st, 2nd, ... allocation
 * or firmware command failing, until a run is not hit any more. After each run
 * all must be released, as simhca and sysfs tell.
 *
 * A body does a thing, undoes all of it and returns 0, or the -errno of the
 * first call that failed, after it has undone what came before. One failure is
 * injected per run, so an undo that it hits works the second time: make every
 * undo through sweep_undo(). What a body needs and is not under test is made
 * before the sweep and given to it as its argument.
 *
 *	static int body(void *arg)
 *	{
 *		struct ibv_qp *qp = make_qp(arg);
 *
 *		return qp ? -sweep_undo(ibv_destroy_qp(qp)) : -errno;
 *	}
 *
 *	struct sweep sweep = { .body = body, .arg = &setup };
 *
 *	ASSERT_EQ(0, sweep_allocations(&sweep));
 *	ASSERT_LT(0, sweep.failed);
 *	ASSERT_EQ(0, sweep_commands(&sweep));
 *
 * With SWEEP=whole in the environment each sweep is made in full; else it is as
 * short as `make check` wants it. With SWEEP=allocations no command fails.
 */
#ifndef SELFTESTS_SWEEP_H
#define SELFTESTS_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lab.h"

/*
 * How long a driver is told to wait where commands are not answered: longer than
 * a busy machine takes for those that are.
 */
#define SWEEP_PATIENCE_MS 2000u

/* Do @call, which returns 0 for success; once more where it fails. */
#define sweep_undo(call) ({ __typeof__(call) ret_ = (call); \
	ret_ ? (call) : ret_; })

/**
 * struct sweep - a body and what became of it
 * @body: as above
 * @arg: given to it
 * @undo: called after each run of the body with nothing failing any more, for
 *	what drivers do not undo under failures; 0 or -errno; may be NULL
 * @opcode: with sweep_commands(), the only commands to fail; NULL: any
 * @below: with sweep_allocations(), the function of ib_core that must have called
 *	what fails; NULL: any of mlx5_ep's
 * @coarse: 0: each place in turn; else every run goes on by 1 / @coarse of the
 *	places passed, with one status each, for bodies that take long. Not with
 *	SWEEP=whole.
 * @mkeys: compare memory keys too, where the driver does not cache them
 * @runs: set to the number of runs that were hit
 * @failed: set to how many of them the body returned an error from; the others
 *	could do without what failed
 */
struct sweep {
	int (*body)(void *arg);
	void *arg;
	int (*undo)(void *arg);
	const char *opcode;
	const char *below;
	unsigned int coarse;
	bool mkeys;

	unsigned int runs;
	unsigned int failed;
};

/* Is this to be in full? */
bool sweep_whole(void);

/* Are commands to fail, too? */
bool sweep_of_commands(void);

/* Skips a test whose commands would fail, or its fixture. */
#define SWEEP_OF_COMMANDS() do { \
	if (!sweep_of_commands()) \
		SKIP(return, "SWEEP=allocations"); \
} while (0)

/* Why allocations cannot be made to fail here; NULL: they can. */
const char *sweep_no_allocations(void);

/**
 * sweep_allocations() - fail the 1st, 2nd, ... allocation of the kernel
 *
 * Also copies from and to the caller's memory. Only what is called by code of
 * mlx5_ep fails, unless the sweep is whole. Then kmemleak looks at the end, too.
 *
 * Return: 0; -EOPNOTSUPP where the kernel has no fault injection; -EBUSY where
 * something was left behind, -EIO where a run that was not hit failed, -E2BIG
 * where there is no end, each with a line that says where.
 */
int sweep_allocations(struct sweep *sweep);

/* Functions below which stock code does not undo what fails. */
enum sweep_exempted {
	/* mlx5_ib gives back a QP's memory, and the adapter keeps the QP. */
	SWEEP_DESTROY_QP,
	/* ib_core keeps a count of the XRC domain (Documentation/internals.md). */
	SWEEP_CREATE_QP,
};

/**
 * sweep_exempt() - let no allocation fail below a function from now on
 * @what: the only one; SWEEP_DESTROY_QP when a sweep begins
 *
 * For bodies, around what would leave things behind. Outside of
 * sweep_allocations() it does nothing.
 *
 * Return: 0 or -errno.
 */
int sweep_exempt(enum sweep_exempted what);

/* TEST_F() of a sweep. The runner knows how slow a machine may be. */
#define TEST_SWEEP(fixture, name) TEST_F_TIMEOUT(fixture, name, 7200)

/* The test of failing allocations, @none: that there are none; for a test body. */
#define SWEEP_ALLOCATIONS_TEST(sweep, none) do { \
	const char *why_ = sweep_no_allocations(); \
	if (why_) { \
		ASSERT_FALSE(lab_allocations_fail()); \
		SKIP(return, "%s", why_); \
	} \
	EXPECT_EQ(0, sweep_allocations(sweep)); \
	EXPECT_EQ((none), !(sweep)->failed); \
	TH_LOG("%u runs, %u failed", (sweep)->runs, (sweep)->failed); \
} while (0)

/**
 * sweep_commands() - simhca fails the 1st, 2nd, ... firmware command
 *
 * Each place is tried with several of the statuses that the driver knows, which
 * take turns; with each one where the sweep is whole. DESTROY_QP is run all the
 * same, because stock drivers never try it again.
 *
 * Return: as sweep_allocations().
 */
int sweep_commands(struct sweep *sweep);

/**
 * sweep_silence() - simhca never answers the 1st, 2nd, ... firmware command
 *
 * Each run takes as long as the driver waits: see sweep_restart(). When it is over
 * the command is answered after all, with an error, or the driver would run out of
 * places for commands.
 *
 * Return: as sweep_allocations().
 */
int sweep_silence(struct sweep *sweep);

/**
 * sweep_restart() - start the HCA under test anew
 * @ms: how long its driver then waits for a command; 0: its default, a minute
 *
 * Also gets back what a driver lost that a command did not answer.
 *
 * Return: 0, when the device is there again; -errno.
 */
int sweep_restart(unsigned int ms);

#endif
