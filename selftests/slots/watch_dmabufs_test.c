// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Watches of dma-bufs: what attaching takes and detaching gives back, wherever it
 * fails, and what an exporter's call reports; with dmabuf.c of the module compiled
 * into this program.
 */
#include "kselftest_harness.h"

#include <rdma/mlx5_ep_notifier.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "watches_kernel.h"
#include "watches_dmabuf.h"
#include "watch_slots.inc"	/* slots.c, without what it includes */

/* As hit.h has it. */
void mlx5_ep_watch_hit_report(struct mlx5_ep_watch *w, unsigned long first,
			      unsigned long last,
			      enum mlx5_ep_watch_cause cause);

#include "watch_dmabufs.inc"	/* dmabuf.c, likewise */
#include "watches_fixture.h"

#define FD		5
#define SIZE		(16 * PAGE_SIZE)
#define LIMIT		16384u

/* What the exporter's call has reported last, and how often. */
static struct {
	struct mlx5_ep_watch *w;
	unsigned long first, last;
	enum mlx5_ep_watch_cause cause;
	int times;
} report;

void mlx5_ep_watch_hit_report(struct mlx5_ep_watch *w, unsigned long first,
			      unsigned long last,
			      enum mlx5_ep_watch_cause cause)
{
	lockdep_assert_held(&space.lock);
	report.w = w;
	report.first = first;
	report.last = last;
	report.cause = cause;
	report.times++;
}

void mlx5_ep_fingerprint_parts_put(struct mlx5_ep_watch_parts *parts)
{
	fake.misuses += parts != NULL;
}

static struct mlx5_ep_account user;
static struct device dma_device;
static struct ib_device ibdev = { &dma_device };
static struct mlx5_ep_device dev = { &ibdev };

static struct mlx5_ep_watch_dmabuf req;
static struct mlx5_ep_watch_dmabuf_resp resp;

FIXTURE(dmabufs) {};

FIXTURE_SETUP(dmabufs)
{
	watches_begin(2 * WATCHES_PER_CHUNK);
	memset(&exporter, 0, sizeof(exporter));
	memset(&report, 0, sizeof(report));
	exporter.buf.size = SIZE;
	user.held = 0;
	req = (struct mlx5_ep_watch_dmabuf){
		.offset = PAGE_SIZE, .length = PAGE_SIZE, .cookie = 99, .fd = FD,
	};
}

FIXTURE_TEARDOWN(dmabufs)
{
	mlx5_ep_watch_dmabuf_reap(&ws);
	EXPECT_EQ(0, exporter.buf.refs);
	EXPECT_EQ(0, exporter.buf.attached);
	EXPECT_EQ(0, user.held);
	EXPECT_EQ(0, watches_end());
}

static int watch_dmabufs_add(void)
{
	memset(&resp, 0xa5, sizeof(resp));
	return mlx5_ep_watch_dmabuf_add(&ws, &dev, &user, &req, &resp);
}

/* As deleting the watch does. */
static void drop(u32 number)
{
	spin_lock(&space.lock);
	slots_drop_dmabuf(&ws, slot(number));
	slot(number)->is_dmabuf = false;
	slot(number)->npages = 0;
	ws.live--;
	spin_unlock(&space.lock);
}

/* Nothing is left of an addition that failed. */
#define EXPECT_NOTHING()						\
	do {								\
		EXPECT_EQ(0, exporter.buf.refs);			\
		EXPECT_EQ(0, exporter.buf.attached);			\
		EXPECT_EQ(0, user.held);				\
		EXPECT_EQ(0, ws.live);					\
		EXPECT_EQ(2 + ws.nr_chunks, fake.blocks);		\
	} while (0)

TEST_F(dmabufs, are_attached_to_once_per_watch)
{
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(0, resp.slot);
	EXPECT_EQ(*slots_word(&ws, 0), resp.word);
	EXPECT_EQ(1 << 2 | MLX5_EP_WATCH_STATE_ARMED, resp.word);
	EXPECT_EQ(99, slot(0)->cookie);
	EXPECT_EQ(1, (int)slot(0)->is_dmabuf);
	EXPECT_EQ(1, ws.live);
	EXPECT_EQ(1, user.held);
	EXPECT_EQ(1, exporter.buf.refs);
	EXPECT_EQ(1, exporter.buf.attached);
	EXPECT_EQ(&dma_device, exporter.last->dev);
	EXPECT_TRUE(exporter.last->ops->allow_peer2peer);
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(1, resp.slot);
	EXPECT_EQ(2 << 2 | MLX5_EP_WATCH_STATE_ARMED, resp.word);
	EXPECT_EQ(2, user.held);
	EXPECT_EQ(2, exporter.buf.refs);
	EXPECT_EQ(2, exporter.buf.attached);
	drop(0);
	drop(1);
	EXPECT_EQ(2, user.held);
	mlx5_ep_watch_dmabuf_reap(&ws);
	EXPECT_NOTHING();
	/* Nobody is charged if there is no user. */
	EXPECT_EQ(0, mlx5_ep_watch_dmabuf_add(&ws, &dev, NULL, &req, &resp));
	EXPECT_EQ(0, user.held);
	drop(resp.slot);
}

