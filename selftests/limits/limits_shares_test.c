// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 240, mem: 3G */
/*
 * A full node: many processes with eight QPs each, under each policy, without a limit
 * and with a budget or a limit of the user that is too small. Who gets what is read
 * from the HCA. Nobody fails who would not fail under stock, a limit of the user
 * excepted: that refuses opens. Under a policy who has opened has all QPs. RANKS is the
 * number of processes, 24 if it is not set.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define MOST_RANKS	256
#define QPS		8u
#define TIGHT		3u	/* pages for each process that a limit leaves */

/**
 * struct told - what a process says of itself
 * @error: errno of the open that failed; 0: it has opened
 * @qps: QPs that it has
 * @qpns: their numbers
 */
struct told {
	int error;
	uint32_t qps;
	uint32_t qpns[QPS];
};

/**
 * struct shares - what all of them have
 * @opened: processes that have a context
 * @qps: their QPs
 * @pages: UAR pages of the HCA, with those of CQs
 * @alone: QPs that have a page for themselves
 * @least: pages on which the QPs are of the process that has the fewest
 * @most: of the one that has the most
 */
struct shares {
	unsigned int opened;
	unsigned int qps;
	int64_t pages;
	unsigned int alone;
	unsigned int least;
	unsigned int most;
};

FIXTURE(shares)
{
	struct told told[MOST_RANKS];
	pid_t pids[MOST_RANKS];
	unsigned int ranks;
	bool stock;
	int64_t before;
	int up[2];
};

FIXTURE_VARIANT(shares)
{
	const char *policy;
	const char *limit;	/* the attribute, NULL: none */
};

#define ROW(name, rules, attribute) \
FIXTURE_VARIANT_ADD(shares, name) { .policy = rules, .limit = attribute }

ROW(stock, "stock", NULL);
ROW(independent, "independent", NULL);
ROW(shared_uar, "shared-uar", NULL);
ROW(shared_uuar, "shared-uuar", NULL);
ROW(independent_budget, "independent", "uar_budget");
ROW(shared_uar_budget, "shared-uar", "uar_budget");
ROW(stock_user_limit, "stock", "uar_user_limit");
ROW(independent_user_limit, "independent", "uar_user_limit");
ROW(shared_uuar_user_limit, "shared-uuar", "uar_user_limit");

FIXTURE_SETUP(shares)
{
	const char *ranks = getenv("RANKS");
	char limit[16];

	self->ranks = ranks ? atoi(ranks) : 24;
	self->stock = !strcmp(variant->policy, "stock");
	ASSERT_LE(self->ranks, MOST_RANKS);
	ASSERT_EQ(0, sysfs_policy(variant->policy, QPS, false));
	if (variant->limit) {
		snprintf(limit, sizeof(limit), "%u", TIGHT * self->ranks);
		ASSERT_EQ(0, sysfs_write(variant->limit, limit));
	}
	self->before = simhca_count("uar");
	ASSERT_EQ(0, pipe(self->up));
}

FIXTURE_TEARDOWN(shares)
{
	unsigned int i;

	for (i = 0; i < self->ranks; i++)
		if (self->pids[i] > 0)
			kill(self->pids[i], SIGKILL);
	for (i = 0; i < self->ranks; i++)
		if (self->pids[i] > 0)
			waitpid(self->pids[i], NULL, 0);
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	if (variant->limit)
		EXPECT_EQ(0, sysfs_write(variant->limit, "0"));
}

static void rank(int up)
{
	struct told told = {};
	struct ibv_context *ctx = ctx_open();
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!ctx) {
		told.error = errno;
	} else {
		pd = ibv_alloc_pd(ctx);
		cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
		while (pd && cq && told.qps < QPS &&
		       (qp = verbs_qp_create(pd, cq, IBV_QPT_RC)))
			told.qpns[told.qps++] = qp->qp_num;
	}
	if (write(up, &told, sizeof(told)) != sizeof(told))
		_exit(1);
	for (;;)
		pause();
}

static const struct simhca_qp *find_qp(const struct simhca_view *view,
				       uint32_t qpn)
{
	size_t i;

	for (i = 0; i < view->n_qps; i++)
		if (view->qps[i].user && view->qps[i].qpn == qpn)
			return &view->qps[i];
	return NULL;
}

/* QPs of all processes on a page. */
static unsigned int qps_on(const struct simhca_view *view, uint32_t uar)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < view->n_qps; i++)
		n += view->qps[i].user && view->qps[i].uar == uar;
	return n;
}

/* Adds a process. Returns the number of pages on which its QPs are; 0: one is lost. */
static unsigned int add_process(const struct simhca_view *view,
				const struct told *told, struct shares *shares)
{
	const struct simhca_qp *qps[QPS];
	unsigned int i, j, pages = 0;

	for (i = 0; i < told->qps; i++) {
		qps[i] = find_qp(view, told->qpns[i]);
		if (!qps[i])
			return 0;
		shares->alone += qps_on(view, qps[i]->uar) == 1;
		for (j = 0; j < i && qps[j]->uar != qps[i]->uar; j++)
			;
		pages += j == i;
	}
	shares->opened++;
	shares->qps += told->qps;
	return pages;
}

static void shares_look(struct __test_metadata *_metadata,
			const struct _test_data_shares *self,
			struct shares *shares)
{
	struct simhca_view view;
	unsigned int i, pages;

	*shares = (struct shares) { .least = QPS };
	ASSERT_EQ(0, simhca_look(0, &view));
	for (i = 0; i < self->ranks; i++) {
		if (self->told[i].error) {
			EXPECT_EQ(EDQUOT, self->told[i].error);
			continue;
		}
		pages = add_process(&view, &self->told[i], shares);
		if (!self->stock)
			EXPECT_LT(0, pages);
		if (pages < shares->least)
			shares->least = pages;
		if (pages > shares->most)
			shares->most = pages;
	}
	simhca_view_put(&view);
	shares->pages = simhca_count("uar") - self->before;
}

TEST_F_TIMEOUT(shares, are_what_the_policy_says, 600)
{
	unsigned int i, limit = TIGHT * self->ranks;
	struct shares s;

	for (i = 0; i < self->ranks; i++) {
		self->pids[i] = fork();
		if (!self->pids[i])
			rank(self->up[1]);
		ASSERT_LT(0, self->pids[i]);
	}
	for (i = 0; i < self->ranks; i++)
		ASSERT_EQ(sizeof(self->told[i]),
			  read(self->up[0], &self->told[i],
			       sizeof(self->told[i])));
	shares_look(_metadata, self, &s);
	TH_LOG("| `%s` | %s | %u | %u | %ld | %u to %u | %u |",
	       variant->policy, variant->limit ? variant->limit : "none",
	       s.opened, s.qps, (long)s.pages, s.least, s.most, s.alone);

	if (variant->limit && !strcmp(variant->limit, "uar_user_limit")) {
		EXPECT_LT(0, s.opened);
		EXPECT_GE(limit, s.pages);
		/* libmlx5 itself asks for pages after the open, under stock. */
		if (!self->stock)
			EXPECT_EQ(s.opened * QPS, s.qps);
		return;
	}
	EXPECT_EQ(self->ranks, s.opened);
	EXPECT_EQ(self->ranks * QPS, s.qps);
	if (variant->limit) {
		/* A context has one page whatever the budget says. */
		EXPECT_GE(limit + self->ranks, s.pages);
	} else if (!strcmp(variant->policy, "independent")) {
		EXPECT_EQ(s.qps, s.alone);
	}
}

TEST_HARNESS_MAIN
