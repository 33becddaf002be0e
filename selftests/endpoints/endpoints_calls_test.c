// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What sets of endpoints ask of verbs, and what they say they have: each category, with too
 * few pages, with the caller's attributes; each call that fails, of those that make objects
 * and of those that end them; and domains. Verbs are made up (endpoints_fake.h).
 */
#include "kselftest_harness.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cancelled.h"
#include "endpoints/endpoints_fake.h"

#define MOST_CALLS	200

FIXTURE(calls)
{
	struct ibv_device dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct mlx5ep_endpoints_attr attr;
	struct mlx5ep_endpoints_info info;
	struct mlx5ep_endpoint ends[32];
	struct mlx5ep_endpoints *set;
};

FIXTURE_SETUP(calls)
{
	fake_reset();
	self->ctx = ibv_open_device(&self->dev);
	self->pd = ibv_alloc_pd(self->ctx);
	fake.calls = 0;
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_TRUE(thread_is_free());
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(self->set));
	EXPECT_TRUE(fake_is_empty(1, 1));
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	EXPECT_EQ(0, ibv_close_device(self->ctx));
}

static int calls_create(FIXTURE_DATA(calls) * self, unsigned int category,
			unsigned int n)
{
	unsigned int i;
	int ret;

	mlx5ep_endpoints_destroy(self->set);
	self->set = NULL;
	self->attr.category = category;
	ret = mlx5ep_endpoints_create(self->ctx, &self->attr, n, &self->set);
	if (!ret)
		ret = mlx5ep_endpoints_query(self->set, &self->info);
	for (i = 0; i < n && i < 32 && !ret; i++)
		ret = mlx5ep_endpoints_get(self->set, i, &self->ends[i]);
	return ret;
}

static unsigned int page_of(const struct mlx5ep_endpoint *end)
{
	return ((uintptr_t)end->uuar - FAKE_PAGES) / FAKE_PAGE;
}

static unsigned int slot_of(const struct mlx5ep_endpoint *end)
{
	return ((uintptr_t)end->uuar & (FAKE_PAGE - 1)) == 0xa00;
}

/* Is the endpoint on that uUAR of a thread domain of its own? */
static bool is_on(const struct mlx5ep_endpoint *end, unsigned int page, unsigned int slot)
{
	return (end->flags & MLX5EP_ENDPOINT_DOMAIN) && end->domain_pd != end->pd &&
	       page_of(end) == page && slot_of(end) == slot;
}

static bool has_no_domain(const struct mlx5ep_endpoint *end)
{
	return !(end->flags & MLX5EP_ENDPOINT_DOMAIN) && end->domain_pd == end->pd &&
	       (uintptr_t)end->uuar >= FAKE_STATIC;
}

TEST_F(calls, give_each_endpoint_of_dynamic_a_page)
{
	unsigned int i;

	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_DYNAMIC, 3));
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, self->info.category);
	EXPECT_EQ(3, self->info.endpoints);
	EXPECT_EQ(1, self->info.contexts);
	EXPECT_EQ(3, self->info.qps);
	EXPECT_EQ(3, self->info.cqs);
	EXPECT_EQ(0, self->info.static_pages);
	EXPECT_EQ(8, self->info.absent_pages);
	EXPECT_EQ(1, self->info.own_pages);
	EXPECT_EQ(3, self->info.uar_pages);
	EXPECT_EQ(6, self->info.uuars);
	EXPECT_EQ(3, self->info.used_uuars);
	EXPECT_EQ(3, self->info.level[1]);
	EXPECT_EQ(0, self->info.degraded);
	/* Send and receive queues, and a CQ for 257 and one more. */
	EXPECT_EQ(3 * (64 * 32 + 8 * 16 + 258 * 64), self->info.bytes);
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(is_on(&self->ends[i], i, 0));
		EXPECT_EQ(1, self->ends[i].level);
		EXPECT_EQ(MLX5EP_ENDPOINT_DOMAIN | MLX5EP_ENDPOINT_CQ_UNLOCKED |
			  MLX5EP_ENDPOINT_BLUEFLAME, self->ends[i].flags);
		EXPECT_EQ(self->ends[i].domain_pd, self->ends[i].qp->pd);
		EXPECT_EQ(self->ctx, self->ends[i].context);
		EXPECT_EQ(self->ends[i].cq, self->ends[i].recv_cq);
		EXPECT_EQ((void *)self->ends[i].cq, self->ends[i].cq_ex);
	}
	/* The CQ of the search is gone, and the second uUARs stay. */
	EXPECT_EQ(3, fake.live[FAKE_CQ]);
	EXPECT_EQ(6, fake.live[FAKE_TD]);
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_get(self->set, 3, &self->ends[0]));
}

