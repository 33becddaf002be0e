// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * QPs that a program makes by DevX or in a thread domain are listed. The HCA
 * says which page and uUAR each of them rings.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include <mlx5ep.h>

#include "devx.h"
#include "doorbells.h"
#include "sysfs.h"
#include "uverbs.h"

#define QPS 4
#define MOST 16

struct qp_row {
	int pid, qpn;
	char uar[16], page[16], slot[16], level[16], uuar_qps[16], page_qps[16];
	char placer[16];
};

static int qp_list(struct ibv_context *ctx, uint32_t first,
		   struct mlx5_ep_qp_info *qps, size_t room, uint32_t *count)
{
	uint32_t entry_size = sizeof(*qps);
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_QP, uverbs_id("method qp list"));
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_FIRST, &first, sizeof(first));
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_QPS, qps,
		   room * sizeof(*qps));
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_COUNT, count,
		   sizeof(*count));
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE, &entry_size,
		  sizeof(entry_size));
	return uverbs_do(ctx, &call);
}

/* Find a QP in debugfs. Returns how many rows it has. */
static int debugfs_qp(uint32_t qpn, struct qp_row *found)
{
	FILE *table = debugfs_open("qps");
	struct qp_row row;
	int n = 0;

	while (table &&
	       fscanf(table, "%d %x %15s %15s %15s %15s %15s %15s %15s",
		      &row.pid, &row.qpn, row.uar, row.page, row.slot,
		      row.level, row.uuar_qps, row.page_qps,
		      row.placer) == 9) {
		if (row.qpn != qpn)
			continue;
		*found = row;
		n++;
	}
	if (table)
		fclose(table);
	return n;
}

static const struct mlx5_ep_qp_info *
find_qp(const struct mlx5_ep_qp_info *qps, uint32_t n, uint32_t qpn)
{
	for (uint32_t i = 0; i < n; i++)
		if (qps[i].qpn == qpn)
			return &qps[i];
	return NULL;
}

/* QPs that rang a page, as the HCA counted. */
static unsigned int on_page(const struct doorbells_report *report, uint32_t uar)
{
	unsigned int n = 0;

	for (size_t i = 0; i < report->n; i++)
		n += report->qps[i].uar == uar;
	return n;
}

FIXTURE(devx)
{
	struct verbs_setup setup;
	struct mlx5dv_devx_uar *uars[2];
	struct devx_qp qps[QPS];
};

FIXTURE_VARIANT(devx)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(devx, stock) { "stock" };
FIXTURE_VARIANT_ADD(devx, independent) { "independent" };

/* Three QPs share the first UAR, the last QP has the second for itself. */
static struct mlx5dv_devx_uar *uar_of(struct _test_data_devx *self, int i)
{
	return self->uars[i / (QPS - 1)];
}

FIXTURE_SETUP(devx)
{
	int i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 8, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 4));
	for (i = 0; i < 2; i++) {
		self->uars[i] = mlx5dv_devx_alloc_uar(
			self->setup.ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
		ASSERT_NE(NULL, self->uars[i]);
	}
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, devx_qp_create(&self->setup,
					    uar_of(self, i)->page_id,
					    &self->qps[i]));
}