TEST_F(dmabufs, that_cannot_move_are_held_and_not_attached_to)
{
	exporter.buf.fixed = true;
	/* Nobody asks the exporter. */
	exporter.refuses = -EOPNOTSUPP;
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(1 << 2 | MLX5_EP_WATCH_STATE_ARMED, resp.word);
	EXPECT_EQ(0, exporter.buf.attached);
	EXPECT_EQ(1, exporter.buf.refs);
	EXPECT_EQ(1, user.held);
	drop(0);
	EXPECT_EQ(1, exporter.buf.refs);
	mlx5_ep_watch_dmabuf_reap(&ws);
	EXPECT_NOTHING();
	/* The limit of the user counts these too. */
	user.held = LIMIT;
	EXPECT_EQ(-EDQUOT, watch_dmabufs_add());
	user.held = 0;
	ws.dead = true;
	EXPECT_EQ(-EIO, watch_dmabufs_add());
	ws.dead = false;
	EXPECT_NOTHING();
}

TEST_F(dmabufs, are_watched_by_whole_pages)
{
	static const struct {
		u64 offset, length, start, npages;
	} cases[] = {
		{ 0, 1, 0, 1 },
		{ 0, PAGE_SIZE, 0, 1 },
		{ 0, PAGE_SIZE + 1, 0, 2 },
		{ PAGE_SIZE - 1, 1, 0, 1 },
		{ PAGE_SIZE - 1, 2, 0, 2 },
		{ PAGE_SIZE + 5, PAGE_SIZE, 1, 2 },
		{ 0, SIZE, 0, 16 },
		{ SIZE - 1, 1, 15, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		req.offset = cases[i].offset;
		req.length = cases[i].length;
		ASSERT_EQ(0, watch_dmabufs_add());
		EXPECT_EQ(cases[i].start, slot(i)->start);
		EXPECT_EQ(cases[i].npages, slot(i)->npages);
		drop(i);
	}
}

#define EXPECT_REFUSED(error, _offset, _length)				\
	do {								\
		req.offset = _offset;					\
		req.length = _length;					\
		EXPECT_EQ(error, watch_dmabufs_add());				\
		EXPECT_NOTHING();					\
	} while (0)

TEST_F(dmabufs, are_not_watched_beyond_their_end)
{
	const u64 most = (u64)U32_MAX << PAGE_SHIFT;

	EXPECT_REFUSED(-EINVAL, 0, 0);
	EXPECT_REFUSED(-EINVAL, 0, SIZE + 1);
	EXPECT_REFUSED(-EINVAL, SIZE, 1);
	EXPECT_REFUSED(-EINVAL, SIZE - 1, 2);
	EXPECT_REFUSED(-EINVAL, PAGE_SIZE, U64_MAX);
	EXPECT_REFUSED(-EINVAL, U64_MAX, 2);
	exporter.buf.size = U64_MAX;
	EXPECT_REFUSED(-EINVAL, 0, most + 1);
	EXPECT_REFUSED(-EINVAL, PAGE_SIZE - 1, most - PAGE_SIZE + 2);
	/* Rounding up would wrap. */
	EXPECT_REFUSED(-EINVAL, U64_MAX - PAGE_SIZE, 1);
	req.flags = 1;
	EXPECT_REFUSED(-EINVAL, 0, 1);
	req.flags = 0;
	req.fd = FD + 1;
	EXPECT_REFUSED(-EBADF, 0, 1);
	EXPECT_REFUSED(-EINVAL, 0, 0);
	req.fd = FD;

	req.offset = 0;
	req.length = most;
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(U32_MAX, slot(0)->npages);
	req.offset = U64_MAX - PAGE_SIZE - 1;
	req.length = 1;
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(U64_MAX >> PAGE_SHIFT, slot(1)->start + 1);
	drop(0);
	drop(1);
}

TEST_F(dmabufs, leave_nothing_where_something_fails)
{
	int i;

	/* The attachment, the page of words, and the chunk. */
	for (i = 1; i <= 3; i++) {
		fake.fails = fake.asked + i - (i == 3);
		EXPECT_EQ(-ENOMEM, watch_dmabufs_add());
		EXPECT_NOTHING();
	}
	user.held = LIMIT;
	EXPECT_EQ(-EDQUOT, watch_dmabufs_add());
	EXPECT_EQ(LIMIT, user.held);
	user.held = 0;
	EXPECT_NOTHING();
	exporter.refuses = -EOPNOTSUPP;
	EXPECT_EQ(-EOPNOTSUPP, watch_dmabufs_add());
	EXPECT_NOTHING();
	exporter.refuses = 0;
	ws.dead = true;
	EXPECT_EQ(-EIO, watch_dmabufs_add());
	EXPECT_NOTHING();
	ws.dead = false;
	user.held = LIMIT - 1;
	EXPECT_EQ(0, watch_dmabufs_add());
	user.held = 1;
	/* There is a free slot. */
	ws.dead = true;
	EXPECT_EQ(-EIO, watch_dmabufs_add());
	EXPECT_EQ(1, user.held);
	EXPECT_EQ(1, exporter.buf.attached);
	ws.dead = false;
	drop(0);
}

TEST_F(dmabufs, have_as_many_watches_as_there_is_room)
{
	u32 i;

	for (i = 0; i < 2 * WATCHES_PER_CHUNK; i++) {
		ASSERT_EQ(0, watch_dmabufs_add());
		EXPECT_EQ(i, resp.slot);
	}
	EXPECT_EQ(-ENOSPC, watch_dmabufs_add());
	EXPECT_EQ(i, exporter.buf.attached);
	EXPECT_EQ(i, user.held);
	for (i = 0; i < 2 * WATCHES_PER_CHUNK; i++)
		drop(i);
}

static void move(struct dma_buf_attachment *attach)
{
	attach->ops->move_notify(attach);
}

TEST_F(dmabufs, that_move_are_reported)
{
	struct dma_buf_attachment *attach;

	req.offset = 2 * PAGE_SIZE;
	req.length = 3 * PAGE_SIZE;
	EXPECT_EQ(0, watch_dmabufs_add());
	attach = exporter.last;
	move(attach);
	EXPECT_EQ(1, report.times);
	EXPECT_EQ(slot(0), report.w);
	EXPECT_EQ(2, report.first);
	EXPECT_EQ(4, report.last);
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_DMABUF, report.cause);
	/* Not once it rests, nor when the address space is gone. */
	slot(0)->resting = true;
	move(attach);
	EXPECT_EQ(1, report.times);
	slot(0)->resting = false;
	space.mm_gone = true;
	move(attach);
	EXPECT_EQ(1, report.times);
	space.mm_gone = false;
	move(attach);
	EXPECT_EQ(2, report.times);
	drop(0);
	move(attach);
	EXPECT_EQ(2, report.times);
	EXPECT_FALSE(space.lock.held);
}