TEST_F(calls, give_2xdynamic_every_second_page)
{
	struct mlx5ep_endpoint_attr each[2] = {
		{ .comp_vector = 5, .cq_context = self }, { .comp_vector = 6 },
	};

	self->attr.each = each;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_2XDYNAMIC, 2));
	EXPECT_TRUE(is_on(&self->ends[0], 0, 0));
	EXPECT_TRUE(is_on(&self->ends[1], 2, 0));
	EXPECT_EQ(4, self->info.qps);
	EXPECT_EQ(4, self->info.cqs);
	EXPECT_EQ(4, self->info.uar_pages);
	EXPECT_EQ(2, self->info.used_uuars);
	EXPECT_EQ(2, self->info.level[1]);
	EXPECT_EQ(0, self->info.degraded);
	/* The last QP is no endpoint's. */
	EXPECT_EQ(0, fake.cq.comp_vector);
	EXPECT_EQ(NULL, fake.cq.cq_context);
}

TEST_F(calls, give_shared_dynamic_both_uuars_of_a_page)
{
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_SHARED_DYNAMIC, 3));
	EXPECT_TRUE(is_on(&self->ends[0], 0, 0));
	EXPECT_TRUE(is_on(&self->ends[1], 0, 1));
	EXPECT_TRUE(is_on(&self->ends[2], 1, 0));
	EXPECT_EQ(2, self->ends[1].level);
	EXPECT_EQ(2, self->info.uar_pages);
	EXPECT_EQ(2, self->info.level[2]);
	EXPECT_EQ(1, self->info.level[1]);
	EXPECT_EQ(0, self->info.degraded);
}

TEST_F(calls, give_static_endpoints_what_libmlx5_has)
{
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 5));
	EXPECT_EQ(0, fake.made[FAKE_TD]);
	EXPECT_TRUE(has_no_domain(&self->ends[4]));
	EXPECT_EQ(4, self->info.level[2]);
	EXPECT_EQ(1, self->info.level[1]);
	EXPECT_EQ(3, self->info.static_pages);
	EXPECT_EQ(5, self->info.absent_pages);
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 17));
	EXPECT_EQ(2, self->info.level[3]);
	EXPECT_EQ(15, self->info.level[2]);
	EXPECT_EQ(16, self->info.used_uuars);
	EXPECT_EQ(8, self->info.static_pages);
	EXPECT_EQ(0, self->info.absent_pages);
	EXPECT_EQ(0, self->info.degraded);
}

TEST_F(calls, give_mpi_threads_one_qp)
{
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_MPI_THREADS, 3));
	EXPECT_EQ(1, self->info.qps);
	EXPECT_EQ(3, self->info.level[4]);
	EXPECT_EQ(1, self->info.used_uuars);
	EXPECT_EQ(1, self->info.static_pages);
	EXPECT_EQ(self->ends[0].qp, self->ends[2].qp);
	EXPECT_EQ(MLX5EP_ENDPOINT_BLUEFLAME, self->ends[2].flags);
	EXPECT_EQ(0, fake.cq.flags);
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_MPI_THREADS, 1));
	EXPECT_EQ(1, self->info.level[1]);
	EXPECT_TRUE(self->ends[0].flags & MLX5EP_ENDPOINT_CQ_UNLOCKED);
}

