// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * Domains: the UAR page or the uUAR that the HCA sees the QPs of a domain ring,
 * bad input, pages that run out, commands that fail, and what is left behind.
 */
#include "kselftest_harness.h"

#include <pthread.h>

#include <mlx5ep.h>

#include "doorbells.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define DOMAINS 4
#define THREADS 8
#define NO_RESOURCES 15		/* status of a command */

FIXTURE(domain)
{
	struct verbs_setup setup;
	struct mlx5ep_domain *domains[DOMAINS];
	struct verbs_endpoint endpoints[2 * DOMAINS];
};

FIXTURE_VARIANT(domain)
{
	const char *policy;	/* of the device; NULL: stock */
};

FIXTURE_VARIANT_ADD(domain, stock) { NULL };
FIXTURE_VARIANT_ADD(domain, managed) { "independent" };

FIXTURE_SETUP(domain)
{
	ASSERT_EQ(0, sysfs_defaults());
	if (variant->policy)
		ASSERT_EQ(0, sysfs_policy(variant->policy, 8, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 3 * DOMAINS));
}

FIXTURE_TEARDOWN(domain)
{
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

static int alloc(struct ibv_pd *pd, unsigned int level,
		 struct mlx5ep_domain **domain)
{
	struct mlx5ep_domain_attr attr = { .level = level };

	return mlx5ep_domain_alloc(pd, &attr, domain);
}

/* Two QPs in each domain. */
static void domain_pages_fill(struct __test_metadata *_metadata,
			      FIXTURE_DATA(domain) * self, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < DOMAINS; i++)
		ASSERT_EQ(0, alloc(self->setup.pd, level, &self->domains[i]));
	for (i = 0; i < 2 * DOMAINS; i++)
		ASSERT_EQ(0, verbs_endpoint_create_in(
			  &self->setup, mlx5ep_domain_pd(self->domains[i / 2]),
			  &self->endpoints[i], IBV_QPT_RC));
}

static void empty(struct __test_metadata *_metadata, FIXTURE_DATA(domain) *self)
{
	unsigned int i;

	for (i = 0; i < 2 * DOMAINS; i++) {
		if (i % 2 == 0)
			EXPECT_EQ(-EBUSY,
				  mlx5ep_domain_free(self->domains[i / 2]));
		verbs_endpoint_destroy(&self->endpoints[i]);
	}
	for (i = 0; i < DOMAINS; i++)
		EXPECT_EQ(0, mlx5ep_domain_free(self->domains[i]));
}

/* QPs that rang the page of @at, or its uUAR only, as the HCA counted them. */
static unsigned int ringers(const struct doorbells_report *report,
			    const struct doorbells_qp *at, bool uuar)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < report->n; i++)
		n += report->qps[i].uar == at->uar &&
			(!uuar || report->qps[i].slot == at->slot);
	return n;
}

/* QPs of nobody's domain ring too, and thread domains of the program are there. */
static void domain_pages_look(struct __test_metadata *_metadata,
			      FIXTURE_DATA(domain) * self, unsigned int level)
{
	struct ibv_td_init_attr td_attr = {};
	struct verbs_endpoint others[DOMAINS];
	struct doorbells_report report;
	const struct doorbells_qp *at, *twin;
	struct ibv_td *td[5];
	unsigned int i;

	for (i = 0; i < 5; i++) {
		td[i] = ibv_alloc_td(self->setup.ctx, &td_attr);
		ASSERT_NE(NULL, td[i]);
	}
	/* The second uUAR of one page, and the first of another, are free. */
	EXPECT_EQ(0, ibv_dealloc_td(td[1]));
	EXPECT_EQ(0, ibv_dealloc_td(td[2]));
	domain_pages_fill(_metadata, self, level);
	for (i = 0; i < DOMAINS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &others[i],
						   IBV_QPT_RC));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_traffic(self->endpoints, 2 * DOMAINS,
				   VERBS_WRITE_INLINE, 3));
	ASSERT_EQ(0, verbs_traffic(others, DOMAINS, VERBS_WRITE_INLINE, 3));
	ASSERT_EQ(0, doorbells_look(0, &report));
	EXPECT_EQ(0, report.wrong_uar);
	EXPECT_EQ(0, report.torn);
	EXPECT_EQ(0, report.astray);
	for (i = 0; i < 2 * DOMAINS; i += 2) {
		at = doorbells_qp(&report, self->endpoints[i].qp->qp_num);
		twin = doorbells_qp(&report,
				    self->endpoints[i + 1].qp->qp_num);
		ASSERT_NE(NULL, at);
		ASSERT_NE(NULL, twin);
		EXPECT_EQ(at->uar, twin->uar);
		EXPECT_EQ(at->slot, twin->slot);
		EXPECT_EQ(2, ringers(&report, at, true));
		if (level == 1)
			EXPECT_EQ(2, ringers(&report, at, false));
	}
	doorbells_put(&report);
	for (i = 0; i < DOMAINS; i++)
		verbs_endpoint_destroy(&others[i]);
	empty(_metadata, self);
	for (i = 0; i < 5; i++)
		if (i != 1 && i != 2)
			EXPECT_EQ(0, ibv_dealloc_td(td[i]));
}

