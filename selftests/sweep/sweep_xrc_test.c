// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, guest: sweep, timeout: 400 */
/*
 * Shared XRC receive QPs with each firmware command and each allocation of
 * their calls failing in turn, and each command never answered: what was said to
 * fail has left nothing behind, and what was there before still works.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "sweep.h"
#include "xrc.h"

static const char held_key[] = "held", body_key[] = "body";

/* What the bodies work in: a domain with one shared QP, and a notifier. */
struct objects {
	struct xrc_node node;
	struct mlx5ep_xrc_rcv_qp *held;
	struct mlx5ep_notifier *notifier;
	enum sweep_exempted exempted;	/* while a QP is made */
	int file;			/* that names the body's own domain */
};

static int unreg(struct mlx5ep_xrc_rcv_qp *qp, int ret)
{
	int undo = sweep_undo(mlx5ep_xrc_rcv_qp_unreg(qp));

	return ret < 0 ? ret : undo;
}

static int xrc_create(struct objects *objects, struct mlx5ep_xrc_rcv_qp **qp)
{
	int ret = sweep_exempt(objects->exempted), after;

	if (ret)
		return ret;
	ret = mlx5ep_xrc_rcv_qp_create(objects->node.xrcd, NULL, qp);
	after = sweep_exempt(SWEEP_DESTROY_QP);
	if (!ret && after)
		return unreg(*qp, after);
	return ret;
}

static int xrc_get(struct objects *objects, struct mlx5ep_xrcd *xrcd,
		   const struct mlx5ep_xrc_events *events,
		   struct mlx5ep_xrc_rcv_qp **qp)
{
	int ret = sweep_exempt(objects->exempted), after;

	if (ret)
		return ret;
	ret = mlx5ep_xrc_rcv_qp_get(xrcd, body_key, sizeof(body_key), 0,
				    events, qp);
	after = sweep_exempt(SWEEP_DESTROY_QP);
	if (ret >= 0 && after)
		return unreg(*qp, after);
	return ret;
}

static int body_create(void *arg)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret = xrc_create(arg, &qp);

	return ret ? ret : unreg(qp, 0);
}

static int body_reg(void *arg)
{
	struct objects *objects = arg;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;

	ret = mlx5ep_xrc_rcv_qp_reg(objects->node.xrcd,
				    mlx5ep_xrc_rcv_qp_num(objects->held), NULL,
				    &qp);
	return ret ? ret : unreg(qp, 0);
}

/* Creates, joins, joins by number; each told to a notifier. */
static int body_get(void *arg)
{
	struct objects *objects = arg;
	struct mlx5ep_xrc_events events = {
		.notifier_fd = mlx5ep_notifier_fd(objects->notifier),
		.cookie = 7,
	};
	struct mlx5ep_xrc_rcv_qp *qps[3];
	int ret, n;

	for (n = 0; n < 3; n++) {
		if (n < 2)
			ret = xrc_get(objects, objects->node.xrcd, &events,
				      &qps[n]);
		else
			ret = mlx5ep_xrc_rcv_qp_reg(
				objects->node.xrcd,
				mlx5ep_xrc_rcv_qp_num(qps[0]), &events,
				&qps[n]);
		if (ret < 0)
			break;
	}
	while (n--)
		ret = unreg(qps[n], ret);
	return ret < 0 ? ret : 0;
}

static int body_connect(void *arg)
{
	struct objects *objects = arg;
	struct mlx5ep_xrc_rcv_qp *qp;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	int ret;

	ret = xrc_create(objects, &qp);
	if (ret)
		return ret;
	for (state = IBV_QPS_INIT; ret >= 0 && state <= IBV_QPS_RTS; state++)
		ret = xrc_qp_step(qp, state, 1, &objects->node.address);
	if (ret >= 0)
		ret = mlx5ep_xrc_rcv_qp_query(qp, &attr, NULL);
	return unreg(qp, ret);
}

/*
 * A domain of its own. It has a file, because ib_uverbs counts a domain without
 * one up where DEALLOC_XRCD fails, and never frees it: see
 * Documentation/internals.md.
 */
static int body_domain(void *arg)
{
	struct objects *objects = arg;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct mlx5ep_xrcd *xrcd;
	int ret, undo;

	ret = mlx5ep_xrcd_open(objects->node.ctx, objects->file, O_CREAT,
			       &xrcd);
	if (ret)
		return ret;
	ret = xrc_get(objects, xrcd, NULL, &qp);
	if (ret > 0)
		ret = unreg(qp, 0);
	undo = sweep_undo(mlx5ep_xrcd_close(xrcd));
	return ret ? ret : undo;
}

