// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * What the kernel tells a program that uses DevX, such as UCX and DPDK: events of its
 * objects and of the port, and answers to commands that it does not wait for. They come
 * as without the module, whatever the policy. simhca posts the events.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "devx.h"
#include "simhca/base/ifc.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"

#define QPS 2
#define SQ_DRAINED 0x03		/* types of events: enum mlx5_event */
#define QP_FATAL 0x05
#define PORT_CHANGE 0x09
#define NO_SUCH_EVENT 0x77
#define QUERY_QP 0x50b
#define EQE 64u

struct event {
	struct mlx5dv_devx_async_event_hdr hdr;
	uint8_t eqe[EQE];
};

FIXTURE(devx)
{
	struct verbs_setup setup;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_event_channel *channel;
	struct devx_qp qps[QPS];
};

FIXTURE_VARIANT(devx)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(devx, stock) { "stock" };
FIXTURE_VARIANT_ADD(devx, independent) { "independent" };

FIXTURE_SETUP(devx)
{
	int i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 8, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 4));
	self->uar = mlx5dv_devx_alloc_uar(self->setup.ctx,
					  MLX5DV_UAR_ALLOC_TYPE_BF);
	ASSERT_NE(NULL, self->uar);
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, devx_qp_create(&self->setup, self->uar->page_id,
					    &self->qps[i]));
	self->channel = mlx5dv_devx_create_event_channel(self->setup.ctx, 0);
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0, fcntl(self->channel->fd, F_SETFL, O_NONBLOCK));
}

FIXTURE_TEARDOWN(devx)
{
	int i;

	if (self->channel)
		mlx5dv_devx_destroy_event_channel(self->channel);
	for (i = 0; i < QPS; i++)
		devx_qp_destroy(&self->qps[i]);
	mlx5dv_devx_free_uar(self->uar);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

static int subscribe(struct mlx5dv_devx_event_channel *channel,
		     struct mlx5dv_devx_obj *obj, uint16_t type, uint64_t cookie)
{
	return mlx5dv_devx_subscribe_devx_event(channel, obj, sizeof(type), &type,
						cookie);
}

/* The HCA posts an event of a QP. */
static int devx_events_post(const char *name, uint32_t qpn)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"event\",\"event\":\"%s\",\"qpn\":%u}",
		name, qpn);
}

/* The cable is plugged (up) or unplugged (down). */
static int cable(const char *state)
{
	return simhca_ask("{\"op\":\"fault\",\"kind\":\"port\",\"state\":\"%s\"}",
			  state);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, EVENT_MS) == 1 && p.revents == POLLIN;
}

/* Nothing more came: all events of the HCA go through one queue, in their order. */
static bool empty(struct mlx5dv_devx_event_channel *channel)
{
	struct event event;

	return mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event)) < 0 &&
	       errno == EAGAIN;
}

TEST_F(devx, an_event_comes_to_who_asked_for_it)
{
	struct event event = {};

	ASSERT_EQ(0, subscribe(self->channel, self->qps[0].obj, QP_FATAL, 77));
	ASSERT_EQ(0, subscribe(self->channel, self->qps[1].obj, SQ_DRAINED, 78));
	EXPECT_TRUE(empty(self->channel));
	/* nobody asked for the first two */
	ASSERT_EQ(0, devx_events_post("SQ_DRAINED", self->qps[0].qpn));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
	ASSERT_EQ(0, devx_events_post("SQ_DRAINED", self->qps[1].qpn));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[0].qpn));
	ASSERT_TRUE(readable(self->channel->fd));
	ASSERT_EQ(sizeof(event), mlx5dv_devx_get_event(self->channel, &event.hdr,
						       sizeof(event)));
	EXPECT_EQ(78, event.hdr.cookie);
	EXPECT_EQ(SQ_DRAINED, event.eqe[1]);
	ASSERT_TRUE(readable(self->channel->fd));
	/* a buffer that is too small loses nothing */
	EXPECT_GT(0, mlx5dv_devx_get_event(self->channel, &event.hdr,
					   sizeof(event) - 1));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(sizeof(event), mlx5dv_devx_get_event(self->channel, &event.hdr,
						       sizeof(event)));
	EXPECT_EQ(77, event.hdr.cookie);
	EXPECT_EQ(QP_FATAL, event.eqe[1]);
	EXPECT_TRUE(empty(self->channel));
}

TEST_F(devx, a_channel_without_data_has_each_subscription_once)
{
	struct mlx5dv_devx_async_event_hdr hdr = {};
	struct mlx5dv_devx_event_channel *channel;

	channel = mlx5dv_devx_create_event_channel(
		self->setup.ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	ASSERT_NE(NULL, channel);
	ASSERT_EQ(0, fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, subscribe(channel, self->qps[0].obj, QP_FATAL, 5));
	/* the channel with data tells that both events were handled */
	ASSERT_EQ(0, subscribe(self->channel, self->qps[1].obj, QP_FATAL, 6));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[0].qpn));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[0].qpn));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
	ASSERT_TRUE(readable(self->channel->fd));
	ASSERT_TRUE(readable(channel->fd));
	ASSERT_EQ(sizeof(hdr), mlx5dv_devx_get_event(channel, &hdr, sizeof(hdr)));
	EXPECT_EQ(5, hdr.cookie);
	EXPECT_GT(0, mlx5dv_devx_get_event(channel, &hdr, sizeof(hdr)));
	EXPECT_EQ(EAGAIN, errno);
	mlx5dv_devx_destroy_event_channel(channel);
}

