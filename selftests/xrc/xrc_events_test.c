// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * Every registrant that asked gets the events of a shared XRC receive QP. If
 * the HCA refuses a command, the call fails and leaves nothing.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/mlx5_ep_notifier.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "baseline.h"
#include "simhca.h"
#include "sysfs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_events_domain"
#define LISTENERS 3

struct listener {
	struct xrc_node node;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_xrc_rcv_qp *qp;
};

FIXTURE(events)
{
	struct baseline base;
	struct listener who[LISTENERS];
	struct simhca *sim;
	uint32_t num;
};

typedef FIXTURE_DATA(events) events_data;

static int events_ask(struct simhca *sim, const char *fmt, const char *a,
		      uint32_t n)
{
	return simhca_call(sim, NULL, fmt, a, n);
}

FIXTURE_SETUP(events)
{
	struct mlx5ep_xrc_events events = {};
	struct listener *l;
	unsigned int i;

	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	for (i = 0; i < LISTENERS; i++) {
		l = &self->who[i];
		ASSERT_EQ(0, xrc_node_open(&l->node, NULL, DOMAIN_FILE, 0));
		ASSERT_EQ(0, mlx5ep_notifier_create(l->node.ctx, 1,
						    &l->notifier));
		events.notifier_fd = mlx5ep_notifier_fd(l->notifier);
		events.cookie = 0xc0ffee0000 + i;
		ASSERT_LE(0, mlx5ep_xrc_rcv_qp_get(l->node.xrcd, "k", 1, 0,
						   &events, &l->qp));
	}
	self->num = mlx5ep_xrc_rcv_qp_num(self->who[0].qp);
	ASSERT_EQ(0, simhca_open(&self->sim, NULL));
}

FIXTURE_TEARDOWN(events)
{
	unsigned int i;

	simhca_close(self->sim);
	for (i = 0; i < LISTENERS; i++) {
		if (self->who[i].qp)
			EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->who[i].qp));
		if (self->who[i].notifier)
			mlx5ep_notifier_destroy(self->who[i].notifier);
		EXPECT_EQ(0, xrc_node_close(&self->who[i].node));
	}
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

#define NONE 50
#define SOON EVENT_MS

/*
 * Wait @ms for the next event: SOON, or NONE to expect none. Returns 0,
 * -ETIMEDOUT or another -errno.
 */
static int next_event(struct listener *l, struct mlx5_ep_event *event, int ms)
{
	struct pollfd pfd = {
		.fd = mlx5ep_notifier_fd(l->notifier),
		.events = POLLIN,
	};
	int ret = poll(&pfd, 1, ms);

	if (ret <= 0)
		return ret ? -errno : -ETIMEDOUT;
	ret = read(pfd.fd, event, sizeof(*event));
	return ret == sizeof(*event) ? 0 : -errno;
}

static const struct {
	const char *name;
	uint32_t type;
	const char *state;	/* of the QP, as the event tells the module */
} kinds[] = {
	{ "COMM_EST", MLX5_EP_EVENT_XRC_COMM_EST, "RESET" },
	{ "PATH_MIG", MLX5_EP_EVENT_XRC_PATH_MIG, "RESET" },
	{ "PATH_MIG_ERR", MLX5_EP_EVENT_XRC_PATH_MIG_ERR, "RESET" },
	{ "LAST_WQE", MLX5_EP_EVENT_XRC_LAST_WQE, "RESET" },
	{ "QP_REQ_ERR", MLX5_EP_EVENT_XRC_QP_REQ_ERR, "ERR" },
	{ "QP_ACCESS_ERR", MLX5_EP_EVENT_XRC_QP_ACCESS_ERR, "ERR" },
	{ "QP_FATAL", MLX5_EP_EVENT_XRC_QP_FATAL, "ERR" },
};

#define EVENT "{\"op\":\"fault\",\"hca\":0,\"kind\":\"event\",\"event\":\"%s\",\"qpn\":%u}"