TEST_F(domain, of_level_1_rings_a_page_that_nobody_else_rings)
{
	domain_pages_look(_metadata, self, 1);
}

TEST_F(domain, of_level_2_rings_a_uuar_that_nobody_else_rings)
{
	domain_pages_look(_metadata, self, 2);
}

/* Whoever names no level, with attributes or without, means the first. */
TEST_F(domain, of_no_level_is_of_the_first)
{
	static const struct mlx5ep_domain_attr none;
	const struct mlx5ep_domain_attr *attrs[] = { NULL, &none };
	struct mlx5ep_domain_info info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		ASSERT_EQ(0, mlx5ep_domain_alloc(self->setup.pd, attrs[i],
						 &self->domains[0]));
		mlx5ep_domain_query(self->domains[0], &info);
		EXPECT_EQ(1, info.level);
		EXPECT_EQ(0, mlx5ep_domain_free(self->domains[0]));
	}
}

TEST_F(domain, says_what_it_has_got)
{
	struct {
		struct mlx5ep_domain_info info;
		uint64_t of_tomorrow;
	} as;
	struct mlx5ep_domain *other;
	struct mlx5ep_domain_info more;

	ASSERT_EQ(0, mlx5ep_domain_alloc(self->setup.pd, NULL,
					 &self->domains[0]));
	ASSERT_EQ(0, alloc(self->setup.pd, 2, &other));
	memset(&as, 0xff, sizeof(as));
	_mlx5ep_domain_query(self->domains[0], &as.info, sizeof(as));
	EXPECT_EQ(0, as.of_tomorrow);
	EXPECT_EQ(1, as.info.level);
	EXPECT_EQ(mlx5ep_domain_pd(self->domains[0]), as.info.pd);
	EXPECT_NE(NULL, as.info.td);
	EXPECT_EQ(MLX5EP_DOMAIN_BLUEFLAME, as.info.flags);
	mlx5ep_domain_query(other, &more);
	EXPECT_EQ(2, more.level);
	EXPECT_NE((uintptr_t)as.info.uuar & ~4095ul,
		  (uintptr_t)more.uuar & ~4095ul);
	memset(&as, 0xff, sizeof(as));
	_mlx5ep_domain_query(other, &as.info,
			     offsetof(struct mlx5ep_domain_info, level));
	EXPECT_EQ(more.td, as.info.td);
	EXPECT_EQ(UINT32_MAX, as.info.level);
	EXPECT_EQ(0, mlx5ep_domain_free(other));
	EXPECT_EQ(0, mlx5ep_domain_free(self->domains[0]));
}

TEST_F(domain, with_bad_attributes_is_refused)
{
	static const struct mlx5ep_domain_attr bad[] = {
		{ .level = 3 },
		{ .level = UINT32_MAX },
		{ .flags = 1 },
		{ .flags = 1u << 31 },
		{ .reserved = { 1 } },
		{ .reserved = { 0, 0, 0, 1 } },
	};
	struct mlx5ep_domain *domain = (void *)self;
	int64_t uars = simhca_count("uar"), cqs = simhca_count("cq");
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(-EINVAL, mlx5ep_domain_alloc(self->setup.pd, &bad[i],
						       &domain));
	EXPECT_EQ((void *)self, domain);
	EXPECT_EQ(uars, simhca_count("uar"));
	EXPECT_EQ(cqs, simhca_count("cq"));
	EXPECT_EQ(0, mlx5ep_domain_free(NULL));
}

