// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, link: eth, timeout: 60 */
/*
 * Raw packet QPs, which mlx5_ib makes out of a send queue and a receive queue. The
 * policy places them as it places others, and the send queue rings there.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>

#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 4
#define PAGES 8
#define FRAME 64u

FIXTURE(raw)
{
	struct verbs_setup setup;
	struct ibv_qp *qps[QPS];
};

FIXTURE_SETUP(raw)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
}

FIXTURE_TEARDOWN(raw)
{
	size_t i;

	for (i = 0; i < QPS; i++)
		if (self->qps[i])
			EXPECT_EQ(0, ibv_destroy_qp(self->qps[i]));
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* Open a context and make the QPs. Return: 0 or -errno. */
static int make(struct _test_data_raw *self)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int ret = verbs_open(&self->setup, NULL, QPS);
	size_t i;

	attr.send_cq = self->setup.cq;
	attr.recv_cq = self->setup.cq;
	for (i = 0; i < QPS && !ret; i++) {
		self->qps[i] = ibv_create_qp(self->setup.pd, &attr);
		ret = self->qps[i] ?
			      verbs_qp_connect(self->qps[i], 0, NULL) : -errno;
	}
	return ret;
}

/* The row of a QP in debugfs. Return: how many rows it has. */
static int listed(uint32_t qpn, uint32_t *uar, char placer[16])
{
	FILE *table = debugfs_open("qps");
	char line[256], page[16];
	unsigned int number;
	int n = 0;

	while (table && fgets(line, sizeof(line), table)) {
		if (sscanf(line, "%*d %x %15s %*s %*s %*s %*s %*s %15s",
			   &number, page, placer) != 3 || number != qpn)
			continue;
		*uar = strtoul(page, NULL, 0);
		n++;
	}
	if (table)
		fclose(table);
	return n;
}

/* Where each QP rang. Return: how many UAR pages they rang together. */
static size_t ring_all(struct __test_metadata *_metadata,
		       struct _test_data_raw *self, const char *by)
{
	struct doorbells_qp rung[QPS] = {};
	struct mlx5_ep_qp_uuar uuar;
	size_t i, k, pages = 0;
	char placer[16];
	uint32_t uar;

	for (i = 0; i < QPS; i++) {
		EXPECT_EQ(0, verbs_send_frame(self->qps[i], self->setup.buf, FRAME,
					      self->setup.mr->lkey));
		EXPECT_EQ(0, doorbells_rung(0, self->qps[i]->qp_num, &rung[i]));
		EXPECT_EQ(1, listed(self->qps[i]->qp_num, &uar, placer));
		EXPECT_EQ(rung[i].uar, uar);
		EXPECT_STREQ(by, placer);
		/* Firmware does not say which page it is. */
		EXPECT_EQ(0, mlx5ep_qp_query_uuar(self->qps[i], &uuar));
		EXPECT_EQ(MLX5_EP_UAR_UNKNOWN, uuar.uar);
		EXPECT_EQ(rung[i].slot, uuar.slot);
		for (k = 0; k < i && rung[k].uar != rung[i].uar; k++)
			;
		pages += k == i;
	}
	return pages;
}

TEST_F(raw, each_has_a_page_under_independent)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, true));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(QPS, ring_all(_metadata, self, "policy"));
	/* The last page is page 0, which has the doorbells of the CQs. */
	EXPECT_EQ(QPS + 1, sysfs_number("uar_in_use"));
}

TEST_F(raw, two_share_a_page_under_shared_uar)
{
	ASSERT_EQ(0, sysfs_policy("shared-uar", PAGES, true));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(QPS / 2, ring_all(_metadata, self, "policy"));
}

TEST_HARNESS_MAIN