TEST_F(calls, give_mpi_everywhere_a_context_each)
{
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_MPI_EVERYWHERE, 3));
	EXPECT_EQ(3, self->info.contexts);
	EXPECT_EQ(3, self->info.own_pages);
	EXPECT_EQ(3, self->info.static_pages);
	EXPECT_EQ(3, self->info.level[1]);
	EXPECT_EQ(0, self->info.degraded);
	/* The first is the caller's, and stays. */
	EXPECT_EQ(3, fake.live[FAKE_CTX]);
	EXPECT_EQ(self->ctx, self->ends[0].context);
	EXPECT_NE(self->ctx, self->ends[2].context);
	EXPECT_EQ(self->ends[2].context, self->ends[2].qp->context);
}

TEST_F(calls, use_second_uuars_and_then_none_as_pages_run_out)
{
	unsigned int i, pages;

	for (pages = 0; pages < 4; pages++) {
		fake_reset();
		fake.live[FAKE_CTX] = fake.live[FAKE_PD] = 1;
		fake.pages = pages;
		ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_DYNAMIC, 4));
		EXPECT_EQ(pages, self->set->n_pages);
		for (i = 0; i < 4; i++) {
			EXPECT_TRUE(i < 2 * pages ?
				    is_on(&self->ends[i], i % pages, i / pages) :
				    has_no_domain(&self->ends[i]));
		}
		EXPECT_EQ(4 - self->info.level[1], self->info.degraded);
		self->attr.flags = MLX5EP_ENDPOINTS_STRICT;
		EXPECT_EQ(-ENOSPC,
			  calls_create(self, MLX5EP_CATEGORY_DYNAMIC, 4));
		EXPECT_EQ(NULL, self->set);
		EXPECT_TRUE(fake_is_empty(1, 1));
		self->attr.flags = 0;
	}
}

TEST_F(calls, tell_what_each_category_lacks)
{
	fake.pages = 1;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_SHARED_DYNAMIC, 4));
	EXPECT_TRUE(is_on(&self->ends[1], 0, 1));
	EXPECT_TRUE(has_no_domain(&self->ends[2]));
	/* The static QPs of the other two share a page, as they may. */
	EXPECT_EQ(0, self->info.degraded);
	EXPECT_EQ(2, self->info.uar_pages);
	/* But they have not got the page that a strict set wants. */
	self->attr.flags = MLX5EP_ENDPOINTS_STRICT;
	EXPECT_EQ(-ENOSPC,
		  calls_create(self, MLX5EP_CATEGORY_SHARED_DYNAMIC, 4));
	self->attr.flags = 0;

	/* No QPs that nobody uses then. */
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_2XDYNAMIC, 2));
	EXPECT_TRUE(is_on(&self->ends[0], 0, 0));
	EXPECT_TRUE(is_on(&self->ends[1], 0, 1));
	EXPECT_EQ(2, self->info.qps);
	EXPECT_EQ(2 + 2, self->info.degraded);

	/* A QP that rings elsewhere than its thread domain is no endpoint. */
	fake.stranger = true;
	EXPECT_EQ(-EPROTO, calls_create(self, MLX5EP_CATEGORY_DYNAMIC, 1));
	EXPECT_TRUE(fake_is_empty(1, 1));
	fake.stranger = false;
	/* More than two static QPs share a uUAR. */
	fake.n_free = 0;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_SHARED_DYNAMIC, 17));
	EXPECT_EQ(2, self->info.level[3]);
	EXPECT_EQ(2, self->info.degraded);
	self->attr.flags = MLX5EP_ENDPOINTS_STRICT;
	EXPECT_EQ(-ENOSPC,
		  calls_create(self, MLX5EP_CATEGORY_SHARED_DYNAMIC, 17));
	fake.unsupported = true;
	EXPECT_EQ(-EOPNOTSUPP, calls_create(self, MLX5EP_CATEGORY_STATIC, 1));
	fake.unsupported = false;
}