TEST_F(devx, an_eventfd_is_signalled)
{
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t n = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mlx5dv_devx_subscribe_devx_event_fd(
			     self->channel, fd, self->qps[0].obj, QP_FATAL));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[0].qpn));
	ASSERT_TRUE(readable(fd));
	ASSERT_EQ(sizeof(n), read(fd, &n, sizeof(n)));
	EXPECT_EQ(1, n);
	EXPECT_TRUE(empty(self->channel));
	close(fd);
}

TEST_F(devx, the_port_has_events_without_an_object)
{
	struct event event = {};

	ASSERT_EQ(0, subscribe(self->channel, NULL, PORT_CHANGE, 9));
	ASSERT_EQ(0, cable("down"));
	ASSERT_TRUE(readable(self->channel->fd));
	ASSERT_EQ(sizeof(event), mlx5dv_devx_get_event(self->channel, &event.hdr,
						       sizeof(event)));
	EXPECT_EQ(9, event.hdr.cookie);
	EXPECT_EQ(PORT_CHANGE, event.eqe[1]);
	ASSERT_EQ(0, cable("up"));
	EXPECT_TRUE(readable(self->channel->fd));
}

TEST_F(devx, what_cannot_be_subscribed_is_refused)
{
	int fd = eventfd(0, EFD_NONBLOCK);

	EXPECT_NE(0, subscribe(self->channel, self->qps[0].obj, NO_SUCH_EVENT, 1));
	EXPECT_NE(0, subscribe(self->channel, NULL, QP_FATAL, 1));
	EXPECT_NE(0, subscribe(self->channel, self->qps[0].obj, PORT_CHANGE, 1));
	EXPECT_NE(0, mlx5dv_devx_subscribe_devx_event_fd(
			     self->channel, 0x7fff, self->qps[0].obj, QP_FATAL));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[0].qpn));
	ASSERT_EQ(0, subscribe(self->channel, self->qps[1].obj, QP_FATAL, 2));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
	EXPECT_TRUE(readable(self->channel->fd));
	close(fd);
}

/* Neither order may leave anything behind; events then come to nobody. */
TEST_F(devx, object_and_channel_end_in_any_order)
{
	struct event event = {};
	uint32_t qpn = self->qps[0].qpn;

	ASSERT_EQ(0, subscribe(self->channel, self->qps[0].obj, QP_FATAL, 1));
	ASSERT_EQ(0, subscribe(self->channel, self->qps[1].obj, QP_FATAL, 2));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", qpn));
	ASSERT_TRUE(readable(self->channel->fd));
	devx_qp_destroy(&self->qps[0]);
	ASSERT_EQ(sizeof(event), mlx5dv_devx_get_event(self->channel, &event.hdr,
						       sizeof(event)));
	EXPECT_EQ(1, event.hdr.cookie);
	ASSERT_EQ(0, devx_events_post("QP_FATAL", qpn));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
	ASSERT_TRUE(readable(self->channel->fd));
	ASSERT_EQ(sizeof(event), mlx5dv_devx_get_event(self->channel, &event.hdr,
						       sizeof(event)));
	EXPECT_EQ(2, event.hdr.cookie);
	EXPECT_TRUE(empty(self->channel));
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
	mlx5dv_devx_destroy_event_channel(self->channel);
	self->channel = NULL;
	ASSERT_EQ(0, devx_events_post("QP_FATAL", self->qps[1].qpn));
}

/* The answer to a command that nobody waited for is that of the same command. */
TEST_F(devx, a_query_is_answered_later)
{
	struct {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t out[IFC_SZ(query_qp_out)];
	} answer = {};
	uint8_t in[IFC_SZ(query_qp_in)] = {}, out[IFC_SZ(query_qp_out)] = {};
	struct mlx5dv_devx_cmd_comp *comp;
	int i, seen = 0;

	IFC_SET(query_qp_in, in, opcode, QUERY_QP);
	comp = mlx5dv_devx_create_cmd_comp(self->setup.ctx);
	ASSERT_NE(NULL, comp);
	for (i = 0; i < QPS; i++) {
		IFC_SET(query_qp_in, in, qpn, self->qps[i].qpn);
		ASSERT_EQ(0, mlx5dv_devx_obj_query_async(self->qps[i].obj, in,
							 sizeof(in), sizeof(out),
							 100 + i, comp));
	}
	for (i = 0; i < QPS; i++) {
		ASSERT_TRUE(readable(comp->fd));
		ASSERT_EQ(0, mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr,
							    sizeof(answer)));
		ASSERT_LE(100, answer.hdr.wr_id);
		ASSERT_GT(100 + QPS, answer.hdr.wr_id);
		seen |= 1 << (answer.hdr.wr_id - 100);
		IFC_SET(query_qp_in, in, qpn,
			self->qps[answer.hdr.wr_id - 100].qpn);
		ASSERT_EQ(0, mlx5dv_devx_obj_query(
				     self->qps[answer.hdr.wr_id - 100].obj, in,
				     sizeof(in), out, sizeof(out)));
		EXPECT_EQ(0, memcmp(out, answer.out, sizeof(out)));
	}
	EXPECT_EQ((1 << QPS) - 1, seen);
	/* one that is on its way when the channel goes */
	IFC_SET(query_qp_in, in, qpn, self->qps[0].qpn);
	ASSERT_EQ(0, mlx5dv_devx_obj_query_async(self->qps[0].obj, in, sizeof(in),
						 sizeof(out), 1, comp));
	mlx5dv_devx_destroy_cmd_comp(comp);
}

TEST_HARNESS_MAIN
