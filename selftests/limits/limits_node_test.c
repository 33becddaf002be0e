// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 240, mem: 3G */
/*
 * A full node, on an adapter with 8192 UAR pages (uar_sz 5): 128 ranks with as many
 * pages each as a rank would have for 128 CPUs, and 256 ranks with the defaults,
 * which give a rank as many pages as libmlx5 asks for, where there are fewer CPUs. All
 * of them open and create their QPs, and a stock program still gets what it asks.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define MOST_RANKS 256
#define CPUS 128
#define MOST_QPS 56
#define STATIC_PAGES 8	/* that libmlx5 asks for */
#define ALL_PAGES 8192
#define BUDGET (ALL_PAGES / 4 * 3)

FIXTURE(node)
{
	int go[2], up[2];
	pid_t ranks[MOST_RANKS];
	int n;
	int64_t before;
};

/*
 * few: QPs that fit on pages of their own, and the pages that a rank then holds; many:
 * QPs that do not, and the pages of all ranks
 */
FIXTURE_VARIANT(node)
{
	int ranks, pages;
	int few, few_pages;
	int many, all_pages;
};

FIXTURE_VARIANT_ADD(node, many_pages)
{
	.ranks = 128,
	.pages = CPUS,
	.few = 16,
	.few_pages = 16 + 1,	/* one for the CQs */
	.many = 56,
	.all_pages = BUDGET,
};

FIXTURE_VARIANT_ADD(node, defaults)
{
	.ranks = 256,
	.pages = 0,
	.few = STATIC_PAGES,
	.few_pages = STATIC_PAGES,	/* a QP is on the page for the CQs, too */
	.many = 2 * STATIC_PAGES,
	.all_pages = 256 * STATIC_PAGES,
};

FIXTURE_SETUP(node)
{
	struct ibv_context *ctx;

	ASSERT_TRUE(sysfs_attached());
	/* By itself the module takes 16 at most; uuar_policy_test shows that. */
	ASSERT_EQ(0, sysfs_policy("independent", variant->pages, false));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	ibv_close_device(ctx);
	self->before = simhca_count("uar");
	ASSERT_EQ(0, pipe(self->go));
	ASSERT_EQ(0, pipe(self->up));
}

FIXTURE_TEARDOWN(node)
{
	int i;

	for (i = 0; i < self->n; i++)
		kill(self->ranks[i], SIGKILL);
	for (i = 0; i < self->n; i++)
		waitpid(self->ranks[i], NULL, 0);
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

/* Create QPs until there are @n. Return: how many there are. */
static int add_qps(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp **qps,
		   int have, int n)
{
	while (have < n && (qps[have] = verbs_qp_create(pd, cq, IBV_QPT_RC)))
		have++;
	return have;
}

/* A rank writes the number of its QPs each time; -1: it cannot open. */
static void rank(const struct _test_data_node *self,
		 const struct _fixture_variant_node *variant)
{
	struct ibv_context *ctx = ctx_open();
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 8, NULL, NULL, 0) : NULL;
	struct ibv_qp *made[MOST_QPS];
	int qps = -1;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pd && cq && !ctx_arm_cq(ctx))
		qps = add_qps(pd, cq, made, 0, variant->few);
	if (write(self->up[1], &qps, sizeof(qps)) != sizeof(qps) ||
	    read(self->go[0], &byte, 1) != 1)
		_exit(1);
	qps = add_qps(pd, cq, made, qps, variant->many);
	if (write(self->up[1], &qps, sizeof(qps)) != sizeof(qps))
		_exit(1);
	for (;;)
		pause();
}

/* All ranks have @qps QPs. */
static void all_have(struct __test_metadata *_metadata,
		     struct _test_data_node *self, int qps)
{
	int i, has;

	for (i = 0; i < self->n; i++) {
		ASSERT_EQ(sizeof(has), read(self->up[0], &has, sizeof(has)));
		EXPECT_EQ(qps, has);
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* Pages of the HCA on which users' QPs are. */
static size_t pages_with_qps(void)
{
	static uint32_t uars[MOST_RANKS * MOST_QPS];
	struct simhca_view view;
	size_t i, n = 0, pages = 0;

	if (simhca_look(0, &view))
		return 0;
	for (i = 0; i < view.n_qps && n < MOST_RANKS * MOST_QPS; i++)
		if (view.qps[i].user)
			uars[n++] = view.qps[i].uar;
	qsort(uars, n, sizeof(*uars), compare);
	for (i = 0; i < n; i++)
		pages += !i || uars[i] != uars[i - 1];
	simhca_view_put(&view);
	return pages;
}

/* A stock program: the QPs and thread domains of libmlx5's defaults. */
static void stock_is_served(struct __test_metadata *_metadata)
{
	struct ibv_td_init_attr attr = {};
	struct ibv_context *ctx;
	struct ibv_td *tds[8];
	struct ibv_qp *qps[32];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	int i;

	ASSERT_EQ(0, sysfs_policy("stock", 0, false));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, ctx_arm_cq(ctx));
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	ASSERT_EQ(32, add_qps(pd, cq, qps, 0, 32));
	for (i = 0; i < 8; i++) {
		tds[i] = ibv_alloc_td(ctx, &attr);
		EXPECT_NE(NULL, tds[i]);
	}
	EXPECT_EQ(8 + 1 + 4, sysfs_number("uar_observed"));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, ibv_dealloc_td(tds[i]));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qps[i]));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, ibv_close_device(ctx));
}

TEST_F_TIMEOUT(node, opens_all_ranks_and_leaves_pages_to_others, 400)
{
	const int ranks = variant->ranks;
	char bytes[MOST_RANKS] = {};

	for (; self->n < ranks; self->n++) {
		self->ranks[self->n] = fork();
		if (!self->ranks[self->n])
			rank(self, variant);
		ASSERT_LT(0, self->ranks[self->n]);
	}
	all_have(_metadata, self, variant->few);
	EXPECT_EQ(ranks * variant->few_pages,
		  simhca_count("uar") - self->before);
	EXPECT_EQ(ranks * variant->few, pages_with_qps());
	ASSERT_EQ(ranks, write(self->go[1], bytes, ranks));
	all_have(_metadata, self, variant->many);
	EXPECT_EQ(variant->all_pages, simhca_count("uar") - self->before);
	EXPECT_EQ(variant->all_pages, sysfs_number("uar_in_use"));
	stock_is_served(_metadata);
}

TEST_HARNESS_MAIN
