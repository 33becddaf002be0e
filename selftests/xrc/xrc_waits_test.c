// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * Calls on shared XRC receive QPs that meet while the HCA takes its time with a
 * command: nobody waits for the command of another, and what the table shows meanwhile.
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
#define DELAY_US (1000000u * patience_factor())

/* A call of a second thread. */
struct call {
	int (*run)(struct call *call);
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	const char *key;
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

/* The next command @opcode is answered late. */
static int delay(const char *opcode)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"delay\",\"opcode\":\"%s\",\"count\":1,\"us\":%u,\"status\":0}",
		opcode, DELAY_US);
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

TEST_F(waits, neither_get_nor_reg_for_who_creates)
{
	struct mlx5ep_xrc_rcv_qp *qp, *again;

	self->late.key = "l";
	ASSERT_EQ(0, delay("CREATE_QP"));
	ASSERT_EQ(0, start(&self->late, run_get));
	usleep(DELAY_US / 5);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &again));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
					   self->upstream->qp_num, NULL, &qp));
	EXPECT_FALSE(atomic_load(&self->late.over));
	EXPECT_EQ(2, shown("qp num="));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
	/* Another process is faster, and has the key. */
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "l", 1, 0, NULL,
					   &again));
	EXPECT_FALSE(atomic_load(&self->late.over));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	EXPECT_EQ(0, self->late.ret);
	EXPECT_EQ(mlx5ep_xrc_rcv_qp_num(again),
		  mlx5ep_xrc_rcv_qp_num(self->late.qp));
	EXPECT_EQ(3, shown("qp num="));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->late.qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(waits, get_not_for_modify)
{
	self->late.qp = self->first;
	ASSERT_EQ(0, delay("RST2INIT_QP"));
	ASSERT_EQ(0, start(&self->late, run_init));
	usleep(DELAY_US / 5);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &self->other.qp));
	EXPECT_EQ(2, shown("registration "));
	EXPECT_FALSE(atomic_load(&self->late.over));
	ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
	EXPECT_EQ(0, self->late.ret);
	EXPECT_EQ(1, xrc_qp_step(self->other.qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->other.qp));
}

/* The key is free before the device has destroyed its QP. */
TEST_F(waits, get_not_for_the_end_of_the_qp_and_creates_another)
{
	char state[64];
	int i;

	ASSERT_EQ(0, xrc_qp_step(self->first, IBV_QPS_INIT, 0, NULL));
	self->late.qp = self->first;
	self->first = NULL;
	ASSERT_EQ(0, delay("DESTROY_QP"));
	ASSERT_EQ(0, start(&self->late, run_unreg));
	for (i = 0; i < EVENT_MS && shown("qp num="); i++)
		usleep(1000);
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &self->first));
	EXPECT_FALSE(atomic_load(&self->late.over));
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
