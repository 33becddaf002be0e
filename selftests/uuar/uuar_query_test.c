// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240, config: PID_NS */
/*
 * What a program can ask the module over uverbs, and how the module answers
 * invalid requests. The answers are compared with the HCA and with libmlx5.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include <infiniband/mlx5dv.h>
#include <mlx5ep/uuar.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "ctx_open.h"
#include "doorbells.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

#define QPS 12
#define PAGES 4
#define CHILDS_QPS 2
#define BAD_RESOURCE_STATE 9	/* status of a firmware command */

FIXTURE(query)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[QPS];
};

FIXTURE_VARIANT(query)
{
	const char *word;
	enum mlx5_ep_uuar_policy policy;
};

FIXTURE_VARIANT_ADD(query, independent) {
	"independent", MLX5_EP_UUAR_POLICY_INDEPENDENT };
FIXTURE_VARIANT_ADD(query, shared_uar) {
	"shared-uar", MLX5_EP_UUAR_POLICY_SHARED_UAR };
FIXTURE_VARIANT_ADD(query, shared_uuar) {
	"shared-uuar", MLX5_EP_UUAR_POLICY_SHARED_UUAR };

FIXTURE_SETUP(query)
{
	size_t i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->word, PAGES, false));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[i],
						   IBV_QPT_RC));
}

FIXTURE_TEARDOWN(query)
{
	size_t i;

	for (i = 0; i < QPS; i++)
		verbs_endpoint_destroy(&self->endpoints[i]);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

static int query_handle(struct ibv_context *ctx, uint32_t handle, void *answer,
			uint16_t len)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_QUERY_UUAR);
	uverbs_handle(&call, MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE, handle);
	uverbs_out(&call, MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, answer, len);
	return uverbs_do(ctx, &call);
}

static int query_qp(const struct verbs_endpoint *endpoint,
		    struct mlx5_ep_qp_uuar *answer)
{
	return query_handle(endpoint->setup->ctx, endpoint->qp->handle, answer,
			    sizeof(*answer));
}

static int query_context(struct ibv_context *ctx,
			 struct mlx5_ep_context_info *answer)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_CONTEXT_QUERY);
	uverbs_out(&call, MLX5_EP_ATTR_CONTEXT_QUERY_RESP, answer,
		   sizeof(*answer));
	return uverbs_do(ctx, &call);
}

/* @size: of an entry in a program of another age */
static int dump_sized(struct ibv_context *ctx, void *uuars, uint32_t size,
		      unsigned int room, uint32_t *count)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_CONTEXT_DUMP);
	uverbs_out(&call, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS, uuars,
		   room * size);
	uverbs_out(&call, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT, count,
		   sizeof(*count));
	uverbs_in(&call, MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE, &size,
		  sizeof(size));
	return uverbs_do(ctx, &call);
}

static int dump(struct ibv_context *ctx, struct mlx5_ep_uuar_info *uuars,
		unsigned int room, uint32_t *count)
{
	return dump_sized(ctx, uuars, sizeof(*uuars), room, count);
}

static int set_policy(struct ibv_context *ctx, const void *request,
		      uint16_t len)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE,
		     MLX5_EP_METHOD_CONTEXT_SET_POLICY);
	uverbs_in(&call, MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ, request, len);
	return uverbs_do(ctx, &call);
}

TEST_F_TIMEOUT(query, a_qp_is_where_the_hca_and_libmlx5_say, 60)
{
	const struct doorbells_qp *at;
	struct mlx5_ep_qp_uuar uuar;
	struct doorbells_report doorbells;
	unsigned int index, i;

	ASSERT_EQ(0, verbs_traffic(self->endpoints, QPS, VERBS_WRITE, 1));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	for (i = 0; i < QPS; i++) {
		ASSERT_EQ(0, query_qp(&self->endpoints[i], &uuar));
		ASSERT_EQ(0, verbs_uuar(self->endpoints[i].qp, &index));
		at = doorbells_qp(&doorbells, self->endpoints[i].qp->qp_num);
		ASSERT_NE(NULL, at);
		EXPECT_EQ(at->uar, uuar.uar);
		EXPECT_EQ(at->slot, uuar.slot);
		EXPECT_EQ(at->level, uuar.level);
		EXPECT_EQ(at->sharers, uuar.uuar_qps);
		EXPECT_EQ(index, 2 * uuar.page + uuar.slot);
		EXPECT_EQ(0, uuar.reserved);
		EXPECT_TRUE(uuar.flags & MLX5_EP_UUAR_PLACED);
		if (uuar.uuar_qps > 1 && index)
			EXPECT_TRUE(uuar.flags & MLX5_EP_UUAR_LOCKED);
	}
	doorbells_put(&doorbells);
}