FIXTURE_TEARDOWN(devx)
{
	struct qp_row row;
	uint32_t qpn;
	int i;

	for (i = 0; i < QPS; i++) {
		qpn = self->qps[i].qpn;
		devx_qp_destroy(&self->qps[i]);
		EXPECT_EQ(0, debugfs_qp(qpn, &row));
	}
	for (i = 0; i < 2; i++)
		mlx5dv_devx_free_uar(self->uars[i]);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(devx, qps_are_listed_where_the_hca_saw_them_ring)
{
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *qp;
	const struct doorbells_qp *at;
	struct doorbells_report report;
	unsigned int sharers, i;
	struct qp_row row;
	uint32_t count;

	ASSERT_EQ(0, simhca_zero());
	for (i = 0; i < QPS; i++) {
		ASSERT_EQ(0, devx_qp_connect(&self->setup, &self->qps[i]));
		devx_qp_ring(&self->qps[i], uar_of(self, i)->reg_addr);
	}
	ASSERT_EQ(0, doorbells_look(0, &report));
	EXPECT_EQ(0, report.wrong_uar);
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(QPS, count);
	for (i = 0; i < QPS; i++) {
		at = doorbells_qp(&report, self->qps[i].qpn);
		qp = find_qp(list, count, self->qps[i].qpn);
		ASSERT_NE(NULL, at);
		ASSERT_NE(NULL, qp);
		sharers = on_page(&report, at->uar);
		EXPECT_EQ(at->uar, qp->where.uar);
		EXPECT_EQ(sharers, qp->where.page_qps);
		/* Nobody else knows which register the program rings. */
		EXPECT_EQ(MLX5_EP_SLOT_UNKNOWN, qp->where.slot);
		EXPECT_EQ(sharers == 1 ? 1 : 0, qp->where.level);
		EXPECT_EQ(sharers == 1 ? 1 : 0, qp->where.uuar_qps);
		EXPECT_EQ(MLX5_EP_PLACER_DEVX, qp->where.placer);
		ASSERT_EQ(1, debugfs_qp(self->qps[i].qpn, &row));
		EXPECT_EQ(getpid(), row.pid);
		EXPECT_EQ(at->uar, strtoul(row.uar, NULL, 0));
		EXPECT_EQ(sharers, strtoul(row.page_qps, NULL, 0));
		EXPECT_STREQ("-", row.slot);
		EXPECT_STREQ("devx", row.placer);
	}
	doorbells_put(&report);
}

TEST_F(devx, a_list_is_read_in_parts)
{
	struct mlx5_ep_qp_info all[MOST], rest[MOST], one;
	uint32_t count, i;

	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, all, MOST, &count));
	ASSERT_EQ(QPS, count);
	for (i = 0; i < QPS; i++) {
		ASSERT_EQ(0, qp_list(self->setup.ctx, i, &one, 1, &count));
		EXPECT_EQ(QPS, count);
		EXPECT_EQ(self->qps[i].qpn, one.qpn);
		EXPECT_EQ(all[i].qpn, one.qpn);
	}
	one.qpn = 77;
	ASSERT_EQ(0, qp_list(self->setup.ctx, QPS, &one, 1, &count));
	EXPECT_EQ(77, one.qpn);
	/* There is room for more than are left. */
	for (i = 0; i <= QPS; i++) {
		memset(rest, 0, sizeof(rest));
		ASSERT_EQ(0, qp_list(self->setup.ctx, i, rest, MOST, &count));
		EXPECT_EQ(QPS, count);
		EXPECT_EQ(0, memcmp(rest, all + i, (QPS - i) * sizeof(*all)));
		EXPECT_EQ(0, rest[QPS - i].qpn);
	}
}

#define LIMIT_EXCEEDED 8	/* the status of a command: MLX5_CMD_STAT_LIM_ERR */

TEST_F(devx, a_qp_that_the_firmware_refuses_is_not_listed)
{
	struct mlx5_ep_qp_info before[MOST], after[MOST];
	struct devx_qp refused;
	uint32_t count;

	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, before, MOST, &count));
	ASSERT_EQ(QPS, count);
	ASSERT_EQ(0, simhca_fail("CREATE_QP", 1, 1, LIMIT_EXCEEDED));
	EXPECT_GT(0, devx_qp_create(&self->setup, uar_of(self, 0)->page_id,
				    &refused));
	EXPECT_EQ(0, simhca_fail_nothing());
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, after, MOST, &count));
	ASSERT_EQ(QPS, count);
	EXPECT_EQ(0, memcmp(before, after, QPS * sizeof(*before)));
	ASSERT_EQ(0, devx_qp_create(&self->setup, uar_of(self, 0)->page_id,
				    &refused));
	devx_qp_destroy(&refused);
}