/* No page is missing, and endpoints share a uUAR all the same. */
TEST_F(calls, of_a_strict_set_look_at_the_levels)
{
	fake.one_context = true;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_MPI_EVERYWHERE, 2));
	EXPECT_EQ(2, self->info.level[3]);
	EXPECT_EQ(2, self->info.degraded);
	self->attr.flags = MLX5EP_ENDPOINTS_STRICT;
	EXPECT_EQ(-ENOSPC,
		  calls_create(self, MLX5EP_CATEGORY_MPI_EVERYWHERE, 2));
	EXPECT_TRUE(fake_is_empty(1, 1));
	fake.one_context = false;
	EXPECT_EQ(0, calls_create(self, MLX5EP_CATEGORY_MPI_EVERYWHERE, 2));
}

/* The pages of QPs that are in no thread domain, by what libmlx5 does with them. */
TEST_F(calls, count_the_static_pages_of_a_context)
{
	struct mlx5ep_endpoints_attr attr = { .category = MLX5EP_CATEGORY_STATIC };
	struct mlx5ep_endpoints_info *info = &self->info;

#define PAGES(open)								\
	({									\
		struct mlx5ep_endpoints *_set;					\
										\
		ASSERT_EQ(0, (open) ?						\
			  mlx5ep_endpoints_open(&self->dev, &attr, 4, &_set) :	\
			  mlx5ep_endpoints_create(self->ctx, &attr, 4, &_set));	\
		EXPECT_EQ(0, mlx5ep_endpoints_query(_set, info));		\
		EXPECT_EQ(0, mlx5ep_endpoints_destroy(_set));			\
		info->static_pages;						\
	})
	/* In the caller's context others may ring the pages that were allocated. */
	fake.one_page = true;
	EXPECT_EQ(2, PAGES(true));
	EXPECT_EQ(1, PAGES(false));
	/* Pages that were there when the context was opened are not libmlx5's rule. */
	fake.mmap_command = 8;
	EXPECT_EQ(1, PAGES(true));
	fake.mmap_command = 0;
	EXPECT_EQ(1, PAGES(true));
	fake.mmap_command = 0x109;
	EXPECT_EQ(2, PAGES(true));
	/* What is rung counts if it is more. */
	fake.one_page = false;
	fake.page_each = true;
	EXPECT_EQ(4, PAGES(true));
	/* The module says it of a context with static pages. */
	fake.context_flags = MLX5_EP_CONTEXT_STATIC;
	EXPECT_EQ(4, PAGES(true));
	fake.context_ret = 0;
	EXPECT_EQ(16, PAGES(true));
	EXPECT_EQ(0, info->absent_pages);
	fake.context_flags = ~MLX5_EP_CONTEXT_STATIC;
	EXPECT_EQ(4, PAGES(true));
	EXPECT_EQ(4, info->absent_pages);
	fake.own_page = false;
	EXPECT_EQ(4, PAGES(true));
	EXPECT_EQ(0, info->own_pages);
}

TEST_F(calls, take_the_attributes_of_the_set)
{
	static const struct ibv_qp_cap caps[] = {
		{ .max_send_wr = 2 }, { .max_recv_wr = 2 }, { .max_send_sge = 2 },
		{ .max_recv_sge = 2 }, { .max_inline_data = 2 },
	};
	unsigned int i;

	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 1));
	EXPECT_EQ(IBV_QPT_RC, fake.qp.qp_type);
	EXPECT_EQ(128, fake.qp.cap.max_send_wr);
	EXPECT_EQ(0, fake.qp.sq_sig_all);
	EXPECT_EQ(NULL, fake.qp.srq);
	EXPECT_EQ(257, fake.cq.cqe);
	EXPECT_EQ(IBV_CREATE_CQ_ATTR_SINGLE_THREADED, fake.cq.flags);
	EXPECT_EQ(IBV_CQ_INIT_ATTR_MASK_FLAGS, fake.cq.comp_mask);
	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		self->attr.cap = caps[i];
		ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 1));
		EXPECT_EQ(0, memcmp(&caps[i], &fake.qp.cap, sizeof(caps[i])));
		EXPECT_EQ(caps[i].max_send_wr + caps[i].max_recv_wr + 1, fake.cq.cqe);
	}
	self->attr.qp_type = IBV_QPT_UC;
	self->attr.sq_sig_all = 1;
	self->attr.srq = (void *)&fake;
	self->attr.cqe = 33;
	self->attr.flags = MLX5EP_ENDPOINTS_LOCKED_CQ;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 1));
	EXPECT_EQ(IBV_QPT_UC, fake.qp.qp_type);
	EXPECT_EQ(1, fake.qp.sq_sig_all);
	EXPECT_EQ((void *)&fake, fake.qp.srq);
	EXPECT_EQ(33, fake.cq.cqe);
	EXPECT_EQ(0, fake.cq.flags);
	EXPECT_FALSE(self->ends[0].flags & MLX5EP_ENDPOINT_CQ_UNLOCKED);
}

