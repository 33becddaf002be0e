// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, link: eth, eswitch: yes, guest: representor, timeout: 120, config: MLX5_ESWITCH */
/*
 * In switchdev mode the RDMA device is that of representors. Programs make raw packet QPs
 * on the port of the uplink, and the e-switch sends their frames to the cable. Policies
 * and limits hold there as elsewhere, and nothing stays when the mode goes back under a
 * program.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>
#include <sys/mman.h>

#include "doorbells.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 4
#define PAGES 8
#define FRAME 64u
#define UPLINK 2		/* port 1 is that of the function, which has none */
#define WAIT_MS 20000
#define STEP_MS 20

FIXTURE(representor)
{
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_qp *qps[QPS];
	int64_t uars;
	char budget[32];
};

/* Set the mode by devlink(8). Return: its exit status */
static int mode(const char *name)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd),
		 "devlink dev eswitch set pci/$(basename $(readlink -f "
		 "/sys/class/infiniband/%s/device)) mode %s",
		 verbs_device_name(), name);
	return system(cmd);
}

/* Wait until the device has so many ports and the module is attached to it. */
static bool comes_with(unsigned int ports)
{
	char path[128];
	int ms;

	for (ms = 0; ms < WAIT_MS; ms += STEP_MS) {
		bool have[2];
		unsigned int i;

		for (i = 0; i < 2; i++) {
			snprintf(path, sizeof(path),
				 "/sys/class/infiniband/%s/ports/%u",
				 verbs_device_name(), i + 1);
			have[i] = !access(path, F_OK);
		}
		if (have[0] && have[1] == (ports == 2) && sysfs_attached())
			return true;
		usleep(STEP_MS * 1000);
	}
	return false;
}

static int64_t uars_alive(void)
{
	struct simhca_view view;
	int64_t n = -1;

	if (simhca_look(0, &view))
		return -1;
	n = simhca_alive(&view, "uar");
	simhca_view_put(&view);
	return n;
}

/* Frames that the e-switch sent to the cable; -1 where it has none. */
static int64_t to_cable(void)
{
	struct json_object *o;
	struct simhca_view view;
	int64_t n = -1;

	if (simhca_look(0, &view))
		return -1;
	if (json_object_object_get_ex(view.hca, "eswitch", &o) &&
	    json_object_object_get_ex(o, "uplink", &o))
		n = json_object_get_int64(o);
	simhca_view_put(&view);
	return n;
}

FIXTURE_SETUP(representor)
{
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, sysfs_read("uar_budget", self->budget,
				sizeof(self->budget)));
	self->uars = uars_alive();
	ASSERT_EQ(0, mode("switchdev"));
	ASSERT_TRUE(comes_with(2));
}

static void close_all(struct __test_metadata *_metadata,
		      struct _test_data_representor *self)
{
	size_t i;

	for (i = 0; i < QPS; i++)
		if (self->qps[i])
			EXPECT_EQ(0, ibv_destroy_qp(self->qps[i]));
	if (self->mr)
		EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	if (self->cq)
		EXPECT_EQ(0, ibv_destroy_cq(self->cq));
	if (self->pd)
		EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	if (self->ctx)
		EXPECT_EQ(0, ibv_close_device(self->ctx));
	free(self->buf);
	memset(self->qps, 0, sizeof(self->qps));
	self->mr = NULL;
	self->cq = NULL;
	self->pd = NULL;
	self->ctx = NULL;
	self->buf = NULL;
}

FIXTURE_TEARDOWN(representor)
{
	close_all(_metadata, self);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_write("uar_budget", self->budget));
	EXPECT_EQ(0, mode("legacy"));
	EXPECT_TRUE(comes_with(1));
	EXPECT_EQ(self->uars, uars_alive());
}

static int open_context(struct _test_data_representor *self)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *device;

	device = list ? verbs_find_device(list, verbs_device_name()) : NULL;
	self->ctx = device ? ibv_open_device(device) : NULL;
	if (list)
		ibv_free_device_list(list);
	if (!self->ctx)
		return -ENODEV;
	self->buf = calloc(1, FRAME);
	self->pd = ibv_alloc_pd(self->ctx);
	self->cq = ibv_create_cq(self->ctx, 4 * QPS, NULL, NULL, 0);
	if (self->pd && self->buf)
		self->mr = ibv_reg_mr(self->pd, self->buf, FRAME,
				      IBV_ACCESS_LOCAL_WRITE);
	return self->mr && self->cq ? 0 : -errno;
}