TEST_F(events, each_kind_reaches_every_registrant)
{
	struct mlx5_ep_event event;
	unsigned int k, i;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		/* The HCA says that the QP is in RESET all the time. */
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(self->who[0].qp, NULL,
						     NULL));
		EXPECT_TRUE(xrc_shown_in("RESET"));
		ASSERT_EQ(0, events_ask(self->sim, EVENT, kinds[k].name,
					self->num));
		for (i = 0; i < LISTENERS; i++) {
			memset(&event, 0xff, sizeof(event));
			ASSERT_EQ(0, next_event(&self->who[i], &event, SOON)) {
				TH_LOG("%s to listener %u", kinds[k].name, i);
			}
			EXPECT_EQ(kinds[k].type, event.type);
			EXPECT_EQ(self->num, event.object);
			EXPECT_EQ(0xc0ffee0000 + i, event.cookie);
		}
		EXPECT_TRUE(xrc_shown_in(kinds[k].state)) {
			TH_LOG("after %s", kinds[k].name);
		}
	}
	EXPECT_EQ(-ETIMEDOUT, next_event(&self->who[0], &event, NONE));
}

static void *event_later(void *arg)
{
	events_data *self = arg;

	usleep(100000);
	events_ask(self->sim, EVENT, "PATH_MIG", self->num);
	return NULL;
}

/* An epoll, which looks at a file once and then at what wakes it: poll() looks twice. */
TEST_F(events, wake_who_waits)
{
	struct epoll_event ready = { .events = EPOLLIN };
	int fd = mlx5ep_notifier_fd(self->who[0].notifier);
	struct mlx5_ep_event event;
	int waits = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;

	ASSERT_EQ(0, epoll_ctl(waits, EPOLL_CTL_ADD, fd, &ready));
	EXPECT_EQ(0, epoll_wait(waits, &ready, 1, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, event_later, self));
	EXPECT_EQ(1, epoll_wait(waits, &ready, 1, SOON));
	EXPECT_EQ(EPOLLIN, ready.events);
	pthread_join(thread, NULL);
	close(waits);
	EXPECT_EQ(0, next_event(&self->who[0], &event, SOON));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_PATH_MIG, event.type);
}

/* A read that has room for one leaves the other. */
TEST_F(events, of_two_kinds_come_one_by_one)
{
	const volatile struct mlx5_ep_notifier_page *page =
		mlx5ep_notifier_page(self->who[0].notifier);
	struct mlx5_ep_event event;
	int i;

	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG", self->num));
	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG_ERR", self->num));
	for (i = 0; i < EVENT_MS && page->source_total < 2; i++)
		usleep(1000);
	ASSERT_EQ(2, page->source_total);
	/* The registration counts once. */
	EXPECT_EQ(1, page->source_pending);
	ASSERT_EQ(0, next_event(&self->who[0], &event, SOON));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_PATH_MIG, event.type);
	EXPECT_EQ(1, page->source_pending);
	ASSERT_EQ(0, next_event(&self->who[0], &event, SOON));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_PATH_MIG_ERR, event.type);
	EXPECT_EQ(0, page->source_pending);
	EXPECT_EQ(-ETIMEDOUT, next_event(&self->who[0], &event, NONE));
}

/* One of a watch and one of the QP are unread: both come at once, as they are. */
TEST_F(events, of_a_watch_and_of_a_qp_come_by_one_read)
{
	const volatile struct mlx5_ep_notifier_page *page =
		mlx5ep_notifier_page(self->who[0].notifier);
	struct mlx5_ep_event events[3];
	struct mlx5ep_watch watch;
	void *mem;
	int i;

	mem = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, mlx5ep_watch_add(self->who[0].notifier, mem, 4096, 7,
				      &watch));
	ASSERT_EQ(0, munmap(mem, 4096));
	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG", self->num));
	for (i = 0; i < EVENT_MS && !page->source_pending; i++)
		usleep(1000);
	ASSERT_EQ(1, page->source_pending);
	ASSERT_EQ(1, page->watch_pending);
	memset(events, 0xff, sizeof(events));
	ASSERT_EQ(2, mlx5ep_notifier_read(self->who[0].notifier, events, 3));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_PATH_MIG, events[0].type);
	EXPECT_EQ(self->num, events[0].object);
	EXPECT_EQ(MLX5_EP_EVENT_WATCH, events[1].type);
	EXPECT_EQ(7, events[1].cookie);
	EXPECT_EQ((uintptr_t)mem, events[1].start);
	EXPECT_EQ(UINT32_MAX, events[2].type);
}

TEST_F(events, none_after_the_registration_ended)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->who[0].qp));
	self->who[0].qp = NULL;
	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG", self->num));
	ASSERT_EQ(0, next_event(&self->who[1], &event, SOON));
	EXPECT_EQ(-ETIMEDOUT, next_event(&self->who[0], &event, NONE));
}