TEST_F(query, the_context_adds_up)
{
	struct mlx5_ep_uuar_info uuars[2 * PAGES + 2];
	struct mlx5_ep_context_info info;
	uint32_t count = 0, qps = 0, used = 0, i;

	ASSERT_EQ(0, query_context(self->setup.ctx, &info));
	EXPECT_EQ(variant->policy, info.policy);
	EXPECT_TRUE(info.flags & MLX5_EP_CONTEXT_MANAGED);
	EXPECT_FALSE(info.flags & MLX5_EP_CONTEXT_STRICT);
	EXPECT_EQ(MLX5_EP_POLICY_SOURCE_DEVICE, info.source);
	EXPECT_EQ(getpid(), info.pid);
	EXPECT_EQ(PAGES, info.static_pages);
	EXPECT_EQ(QPS, info.qps);
	EXPECT_EQ(QPS, info.placed_qps);

	ASSERT_EQ(0, dump(self->setup.ctx, uuars, 2 * PAGES + 2, &count));
	ASSERT_EQ(2 * PAGES, count);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(i / 2, uuars[i].page);
		EXPECT_EQ(i % 2, uuars[i].slot);
		/* libmlx5 rings the doorbell of the first one only. */
		EXPECT_EQ(!i, !!(uuars[i].flags & MLX5_EP_UUAR_NO_BLUEFLAME));
		qps += uuars[i].qps;
		used += uuars[i].qps > 0;
		if (i >= count - info.low_latency)
			EXPECT_GE(1, uuars[i].qps);
	}
	EXPECT_EQ(QPS, qps);
	EXPECT_EQ(info.used_uuars, used);
	/*
	 * A buffer that is too short gets the first entries, and the count of
	 * all.
	 */
	memset(uuars, 0xaa, sizeof(uuars));
	ASSERT_EQ(0, dump(self->setup.ctx, uuars, 2, &count));
	EXPECT_EQ(2 * PAGES, count);
	EXPECT_EQ(0, uuars[0].page);
	EXPECT_EQ(0xaaaaaaaa, uuars[2].uar);
}

TEST_F(query, the_library_takes_more_room_than_an_attribute_can_have)
{
	unsigned int count = 8192;
	struct mlx5_ep_uuar_info *uuars = calloc(count, sizeof(*uuars));

	ASSERT_NE(NULL, uuars);
	ASSERT_EQ(0, mlx5ep_context_dump(self->setup.ctx, uuars, &count));
	EXPECT_EQ(2 * PAGES, count);
	EXPECT_EQ(1, uuars[3].slot);
	free(uuars);
}

struct long_uuar {
	struct mlx5_ep_uuar_info known;
	uint64_t newer;
};

TEST_F(query, an_entry_of_a_newer_program_is_filled_up_with_zeroes)
{
	struct mlx5_ep_uuar_info uuars[2 * PAGES];
	struct long_uuar longer[2 * PAGES];
	unsigned int entries = 2 * PAGES;
	uint32_t count = 0, i;

	memset(longer, 0xaa, sizeof(longer));
	ASSERT_EQ(0, dump(self->setup.ctx, uuars, 2 * PAGES, &count));
	ASSERT_EQ(0, dump_sized(self->setup.ctx, longer, sizeof(*longer),
				2 * PAGES, &count));
	EXPECT_EQ(2 * PAGES, count);
	for (i = 0; i < 2 * PAGES; i++) {
		EXPECT_EQ(0, memcmp(&uuars[i], &longer[i].known,
				    sizeof(*uuars)));
		EXPECT_EQ(0, longer[i].newer);
	}
	memset(longer, 0xaa, sizeof(longer));
	ASSERT_EQ(0, _mlx5ep_context_dump(self->setup.ctx, &longer[0].known,
					  &entries, sizeof(*longer)));
	EXPECT_EQ(0, memcmp(&uuars[3], &longer[3].known, sizeof(*uuars)));
	EXPECT_EQ(0, longer[3].newer);
}