/* Objects of a failed open end with the test's process. */
static int objects_open(struct objects *objects)
{
	int ret;

	objects->exempted = SWEEP_CREATE_QP;
	objects->file = memfd_create("domain", MFD_CLOEXEC);
	if (objects->file < 0)
		return -errno;
	ret = xrc_node_open(&objects->node, NULL, NULL, 1);
	if (!ret)
		ret = mlx5ep_notifier_create(objects->node.ctx, 16,
					     &objects->notifier);
	if (ret)
		return ret;
	ret = mlx5ep_xrc_rcv_qp_get(objects->node.xrcd, held_key,
				    sizeof(held_key), 0, NULL, &objects->held);
	return ret == 1 ? 0 : -EEXIST;
}

/*
 * After the sweep the old key must still find its QP, and the new key must find
 * none.
 */
static int objects_check(struct objects *objects)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;

	ret = mlx5ep_xrc_rcv_qp_get(
		objects->node.xrcd, body_key, sizeof(body_key),
		MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, NULL, &qp);
	if (ret != -ENOENT)
		return ret < 0 ? ret : -EEXIST;
	ret = mlx5ep_xrc_rcv_qp_get(objects->node.xrcd, held_key,
				    sizeof(held_key), 0, NULL, &qp);
	if (ret)
		return ret < 0 ? ret : -ENOENT;
	ret = mlx5ep_xrc_rcv_qp_query(qp, NULL, &info);
	if (!ret && info.registrants != 2)
		ret = -EUSERS;
	return unreg(qp, ret);
}

static int objects_close(struct objects *objects)
{
	int ret = mlx5ep_xrc_rcv_qp_unreg(objects->held), closed;

	mlx5ep_notifier_destroy(objects->notifier);
	closed = xrc_node_close(&objects->node);
	close(objects->file);
	return ret ? ret : closed;
}

FIXTURE(sweep_xrc)
{
	struct objects objects;
	struct sweep sweep;
};

FIXTURE_VARIANT(sweep_xrc)
{
	int (*body)(void *arg);
	/* joining asks nothing of the firmware and makes no QP */
	bool joins;
};

FIXTURE_VARIANT_ADD(sweep_xrc, create) { .body = body_create };
FIXTURE_VARIANT_ADD(sweep_xrc, reg) { .body = body_reg, .joins = true };
FIXTURE_VARIANT_ADD(sweep_xrc, get) { .body = body_get };
FIXTURE_VARIANT_ADD(sweep_xrc, connect) { .body = body_connect };
FIXTURE_VARIANT_ADD(sweep_xrc, domain) { .body = body_domain };

FIXTURE_SETUP(sweep_xrc)
{
	ASSERT_EQ(0, objects_open(&self->objects));
	self->sweep.body = variant->body;
	self->sweep.arg = &self->objects;
}

FIXTURE_TEARDOWN(sweep_xrc)
{
	EXPECT_EQ(0, objects_check(&self->objects));
	EXPECT_EQ(0, objects_close(&self->objects));
}

TEST_SWEEP(sweep_xrc, failing_commands_leave_nothing_behind)
{
	SWEEP_OF_COMMANDS();
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	EXPECT_EQ(variant->joins, !self->sweep.runs);
	EXPECT_EQ(variant->joins, !self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_SWEEP(sweep_xrc, failing_allocations_leave_nothing_behind)
{
	SWEEP_ALLOCATIONS_TEST(&self->sweep, false);
}

/*
 * The sweep of what the sweep above exempts, without what ib_core does not
 * undo.
 */
TEST_SWEEP(sweep_xrc, failing_allocations_of_the_driver_do_neither)
{
	self->objects.exempted = SWEEP_DESTROY_QP;
	self->sweep.below = "create_qp";
	SWEEP_ALLOCATIONS_TEST(&self->sweep, variant->joins);
}

FIXTURE(silent_xrc)
{
	struct objects objects;
	struct sweep sweep;
};

FIXTURE_VARIANT(silent_xrc)
{
	int (*body)(void *arg);
};

FIXTURE_VARIANT_ADD(silent_xrc, connect) { .body = body_connect };
FIXTURE_VARIANT_ADD(silent_xrc, domain) { .body = body_domain };

FIXTURE_SETUP(silent_xrc)
{
	SWEEP_OF_COMMANDS();
	ASSERT_EQ(0, sweep_restart(SWEEP_PATIENCE_MS));
	ASSERT_EQ(0, objects_open(&self->objects));
	self->sweep.body = variant->body;
	self->sweep.arg = &self->objects;
}

FIXTURE_TEARDOWN(silent_xrc)
{
	EXPECT_EQ(0, objects_check(&self->objects));
	EXPECT_EQ(0, objects_close(&self->objects));
	EXPECT_EQ(0, sweep_restart(0));
}

TEST_SWEEP(silent_xrc, commands_without_an_answer_leave_nothing_behind)
{
	ASSERT_EQ(0, sweep_silence(&self->sweep));
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
