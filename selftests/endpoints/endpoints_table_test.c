// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 600 */
/*
 * What each category takes, for 1 to 32 endpoints. Three sources must agree:
 * the published table, what the library reads from addresses, and what the HCA
 * counts.
 */
#include "kselftest_harness.h"

#include "job.h"
#include "doorbells.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define MAX_N 32

struct counts {
	int64_t uars, qps, cqs;
};

static int table_count(struct counts *counts)
{
	struct simhca_view view;
	int ret;

	ret = simhca_look(0, &view);
	if (ret)
		return ret;
	counts->uars = simhca_alive(&view, "uar");
	counts->qps = simhca_alive(&view, "qp");
	counts->cqs = simhca_alive(&view, "cq");
	simhca_view_put(&view);
	return 0;
}

/* The published pages, uUARs and QPs; there are as many CQs as QPs. */
static void published(unsigned int category, unsigned int n,
		      unsigned int *pages, unsigned int *uuars,
		      unsigned int *qps)
{
	switch (category) {
	case MLX5EP_CATEGORY_MPI_EVERYWHERE:
		*pages = 8 * n, *uuars = 16 * n, *qps = n;
		break;
	case MLX5EP_CATEGORY_2XDYNAMIC:
		*pages = 8 + 2 * n, *uuars = 16 + 4 * n, *qps = 2 * n;
		break;
	case MLX5EP_CATEGORY_DYNAMIC:
		*pages = 8 + n, *uuars = 16 + 2 * n, *qps = n;
		break;
	case MLX5EP_CATEGORY_SHARED_DYNAMIC:
		*pages = 8 + (n + 1) / 2, *uuars = 16 + 2 * ((n + 1) / 2);
		*qps = n;
		break;
	case MLX5EP_CATEGORY_STATIC:
		*pages = 8, *uuars = 16, *qps = n;
		break;
	default:
		*pages = 8, *uuars = 16, *qps = 1;
	}
}

FIXTURE(table)
{
	struct ibv_device **list;
	struct ibv_device *dev;
};

FIXTURE_VARIANT(table)
{
	unsigned int category;
};

FIXTURE_VARIANT_ADD(table, mpi_everywhere) { MLX5EP_CATEGORY_MPI_EVERYWHERE };
FIXTURE_VARIANT_ADD(table, 2xdynamic) { MLX5EP_CATEGORY_2XDYNAMIC };
FIXTURE_VARIANT_ADD(table, dynamic) { MLX5EP_CATEGORY_DYNAMIC };
FIXTURE_VARIANT_ADD(table, shared_dynamic) { MLX5EP_CATEGORY_SHARED_DYNAMIC };
FIXTURE_VARIANT_ADD(table, static) { MLX5EP_CATEGORY_STATIC };
FIXTURE_VARIANT_ADD(table, mpi_threads) { MLX5EP_CATEGORY_MPI_THREADS };

FIXTURE_SETUP(table)
{
	struct ibv_context *ctx;

	if (sysfs_attached())
		ASSERT_EQ(0, sysfs_defaults());
	self->list = ibv_get_device_list(NULL);
	ASSERT_NE(NULL, self->list);
	self->dev = verbs_find_device(self->list, verbs_device_name());
	ASSERT_NE(NULL, self->dev);
	/*
	 * The driver creates some objects once, at the first open, and keeps
	 * them.
	 */
	ctx = ibv_open_device(self->dev);
	ASSERT_NE(NULL, ctx);
	ibv_close_device(ctx);
}

FIXTURE_TEARDOWN(table)
{
	ibv_free_device_list(self->list);
}