TEST_F(query, an_entry_has_the_first_versions_fields_at_least)
{
	struct mlx5_ep_uuar_info uuars[2 * PAGES];
	unsigned int entries = 2 * PAGES;
	uint32_t count = 77;

	EXPECT_EQ(-EINVAL, dump_sized(self->setup.ctx, uuars,
				      sizeof(*uuars) - 1, 1, &count));
	EXPECT_EQ(-EINVAL, dump_sized(self->setup.ctx, uuars, 0, 1, &count));
	EXPECT_EQ(-EINVAL, _mlx5ep_context_dump(self->setup.ctx, uuars,
						&entries, 0));
	EXPECT_EQ(77, count);
	EXPECT_EQ(-EFAULT, dump(self->setup.ctx, (void *)16, 2, &count));
	EXPECT_EQ(77, count);
}

TEST_F(query, a_wrong_handle_is_refused)
{
	struct mlx5_ep_qp_uuar uuar;
	struct ibv_context *ctx = self->setup.ctx;
	uint32_t gone;

	memset(&uuar, 0xaa, sizeof(uuar));
	EXPECT_EQ(-ENOENT, query_handle(ctx, 0x7fffffff, &uuar, sizeof(uuar)));
	EXPECT_EQ(-ENOENT, query_handle(ctx, 0xffffffff, &uuar, sizeof(uuar)));
	/*
	 * For the handle of an object of another type the core of uverbs
	 * returns EINVAL.
	 */
	EXPECT_EQ(-EINVAL, query_handle(ctx, self->setup.cq->handle, &uuar,
					sizeof(uuar)));
	gone = self->endpoints[QPS - 1].qp->handle;
	verbs_endpoint_destroy(&self->endpoints[QPS - 1]);
	EXPECT_EQ(-ENOENT, query_handle(ctx, gone, &uuar, sizeof(uuar)));
	EXPECT_EQ(0xaaaaaaaa, uuar.uar);
}

TEST_F(query, another_contexts_qp_is_out_of_reach)
{
	struct mlx5_ep_qp_uuar uuar;
	struct verbs_setup other;

	ASSERT_EQ(0, verbs_open(&other, NULL, 1));
	EXPECT_NE(0,
		  query_handle(other.ctx, self->endpoints[QPS - 1].qp->handle,
			       &uuar, sizeof(uuar)));
	verbs_close(&other);
}

TEST_F(query, a_malformed_call_is_refused)
{
	struct ibv_context *ctx = self->setup.ctx;
	struct mlx5_ep_qp_uuar uuar;
	struct uverbs_call call;
	uint32_t unknown = 1;

	/* The call has neither the handle nor the answer. */
	uverbs_begin(&call, UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_QUERY_UUAR);
	EXPECT_EQ(-EINVAL, uverbs_do(ctx, &call));
	/* The call has a mandatory attribute that the kernel does not know. */
	uverbs_begin(&call, UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_QUERY_UUAR);
	uverbs_handle(&call, MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE,
		      self->endpoints[0].qp->handle);
	uverbs_out(&call, MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, &uuar, sizeof(uuar));
	uverbs_in(&call, (1U << UVERBS_ID_NS_SHIFT) + 9, &unknown,
		  sizeof(unknown));
	EXPECT_EQ(-EPROTONOSUPPORT, uverbs_do(ctx, &call));
	/* The address of the answer is not mapped. */
	EXPECT_EQ(-EFAULT, query_handle(ctx, self->endpoints[0].qp->handle,
					(void *)16, sizeof(uuar)));
	/* The device does not say where the QP is. */
	ASSERT_EQ(0, simhca_fail("QUERY_QP", 1, 1, BAD_RESOURCE_STATE));
	EXPECT_GT(0, query_handle(ctx, self->endpoints[0].qp->handle, &uuar,
				  sizeof(uuar)));
	EXPECT_EQ(0, simhca_fail_nothing());
	/* The buffer is shorter than the first version of the answer. */
	EXPECT_EQ(-EINVAL,
		  query_handle(ctx, self->endpoints[0].qp->handle, &uuar, 8));
}

TEST_F(query, a_longer_answer_of_later_days_ends_in_zeroes)
{
	struct {
		struct mlx5_ep_qp_uuar known;
		uint8_t later[16];
	} answer;
	size_t i;

	memset(&answer, 0xaa, sizeof(answer));
	ASSERT_EQ(0,
		  query_handle(self->setup.ctx, self->endpoints[0].qp->handle,
			       &answer, sizeof(answer)));
	EXPECT_NE(0xaaaaaaaa, answer.known.uar);
	for (i = 0; i < sizeof(answer.later); i++)
		EXPECT_EQ(0, answer.later[i]);
}

