// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * Calls on shared XRC receive QPs that meet while the HCA takes its time with a
 * command: who waits for whom, and what the table shows meanwhile.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "baseline.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_waits_domain"
#define PARAM "/sys/module/mlx5_ep/parameters/"
#define DELAY_US (1000000u * patience_factor())

/* A call of a second thread. */
struct call {
	int (*run)(struct call *call);
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	const char *key;
	uint32_t num;
	int ret;
	atomic_bool over;
	pthread_t thread;
};

FIXTURE(waits)
{
	struct baseline base;
	struct xrc_node node;
	struct mlx5ep_xrc_rcv_qp *first;	/* has the key "k" */
	struct ibv_qp *upstream;	/* has no record */
	struct call late, other;
};

typedef FIXTURE_DATA(waits) waits_data;

FIXTURE_SETUP(waits)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &self->first));
	self->upstream = xrc_upstream_create(&self->node);
	ASSERT_NE(NULL, self->upstream);
	self->late.xrcd = self->node.xrcd;
	self->other.xrcd = self->node.xrcd;
}

FIXTURE_TEARDOWN(waits)
{
	EXPECT_EQ(0, file_write(PARAM "xrc_regs_per_process", "65536"));
	EXPECT_EQ(0, simhca_fail_nothing());
	if (self->first)
		EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->first));
	EXPECT_EQ(0, ibv_destroy_qp(self->upstream));
	EXPECT_EQ(0, sysfs_number("xrc_domains"));
	EXPECT_EQ(0, xrc_node_close(&self->node));
	unlink(DOMAIN_FILE);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

static int run_get(struct call *call)
{
	return mlx5ep_xrc_rcv_qp_get(call->xrcd, call->key, 1, 0, NULL,
				     &call->qp);
}

static int run_reg(struct call *call)
{
	return mlx5ep_xrc_rcv_qp_reg(call->xrcd, call->num, NULL, &call->qp);
}

static int run_unreg(struct call *call)
{
	return mlx5ep_xrc_rcv_qp_unreg(call->qp);
}

static int run_init(struct call *call)
{
	return xrc_qp_step(call->qp, IBV_QPS_INIT, 0, NULL);
}

static void *waits_run(void *arg)
{
	struct call *call = arg;

	call->ret = call->run(call);
	atomic_store(&call->over, true);
	return NULL;
}

static int start(struct call *call, int (*function)(struct call *call))
{
	call->run = function;
	return pthread_create(&call->thread, NULL, waits_run, call);
}

/* The next command @opcode is answered late, by @status if that is not 0. */
static int delay(const char *opcode, unsigned int status)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"delay\",\"opcode\":\"%s\",\"count\":1,\"us\":%u,\"status\":%u}",
		opcode, DELAY_US, status);
}

/* How many lines of the table begin with @words. */
static int shown(const char *words)
{
	FILE *table = debugfs_open("xrc");
	char line[512];
	int n = 0;

	while (table && fgets(line, sizeof(line), table))
		n += !strncmp(line, words, strlen(words));
	if (table)
		fclose(table);
	return n;
}

/* The id of the only domain of the table; 0: it has none. */
static unsigned int domain_shown(void)
{
	FILE *table = debugfs_open("xrc");
	unsigned int id = 0;

	if (!table)
		return 0;
	rewind(table);
	if (fscanf(table, "domain id=%u ", &id) != 1)
		id = 0;
	fclose(table);
	return id;
}

/* Waits until @n records are there. What their threads do next is a command. */
static bool records_are(long n)
{
	int i;

	for (i = 0; i < EVENT_MS && sysfs_number("xrc_qps") != n; i++)
		usleep(1000);
	usleep(DELAY_US / 10);
	return i < EVENT_MS;
}

/* One of the calls that are creating QPs may be about to give it its record. */
TEST_F(waits, reg_of_a_qp_without_record_for_who_creates)
{
	struct mlx5ep_xrc_rcv_qp *qp, *again;

	self->late.key = "l";
	ASSERT_EQ(0, delay("CREATE_QP", 0));
	ASSERT_EQ(0, start(&self->late, run_get));
	ASSERT_TRUE(records_are(2));
	/* One with a record waits for nobody. */
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(
			     self->node.xrcd, mlx5ep_xrc_rcv_qp_num(self->first),
			     NULL, &again));
	EXPECT_FALSE(atomic_load(&self->late.over));
	EXPECT_EQ(1, shown("qp num="));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
					   self->upstream->qp_num, NULL, &qp));
	EXPECT_EQ(3, shown("qp num="));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	EXPECT_EQ(1, self->late.ret);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->late.qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
	/* Who waited keeps nobody from creating. */
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "n", 1, 0, NULL,
					   &again));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* Its limit is lowered meanwhile, and the domain has no other registration then. */