TEST_F(devx, a_verbs_qp_does_not_count_on_their_pages)
{
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *qp;
	struct verbs_endpoint endpoint;
	uint32_t count;

	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoint,
					   IBV_QPT_RC));
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(QPS + 1, count);
	qp = find_qp(list, count, endpoint.qp->qp_num);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(strcmp(variant->policy, "stock") ? MLX5_EP_PLACER_POLICY :
						     MLX5_EP_PLACER_LIBRARY,
		  qp->where.placer);
	EXPECT_EQ(1, qp->where.page_qps);
	EXPECT_EQ(1, qp->where.level);
	verbs_endpoint_destroy(&endpoint);
}

/* No policy places a DevX QP, so it neither fixes the policy nor frees it again. */
TEST_F(devx, do_not_decide_whether_the_policy_can_change)
{
	const struct mlx5_ep_context_policy same = {
		.policy = strcmp(variant->policy, "stock") ?
			MLX5_EP_UUAR_POLICY_INDEPENDENT :
			MLX5_EP_UUAR_POLICY_STOCK,
	};
	struct verbs_endpoint endpoint;
	struct devx_qp later = {};

	EXPECT_EQ(0, mlx5ep_context_set_policy(self->setup.ctx, &same));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoint,
					   IBV_QPT_RC));
	EXPECT_EQ(-EBUSY, mlx5ep_context_set_policy(self->setup.ctx, &same));
	ASSERT_EQ(0, devx_qp_create(&self->setup, uar_of(self, 0)->page_id,
				    &later));
	EXPECT_EQ(-EBUSY, mlx5ep_context_set_policy(self->setup.ctx, &same));
	devx_qp_destroy(&later);
	EXPECT_EQ(-EBUSY, mlx5ep_context_set_policy(self->setup.ctx, &same));
	verbs_endpoint_destroy(&endpoint);
}

/* The method that modifies DevX objects takes the handles of other objects, too. */
TEST_F(devx, a_verbs_qp_that_devx_modifies_has_no_record)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct mlx5_ep_qp_info before[MOST], after[MOST];
	struct verbs_endpoint endpoint;
	uint32_t count;

	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoint,
					   IBV_QPT_RC));
	ASSERT_EQ(0, ibv_modify_qp(endpoint.qp, &reset, IBV_QP_STATE));
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, before, MOST, &count));
	ASSERT_EQ(QPS + 1, count);
	EXPECT_EQ(0, devx_init_verbs_qp(endpoint.qp));
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, after, MOST, &count));
	ASSERT_EQ(QPS + 1, count);
	EXPECT_EQ(0, memcmp(before, after, count * sizeof(*before)));
	verbs_endpoint_destroy(&endpoint);
}

/* How many QPs of the context are on the page of this one, as the module says. */
static unsigned int page_qps(struct __test_metadata *_metadata,
			     struct _test_data_devx *self, uint32_t qpn)
{
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *qp;
	uint32_t count;

	EXPECT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	qp = find_qp(list, count, qpn);
	return qp ? qp->where.page_qps : 0;
}

/* DPDK makes such queues. This one shares a page with the last QP. */
TEST_F(devx, a_send_queue_without_a_qp_is_listed_as_a_qp)
{
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *sq;
	struct doorbells_qp rung;
	struct devx_qp queue;
	struct qp_row row;
	unsigned int alone;
	uint32_t count;

	alone = page_qps(_metadata, self, self->qps[QPS - 1].qpn);
	EXPECT_LT(0, alone);
	ASSERT_EQ(0, devx_sq_create(&self->setup, self->uars[1]->page_id,
				    &queue));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, devx_sq_make_ready(&queue));
	devx_qp_ring(&queue, self->uars[1]->reg_addr);
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(QPS + 1, count);
	sq = find_qp(list, count, queue.qpn);
	ASSERT_NE(NULL, sq);
	ASSERT_EQ(0, doorbells_rung(0, queue.qpn, &rung));
	EXPECT_EQ(rung.uar, sq->where.uar);
	EXPECT_EQ(MLX5_EP_PLACER_DEVX, sq->where.placer);
	EXPECT_EQ(MLX5_EP_SLOT_UNKNOWN, sq->where.slot);
	EXPECT_EQ(alone + 1, sq->where.page_qps);
	EXPECT_EQ(0, sq->where.level);
	EXPECT_EQ(alone + 1, page_qps(_metadata, self, self->qps[QPS - 1].qpn));
	ASSERT_EQ(1, debugfs_qp(queue.qpn, &row));
	EXPECT_STREQ("devx", row.placer);
	count = queue.qpn;
	devx_qp_destroy(&queue);
	EXPECT_EQ(0, debugfs_qp(count, &row));
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(QPS, count);
	EXPECT_EQ(alone, page_qps(_metadata, self, self->qps[QPS - 1].qpn));
}

