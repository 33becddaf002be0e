// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 300 */
/*
 * What a refusal leaves behind. The HCA, or a limit, refuses the same object some hundred
 * times. Then the module counts what it counted before, and no cache of the kernel's small
 * allocations, nor that of processes, has an object more for each of them.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <rdma/ib_user_verbs.h>

#include "baseline.h"
#include "ctx_open.h"
#include "devx.h"
#include "lab.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/leaks_refused_domain"
#define LIMIT_EXCEEDED 8	/* the status of a command: MLX5_CMD_STAT_LIM_ERR */
#define REFUSED 300

/* What the records of the module have room in, and processes. */
static const char *const caches[] = {
	"kmalloc-cg-64", "kmalloc-cg-96", "kmalloc-cg-128", "kmalloc-cg-192",
	"kmalloc-cg-256", "kmalloc-cg-512", "task_struct",
};

#define CACHES ARRAY_SIZE(caches)

FIXTURE(refused)
{
	struct verbs_setup setup;
	struct xrc_node node;
};

typedef FIXTURE_DATA(refused) refused_data;

/* Each returns whether the object was refused. */

static bool rc_qp(refused_data *self)
{
	struct ibv_qp *qp = verbs_qp_create(self->setup.pd, self->setup.cq,
					    IBV_QPT_RC);

	return !qp || ibv_destroy_qp(qp);
}

static bool xrc_target(refused_data *self)
{
	struct ibv_qp *qp = xrc_upstream_create(&self->node);

	return !qp || ibv_destroy_qp(qp);
}

static bool shared_xrc_target(refused_data *self)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret = mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "r", 1, 0, NULL, &qp);

	return ret < 0 || mlx5ep_xrc_rcv_qp_unreg(qp);
}

static bool devx_qp(refused_data *self)
{
	struct devx_qp qp;
	bool ok = !devx_qp_create(&self->setup, 0, &qp);

	if (ok)
		devx_qp_destroy(&qp);
	return !ok;
}

static bool context(refused_data *self)
{
	struct ibv_context *ctx = ctx_open();

	(void)self;
	return !ctx || ibv_close_device(ctx);
}

/* As libraries open a device where ib_uverbs has no ioctl for it. */
static bool context_by_write(refused_data *self)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		struct mlx5_ib_alloc_ucontext_resp driver;
	} answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context core;
		struct mlx5_ib_alloc_ucontext_req_v2 driver;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_GET_CONTEXT,
			.in_words = sizeof(call) / 4,
			.out_words = sizeof(answer) / 4,
		},
		.core.response = (uintptr_t)&answer,
		.driver = {
			.total_num_bfregs = 16,
			.num_low_latency_bfregs = 4,
			.lib_caps = MLX5_LIB_CAP_4K_UAR,
		},
	};
	char path[CTX_DEVICE_PATH];
	ssize_t written;
	int fd;

	(void)self;
	if (ctx_device_file(path, sizeof(path)))
		return true;
	fd = open(path, O_RDWR | O_CLOEXEC);
	written = write(fd, &call, sizeof(call));
	if (written > 0)
		close(answer.core.async_fd);
	close(fd);
	return written < 0;
}

static bool in_a_process(refused_data *self, bool (*object)(refused_data *))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(object(self));
	return waitpid(pid, &status, 0) == pid && status;
}

static bool context_of_a_process(refused_data *self)
{
	return in_a_process(self, context);
}

static bool context_of_a_process_by_write(refused_data *self)
{
	return in_a_process(self, context_by_write);
}

FIXTURE_VARIANT(refused)
{
	const char *policy;
	bool (*object)(refused_data *self);
	bool limit;	/* a limit refuses, not the HCA */
};

FIXTURE_VARIANT_ADD(refused, qp_under_stock) { "stock", rc_qp };
FIXTURE_VARIANT_ADD(refused, qp_under_a_policy) { "independent", rc_qp };
FIXTURE_VARIANT_ADD(refused, xrc_target) { "stock", xrc_target };
FIXTURE_VARIANT_ADD(refused, shared_xrc_target) { "stock", shared_xrc_target };
FIXTURE_VARIANT_ADD(refused, devx_qp) { "stock", devx_qp };
FIXTURE_VARIANT_ADD(refused, context_under_stock) { "stock", context, true };
FIXTURE_VARIANT_ADD(refused, context_under_a_policy) {
	"independent", context, true };
FIXTURE_VARIANT_ADD(refused, process_under_stock) {
	"stock", context_of_a_process, true };
FIXTURE_VARIANT_ADD(refused, process_under_a_policy) {
	"independent", context_of_a_process, true };
FIXTURE_VARIANT_ADD(refused, process_by_write) {
	"stock", context_of_a_process_by_write, true };

FIXTURE_SETUP(refused)
{
	unlink(DOMAIN_FILE);
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
}

FIXTURE_TEARDOWN(refused)
{
	EXPECT_EQ(0, xrc_node_close(&self->node));
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* Did a cache grow by half an object or more for each refusal? */
static const char *grown(const long *before)
{
	size_t i;

	/* This frees what waits for RCU. */
	file_write("/proc/sys/vm/drop_caches", "2");
	for (i = 0; i < CACHES; i++)
		if (baseline_slab_objects(caches[i]) - before[i] >= REFUSED / 2)
			return caches[i];
	return NULL;
}

TEST_F(refused, again_and_again_leaves_nothing)
{
	static const char *const counts[] = {
		"uar_in_use", "uar_observed", "xrc_domains", "xrc_qps",
		"xrc_registrations",
	};
	long before[CACHES], were[ARRAY_SIZE(counts)];
	size_t i;

	if (lab_kernel_is("debug"))
		SKIP(return, "KASAN keeps freed memory; kmemleak finds leaks");
	ASSERT_EQ(0, variant->limit ?
		     sysfs_write("uar_user_limit", "1") :
		     simhca_fail("CREATE_QP", 1, 100 * REFUSED, LIMIT_EXCEEDED));
	for (i = 0; i < REFUSED / 10; i++)
		ASSERT_TRUE(variant->object(self));
	/* A UAR page that was allocated for a QP stays with its context. */
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		were[i] = sysfs_number(counts[i]);
	for (i = 0; i < CACHES; i++) {
		before[i] = baseline_slab_objects(caches[i]);
		ASSERT_LE(0, before[i]);
	}
	for (i = 0; i < REFUSED; i++)
		ASSERT_TRUE(variant->object(self));
	for (i = 0; i < 5 * PATIENCE && grown(before); i++)
		sleep(patience_factor());
	EXPECT_EQ(NULL, grown(before)) {
		TH_LOG("%s", grown(before));
	}
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		EXPECT_EQ(were[i], sysfs_number(counts[i])) {
			TH_LOG("%s", counts[i]);
		}
	}
	/* Only that refused. */
	ASSERT_EQ(0, simhca_fail_nothing());
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(variant->object == devx_qp, variant->object(self));
}

TEST_HARNESS_MAIN