TEST_F(waits, reg_that_is_refused_after_that_leaves_no_domain)
{
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->first));
	self->first = NULL;
	self->late.key = "l";
	ASSERT_EQ(0, delay("CREATE_QP", 8));
	ASSERT_EQ(0, start(&self->late, run_get));
	ASSERT_TRUE(records_are(1));
	ASSERT_EQ(0, file_write(PARAM "xrc_regs_per_process", "0"));
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
						 self->upstream->qp_num, NULL,
						 &qp));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	EXPECT_EQ(-ENOMEM, self->late.ret);
	EXPECT_EQ(0, sysfs_number("xrc_domains"));
}

/* An event of its QP comes before the registration has a record. */
TEST_F(waits, reg_and_an_event_comes)
{
	struct ibv_async_event event;

	self->late.key = "l";
	self->other.num = self->upstream->qp_num;
	ASSERT_EQ(0, delay("CREATE_QP", 0));
	ASSERT_EQ(0, start(&self->late, run_get));
	ASSERT_TRUE(records_are(2));
	ASSERT_EQ(0, start(&self->other, run_reg));
	usleep(DELAY_US / 10);
	ASSERT_EQ(0, simhca_ask("{\"op\":\"fault\",\"hca\":0,\"kind\":\"event\",\"event\":\"QP_FATAL\",\"qpn\":%u}",
				self->other.num));
	ASSERT_EQ(0, ibv_get_async_event(self->node.ctx, &event));
	EXPECT_EQ(IBV_EVENT_QP_FATAL, event.event_type);
	ibv_ack_async_event(&event);
	EXPECT_FALSE(atomic_load(&self->other.over));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	ASSERT_EQ(0, pthread_join(self->other.thread, NULL));
	ASSERT_EQ(1, self->late.ret);
	ASSERT_EQ(0, self->other.ret);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->late.qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->other.qp));
}

/* A registration that joins while another one changes the QP waits for it. */
TEST_F(waits, get_for_modify_and_is_not_shown)
{
	int i;

	self->late.qp = self->first;
	self->other.key = "k";
	ASSERT_EQ(0, delay("RST2INIT_QP", 0));
	ASSERT_EQ(0, start(&self->late, run_init));
	usleep(DELAY_US / 3);
	ASSERT_EQ(0, start(&self->other, run_get));
	for (i = 0; i < EVENT_MS && sysfs_number("xrc_registrations") == 1; i++)
		usleep(1000);
	EXPECT_EQ(1, shown("registration "));
	EXPECT_FALSE(atomic_load(&self->late.over));
	EXPECT_FALSE(atomic_load(&self->other.over));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	ASSERT_EQ(0, pthread_join(self->other.thread, NULL));
	EXPECT_EQ(0, self->late.ret);
	ASSERT_EQ(0, self->other.ret);
	EXPECT_EQ(2, shown("registration "));
	EXPECT_EQ(1, xrc_qp_step(self->other.qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->other.qp));
}

/* The record outlives its QP where somebody joins just then, and gets a new one. */
TEST_F(waits, get_for_the_end_of_the_qp_and_creates_another)
{
	char state[64];
	int i;

	ASSERT_EQ(0, xrc_qp_step(self->first, IBV_QPS_INIT, 0, NULL));
	self->late.qp = self->first;
	self->first = NULL;
	ASSERT_EQ(0, delay("DESTROY_QP", 0));
	ASSERT_EQ(0, start(&self->late, run_unreg));
	for (i = 0; i < EVENT_MS && shown("qp num="); i++)
		usleep(1000);
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &self->first));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	EXPECT_EQ(0, self->late.ret);
	EXPECT_EQ(1, shown("qp num="));
	EXPECT_EQ(1, shown("registration "));
	snprintf(state, sizeof(state), "qp num=0x%06x domain=%u state=RESET ",
		 mlx5ep_xrc_rcv_qp_num(self->first), domain_shown());
	EXPECT_EQ(1, shown(state));
	EXPECT_EQ(0, xrc_qp_step(self->first, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(1, sysfs_number("xrc_qps"));
}

TEST_HARNESS_MAIN