TEST_F(calls, take_the_attributes_of_an_endpoint)
{
	struct ibv_cq *cq = ibv_create_cq(self->ctx, 8, NULL, NULL, 0);
	struct ibv_cq *recv_cq = ibv_create_cq(self->ctx, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex qp_attr = {
		.send_cq = cq, .recv_cq = recv_cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 3 },
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct mlx5ep_endpoint_attr each[2] = {
		{ .channel = (void *)&fake, .cq_context = self, .comp_vector = 7 },
		{ .channel = (void *)self },
	};

	self->attr.each = each;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 1));
	EXPECT_EQ((void *)&fake, fake.cq.channel);
	EXPECT_EQ(self, fake.cq.cq_context);
	EXPECT_EQ(7, fake.cq.comp_vector);
	each[1] = (struct mlx5ep_endpoint_attr) { .qp_attr = &qp_attr };
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 2));
	EXPECT_TRUE(fake.qp_is_ex);
	EXPECT_EQ(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_PD,
		  fake.qp.comp_mask);
	EXPECT_EQ(3, fake.qp.cap.max_send_wr);
	EXPECT_EQ(cq, fake.qp.send_cq);
	EXPECT_EQ(recv_cq, fake.qp.recv_cq);
	EXPECT_EQ(cq, self->ends[1].cq);
	EXPECT_EQ(recv_cq, self->ends[1].recv_cq);
	EXPECT_EQ(NULL, self->ends[1].cq_ex);
	EXPECT_EQ(MLX5EP_ENDPOINT_BLUEFLAME, self->ends[1].flags);
	EXPECT_EQ(1, self->info.cqs);
	EXPECT_EQ(2 * (64 * 32 + 8 * 16) + 258 * 64, self->info.bytes);
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(self->set));
	self->set = NULL;
	EXPECT_EQ(0, ibv_destroy_cq(recv_cq));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

/* Not as the capacity of the others says. */
TEST_F(calls, make_a_cq_with_room_for_what_its_endpoint_posts)
{
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1000, .max_recv_wr = 500 },
	};
	struct mlx5ep_endpoint_attr each[2] = {
		[1] = { .qp_attr = &qp_attr },
	};

	self->attr.each = each;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 2));
	EXPECT_EQ(1501, fake.cq.cqe);
	EXPECT_EQ(1000, fake.qp.cap.max_send_wr);
	EXPECT_EQ(self->ends[1].cq, self->ends[1].recv_cq);
	EXPECT_NE(self->ends[0].cq, self->ends[1].cq);
	self->attr.cqe = 33;
	ASSERT_EQ(0, calls_create(self, MLX5EP_CATEGORY_STATIC, 2));
	EXPECT_EQ(33, fake.cq.cqe);
}

TEST_F(calls, that_open_a_device_take_no_objects_of_another_context)
{
	struct mlx5ep_endpoint_attr each = {};

	self->attr.category = MLX5EP_CATEGORY_STATIC;
	self->attr.srq = (void *)&fake;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_open(&self->dev, &self->attr, 1, &self->set));
	self->attr.srq = NULL;
	self->attr.each = &each;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_open(&self->dev, &self->attr, 1, &self->set));
	EXPECT_EQ(NULL, self->set);
}

