// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, kernels: 7.2 7.3 newest debug, timeout: 300 */
/*
 * Registrations of dma-bufs, with a watch and from the cache. The HCA reads through
 * them what the exporter has put there. On 6.1 and 6.12 Debian's kernels pin the
 * memory of each registration, so an exporter does not move it.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "dmabuf.h"
#include "watch/watched.h"

#define PAGE	4096u
#define SIZE	(16 * PAGE)
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_WRITE)

FIXTURE(dmabuf)
{
	struct watched_setup setup;
	struct mlx5ep_mr_cache *cache;
	int exporter;
	int fd;
};

FIXTURE_SETUP(dmabuf)
{
	struct mlx5ep_mr_cache_attr attr = {};

	self->exporter = dmabuf_exporter();
	ASSERT_LE(0, self->exporter);
	self->fd = dmabuf_create(self->exporter, SIZE, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	ASSERT_EQ(0, watched_open(&self->setup, 16));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr,
					    &self->cache));
}

FIXTURE_TEARDOWN(dmabuf)
{
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	watched_close(&self->setup);
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
	close(self->fd);
	EXPECT_EQ(0, dmabuf_buffers(self->exporter));
	close(self->exporter);
}

/* The byte that the HCA reads everywhere at an address; -1: different ones; -errno. */
static int hca_reads(FIXTURE_DATA(dmabuf) *self, const struct ibv_mr *mr,
		     uint64_t iova)
{
	uint8_t sample[WATCHED_SAMPLE];
	unsigned int i;
	int ret;

	ret = watched_hca_read(&self->setup, mr, (void *)(uintptr_t)iova,
			       sample);
	for (i = 1; !ret && i < sizeof(sample); i++)
		if (sample[i] != sample[0])
			return -1;
	return ret ? ret : sample[0];
}

static int cache_get(FIXTURE_DATA(dmabuf) *self, int fd, uint64_t offset,
		     struct ibv_mr **mr)
{
	const struct mlx5ep_mr_cache_get_attr attr = {};
	struct mlx5ep_mr_cache_entry *entry;
	int ret;

	ret = mlx5ep_mr_cache_get_dmabuf(self->cache, fd, offset, PAGE, &attr,
					 &entry);
	if (ret)
		return ret;
	*mr = entry->mr;
	mlx5ep_mr_cache_put(self->cache, entry);
	return 0;
}

static struct mlx5ep_mr_cache_stats cache_query(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_mr_cache_stats stats;

	mlx5ep_mr_cache_query(cache, &stats);
	return stats;
}

TEST_F(dmabuf, a_registration_is_valid_until_the_exporter_moves)
{
	struct mlx5ep_notifier *notifier = self->setup.notifier;
	struct ibv_pd *pd = self->setup.verbs.pd;
	struct mlx5ep_mr mr;

	ASSERT_EQ(0, mlx5ep_reg_dmabuf_mr(notifier, pd, self->fd, PAGE, PAGE,
					  1ull << 40, ALL, 0, &mr));
	EXPECT_EQ(0, mlx5ep_mr_check(&mr));
	EXPECT_EQ(1, hca_reads(self, mr.mr, 1ull << 40));
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 2));
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&mr));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));

	ASSERT_EQ(0, mlx5ep_reg_dmabuf_mr(notifier, pd, self->fd, PAGE, PAGE,
					  PAGE, ALL, 0, &mr));
	EXPECT_EQ(2, hca_reads(self, mr.mr, PAGE));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));

	ASSERT_EQ(0, dmabuf_revoke(self->exporter, self->fd));
	EXPECT_EQ(-ENODEV, mlx5ep_reg_dmabuf_mr(notifier, pd, self->fd, PAGE,
						PAGE, PAGE, ALL, 0, &mr));
}

TEST_F(dmabuf, the_cache_knows_a_buffer_by_its_inode)
{
	int same = dup(self->fd), other, null = open("/dev/null", O_RDWR);
	struct ibv_mr *mr, *again;

	other = dmabuf_create(self->exporter, SIZE, 0);
	ASSERT_LE(0, other);
	ASSERT_LE(0, same);
	ASSERT_EQ(0, cache_get(self, self->fd, 0, &mr));
	EXPECT_EQ(1, hca_reads(self, mr, 0));
	ASSERT_EQ(0, cache_get(self, same, 0, &again));
	EXPECT_EQ(mr, again);
	ASSERT_EQ(0, cache_get(self, other, 0, &again));
	EXPECT_NE(mr, again);
	EXPECT_EQ(0, hca_reads(self, again, 0));
	EXPECT_EQ(1, cache_query(self->cache).hits);
	EXPECT_EQ(2, cache_query(self->cache).misses);
	EXPECT_EQ(-EINVAL, cache_get(self, null, 0, &again));
	EXPECT_EQ(-EINVAL, cache_get(self, self->fd, SIZE, &again));
	EXPECT_EQ(-EBADF, cache_get(self, -1, 0, &again));
	/* It holds the buffer, which is found by another descriptor. */
	close(self->fd);
	self->fd = same;
	ASSERT_EQ(0, cache_get(self, self->fd, 0, &again));
	EXPECT_EQ(mr, again);
	close(other);
	close(null);
}

TEST_F(dmabuf, the_cache_never_gives_what_was_moved)
{
	const char *rounds = getenv("ROUNDS");
	int i, n = rounds ? atoi(rounds) : 100, stale = 0;
	struct ibv_mr *mr;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, cache_get(self, self->fd, 2 * PAGE, &mr));
		ASSERT_EQ(0, cache_get(self, self->fd, 2 * PAGE, &mr));
		if (hca_reads(self, mr, 2 * PAGE) != (i ? i & 0xff : 1))
			stale++;
		ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, i + 1));
	}
	EXPECT_EQ(0, stale);
	EXPECT_EQ(n, cache_query(self->cache).misses);
	EXPECT_EQ(n, cache_query(self->cache).hits);
	TH_LOG("%d moves, %d stale", n, stale);
}

TEST_F(dmabuf, a_registration_without_a_watch_is_used_in_vain)
{
	struct ibv_mr *mr;

	mr = ibv_reg_dmabuf_mr(self->setup.verbs.pd, 0, PAGE, 0, self->fd, ALL);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(1, hca_reads(self, mr, 0));
	ASSERT_EQ(0, dmabuf_revoke(self->exporter, self->fd));
	EXPECT_GT(0, hca_reads(self, mr, 0));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_HARNESS_MAIN