/* libmlx5 keeps the pages of freed thread domains until the context closes. */
TEST_F_TIMEOUT(domain, that_was_freed_leaves_nothing_behind, 60)
{
	int64_t qps = simhca_count("qp"), cqs = simhca_count("cq");
	int64_t uars = 0;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, alloc(self->setup.pd, 1 + i % 2,
				   &self->domains[0]));
		EXPECT_EQ(0, mlx5ep_domain_free(self->domains[0]));
		if (!i)
			uars = simhca_count("uar");
	}
	EXPECT_EQ(uars, simhca_count("uar"));
	EXPECT_EQ(qps, simhca_count("qp"));
	EXPECT_EQ(cqs, simhca_count("cq"));
}

struct thread {
	pthread_t thread;
	struct ibv_pd *pd;
	struct mlx5ep_domain *domain;
	int ret;
};

static void *allocate(void *arg)
{
	struct thread *t = arg;

	t->ret = alloc(t->pd, 1, &t->domain);
	return NULL;
}

TEST_F_TIMEOUT(domain, of_each_thread_has_a_page_of_its_own, 60)
{
	struct thread threads[THREADS] = {};
	uintptr_t pages[THREADS];
	struct mlx5ep_domain_info info;
	unsigned int i, k;

	for (i = 0; i < THREADS; i++) {
		threads[i].pd = self->setup.pd;
		ASSERT_EQ(0, pthread_create(&threads[i].thread, NULL, allocate,
					    &threads[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		ASSERT_EQ(0, threads[i].ret);
		mlx5ep_domain_query(threads[i].domain, &info);
		pages[i] = (uintptr_t)info.uuar & ~4095ul;
		for (k = 0; k < i; k++)
			EXPECT_NE(pages[k], pages[i]);
	}
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(0, mlx5ep_domain_free(threads[i].domain));
}

/* Fails the first, then the second, ... command, until the call issues fewer. */
static unsigned int sweep(struct __test_metadata *_metadata,
			  struct ibv_pd *pd, unsigned int level,
			  const char *opcode, int *ret)
{
	struct mlx5ep_domain *domain = NULL;
	int64_t qps = simhca_count("qp"), cqs = simhca_count("cq");
	unsigned int nth;
	int failed;

	for (nth = 1; nth < 20; nth++) {
		if (simhca_fail(opcode, nth, 1, NO_RESOURCES))
			return 0;
		failed = alloc(pd, level, &domain);
		if (simhca_fail_nothing())
			return 0;
		if (!failed)
			EXPECT_EQ(0, mlx5ep_domain_free(domain));
		EXPECT_EQ(qps, simhca_count("qp"));
		EXPECT_EQ(cqs, simhca_count("cq"));
		if (!failed)
			return nth;
		EXPECT_GT(0, failed);
		*ret = failed;
	}
	return 0;
}

TEST_F_TIMEOUT(domain, of_a_command_that_fails_leaves_nothing_behind, 120)
{
	struct ibv_pd *pd = self->setup.pd;
	int ret = 0;

	EXPECT_EQ(2, sweep(_metadata, pd, 1, "ALLOC_UAR", &ret));
	EXPECT_EQ(-EAGAIN, ret);	/* what mlx5_core makes of it */
	EXPECT_EQ(3, sweep(_metadata, pd, 1, "CREATE_QP", &ret));
	EXPECT_EQ(2, sweep(_metadata, pd, 1, "CREATE_CQ", &ret));
	/* One uUAR is on the page that libmlx5 has kept. */
	EXPECT_EQ(1, sweep(_metadata, pd, 2, "ALLOC_UAR", &ret));
	EXPECT_EQ(2, sweep(_metadata, pd, 2, "CREATE_QP", &ret));
	EXPECT_EQ(2, sweep(_metadata, pd, 2, "CREATE_CQ", &ret));
}

TEST_HARNESS_MAIN
