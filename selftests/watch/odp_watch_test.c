// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 200 */
/*
 * Registrations with on-demand paging: the HCA asks for pages, so it always has those
 * of the process. What the HCA reads and writes is compared with the process, and page
 * faults are counted by simhca. Watches see the same changes as of other memory.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "page.h"
#include "simhca.h"
#include "watched.h"

#define PAGE	page_bytes()
#define PAGES	16
#define LEN	(PAGES * PAGE)
#define SECONDS	60
#define ODP	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND)

FIXTURE(odp)
{
	struct watched_setup setup;
	struct ibv_mr *mr;
	char *mem;
};

static char *fresh(void *at)
{
	return mmap(at, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

FIXTURE_SETUP(odp)
{
	ASSERT_EQ(0, watched_open(&self->setup, 16));
	self->mem = fresh(NULL);
	ASSERT_NE(MAP_FAILED, self->mem);
	self->mr = ibv_reg_mr(self->setup.verbs.pd, self->mem, LEN, ODP);
	ASSERT_NE(NULL, self->mr);
	ASSERT_EQ(0, simhca_zero());
}

FIXTURE_TEARDOWN(odp)
{
	if (self->mr)
		EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	watched_close(&self->setup);
	munmap(self->mem, LEN);
	EXPECT_EQ(0, simhca_count("page_fault"));
}

/* Page faults since the counters were cleared: of a kind, or "resumed", "failed". */
static int64_t counted(const char *what)
{
	struct json_object *faults, *n;
	struct simhca_view view;
	int64_t ret = -1;

	if (simhca_look(0, &view))
		return -1;
	if (json_object_object_get_ex(view.hca, "page_faults", &faults) &&
	    json_object_object_get_ex(faults, what, &n))
		ret = json_object_get_int64(n);
	simhca_view_put(&view);
	return ret;
}

/* Faults of both schemes: which one it is depends on port and kernel. */
static int64_t faults(void)
{
	return counted("wqe") + counted("rdma") + counted("memory");
}

/* The HCA writes a pattern of the setup's buffer into the region. */
static int hca_writes(FIXTURE_DATA(odp) *self, char *to, unsigned int seed)
{
	struct verbs_setup *verbs = &self->setup.verbs;

	watched_fill(self->setup.endpoint.src, PAGE, seed);
	return verbs_write(self->setup.endpoint.qp, verbs->cq,
			   self->setup.endpoint.src, verbs->mr->lkey, to,
			   self->mr->rkey, WATCHED_SAMPLE, SECONDS);
}

static int process_has(FIXTURE_DATA(odp) *self, const char *at)
{
	return !memcmp(at, self->setup.endpoint.src, WATCHED_SAMPLE);
}

static int odp_watch_differs(FIXTURE_DATA(odp) *self)
{
	return watched_differs(&self->setup, self->mr, self->mem, LEN);
}

TEST_F(odp, pages_come_when_the_hca_asks)
{
	EXPECT_EQ(0, faults());
	EXPECT_EQ(0, hca_writes(self, self->mem + 3 * PAGE, 1));
	EXPECT_TRUE(process_has(self, self->mem + 3 * PAGE));
	EXPECT_EQ(1, faults());
	EXPECT_EQ(0, hca_writes(self, self->mem + 3 * PAGE, 2));
	EXPECT_TRUE(process_has(self, self->mem + 3 * PAGE));
	EXPECT_EQ(1, faults());
	EXPECT_EQ(1, counted("resumed"));
	EXPECT_EQ(0, counted("failed"));
}

TEST_F(odp, the_hca_follows_what_the_process_does)
{
	int64_t before;
	char *to;

	EXPECT_EQ(0, odp_watch_differs(self));
	before = faults();
	EXPECT_LT(0, before);
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_EQ(before, faults());

	ASSERT_EQ(0, madvise(self->mem, LEN, MADV_DONTNEED));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_LT(before, faults());

	before = faults();
	ASSERT_EQ(self->mem, fresh(self->mem));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_LT(before, faults());

	/* Other memory comes to the address. */
	before = faults();
	to = fresh(NULL);
	ASSERT_NE(MAP_FAILED, to);
	watched_fill(to, LEN, 77);
	ASSERT_EQ(self->mem, mremap(to, LEN, LEN, MREMAP_MAYMOVE |
				    MREMAP_FIXED, self->mem));
	EXPECT_EQ(0, hca_writes(self, self->mem + PAGE, 3));
	EXPECT_TRUE(process_has(self, self->mem + PAGE));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_LT(before, faults());
}

TEST_F(odp, a_fork_shares_no_page_with_the_hca)
{
	struct mlx5ep_watch watch;
	int status, gate[2];
	pid_t pid;
	char c;

	EXPECT_EQ(0, odp_watch_differs(self));
	watched_fill(self->mem, LEN, 5);
	ASSERT_EQ(0, mlx5ep_watch_add(self->setup.notifier, self->mem, LEN, 1,
				      &watch));
	ASSERT_EQ(0, pipe(gate));
	pid = fork();
	if (!pid) {
		close(gate[1]);
		(void)!read(gate[0], &c, 1);
		watched_fill(self->mem, LEN, 6);
		_exit(0);
	}
	close(gate[0]);
	EXPECT_EQ(0, odp_watch_differs(self));
	/* The pages are not pinned: it is the parent who got copies. */
	EXPECT_FALSE(mlx5ep_watch_valid(&watch));
	EXPECT_EQ(0, mlx5ep_watch_del(&watch));
	close(gate[1]);		/* The child writes now. */
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, hca_writes(self, self->mem, 7));
	EXPECT_TRUE(process_has(self, self->mem));
	EXPECT_EQ(0, odp_watch_differs(self));
}

