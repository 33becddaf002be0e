// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120 */
/*
 * A context's QPs are listed while a thread destroys some of them and makes others:
 * each QP that stays is listed, and none is listed twice.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

#define QPS	1200	/* every third is one that changes */
#define MOST	1600	/* entries of one call */
#define PART	100
#define ROUNDS	40

/* Numbers of QPs, in the order in which they were listed. */
struct numbers {
	uint32_t qpns[4 * QPS];
	unsigned int n;
};

FIXTURE(changes)
{
	struct verbs_setup setup;
	struct ibv_qp *qps[QPS];
	pthread_t thread;
	bool stop, failed;
	unsigned long times;
	struct numbers numbers;
};

static bool changes(int i)
{
	return i % 3 == 1;
}

static void *change(void *arg)
{
	struct _test_data_changes *self = arg;
	struct verbs_setup *setup = &self->setup;
	int i = 0;

	while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
		i = (i + 1) % QPS;
		if (!changes(i))
			continue;
		if (ibv_destroy_qp(self->qps[i]))
			self->failed = true;
		self->qps[i] = verbs_qp_create(setup->pd, setup->cq,
					       IBV_QPT_RC);
		if (!self->qps[i])
			self->failed = true;
		if (self->failed)
			break;
		__atomic_add_fetch(&self->times, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

FIXTURE_SETUP(changes)
{
	int i;

	ASSERT_EQ(0, sysfs_policy("shared-uuar", 8, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	for (i = 0; i < QPS; i++) {
		self->qps[i] = verbs_qp_create(self->setup.pd, self->setup.cq,
					       IBV_QPT_RC);
		ASSERT_NE(NULL, self->qps[i]);
	}
	self->stop = self->failed = false;
	self->times = 0;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, change, self));
}

FIXTURE_TEARDOWN(changes)
{
	int i;

	__atomic_store_n(&self->stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(self->thread, NULL));
	EXPECT_FALSE(self->failed);
	EXPECT_LT(0, self->times);
	TH_LOG("%lu QPs were destroyed and made", self->times);
	for (i = 0; i < QPS; i++)
		if (self->qps[i])
			EXPECT_EQ(0, ibv_destroy_qp(self->qps[i]));
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

/* A QP has the number 0 while the driver makes it. */
static void add_number(struct numbers *numbers, uint32_t qpn)
{
	if (qpn && numbers->n < sizeof(numbers->qpns) / sizeof(uint32_t))
		numbers->qpns[numbers->n++] = qpn;
}

static bool has_number(const struct numbers *numbers, uint32_t qpn)
{
	unsigned int i;

	for (i = 0; i < numbers->n; i++)
		if (numbers->qpns[i] == qpn)
			return true;
	return false;
}

/* QPs that stay all the time and are not in the list. */
static unsigned int missing(struct _test_data_changes *self)
{
	unsigned int i, n = 0;

	for (i = 0; i < QPS; i++)
		n += !changes(i) &&
			!has_number(&self->numbers, self->qps[i]->qp_num);
	return n;
}

static int qp_list_changes_by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the list. */
static unsigned int twice(struct numbers *numbers)
{
	unsigned int i, n = 0;

	qsort(numbers->qpns, numbers->n, sizeof(uint32_t),
	      qp_list_changes_by_value);
	for (i = 1; i < numbers->n; i++)
		n += numbers->qpns[i] == numbers->qpns[i - 1];
	return n;
}

TEST_F(changes, one_call_lists_each_qp_that_stays_once)
{
	static struct mlx5_ep_qp_info qps[MOST];
	int round, i, n;

	for (round = 0; round < ROUNDS; round++) {
		self->numbers.n = 0;
		n = uverbs_qp_list(self->setup.ctx, 0, MOST, qps);
		ASSERT_LE(2 * QPS / 3, n);
		ASSERT_GE(QPS, n);
		for (i = 0; i < n; i++) {
			EXPECT_EQ(MLX5_EP_PLACER_POLICY, qps[i].where.placer);
			add_number(&self->numbers, qps[i].qpn);
		}
		ASSERT_LE(n - 1, self->numbers.n);
		ASSERT_EQ(0, missing(self));
		ASSERT_EQ(0, twice(&self->numbers));
	}
}

TEST_F(changes, debugfs_lists_each_qp_that_stays_once)
{
	unsigned int qpn;
	char line[160];
	int round, values;
	FILE *table;

	for (round = 0; round < ROUNDS; round++) {
		self->numbers.n = 0;
		table = debugfs_open("qps");
		ASSERT_NE(NULL, table);
		while (fgets(line, sizeof(line), table)) {
			values = sscanf(line, "%*d %x", &qpn);
			ASSERT_EQ(1, values);
			add_number(&self->numbers, qpn);
		}
		fclose(table);
		ASSERT_EQ(0, missing(self));
		ASSERT_EQ(0, twice(&self->numbers));
	}
}

/*
 * As uapi.md says: each part begins in the middle of the part before, and goes back
 * if a QP comes first that was not seen. The middle, since several QPs may be
 * destroyed between two calls, whenever they are made.
 */
TEST_F(changes, in_parts_that_overlap_no_qp_that_stays_is_missed)
{
	struct mlx5_ep_qp_info qps[PART];
	uint32_t first = 0, back = 0;
	int i, n;

	self->numbers.n = 0;
	for (;;) {
		n = uverbs_qp_list(self->setup.ctx, first, PART, qps);
		ASSERT_LE(0, n);
		if (first && (!n || !has_number(&self->numbers, qps[0].qpn))) {
			first -= first < PART ? first : PART;
			back++;
			continue;
		}
		for (i = 0; i < n; i++)
			if (!has_number(&self->numbers, qps[i].qpn))
				add_number(&self->numbers, qps[i].qpn);
		if (n < PART)
			break;
		first += n / 2;
	}
	TH_LOG("went back %u times", back);
	EXPECT_EQ(0, missing(self));
}

TEST_HARNESS_MAIN
