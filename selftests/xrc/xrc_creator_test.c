// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, hca: 2, timeout: 180 */
/*
 * The process that creates a shared receive QP is killed between any two steps
 * of connecting it, while the peer sends. No message to a registrant that lives
 * is lost, and that registrant completes the connection.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <signal.h>

#include "baseline.h"
#include "simhca.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_creator_domain"
#define MESSAGES 40

/* Steps of the creator, which reports each to the parent. */
enum step { STEP_GET, STEP_INIT, STEP_RTR, STEP_RTS };

FIXTURE(creator)
{
	struct baseline base;
	struct xrc_node node;
	struct xrc_sender sender;
	int report[2];
};

typedef FIXTURE_DATA(creator) creator_data;

FIXTURE_VARIANT(creator)
{
	enum step last;		/* the creator's last step */
	bool joined_before;	/* the survivor registered before it died */
	bool sending;		/* and the peer sends all the while */
};

FIXTURE_VARIANT_ADD(creator, created_and_alone) { STEP_GET };
FIXTURE_VARIANT_ADD(creator, created) { STEP_GET, true };
FIXTURE_VARIANT_ADD(creator, init) { STEP_INIT, true };
FIXTURE_VARIANT_ADD(creator, rtr) { STEP_RTR, true };
FIXTURE_VARIANT_ADD(creator, rts) { STEP_RTS, true };
FIXTURE_VARIANT_ADD(creator, created_sending) { STEP_GET, true, true };
FIXTURE_VARIANT_ADD(creator, init_sending) { STEP_INIT, true, true };
FIXTURE_VARIANT_ADD(creator, rtr_sending) { STEP_RTR, true, true };
FIXTURE_VARIANT_ADD(creator, rts_sending) { STEP_RTS, true, true };

FIXTURE_SETUP(creator)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, xrc_device(0), DOMAIN_FILE, 2));
	ASSERT_EQ(0, xrc_sender_open(&self->sender, xrc_device(1)));
	ASSERT_EQ(0, pipe(self->report));
}

FIXTURE_TEARDOWN(creator)
{
	close(self->report[0]);
	close(self->report[1]);
	xrc_sender_close(&self->sender);
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

static void run_creator(creator_data *self, enum step last)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	enum step step;
	uint32_t num = 0;
	int ret;

	ret = xrc_node_open(&node, xrc_device(0), DOMAIN_FILE, 0);
	for (step = STEP_GET; !ret && step <= last; step++) {
		if (step == STEP_GET) {
			ret = mlx5ep_xrc_rcv_qp_get(node.xrcd, "peer", 4, 0,
						    NULL, &qp) != 1;
			if (!ret)
				num = mlx5ep_xrc_rcv_qp_num(qp);
		} else {
			ret = xrc_qp_step(qp, (enum ibv_qp_state)step,
					  self->sender.qp->qp_num,
					  &self->sender.address);
		}
		if (!ret && step == last &&
		    write(self->report[1], &num, sizeof(num)) != sizeof(num))
			_exit(1);
	}
	if (ret)
		_exit(2);
	for (;;)
		pause();
}

static int creator_post(creator_data *self, unsigned int seq)
{
	uint8_t msg[XRC_MSG];

	xrc_msg_fill(msg, 1, seq % 2, seq);
	return xrc_sender_post(&self->sender, self->node.srqs[seq % 2].num,
			       msg);
}

/* The next message must have number @seq: none was lost, none came twice. */
static int receive(creator_data *self, unsigned int seq)
{
	uint8_t got[XRC_MSG];
	unsigned int srq;
	int ret;

	ret = xrc_sender_wait(&self->sender, 10000);
	if (!ret)
		ret = xrc_node_recv(&self->node, &srq, got, 5000);
	if (ret)
		return ret;
	return srq == seq % 2 && xrc_msg_is(got, 1, seq % 2, seq) ? 0 :
		-EBADMSG;
}

static int exchange(creator_data *self, unsigned int seq)
{
	int ret = creator_post(self, seq);

	return ret ? ret : receive(self, seq);
}

/*
 * What the peer sends while the creator is killed. Before RTR the HCA of the
 * receive QP drops the message. The HCA of the peer sends it again, until the
 * survivor has moved the QP to RTR.
 */
static void send_as_it_dies(struct __test_metadata *_metadata,
			    creator_data *self, pid_t pid, bool receives)
{
	unsigned int seq, half = MESSAGES / 2;

	for (seq = 0; seq < half; seq++)
		ASSERT_EQ(0, receives ? exchange(self, seq) :
					creator_post(self, seq));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	/*
	 * The test does not wait here: messages go on while the creator dies.
	 */
	for (seq = half; receives && seq < MESSAGES; seq++)
		ASSERT_EQ(0, exchange(self, seq));
}

TEST_F_TIMEOUT(creator, killed_loses_no_message, 60)
{
	bool receives = variant->last >= STEP_RTR;
	struct mlx5ep_xrc_rcv_qp *qp = NULL;
	unsigned int seq;
	uint32_t num;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		run_creator(self, variant->last);
	ASSERT_EQ(sizeof(num), read(self->report[0], &num, sizeof(num)));
	if (variant->joined_before) {
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "peer", 4,
						   0, NULL, &qp));
		EXPECT_EQ(num, mlx5ep_xrc_rcv_qp_num(qp));
	}
	if (variant->sending) {
		ASSERT_EQ(0, xrc_sender_connect(&self->sender, num,
						&self->node.address));
		send_as_it_dies(_metadata, self, pid, receives);
	} else {
		ASSERT_EQ(0, kill(pid, SIGKILL));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	if (!variant->joined_before)
		ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "peer", 4,
						   0, NULL, &qp));
	ASSERT_EQ(0, xrc_qp_connect(qp, self->sender.qp->qp_num,
				    &self->sender.address));
	if (!variant->sending) {
		ASSERT_EQ(0, xrc_sender_connect(&self->sender,
						mlx5ep_xrc_rcv_qp_num(qp),
						&self->node.address));
	}
	for (seq = 0; variant->sending && !receives && seq < MESSAGES / 2;
	     seq++)
		ASSERT_EQ(0, receive(self, seq));
	for (seq = 0; seq < MESSAGES; seq++)
		ASSERT_EQ(0, exchange(self, seq));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_HARNESS_MAIN