TEST_F(query, a_policy_that_makes_no_sense_is_refused)
{
	struct ibv_context *ctx = self->setup.ctx;
	struct mlx5_ep_context_info before, after;
	struct {
		struct mlx5_ep_context_policy known;
		uint32_t later;
	} req = { .known.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR };

	ASSERT_EQ(0, query_context(ctx, &before));
	/* The context has QPs, so its policy cannot be set any more. */
	EXPECT_EQ(-EBUSY, set_policy(ctx, &req, sizeof(req.known)));
	req.known.policy = MLX5_EP_UUAR_POLICY_SHARED_UUAR + 1;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	req.known.policy = 0xffffffff;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	req.known.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR;
	req.known.flags = 1U << 31;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	req.known.flags = 0;
	req.known.reserved = 1;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	req.known.reserved = 0;
	req.known.flags = MLX5_EP_POLICY_LATER_OPENS;
	req.known.pages = 257;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	/* A context that is open has its pages. */
	req.known.flags = 0;
	req.known.pages = 1;
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, sizeof(req.known)));
	req.known.pages = 0;
	req.later = 1;
	EXPECT_NE(0, set_policy(ctx, &req, sizeof(req)));
	EXPECT_EQ(-EINVAL, set_policy(ctx, &req, 4));
	EXPECT_EQ(-EFAULT, set_policy(ctx, (void *)16, sizeof(req.known)));
	ASSERT_EQ(0, query_context(ctx, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

static int query_features(struct ibv_context *ctx,
			  struct mlx5_ep_features *answer)
{
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE,
		     MLX5_EP_METHOD_QUERY_FEATURES);
	uverbs_out(&call, MLX5_EP_ATTR_QUERY_FEATURES_RESP, answer,
		   sizeof(*answer));
	return uverbs_do(ctx, &call);
}

/* @size: of an entry, of which there is room for one */
static int list_sized(struct ibv_context *ctx, struct mlx5_ep_qp_info *answer,
		      uint32_t size)
{
	uint32_t first = 0, count;
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_LIST);
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_FIRST, &first, sizeof(first));
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_QPS, answer, size);
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_COUNT, &count,
		   sizeof(count));
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE, &size, sizeof(size));
	return uverbs_do(ctx, &call);
}

static int list_qps(struct ibv_context *ctx, struct mlx5_ep_qp_info *answer)
{
	return list_sized(ctx, answer, sizeof(*answer));
}

TEST_F(query, a_list_that_makes_no_sense_is_refused)
{
	struct ibv_context *ctx = self->setup.ctx;
	struct mlx5_ep_qp_info qp;

	EXPECT_EQ(0, list_qps(ctx, &qp));
	EXPECT_EQ(-EINVAL, list_sized(ctx, &qp, sizeof(qp) - 1));
	EXPECT_EQ(-EINVAL, list_sized(ctx, &qp, 0));
	EXPECT_EQ(-EFAULT, list_qps(ctx, (void *)16));
}

/* Each call is right, but for the file, on which no context was opened. */
TEST(a_file_without_a_context_is_refused)
{
	struct mlx5_ep_context_policy policy = {};
	struct mlx5_ep_context_info context;
	struct mlx5_ep_features features;
	struct mlx5_ep_uuar_info uuar;
	struct ibv_context file = {};
	struct verbs_setup setup;
	struct mlx5_ep_qp_info qp;
	char path[128];
	uint32_t count;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, ctx_device_file(path, sizeof(path)));
	file.cmd_fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, file.cmd_fd);
	EXPECT_EQ(0, query_features(setup.ctx, &features));
	EXPECT_EQ(-EINVAL, query_features(&file, &features));
	EXPECT_EQ(0, query_context(setup.ctx, &context));
	EXPECT_EQ(-EINVAL, query_context(&file, &context));
	EXPECT_EQ(0, dump(setup.ctx, &uuar, 1, &count));
	EXPECT_EQ(-EINVAL, dump(&file, &uuar, 1, &count));
	EXPECT_EQ(0, set_policy(setup.ctx, &policy, sizeof(policy)));
	EXPECT_EQ(-EINVAL, set_policy(&file, &policy, sizeof(policy)));
	EXPECT_EQ(0, list_qps(setup.ctx, &qp));
	EXPECT_EQ(-EINVAL, list_qps(&file, &qp));
	EXPECT_EQ(0, close(file.cmd_fd));
	verbs_close(&setup);
	EXPECT_EQ(0, sysfs_defaults());
}