/* The compiler's checks see who looks behind the end of what the caller gave. */
TEST_F(calls, look_at_the_attributes_of_each_endpoint_and_no_more)
{
	struct mlx5ep_endpoints_attr *attr = calloc(1, sizeof(*attr));
	struct mlx5ep_endpoint_attr *each = calloc(3, sizeof(*each));

	attr->each = each;
	EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 3, &self->info));
	each[2].flags = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_predict(attr, 3, &self->info));
	EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 2, &self->info));
	/* All threads have the one QP of the first. */
	attr->category = MLX5EP_CATEGORY_MPI_THREADS;
	EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 3, &self->info));
	each[2].flags = 0;
	/* A channel is of one context. */
	each[0].channel = (void *)self;
	attr->category = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_predict(attr, 3, &self->info));
	EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 1, &self->info));
	attr->category = MLX5EP_CATEGORY_STATIC;
	EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 3, &self->info));
	attr->category = MLX5EP_CATEGORY_AUTO;
	for (attr->level = 1; attr->level <= 4; attr->level++)
		EXPECT_EQ(0, mlx5ep_endpoints_predict(attr, 3, &self->info));
	EXPECT_EQ(NULL, mlx5ep_category_name(MLX5EP_CATEGORY_MPI_THREADS + 1));
	EXPECT_EQ(-EINVAL, mlx5ep_category_parse("none"));
	free(attr);
	free(each);
}

/* Makes the first, then the second, ... call fail, until there are fewer. */
static void sweep(struct __test_metadata *_metadata, FIXTURE_DATA(calls) *self,
		  unsigned int category, unsigned int flags)
{
	struct mlx5ep_endpoints_attr attr = { .category = category, .flags = flags };
	struct mlx5ep_endpoints *set;
	int nth, ret;

	for (nth = 1; nth < MOST_CALLS; nth++) {
		set = (void *)self;
		fake.calls = 0;
		fake.failing = nth;
		fake.fail_errno = 0;
		ret = mlx5ep_endpoints_open(&self->dev, &attr, 3, &set);
		fake.failing = 0;
		if (ret) {
			EXPECT_EQ((void *)self, set);
			if (ret != -ENOSPC || !(flags & MLX5EP_ENDPOINTS_STRICT))
				EXPECT_EQ(-fake.fail_errno, ret);
		} else {
			EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
		}
		ASSERT_TRUE(fake_is_empty(1, 1)) {
			TH_LOG("category %u: call %d leaves something", category, nth);
		}
		if (!fake.fail_errno) {
			EXPECT_EQ(0, ret);
			return;
		}
		/* Without a page there is a set all the same. */
		if (!ret)
			EXPECT_NE(0, endpoints_pages(category, 3));
	}
	EXPECT_LT(nth, MOST_CALLS);
}

TEST_F(calls, that_fail_leave_nothing)
{
	unsigned int category;

	for (category = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	     category <= MLX5EP_CATEGORY_MPI_THREADS; category++) {
		sweep(_metadata, self, category, 0);
		sweep(_metadata, self, category, MLX5EP_ENDPOINTS_STRICT);
	}
}

/*
 * Each object that cannot be ended is ended by another call; also the thread domains that
 * have half a page each.
 */
TEST_F(calls, to_destroy_can_be_repeated)
{
	struct mlx5ep_endpoints_attr attr = {};
	struct mlx5ep_endpoints *set;
	int nth, ret = -EBUSY;

	fake.free[fake.n_free++] = fake_uuar(50, 1);
	fake.free[fake.n_free++] = fake_uuar(51, 0);
	for (attr.category = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	     attr.category <= MLX5EP_CATEGORY_MPI_THREADS; attr.category++)
		for (nth = 1; nth < MOST_CALLS; nth++) {
			ASSERT_EQ(0, mlx5ep_endpoints_open(&self->dev, &attr, 3,
							   &set));
			fake.ends = 0;
			fake.failing_end = nth;
			ret = mlx5ep_endpoints_destroy(set);
			fake.failing_end = 0;
			if (ret) {
				EXPECT_EQ(-EBUSY, ret);
				EXPECT_EQ(nth, fake.ends);
				EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
			}
			ASSERT_TRUE(fake_is_empty(1, 1));
			if (!ret)
				break;
		}
	EXPECT_EQ(0, ret);
}