TEST_F(odp, memory_that_is_not_there_is_an_error)
{
	char sample[WATCHED_SAMPLE];

	ASSERT_EQ(0, munmap(self->mem + PAGE, PAGE));
	EXPECT_EQ(-EIO, watched_hca_read(&self->setup, self->mr,
					 self->mem + PAGE, sample));
	EXPECT_LE(1, counted("failed"));
}

TEST_F(odp, a_prefetch_spares_the_fault)
{
	struct ibv_sge sge = { (uintptr_t)self->mem, LEN, self->mr->lkey };

	ASSERT_EQ(0, ibv_advise_mr(self->setup.verbs.pd,
				   IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				   IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_EQ(0, hca_writes(self, self->mem, 8));
	EXPECT_TRUE(process_has(self, self->mem));
	EXPECT_EQ(0, faults());
}

TEST_F(odp, one_key_reaches_all_memory)
{
	char *other = fresh(NULL);

	ASSERT_NE(MAP_FAILED, other);
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	self->mr = ibv_reg_mr(self->setup.verbs.pd, NULL, SIZE_MAX, ODP);
	ASSERT_NE(NULL, self->mr);
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_EQ(0, hca_writes(self, other, 9));
	EXPECT_TRUE(process_has(self, other));
	ASSERT_EQ(0, madvise(other, LEN, MADV_DONTNEED));
	EXPECT_EQ(0, hca_writes(self, other + PAGE, 10));
	EXPECT_TRUE(process_has(self, other + PAGE));
	munmap(other, LEN);
}

/* A process dies while a page fault of its queue is under way. */
TEST_F(odp, a_kill_in_mid_fault_leaves_nothing)
{
	int64_t qps = simhca_count("qp");
	int status, i;
	pid_t pid;

	ASSERT_EQ(0, simhca_ask("{\"op\":\"fault\",\"kind\":"
		"\"delay\",\"opcode\":\"PAGE_FAULT_RESUME\",\"us\":2000000}"));
	pid = fork();
	if (!pid) {
		struct watched_setup setup;
		char sample[WATCHED_SAMPLE];
		struct ibv_mr *mr;

		if (watched_open(&setup, 1))
			_exit(1);
		mr = ibv_reg_mr(setup.verbs.pd, self->mem, LEN, ODP);
		if (mr)
			watched_hca_read(&setup, mr, self->mem, sample);
		_exit(2);
	}
	for (i = 0; i < 1000 && simhca_count("page_fault") != 1; i++)
		usleep(20000);
	EXPECT_EQ(1, simhca_count("page_fault"));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, simhca_fail_nothing());
	for (i = 0; i < 1000 && simhca_count("qp") != qps; i++)
		usleep(20000);
	EXPECT_EQ(qps, simhca_count("qp"));
	EXPECT_EQ(0, simhca_count("page_fault"));
	EXPECT_EQ(0, odp_watch_differs(self));
}

/* The HCA has the right memory all the time. The watch cannot know that. */
TEST_F(odp, a_watch_is_hit_by_what_the_hca_follows)
{
	struct mlx5ep_watch watch;

	ASSERT_EQ(0, mlx5ep_watch_add(self->setup.notifier, self->mem, LEN, 1,
				      &watch));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_TRUE(mlx5ep_watch_valid(&watch));
	ASSERT_EQ(0, madvise(self->mem, LEN, MADV_DONTNEED));
	EXPECT_FALSE(mlx5ep_watch_valid(&watch));
	EXPECT_EQ(-ESTALE, mlx5ep_watch_verify(&watch));
	EXPECT_EQ(0, odp_watch_differs(self));
	EXPECT_EQ(0, mlx5ep_watch_del(&watch));
}

TEST_F(odp, a_watched_registration_is_dropped_by_a_change)
{
	struct mlx5ep_mr mr;

	watched_fill(self->mem, LEN, 11);
	ASSERT_EQ(0, mlx5ep_reg_mr(self->setup.notifier, self->setup.verbs.pd,
				   self->mem, LEN, ODP, 1, &mr));
	EXPECT_EQ(0, watched_differs(&self->setup, mr.mr, self->mem, LEN));
	EXPECT_EQ(0, mlx5ep_mr_check(&mr));
	ASSERT_EQ(0, madvise(self->mem, LEN, MADV_DONTNEED));
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&mr));
	EXPECT_EQ(0, watched_differs(&self->setup, mr.mr, self->mem, LEN));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));
}

TEST_F(odp, a_cache_registers_again_after_a_change)
{
	const struct mlx5ep_mr_cache_get_attr attr = {
		.flags = MLX5EP_MR_CACHE_GET_ACCESS,
		.access = ODP,
	};
	struct mlx5ep_mr_cache_attr all = {};
	struct mlx5ep_mr_cache_entry *entry;
	struct mlx5ep_mr_cache_stats stats;
	struct mlx5ep_mr_cache *cache;
	int i;

	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &all,
					    &cache));
	watched_fill(self->mem, LEN, 12);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get_as(cache, self->mem, LEN,
						    &attr, &entry));
		EXPECT_EQ(0, watched_differs(&self->setup, entry->mr,
					     self->mem, LEN));
		mlx5ep_mr_cache_put(cache, entry);
		if (i == 1)
			ASSERT_EQ(0, madvise(self->mem, LEN, MADV_DONTNEED));
	}
	mlx5ep_mr_cache_query(cache, &stats);
	EXPECT_EQ(2, stats.misses);
	EXPECT_EQ(2, stats.hits);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
}

TEST_HARNESS_MAIN