/* The HCA's counts are @before at the start, and again at the end. */
static void one(struct __test_metadata *_metadata, struct ibv_device *dev,
		unsigned int category, unsigned int n, struct counts *before)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = category,
		.flags = MLX5EP_ENDPOINTS_STRICT,
	};
	struct mlx5ep_endpoints_info info, plan;
	struct mlx5ep_endpoints *set;
	struct counts during, after;
	unsigned int pages, uuars, qps;

	published(category, n, &pages, &uuars, &qps);
	ASSERT_EQ(0, mlx5ep_endpoints_open(dev, &attr, n, &set));
	ASSERT_EQ(0, mlx5ep_endpoints_query(set, &info));
	ASSERT_EQ(0, mlx5ep_endpoints_predict(&attr, n, &plan));
	ASSERT_EQ(0, table_count(&during));

	EXPECT_EQ(pages, info.uar_pages + info.absent_pages);
	EXPECT_EQ(uuars, info.uuars + 2 * info.absent_pages);
	EXPECT_EQ(qps, info.qps);
	EXPECT_EQ(qps, info.cqs);
	EXPECT_EQ(0, info.degraded);

	EXPECT_EQ(info.uar_pages + info.own_pages, during.uars - before->uars);
	EXPECT_EQ(info.qps, during.qps - before->qps);
	EXPECT_EQ(info.cqs, during.cqs - before->cqs);

	info.bytes = plan.bytes;	/* Computed from other sizes. */
	EXPECT_EQ(0, memcmp(&plan, &info, sizeof(info)));

	ASSERT_EQ(0, mlx5ep_endpoints_destroy(set));
	ASSERT_EQ(0, table_count(&after));
	EXPECT_EQ(0, memcmp(before, &after, sizeof(after)));
}

/*
 * The number after @n: each one, or on a slow kernel 1 to 4 and powers of two.
 */
static unsigned int following(unsigned int n)
{
	return patience_factor() == 1 || n < 4 ? n + 1 : 2 * n;
}

TEST_F_TIMEOUT(table, holds_for_one_to_thirty_two_endpoints, 240)
{
	struct counts before;
	unsigned int n;

	ASSERT_EQ(0, table_count(&before));
	for (n = 1; n <= MAX_N && _metadata->exit_code == KSFT_PASS;
	     n = following(n)) {
		one(_metadata, self->dev, variant->category, n, &before);
		if (_metadata->exit_code != KSFT_PASS)
			TH_LOG("at n = %u", n);
	}
}

static int ring_once(struct job_thread *t)
{
	struct job_mem *mem = t->arg;
	uint64_t *words = mem->mrs[t->id]->addr;
	int ret;

	ret = job_rdma(t, IBV_WR_RDMA_WRITE, mem, &words[t->id], mem,
		       &words[MAX_N + t->id], sizeof(*words));
	return ret ? ret : job_wait(t);
}

TEST_F_TIMEOUT(table, levels_are_those_that_the_hca_sees, 60)
{
	static uint64_t words[2 * MAX_N];
	struct job_mem mem;
	struct doorbells_report doorbells;
	struct job job;
	unsigned int i;

	ASSERT_EQ(0, job_open(&job, variant->category, 16, 4, 0));
	ASSERT_EQ(0, job_mem_reg(&job, &mem, words, sizeof(words)));
	for (i = 0; i < 16; i++) {
		words[i] = 0x1000 + i;
		words[MAX_N + i] = 0;
		job.threads[i].arg = &mem;
	}
	ASSERT_EQ(0, simhca_zero());
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, ring_once(&job.threads[i]));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(0, doorbells.wrong_uar);
	EXPECT_EQ(0, doorbells.astray);
	EXPECT_EQ(job.info.used_uuars, doorbells.uuars);
	for (i = 0; i < 16; i++) {
		const struct mlx5ep_endpoint *endpoint =
			&job.threads[i].endpoint;
		const struct doorbells_qp *qp;

		EXPECT_EQ(0x1000 + i, words[MAX_N + i]);
		qp = doorbells_qp(&doorbells, endpoint->qp->qp_num);
		ASSERT_NE(NULL, qp);
		EXPECT_EQ(((uintptr_t)endpoint->uuar & 0xfff) == 0xa00,
			  qp->slot);
		if (endpoint->level < 4)
			EXPECT_EQ(endpoint->level, qp->level);
	}
	doorbells_put(&doorbells);
	job_mem_dereg(&mem);
	job_close(&job);
}

TEST_HARNESS_MAIN
