// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, kernels: 6.1 6.12 7.2 7.3 newest debug kcsan, smp: 2, timeout: 400 */
/*
 * An exporter moves a dma-buf, while another thread watches it anew after each move
 * that it sees. No watch is valid once a move has returned that began after it was
 * armed. MOVES is the number of moves, 5000 if it is not set. After each second move
 * the exporter waits for a new watch, which could otherwise wait for very long for the
 * lock of the buffer.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "dmabuf.h"
#include "verbs.h"

#define PAGE	4096u

/**
 * struct race - what both threads know
 * @moves: to be made
 * @begun: moves that have begun
 * @done: moves that have returned
 * @watches: that were armed
 * @ret: of the move that failed
 * @over: a move failed, or all are made
 */
struct race {
	unsigned long moves;
	unsigned long begun;
	unsigned long done;
	unsigned long watches;
	int exporter;
	int fd;
	int ret;
	bool over;
};

static unsigned long load(const unsigned long *from)
{
	return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

static void *move(void *arg)
{
	struct race *race = arg;
	unsigned long i, watches = 0;

	for (i = 0; i < race->moves && !race->ret; i++) {
		while (i % 2 == 0 && watches == load(&race->watches))
			sched_yield();
		watches = load(&race->watches);
		__atomic_store_n(&race->begun, i + 1, __ATOMIC_SEQ_CST);
		race->ret = dmabuf_move(race->exporter, race->fd, i);
		__atomic_store_n(&race->done, i + 1, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&race->over, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Looks at an armed watch until it is not valid, or all moves are made. Returns 1 if
 * it was valid although it should not have been.
 */
static unsigned long race_look(struct race *race,
			       const struct mlx5ep_watch *watch)
{
	unsigned long armed = load(&race->begun), done, stale = 0;
	bool over, valid;

	__atomic_add_fetch(&race->watches, 1, __ATOMIC_SEQ_CST);
	do {
		over = __atomic_load_n(&race->over, __ATOMIC_SEQ_CST);
		done = load(&race->done);
		valid = mlx5ep_watch_valid(watch);
		stale += valid && done > armed;
	} while (valid && !over && !stale);
	return stale;
}

FIXTURE(dmabuf)
{
};

FIXTURE_SETUP(dmabuf)
{
}

FIXTURE_TEARDOWN(dmabuf)
{
}

TEST_F_TIMEOUT(dmabuf, no_watch_is_valid_after_a_move, 3600)
{
	const char *moves = getenv("MOVES");
	struct race race = { .moves = moves ? atol(moves) : 5000 };
	unsigned long stale = 0;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	struct verbs_setup verbs;
	pthread_t thread;

	race.exporter = dmabuf_exporter();
	ASSERT_LE(0, race.exporter);
	race.fd = dmabuf_create(race.exporter, PAGE, 0);
	ASSERT_LE(0, race.fd);
	ASSERT_EQ(0, verbs_open(&verbs, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(verbs.ctx, 8, &notifier));
	ASSERT_EQ(0, pthread_create(&thread, NULL, move, &race));
	while (!__atomic_load_n(&race.over, __ATOMIC_SEQ_CST)) {
		ASSERT_EQ(0, mlx5ep_watch_dmabuf(notifier, race.fd, 0, PAGE,
						 0, &watch));
		stale += race_look(&race, &watch);
		ASSERT_EQ(0, mlx5ep_watch_del(&watch));
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, race.ret);
	EXPECT_EQ(race.moves, race.done);
	EXPECT_EQ(0, stale);
	/* The watches did see moves. */
	EXPECT_LE(race.moves / 2, race.watches);
	TH_LOG("%lu moves, %lu watches, %lu stale", race.done, race.watches,
	       stale);
	mlx5ep_notifier_destroy(notifier);
	verbs_close(&verbs);
	EXPECT_EQ(0, dmabuf_attachments(race.exporter, race.fd));
}

TEST_HARNESS_MAIN