TEST_F(events, a_notifier_may_go_first)
{
	struct mlx5_ep_event event;

	mlx5ep_notifier_destroy(self->who[0].notifier);
	self->who[0].notifier = NULL;
	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG", self->num));
	EXPECT_EQ(0, next_event(&self->who[1], &event, SOON));
}

/* The registration that still has the event ends after the notifier's memory. */
TEST_F(events, a_notifier_may_go_with_an_event_that_nobody_has_read)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG", self->num));
	ASSERT_EQ(0, next_event(&self->who[1], &event, SOON));
	mlx5ep_notifier_destroy(self->who[0].notifier);
	self->who[0].notifier = NULL;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->who[0].qp));
	self->who[0].qp = NULL;
	ASSERT_EQ(0, events_ask(self->sim, EVENT, "PATH_MIG_ERR", self->num));
	EXPECT_EQ(0, next_event(&self->who[1], &event, SOON));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_PATH_MIG_ERR, event.type);
}

TEST_F(events, traffic_establishes_communication)
{
	struct mlx5_ep_event event;
	struct listener *l = &self->who[0];
	struct xrc_sender sender;
	uint8_t msg[XRC_MSG], got[XRC_MSG];
	struct xrc_node sink;
	unsigned int srq;

	/*
	 * The QP goes to RTR and not to RTS: only then is the first message an
	 * event.
	 */
	ASSERT_EQ(0, xrc_node_open(&sink, NULL, DOMAIN_FILE, 1));
	ASSERT_EQ(0, xrc_sender_open(&sender, NULL));
	ASSERT_EQ(0, xrc_qp_step(l->qp, IBV_QPS_INIT, 0, NULL));
	ASSERT_EQ(0, xrc_qp_step(l->qp, IBV_QPS_RTR, sender.qp->qp_num,
				 &sender.address));
	ASSERT_EQ(0, xrc_sender_connect(&sender, self->num, &l->node.address));
	xrc_msg_fill(msg, 1, 2, 3);
	ASSERT_EQ(0, xrc_sender_send(&sender, sink.srqs[0].num, msg));
	ASSERT_EQ(0, xrc_node_recv(&sink, &srq, got, 5000));
	ASSERT_EQ(0, next_event(&self->who[2], &event, SOON));
	EXPECT_EQ(MLX5_EP_EVENT_XRC_COMM_EST, event.type);
	xrc_sender_close(&sender);
	EXPECT_EQ(0, xrc_node_close(&sink));
}

#define REFUSE "{\"op\":\"fault\",\"hca\":0,\"kind\":\"cmd\",\"opcode\":\"%s\",\"nth\":1,\"count\":1,\"status\":%u}"

/* mlx5 turns the command status 0x8, limits exceeded, into ENOMEM. */
TEST_F(events, a_refused_create_is_an_error_and_the_next_works)
{
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, events_ask(self->sim, REFUSE, "CREATE_QP", 8));
	EXPECT_EQ(-ENOMEM, mlx5ep_xrc_rcv_qp_get(self->who[0].node.xrcd, "z", 1,
						 0, NULL, &qp));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->who[0].node.xrcd, "z", 1, 0,
					   NULL, &qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(events, a_refused_step_is_an_error_and_can_be_repeated)
{
	struct ibv_qp_attr attr;
	struct mlx5ep_xrc_rcv_qp *qp = self->who[1].qp;

	ASSERT_EQ(0, events_ask(self->sim, REFUSE, "RST2INIT_QP", 3));
	EXPECT_GT(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	ASSERT_EQ(0, events_ask(self->sim, REFUSE, "QUERY_QP", 3));
	EXPECT_GT(0, mlx5ep_xrc_rcv_qp_query(qp, &attr, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &attr, NULL));
	EXPECT_EQ(IBV_QPS_RESET, attr.qp_state);
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(1, xrc_qp_step(self->who[2].qp, IBV_QPS_INIT, 0, NULL));
	/* A step asks for the state first; what is not answered is not known. */
	ASSERT_EQ(0, events_ask(self->sim, REFUSE, "QUERY_QP", 3));
	EXPECT_GT(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	ASSERT_EQ(0, events_ask(self->sim, REFUSE, "QUERY_QP", 3));
	EXPECT_GT(0, mlx5ep_xrc_rcv_qp_query(qp, &attr, NULL));
	EXPECT_TRUE(xrc_shown_in("INIT"));
}

TEST_HARNESS_MAIN