/* Another thread has seen the armed word. */
static void meanwhile_deleted(void)
{
	if (!ws.live)
		return;
	drop(resp.slot);
	mlx5_ep_watch_dmabuf_reap(&ws);
}

TEST_F(dmabufs, may_be_deleted_as_soon_as_they_are_armed)
{
	int i;

	for (i = 0; i < 2; i++) {
		exporter.buf.fixed = i;
		fake.unlocked = meanwhile_deleted;
		EXPECT_EQ(0, watch_dmabufs_add());
		fake.unlocked = NULL;
		EXPECT_EQ(MLX5_EP_WATCH_STATE_ARMED, resp.word & 3);
		EXPECT_NOTHING();
	}
}

/* The buffer moves when it is attached to, and no slot is there yet. */
static void meanwhile_move(void)
{
	move(exporter.last);
}

static void meanwhile_attached(void)
{
	fake.meanwhile = meanwhile_move;
}

TEST_F(dmabufs, that_move_before_they_are_watched_are_not_reported)
{
	fake.meanwhile = meanwhile_attached;
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(0, report.times);
	EXPECT_EQ(NULL, fake.meanwhile);
	drop(0);
}

/* The exporter has called its importers, and is about to move the memory. */
static void meanwhile_begin_move(void)
{
	move(exporter.last);
	exporter.moves = true;
}

static void meanwhile_attached_begin(void)
{
	fake.meanwhile = meanwhile_begin_move;
}

TEST_F(dmabufs, have_stopped_moving_once_they_are_watched)
{
	fake.meanwhile = meanwhile_attached_begin;
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(NULL, fake.meanwhile);
	EXPECT_EQ(0, report.times);
	EXPECT_FALSE(exporter.moves);
	EXPECT_FALSE(exporter.resv.held);
	drop(0);
}

static void meanwhile_reap(void)
{
	fake.misuses += !ws.reap_lock.held;
	fake.misuses += space.lock.held;
}

TEST_F(dmabufs, are_detached_by_one_thread_at_a_time)
{
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(0, watch_dmabufs_add());
	EXPECT_EQ(0, watch_dmabufs_add());
	drop(0);
	drop(2);
	exporter.meanwhile = meanwhile_reap;
	mlx5_ep_watch_dmabuf_reap(&ws);
	EXPECT_EQ(NULL, exporter.meanwhile);
	EXPECT_EQ(1, exporter.buf.attached);
	EXPECT_EQ(1, user.held);
	EXPECT_TRUE(list_empty(&ws.dmabufs));
	drop(1);
}

TEST_HARNESS_MAIN
