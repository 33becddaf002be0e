// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * Calls on shared XRC receive QPs that meet while the HCA takes its time with a
 * command: nobody waits for the command of another, and what the table shows meanwhile.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "baseline.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "uverbs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_waits_domain"
#define DELAY_US (1000000u * patience_factor())

/* A call of a second thread. */
struct call {
	int (*run)(struct call *call);
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	const char *key;
	struct ibv_qp *offer;	/* of run_ask(); NULL: it announces */
	uint32_t handle;	/* of its registration */
	int ret;
	atomic_bool begun, over;
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

	atomic_store(&call->begun, true);
	call->ret = call->run(call);
	atomic_store(&call->over, true);
	return NULL;
}

static int start(struct call *call, int (*function)(struct call *call))
{
	call->run = function;
	return pthread_create(&call->thread, NULL, waits_run, call);
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
	ASSERT_EQ(0, simhca_delay("CREATE_QP", DELAY_US));
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

/*
 * GET: offers a QP, or announces that a QP is offered next. *@handle: of the
 * registration
 */
static int ask(const struct mlx5ep_xrcd *domain, const void *key, size_t len,
	       const struct ibv_qp *offer, uint32_t *handle)
{
	struct ibv_xrcd *xrcd = mlx5ep_xrcd_ibv(domain);
	uint32_t flags = MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE;
	struct mlx5_ep_xrc_rcv_qp_reg answer;
	struct uverbs_call get;
	int ret;

	uverbs_begin(&get, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_handle(&get, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	uverbs_handle(&get, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD,
		      uverbs_xrcd_handle(xrcd));
	uverbs_out(&get, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, &answer,
		   sizeof(answer));
	uverbs_in(&get, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key, len);
	if (offer)
		uverbs_handle(&get, MLX5_EP_ATTR_XRC_RCV_QP_GET_QP,
			      offer->handle);
	else
		uverbs_in(&get, MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS, &flags,
			  sizeof(flags));
	ret = uverbs_do(xrcd->context, &get);
	*handle = get.attrs[0].data;
	return ret;
}

static int run_ask(struct call *call)
{
	return ask(call->xrcd, "l", 1, call->offer, &call->handle);
}

/* How often this thread has slept. */
static long times_slept(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Ends the registration of run_ask(). */
static int ask_end(const struct call *call)
{
	struct uverbs_call unreg;

	uverbs_begin(&unreg, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(&unreg, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE,
		      call->handle);
	return uverbs_do(mlx5ep_xrcd_ibv(call->xrcd)->context, &unreg);
}

/* Milliseconds from then to now */
static long ms_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000 +
	       (now.tv_nsec - then->tv_nsec) / 1000000;
}

/*
 * Who has announced creates no QP. If the guest is too slow, the second call does not
 * meet the announcement, and the test begins anew.
 */
TEST_F(waits, get_a_moment_for_who_has_announced)
{
	bool waited = false;
	struct timespec from;
	long ms = 0, slept;
	int i;

	/* A machine that stands still takes long, too, but does not make the call sleep. */
	for (i = 0; i < 50 && !waited; i++) {
		ASSERT_EQ(-ENOENT, run_ask(&self->late));
		slept = times_slept();
		clock_gettime(CLOCK_MONOTONIC, &from);
		ASSERT_EQ(-ENOENT, run_ask(&self->other));
		ms = ms_since(&from);
		waited = ms >= 15 && times_slept() != slept;
	}
	EXPECT_TRUE(waited);
	EXPECT_GT(1000 * patience_factor(), ms);
}

/*
 * A process asks twice, and so waits for its own announcement. It has its own stack and
 * the memory of the test, so that its end takes no time.
 */
struct victim {
	struct call call;
	struct timespec from;
	atomic_bool begun;
	char stack[65536];
};

static int victim_run(void *arg)
{
	struct victim *victim = arg;
	int ret = run_ask(&victim->call);

	clock_gettime(CLOCK_MONOTONIC, &victim->from);
	atomic_store(&victim->begun, true);
	return ret == -ENOENT ? run_ask(&victim->call) != ret : 1;
}

/* Kills a process that waits. Returns how long it waited, in ms; -1: it did not. */
static int victim_killed(struct victim *victim)
{
	int status, pid;

	atomic_store(&victim->begun, false);
	pid = clone(victim_run, victim->stack + sizeof(victim->stack),
		    CLONE_VM | SIGCHLD, victim);
	while (pid > 0 && !atomic_load(&victim->begun))
		usleep(100);
	usleep(1000);
	if (pid < 0 || kill(pid, SIGKILL) ||
	    waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return -1;
	return ms_since(&victim->from);
}

/* One that waits for all of the time takes 20 ms and more each time. */
TEST_F(waits, get_no_longer_if_it_is_killed)
{
	static struct victim victim;
	int i, ms = -1;

	victim.call = self->other;
	for (i = 0; i < 50 && (ms < 0 || ms >= 15); i++) {
		usleep(50000);
		ms = victim_killed(&victim);
	}
	EXPECT_LE(0, ms);
	EXPECT_GT(15, ms);
}

/* If the QP comes too late, the test begins anew. */
TEST_F(waits, get_for_who_has_announced_and_joins)
{
	int i;

	self->late.ret = -ENOENT;
	for (i = 0; i < 50 && self->late.ret; i++) {
		usleep(50000);
		self->other.offer = NULL;
		atomic_store(&self->late.begun, false);
		ASSERT_EQ(-ENOENT, run_ask(&self->other));
		ASSERT_EQ(0, start(&self->late, run_ask));
		while (!atomic_load(&self->late.begun))
			sched_yield();
		usleep(2000);
		self->other.offer = self->upstream;
		EXPECT_EQ(0, run_ask(&self->other));
		ASSERT_EQ(0, pthread_join(self->late.thread, NULL));
		EXPECT_EQ(0, ask_end(&self->other));
	}
	ASSERT_EQ(0, self->late.ret);
	EXPECT_EQ(0, ask_end(&self->late));
}

/* Threads that announce QPs, and create none. */
struct announcers {
	struct mlx5ep_xrcd *xrcd;
	atomic_uint keys;
	atomic_bool over;
};

static void *announce(void *arg)
{
	struct announcers *announcers = arg;
	unsigned int key;
	uint32_t handle;

	while (!atomic_load(&announcers->over)) {
		key = atomic_fetch_add(&announcers->keys, 1);
		if (ask(announcers->xrcd, &key, sizeof(key), NULL, &handle) !=
		    -ENOENT)
			return "a key had a QP";
	}
	return NULL;
}

/* How many of @asks calls of GET for keys that nobody has slept. */
static unsigned int asks_slept(const struct mlx5ep_xrcd *xrcd,
			       unsigned int asks)
{
	unsigned int slept = 0;
	uint32_t handle;
	long before;

	while (asks--) {
		before = times_slept();
		ask(xrcd, &asks, sizeof(asks), NULL, &handle);
		slept += times_slept() != before;
	}
	return slept;
}

/*
 * Users of another domain cannot hold those of this one up. One ask in seven, or so,
 * meets the announcement of another ask.
 */
TEST_F(waits, get_not_for_another_domain)
{
	static struct announcers announcers;
	pthread_t threads[256];
	void *wrong;
	size_t i;

	ASSERT_EQ(0, mlx5ep_xrcd_open(mlx5ep_xrcd_ibv(self->node.xrcd)->context,
				      -1, O_CREAT, &announcers.xrcd));
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, announce,
					    &announcers));
	/* All places are taken. */
	while (atomic_load(&announcers.keys) < 4 * ARRAY_SIZE(threads))
		usleep(1000);
	EXPECT_GT(10, asks_slept(self->node.xrcd, 20));
	atomic_store(&announcers.over, true);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &wrong));
		EXPECT_EQ(NULL, wrong);
	}
	EXPECT_EQ(0, mlx5ep_xrcd_close(announcers.xrcd));
}

TEST_F(waits, get_not_for_modify)
{
	self->late.qp = self->first;
	ASSERT_EQ(0, simhca_delay("RST2INIT_QP", DELAY_US));
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
	ASSERT_EQ(0, simhca_delay("DESTROY_QP", DELAY_US));
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