/* Half of each page is somebody else's: no page can be had, and libmlx5 has an end. */
TEST_F(calls, for_a_domain_never_take_half_a_page)
{
	struct mlx5ep_domain_attr attr = { .level = 1 };
	struct mlx5ep_domain *domain = (void *)self;
	struct mlx5ep_domain_info info;

	fake.halves = true;
	EXPECT_EQ(-ENOSPC, mlx5ep_domain_alloc(self->pd, &attr, &domain));
	EXPECT_EQ((void *)self, domain);
	EXPECT_EQ(1025, fake.made[FAKE_TD]);
	EXPECT_TRUE(fake_is_empty(1, 1));
	attr.level = 2;
	ASSERT_EQ(0, mlx5ep_domain_alloc(self->pd, &attr, &domain));
	mlx5ep_domain_query(domain, &info);
	EXPECT_EQ(2, info.level);
	EXPECT_EQ(MLX5EP_DOMAIN_BLUEFLAME, info.flags);
	EXPECT_EQ(1, fake.live[FAKE_TD]);
	EXPECT_EQ(0, fake.live[FAKE_CQ]);
	EXPECT_EQ(0, mlx5ep_domain_free(domain));
	EXPECT_TRUE(fake_is_empty(1, 1));
}

/* The second uUAR of a page, then pages in between, and then the first one. */
TEST_F(calls, for_a_domain_find_a_page_whose_uuars_are_apart)
{
	struct mlx5ep_domain_info info;
	struct mlx5ep_domain *domain;

	fake.free[fake.n_free++] = fake_uuar(7, 1);
	fake.free[fake.n_free++] = fake_uuar(8, 0);
	fake.free[fake.n_free++] = fake_uuar(9, 1);
	fake.free[fake.n_free++] = fake_uuar(8, 1);
	fake.free[fake.n_free++] = fake_uuar(7, 0);
	ASSERT_EQ(0, mlx5ep_domain_alloc(self->pd, NULL, &domain));
	mlx5ep_domain_query(domain, &info);
	EXPECT_EQ(1, info.level);
	EXPECT_EQ((void *)fake_uuar(8, 0), info.uuar);
	EXPECT_EQ(info.pd, mlx5ep_domain_pd(domain));
	EXPECT_NE(NULL, info.td);
	/* Both of the page, and no other: those that are free come again. */
	EXPECT_EQ(2, fake.live[FAKE_TD]);
	EXPECT_EQ(0, fake.live[FAKE_CQ]);
	EXPECT_EQ(3, fake.n_free);
	EXPECT_EQ(0, mlx5ep_domain_free(domain));
	EXPECT_EQ(5, fake.n_free);
}

static int child_status;

/* The child of another thread has a context of its own. */
static void fork_and_alloc(void)
{
	struct ibv_device dev = {};
	struct mlx5ep_domain *domain;
	pid_t pid;

	fake.meanwhile = NULL;
	pid = fork();
	if (!pid) {
		alarm(5);
		_exit(!!mlx5ep_domain_alloc(ibv_alloc_pd(ibv_open_device(&dev)), NULL,
					    &domain));
	}
	waitpid(pid, &child_status, 0);
}

TEST_F(calls, for_a_domain_work_in_a_child_that_is_forked_meanwhile)
{
	struct mlx5ep_domain *domain;

	child_status = -1;
	fake.meanwhile = fork_and_alloc;
	ASSERT_EQ(0, mlx5ep_domain_alloc(self->pd, NULL, &domain));
	EXPECT_EQ(0, child_status);
	EXPECT_EQ(0, mlx5ep_domain_free(domain));
}

static struct mlx5ep_domain *cancelled_domain;

