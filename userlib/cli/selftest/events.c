// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion events. A context arms its CQ through a UAR page, and sleeps until
 * the adapter reports the completion.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "selftest.h"

#define EVENT_MS 3000
#define EVENTS 3

static int wait_event(struct ibv_comp_channel *channel)
{
	struct pollfd poller = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	int ret = poll(&poller, 1, EVENT_MS);

	if (ret <= 0)
		return ret ? -errno : -ETIMEDOUT;
	if (ibv_get_cq_event(channel, &cq, &ctx))
		return -errno;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

/* A QP writes to itself, and its CQ is armed before. */
static int one_event(struct loopback *loop)
{
	int ret = -ibv_req_notify_cq(loop->cq, 0);

	if (!ret)
		ret = loopback_write(loop, 0, loop->buf, loop->mr->lkey,
				     LOOPBACK_LEN, 0);
	return ret ? ret : wait_event(loop->channel);
}

static void events_run(struct selftest *st, uint32_t policy, uint32_t pages,
		       const char *check)
{
	const struct mlx5_ep_context_policy wish = {
		.policy = policy,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
		.pages = pages,
	};
	struct loopback loop;
	unsigned int i;
	int ret;

	ret = loopback_open(&loop, st->device, &wish);
	if (!ret)
		ret = loopback_add(&loop);
	for (i = 0; i < EVENTS && !ret; i++)
		ret = one_event(&loop);
	selftest_expect(st, !ret, check, "%s",
			ret ? strerror(-ret) : "one for each arming");
	loopback_close(&loop);
}

/**
 * selftest_events() - completion events of a stock and of a managed context
 */
void selftest_events(struct selftest *st)
{
	events_run(st, MLX5_EP_UUAR_POLICY_STOCK, 0,
		   "completion events arrive under stock");
	events_run(st, MLX5_EP_UUAR_POLICY_INDEPENDENT, 2,
		   "completion events arrive under independent");
}
