// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60, config: USERFAULTFD */
/*
 * Requests for contexts at the edges of what the module takes for its policies: the
 * shortest, the largest, those that the driver refuses, and answers that cannot be
 * written. What an open returns is what the policy and the limits say.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "baseline.h"
#include "ctx_open.h"
#include "late_page.h"
#include "simhca.h"
#include "sysfs.h"

#define MOST 512	/* uUARs that the driver serves */
#define NO_RESOURCES 15	/* a firmware's status, EAGAIN for the driver */
#define FOREVER 1000
#define SHORTEST offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version)
#define SHORTEST_ANSWER                                                        \
	(offsetof(struct mlx5_ib_alloc_ucontext_resp, tot_bfregs) +            \
	 sizeof(((struct mlx5_ib_alloc_ucontext_resp *)0)->tot_bfregs))

/* Of a libmlx5 that takes its pages at open. */
static const struct mlx5_ib_alloc_ucontext_req_v2 plain = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.lib_caps = MLX5_LIB_CAP_4K_UAR,
};

FIXTURE(request)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct baseline base;
	long fallbacks;
};

FIXTURE_SETUP(request)
{
	self->req = plain;
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, baseline_take(&self->base));
	self->fallbacks = sysfs_number("uuar_fallbacks");
}

FIXTURE_TEARDOWN(request)
{
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/* Opens a context, which holds so many UAR pages, and has a policy or fell back. */
static void holds(struct __test_metadata *_metadata,
		  struct _test_data_request *self, uint16_t len, long managed,
		  long observed)
{
	int fd = ctx_open_request(&self->req, len);

	ASSERT_LE(0, fd);
	EXPECT_EQ(managed, sysfs_number("uar_in_use"));
	EXPECT_EQ(observed, sysfs_number("uar_observed"));
	EXPECT_EQ(!managed, sysfs_number("uuar_fallbacks") - self->fallbacks);
	close(fd);
}

TEST_F(request, of_the_shortest_form_is_managed)
{
	holds(_metadata, self, SHORTEST, 1, 0);
}

TEST_F(request, of_the_first_form_is_not)
{
	holds(_metadata, self, sizeof(struct mlx5_ib_alloc_ucontext_req), 0, 8);
}

/* A strict policy refuses no library that is too old for policies. */
TEST_F(request, of_the_first_form_is_served_under_a_strict_policy)
{
	ASSERT_EQ(0, sysfs_policy("independent", 4, true));
	holds(_metadata, self, sizeof(struct mlx5_ib_alloc_ucontext_req), 0, 8);
}

TEST_F(request, for_all_uuars_is_managed)
{
	self->req.total_num_bfregs = MOST;
	holds(_metadata, self, sizeof(self->req), 1, 0);
}

TEST_F(request, for_all_uuars_is_counted_under_stock)
{
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	self->req.total_num_bfregs = MOST;
	fd = ctx_open_request(&self->req, sizeof(self->req));
	ASSERT_LE(0, fd);
	EXPECT_EQ(MOST / 2, sysfs_number("uar_observed"));
	close(fd);
}

/* No driver serves it: nothing but fast uUARs. */
TEST_F(request, for_low_latency_only_is_refused)
{
	self->req.num_low_latency_bfregs = self->req.total_num_bfregs;
	EXPECT_EQ(-EINVAL, ctx_open_request(&self->req, sizeof(self->req)));
	self->req.num_low_latency_bfregs--;
	holds(_metadata, self, sizeof(self->req), 1, 0);
}

TEST_F(request, that_is_empty_is_refused)
{
	EXPECT_EQ(-EINVAL, ctx_open_request(&self->req, 0));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "50"));
	EXPECT_EQ(-EINVAL, ctx_open_request(&self->req, 0));
}

TEST_F(request, with_room_for_the_number_of_uuars_is_managed)
{
	struct mlx5_ib_alloc_ucontext_resp answer = {};
	int fd = ctx_open_answered(&self->req, sizeof(self->req), &answer,
				   SHORTEST_ANSWER);

	ASSERT_LE(0, fd);
	EXPECT_EQ(1, sysfs_number("uar_in_use"));
	EXPECT_EQ(8, answer.tot_bfregs);
	close(fd);
	fd = ctx_open_answered(&self->req, sizeof(self->req), &answer,
			       SHORTEST_ANSWER - 4);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	close(fd);
}

/* The device is active, so what it lacks does not come by trying again. */
TEST_F(request, that_finds_no_page_is_told_by_its_policy)
{
	ASSERT_EQ(0, simhca_fail("ALLOC_UAR", 1, FOREVER, NO_RESOURCES));
	EXPECT_EQ(-EAGAIN, ctx_open_request(&self->req, sizeof(self->req)));
	ASSERT_EQ(0, sysfs_policy("independent", 4, true));
	EXPECT_EQ(-EDQUOT, ctx_open_request(&self->req, sizeof(self->req)));
	ASSERT_EQ(0, sysfs_policy("stock", 4, true));
	EXPECT_EQ(-EAGAIN, ctx_open_request(&self->req, sizeof(self->req)));
}

/* Takes the right to write the first page away when the second is asked for. */
static void *lock_answer(void *arg)
{
	static char rest[LATE_PAGE] __attribute__((aligned(LATE_PAGE)));
	struct late_page *late = arg;

	if (!late_page_needed(late))
		return "nothing was written";
	if (mprotect(late->pages, LATE_PAGE, PROT_READ))
		return "the first page stays writable";
	return late_page_give(late, rest) ? "no page" : NULL;
}

TEST_F(request, whose_answer_cannot_be_changed_leaves_nothing)
{
	struct late_page late;
	pthread_t thread;
	char *answer;
	void *wrong;

	ASSERT_EQ(0, late_page_make(&late));
	/* What is behind the shortest answer is on the second page. */
	answer = late.pages + LATE_PAGE - SHORTEST_ANSWER;
	memset(answer, 0, SHORTEST_ANSWER);
	ASSERT_EQ(0, pthread_create(&thread, NULL, lock_answer, &late));
	EXPECT_EQ(-EFAULT,
		  ctx_open_answered(&self->req, sizeof(self->req), answer,
				    sizeof(struct mlx5_ib_alloc_ucontext_resp)));
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong) {
		TH_LOG("%s", (char *)wrong);
	}
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(self->fallbacks, sysfs_number("uuar_fallbacks"));
	late_page_end(&late);
}

TEST_HARNESS_MAIN