static void cancelled_alloc(void *pd)
{
	mlx5ep_domain_alloc(pd, NULL, &cancelled_domain);
}

TEST_F(calls, for_a_domain_keep_no_lock_in_a_thread_that_is_cancelled)
{
	fake.meanwhile = pthread_testcancel;
	EXPECT_TRUE(cancelled_after(cancelled_alloc, self->pd));
	EXPECT_TRUE(lock_is_free(&page_lock));
	ASSERT_NE(NULL, cancelled_domain);
	EXPECT_EQ(0, mlx5ep_domain_free(cancelled_domain));
}

TEST_F(calls, for_a_domain_that_fail_leave_nothing)
{
	struct mlx5ep_domain_attr attr;
	struct mlx5ep_domain *domain;
	int nth, ret = -1;

	for (attr = (struct mlx5ep_domain_attr) { .level = 1 }; attr.level <= 2;
	     attr.level++)
		for (nth = 1; nth < MOST_CALLS; nth++) {
			domain = (void *)self;
			fake.calls = 0;
			fake.failing = nth;
			fake.fail_errno = 0;
			ret = mlx5ep_domain_alloc(self->pd, &attr, &domain);
			fake.failing = 0;
			EXPECT_EQ(-fake.fail_errno, ret);
			if (ret) {
				EXPECT_EQ((void *)self, domain);
			} else {
				fake.ends = 0;
				fake.failing_end = 2 * attr.level;
				EXPECT_EQ(attr.level == 1 ? -EBUSY : 0,
					  mlx5ep_domain_free(domain));
				fake.failing_end = 0;
				if (attr.level == 1)
					EXPECT_EQ(0, mlx5ep_domain_free(domain));
			}
			ASSERT_TRUE(fake_is_empty(1, 1));
			if (!ret)
				break;
		}
	fake.unsupported = true;
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_domain_alloc(self->pd, NULL, &domain));
}

/* The CQ of the search for pages, which is destroyed behind the QPs of two domains. */
TEST_F(calls, to_end_a_search_are_repeated)
{
	fake.failing_end = 3;
	EXPECT_EQ(-EBUSY, calls_create(self, MLX5EP_CATEGORY_DYNAMIC, 1));
	EXPECT_EQ(NULL, self->set);
	EXPECT_TRUE(fake_is_empty(1, 1));
}

/* The QP that finds the uUAR cannot be destroyed: the first error counts. */
TEST_F(calls, for_a_domain_tell_the_first_error)
{
	struct mlx5ep_domain_attr attr = { .level = 2 };
	struct mlx5ep_domain *domain;

	fake.failing_end = 1;
	EXPECT_EQ(-EBUSY, mlx5ep_domain_alloc(self->pd, &attr, &domain));
	/* After memory, CQ, thread domain, its PD and the QP. */
	fake.ends = 0;
	fake.calls = 0;
	fake.failing = 6;
	EXPECT_EQ(-EAGAIN, mlx5ep_domain_alloc(self->pd, &attr, &domain));
	EXPECT_EQ(2, fake.live[FAKE_QP]);
	/* What was left is nobody's now. */
	fake_reset();
	fake.live[FAKE_CTX] = fake.live[FAKE_PD] = 1;
	((struct fake_pd *)self->pd)->users = 0;
}

TEST_F(calls, for_a_domain_look_at_each_attribute)
{
	static const struct mlx5ep_domain_attr bad[] = {
		{ .level = 3 }, { .flags = 1 }, { .reserved = { 1 } },
		{ .reserved = { 0, 1 } }, { .reserved = { 0, 0, 1 } },
		{ .reserved = { 0, 0, 0, 1 } },
	};
	struct mlx5ep_domain *domain = (void *)self;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(-EINVAL, mlx5ep_domain_alloc(self->pd, &bad[i], &domain));
	EXPECT_EQ((void *)self, domain);
	EXPECT_EQ(0, fake.calls);
	EXPECT_EQ(0, mlx5ep_domain_free(NULL));
}

TEST_HARNESS_MAIN