/* UCX makes such targets. */
TEST_F(devx, a_dc_target_is_listed_without_a_page)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(self->setup.pd, &attr);
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *dct;
	struct devx_qp target;
	struct qp_row row;
	uint32_t count;

	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, devx_dct_create(&self->setup, srq, &target));
	ASSERT_EQ(0, qp_list(self->setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(QPS + 1, count);
	dct = find_qp(list, count, target.qpn);
	ASSERT_NE(NULL, dct);
	EXPECT_EQ(MLX5_EP_PLACER_NONE, dct->where.placer);
	EXPECT_EQ(MLX5_EP_UAR_UNKNOWN, dct->where.uar);
	EXPECT_EQ(0, dct->where.level);
	ASSERT_EQ(1, debugfs_qp(target.qpn, &row));
	EXPECT_STREQ("none", row.placer);
	EXPECT_STREQ("-", row.uar);
	count = target.qpn;
	devx_qp_destroy(&target);
	EXPECT_EQ(0, debugfs_qp(count, &row));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* In a managed context the kernel knows the uUAR of each thread domain. */
TEST(qps_in_thread_domains_are_listed_where_they_ring)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr pd_attr = {};
	struct verbs_endpoint endpoints[3];
	struct mlx5_ep_qp_info list[MOST];
	const struct mlx5_ep_qp_info *qp;
	const struct doorbells_qp *at;
	struct doorbells_report report;
	struct verbs_setup setup;
	struct ibv_td *tds[3];
	struct ibv_pd *pds[3];
	uint32_t count;
	int i;

	ASSERT_EQ(0, sysfs_policy("independent", 8, false));
	ASSERT_EQ(0, verbs_open(&setup, NULL, 4));
	pd_attr.pd = setup.pd;
	for (i = 0; i < 3; i++) {
		tds[i] = ibv_alloc_td(setup.ctx, &td_attr);
		ASSERT_NE(NULL, tds[i]);
		pd_attr.td = tds[i];
		pds[i] = ibv_alloc_parent_domain(setup.ctx, &pd_attr);
		ASSERT_NE(NULL, pds[i]);
		ASSERT_EQ(0, verbs_endpoint_create_in(&setup, pds[i],
						      &endpoints[i],
						      IBV_QPT_RC));
	}
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_traffic(endpoints, 3, VERBS_WRITE, 1));
	ASSERT_EQ(0, doorbells_look(0, &report));
	ASSERT_EQ(0, qp_list(setup.ctx, 0, list, MOST, &count));
	EXPECT_EQ(3, count);
	for (i = 0; i < 3; i++) {
		at = doorbells_qp(&report, endpoints[i].qp->qp_num);
		qp = find_qp(list, count, endpoints[i].qp->qp_num);
		ASSERT_NE(NULL, at);
		ASSERT_NE(NULL, qp);
		EXPECT_EQ(MLX5_EP_PLACER_LIBRARY, qp->where.placer);
		EXPECT_EQ(at->uar, qp->where.uar);
		EXPECT_EQ(at->slot, qp->where.slot);
		EXPECT_EQ(at->level, qp->where.level);
		EXPECT_EQ(at->sharers, qp->where.uuar_qps);
		EXPECT_EQ(on_page(&report, at->uar), qp->where.page_qps);
	}
	doorbells_put(&report);
	for (i = 0; i < 3; i++) {
		verbs_endpoint_destroy(&endpoints[i]);
		EXPECT_EQ(0, ibv_dealloc_pd(pds[i]));
		EXPECT_EQ(0, ibv_dealloc_td(tds[i]));
	}
	verbs_close(&setup);
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_HARNESS_MAIN