static int make_qp(struct _test_data_representor *self, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.send_cq = self->cq,
		.recv_cq = self->cq,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = UPLINK };
	int ret;

	*qp = ibv_create_qp(self->pd, &init);
	if (!*qp)
		return -errno;
	ret = ibv_modify_qp(*qp, &attr, IBV_QP_STATE | IBV_QP_PORT);
	attr.qp_state = IBV_QPS_RTR;
	if (!ret)
		ret = ibv_modify_qp(*qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	return -(ret ? ret : ibv_modify_qp(*qp, &attr, IBV_QP_STATE));
}

static int make(struct _test_data_representor *self, size_t n)
{
	int ret = open_context(self);
	size_t i;

	for (i = 0; i < n && !ret; i++)
		ret = make_qp(self, &self->qps[i]);
	return ret;
}

/* Each QP sends a frame. Return: how many UAR pages they rang together. */
static size_t ring_all(struct __test_metadata *_metadata,
		       struct _test_data_representor *self)
{
	struct doorbells_qp rung[QPS] = {};
	size_t i, k, pages = 0;

	for (i = 0; i < QPS; i++) {
		EXPECT_EQ(0, verbs_send_frame(self->qps[i], self->buf, FRAME,
					      self->mr->lkey));
		EXPECT_EQ(0, doorbells_rung(0, self->qps[i]->qp_num, &rung[i]));
		for (k = 0; k < i && rung[k].uar != rung[i].uar; k++)
			;
		pages += k == i;
	}
	return pages;
}

TEST_F(representor, each_has_a_page_under_independent)
{
	int64_t before;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, true));
	ASSERT_EQ(0, simhca_zero());
	before = to_cable();
	ASSERT_EQ(0, make(self, QPS));
	EXPECT_EQ(QPS, ring_all(_metadata, self));
	/* The last page is page 0, which has the doorbells of the CQ. */
	EXPECT_EQ(QPS + 1, sysfs_number("uar_in_use"));
	/* The e-switch has an entry for each of the queues; the netdev sends too. */
	EXPECT_GE(to_cable(), before + QPS);
}

TEST_F(representor, two_share_a_page_under_shared_uar)
{
	ASSERT_EQ(0, sysfs_policy("shared-uar", PAGES, true));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, make(self, QPS));
	EXPECT_EQ(QPS / 2, ring_all(_metadata, self));
}

TEST_F(representor, the_limit_of_the_device_counts)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, true));
	ASSERT_EQ(0, sysfs_write("uar_budget", "3"));
	EXPECT_EQ(-ENOSPC, make(self, QPS));
	EXPECT_NE(NULL, self->qps[2]);
	EXPECT_EQ(NULL, self->qps[3]);
	EXPECT_EQ(3, sysfs_number("uar_in_use"));
}

TEST_F(representor, a_watched_registration_tells)
{
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_mr mr;
	void *p;

	ASSERT_EQ(0, make(self, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->ctx, 16, &notifier));
	p = mmap(NULL, FRAME, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, mlx5ep_reg_mr(notifier, self->pd, p, FRAME,
				   IBV_ACCESS_LOCAL_WRITE, 1, &mr));
	EXPECT_EQ(0, verbs_send_frame(self->qps[0], p, FRAME, mr.mr->lkey));
	EXPECT_EQ(0, mlx5ep_mr_check(&mr));
	EXPECT_EQ(0, madvise(p, FRAME, MADV_DONTNEED));
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&mr));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(notifier));
	EXPECT_EQ(0, munmap(p, FRAME));
}

/* The device of the representors goes while a program has it open. */
TEST_F(representor, the_mode_goes_back_under_a_program)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, true));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, make(self, QPS));
	EXPECT_EQ(QPS, ring_all(_metadata, self));
	ASSERT_EQ(0, mode("legacy"));
	ASSERT_TRUE(comes_with(1));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(self->uars, uars_alive());
	EXPECT_EQ(-EIO, make_qp(self, &self->qps[0]));
	/* the settings came back with the device */
	EXPECT_EQ(PAGES, sysfs_number("uuar_pages"));
}

TEST_HARNESS_MAIN