TEST(the_features_agree_with_sysfs)
{
	struct mlx5_ep_features features;
	struct verbs_setup setup;
	unsigned int budget;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, sysfs_write("uar_budget", "0"));
	budget = sysfs_number("uar_budget_effective");
	ASSERT_EQ(0, sysfs_write("uar_budget", "77"));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "66"));
	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, query_features(setup.ctx, &features));
	EXPECT_EQ(sysfs_number("abi_version"), features.abi_version);
	/* Without a budget it is three quarters of the device's pages. */
	EXPECT_EQ(budget, features.uar_pages / 4 * 3);
	EXPECT_EQ(66, features.uar_user_limit);
	EXPECT_EQ(1, features.uar_user_held);
	EXPECT_EQ(sysfs_number("uar_in_use"), features.uar_in_use);
	/* Without a QP the context holds page 0 only. */
	EXPECT_EQ(1, features.uar_in_use);
	EXPECT_EQ(77, features.uar_budget);
	EXPECT_EQ(0xf, features.policies);
	EXPECT_LE(PAGES, features.max_context_pages);
	EXPECT_TRUE(features.features & MLX5_EP_FEATURE_UUAR_POLICY);
	EXPECT_TRUE(features.features & MLX5_EP_FEATURE_QUERY_UUAR);
	verbs_close(&setup);
	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST(the_ids_in_sysfs_are_those_of_the_headers)
{
	static const struct {
		const char *name;
		int id;
	} ids[] = {
		{ "method device query_features", MLX5_EP_METHOD_QUERY_FEATURES },
		{ "method device context_query", MLX5_EP_METHOD_CONTEXT_QUERY },
		{ "method device context_dump", MLX5_EP_METHOD_CONTEXT_DUMP },
		{ "method device context_set_policy",
		  MLX5_EP_METHOD_CONTEXT_SET_POLICY },
		{ "method qp query_uuar", MLX5_EP_METHOD_QP_QUERY_UUAR },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		EXPECT_EQ(ids[i].id, uverbs_id(ids[i].name)) {
			TH_LOG("id %zu", i);
		}
}

/* Return: the number of a step that went wrong; 0: none. */
static int use_uuar_0(struct verbs_setup *setup)
{
	struct verbs_endpoint endpoints[CHILDS_QPS];
	struct mlx5_ep_uuar_info first;
	uint32_t count;
	int i;

	for (i = 0; i < CHILDS_QPS; i++)
		if (verbs_endpoint_create(setup, &endpoints[i], IBV_QPT_RC))
			return 1;
	if (dump(setup->ctx, &first, 1, &count) || first.qps != CHILDS_QPS)
		return 2;
	while (i--)
		verbs_endpoint_destroy(&endpoints[i]);
	return dump(setup->ctx, &first, 1, &count) || first.qps ? 3 : 0;
}

/* The parent has QPs on all other uUARs, which a child's locks do not guard. */
TEST(qps_of_a_child_are_on_uuar_0_until_they_are_destroyed)
{
	struct verbs_endpoint endpoints[QPS];
	struct verbs_setup setup;
	int status, i;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&setup, NULL, QPS + CHILDS_QPS));
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&setup, &endpoints[i],
						   IBV_QPT_RC));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(use_uuar_0(&setup));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	while (i--)
		verbs_endpoint_destroy(&endpoints[i]);
	verbs_close(&setup);
	EXPECT_EQ(0, sysfs_defaults());
}

/* Return: 0, or the number of the line that was told wrong. */
static int told_inside(struct ibv_context *outside)
{
	struct mlx5_ep_context_info info;
	struct ibv_context *inside = ctx_open();

	if (!inside || mlx5ep_context_query(inside, &info) ||
	    info.pid != 1 || getpid() != 1)
		return 1;
	if (mlx5ep_context_query(outside, &info) || info.pid)
		return 2;
	return 0;
}

/* A container does not learn how the rest of the node numbers processes. */
TEST(a_process_is_told_the_number_that_it_has_in_the_pid_namespace_of_the_caller)
{
	struct ibv_context *ctx = ctx_open();
	struct mlx5_ep_context_info info;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, mlx5ep_context_query(ctx, &info));
	EXPECT_EQ(getpid(), info.pid);
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid)
		_exit(told_inside(ctx));
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
	ibv_close_device(ctx);
}

TEST_HARNESS_MAIN
