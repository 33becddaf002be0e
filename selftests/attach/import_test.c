// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 400 */
/*
 * A context that has a policy is imported (ibv_import_device()), as DPDK does with its
 * own, by the process that has it and by another. The importer's QPs move checked data
 * under each policy as under stock, its completions arrive as events, and what it holds
 * counts. The QPs of the context's own library stay where the policy put them.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "devx.h"
#include "doorbells.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"
#include "watch/fdpass.h"

#define QPS 3

FIXTURE(import)
{
	struct verbs_setup setup;
	struct verbs_endpoint own[QPS];
	struct verbs_setup importer;
	struct verbs_endpoint theirs[QPS];
};

FIXTURE_VARIANT(import)
{
	const char *policy;
	bool strict;
};

FIXTURE_VARIANT_ADD(import, stock) { "stock" };
FIXTURE_VARIANT_ADD(import, independent) { "independent" };
FIXTURE_VARIANT_ADD(import, shared_uar) { "shared-uar" };
FIXTURE_VARIANT_ADD(import, shared_uuar) { "shared-uuar" };
FIXTURE_VARIANT_ADD(import, strict) { "independent", true };

static int endpoints_create(struct verbs_setup *setup,
			    struct verbs_endpoint *endpoints)
{
	int i, ret = 0;

	for (i = 0; i < QPS && !ret; i++)
		ret = verbs_endpoint_create(setup, &endpoints[i], IBV_QPT_RC);
	return ret;
}

static void endpoints_destroy(struct verbs_endpoint *endpoints)
{
	int i;

	for (i = 0; i < QPS; i++)
		verbs_endpoint_destroy(&endpoints[i]);
}

FIXTURE_SETUP(import)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, QPS + 1, variant->strict));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, endpoints_create(&self->setup, self->own));
}

FIXTURE_TEARDOWN(import)
{
	endpoints_destroy(self->theirs);
	verbs_close(&self->importer);
	endpoints_destroy(self->own);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* An event of the CQ comes by the UAR page that the importer's library has allocated. */
static int event_arrives(struct verbs_setup *setup)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(setup->ctx);
	struct ibv_cq *cq = channel ? ibv_create_cq(setup->ctx, 4, NULL,
						    channel, 0) : NULL;
	struct ibv_qp *qp = cq ? verbs_qp_create(setup->pd, cq, IBV_QPT_RC) :
				 NULL;
	struct ibv_cq *of;
	void *context;
	int ret = -EIO;

	if (qp && !verbs_qp_connect(qp, qp->qp_num, &setup->address) &&
	    !ibv_req_notify_cq(cq, 0) &&
	    !verbs_write(qp, cq, setup->buf, setup->mr->lkey,
			 setup->buf + VERBS_SLICE, setup->mr->rkey, 8, 30) &&
	    !ibv_get_cq_event(channel, &of, &context)) {
		ibv_ack_cq_events(cq, 1);
		ret = of == cq ? 0 : -EBADMSG;
	}
	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
	if (channel)
		ibv_destroy_comp_channel(channel);
	return ret;
}

/* Returns 0 or what failed first, as a number. */
static int works(struct verbs_setup *setup, struct verbs_endpoint *endpoints)
{
	if (endpoints_create(setup, endpoints))
		return 2;
	if (verbs_traffic_all(endpoints, QPS, 2))
		return 3;
	if (event_arrives(setup))
		return 4;
	/* What DPDK allocates of the context that it has imported. */
	if (devx_uar_rung(setup, MLX5DV_UAR_ALLOC_TYPE_NC) ||
	    devx_uar_rung(setup, MLX5DV_UAR_ALLOC_TYPE_BF))
		return 5;
	return 0;
}

static void look(struct __test_metadata *_metadata,
		 struct _test_data_import *self, bool managed)
{
	struct doorbells_report doorbells;
	unsigned int i;

	EXPECT_EQ(0, verbs_traffic_all(self->own, QPS, 2));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(0, doorbells.astray);
	EXPECT_EQ(0, doorbells.wrong_uar);
	EXPECT_EQ(0, doorbells.torn);
	for (i = 0; managed && i < QPS; i++)
		EXPECT_EQ(1, doorbells_qp(&doorbells,
					  self->own[i].qp->qp_num)->level);
	doorbells_put(&doorbells);
}

TEST_F_TIMEOUT(import, by_the_process_that_has_it, 120)
{
	ASSERT_EQ(0, verbs_import(&self->importer, self->setup.ctx->cmd_fd,
				  self->setup.pd->handle, QPS));
	EXPECT_EQ(0, works(&self->importer, self->theirs));
	look(_metadata, self, !strcmp(variant->policy, "independent"));
	/* The module counts what the adapter gave out. */
	if (strcmp(variant->policy, "stock"))
		EXPECT_LT(QPS, sysfs_number("uar_in_use"));
}

/* The descriptor comes by a socket, as between two programs. */
static int child(int from, uint32_t pd_handle)
{
	struct verbs_endpoint endpoints[QPS] = {};
	struct verbs_setup setup;
	int fd = fdpass_receive(from), ret;

	if (fd < 0)
		return 1;
	if (verbs_import(&setup, fd, pd_handle, QPS))
		return 9;
	ret = works(&setup, endpoints);
	endpoints_destroy(endpoints);
	verbs_close(&setup);
	return ret;
}

TEST_F_TIMEOUT(import, by_another_process, 120)
{
	int ends[2], status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	pid = fork();
	if (!pid)
		_exit(child(ends[1], self->setup.pd->handle));
	ASSERT_EQ(0, fdpass_send(ends[0], self->setup.ctx->cmd_fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
	look(_metadata, self, !strcmp(variant->policy, "independent"));
}

/* Nobody gets a context whose CQs have no page: import is refused instead. */
TEST_F_TIMEOUT(import, is_refused_at_the_limit, 60)
{
	char held[16];
	long before = sysfs_number("uar_in_use") + sysfs_number("uar_observed");

	snprintf(held, sizeof(held), "%ld", before);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", held));
	EXPECT_EQ(-EDQUOT, verbs_import(&self->importer,
					self->setup.ctx->cmd_fd,
					self->setup.pd->handle, QPS));
	EXPECT_EQ(before, sysfs_number("uar_in_use") +
			  sysfs_number("uar_observed"));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, verbs_import(&self->importer, self->setup.ctx->cmd_fd,
				  self->setup.pd->handle, QPS));
	EXPECT_LT(before, sysfs_number("uar_in_use") +
			  sysfs_number("uar_observed"));
}

/* The call of an import, without the library that then allocates its page. */
static int asked(struct ibv_context *ctx,
		 struct mlx5_ib_alloc_ucontext_resp *answer)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	uverbs_out(&call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, answer,
		   sizeof(*answer));
	return uverbs_do(ctx, &call);
}

/* The next one finds the page that the last one did not allocate. */
TEST_F(import, that_allocates_nothing_takes_one_page_however_often)
{
	struct mlx5_ib_alloc_ucontext_resp answer = {};
	long before = sysfs_number("uar_in_use") + sysfs_number("uar_observed");
	char limit[24];
	int i;

	snprintf(limit, sizeof(limit), "%ld", before + 1);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, asked(self->setup.ctx, &answer));
		EXPECT_EQ(before + 1, sysfs_number("uar_in_use") +
				      sysfs_number("uar_observed"));
	}
	/* A library that is offered any chooses uUARs beside the policy. */
	EXPECT_EQ(0, answer.tot_bfregs);
	EXPECT_EQ(0, answer.num_dyn_bfregs);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "0"));
}

TEST_HARNESS_MAIN
