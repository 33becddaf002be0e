// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * What is left after a call that fails late, with most of its work done; limits
 * that fall below what is held; events that nobody has read when their
 * registration ends.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "baseline.h"
#include "lab.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "uverbs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_undo_domain"
#define PARAM "/sys/module/mlx5_ep/parameters/"
#define NOWHERE ((void *)16)
#define DELAY_US 1500000u

FIXTURE(undo)
{
	struct baseline base;
	struct xrc_node node;
	struct mlx5ep_notifier *n;
	struct mlx5ep_xrc_rcv_qp *first;	/* has the key "k" */
	struct uverbs_call call;
	uint32_t xrcd;
};

typedef FIXTURE_DATA(undo) undo_data;

FIXTURE_SETUP(undo)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->node.ctx, 4, &self->n));
	self->xrcd = uverbs_xrcd_handle(mlx5ep_xrcd_ibv(self->node.xrcd));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &self->first));
}

FIXTURE_TEARDOWN(undo)
{
	EXPECT_EQ(0, file_write(PARAM "xrc_qps_per_device", "65536"));
	EXPECT_EQ(0, file_write(PARAM "xrc_regs_per_user", "262144"));
	EXPECT_EQ(0, file_write(PARAM "xrc_qps_per_user", "32768"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->first));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(self->n));
	/* A registration that is left keeps the domain busy. */
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

static unsigned int registrants(undo_data *self)
{
	struct mlx5_ep_xrc_rcv_qp_info info = {};

	return mlx5ep_xrc_rcv_qp_query(self->first, NULL, &info) ?
	       0 : info.registrants;
}

static int64_t qps_alive(undo_data *self)
{
	return simhca_count("qp") - baseline_alive(&self->base, "qp");
}

/* GET by key with an answer at @answer, and events if @events. @offer may be NULL. */
static int get_raw(undo_data *self, const char *key, void *answer, bool events,
		   struct ibv_qp *offer)
{
	struct uverbs_call *call = &self->call;

	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD, self->xrcd);
	uverbs_out(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, answer,
		   sizeof(struct mlx5_ep_xrc_rcv_qp_reg));
	uverbs_in(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key, 1);
	if (events)
		uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER,
			      mlx5ep_notifier_fd(self->n));
	if (offer)
		uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_GET_QP,
			      offer->handle);
	return uverbs_do(self->node.ctx, call);
}

TEST_F(undo, of_an_answer_that_cannot_be_written)
{
	struct ibv_qp *offer = xrc_upstream_create(&self->node);
	struct mlx5ep_xrc_rcv_qp *again;
	int i;

	ASSERT_NE(NULL, offer);
	for (i = 0; i < 2; i++) {
		/* It joins. */
		EXPECT_EQ(-EFAULT, get_raw(self, "k", NOWHERE, i, NULL));
		EXPECT_EQ(1, registrants(self));
		EXPECT_EQ(2, qps_alive(self));
		/* It gives a key to its QP: the key must be free again. */
		EXPECT_EQ(-EFAULT, get_raw(self, "z", NOWHERE, i, offer));
		EXPECT_EQ(2, qps_alive(self));
		EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_get(
					   self->node.xrcd, "z", 1,
					   MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY,
					   NULL, &again));
	}
	EXPECT_EQ(0, ibv_destroy_qp(offer));
	EXPECT_EQ(1, qps_alive(self));
	/* What failed does not count. */
	ASSERT_EQ(0, file_write(PARAM "xrc_qps_per_device", "2"));
	ASSERT_EQ(0, file_write(PARAM "xrc_qps_per_user", "2"));
	ASSERT_EQ(0, file_write(PARAM "xrc_regs_per_user", "2"));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "z", 1, 0, NULL,
					   &again));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
}

TEST_F(undo, of_answers_of_modify_and_query)
{
	struct ib_uverbs_qp_attr attr = {
		.qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct mlx5_ep_xrc_rcv_qp_reg reg = {};
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct uverbs_call *call = &self->call;
	struct ibv_qp_attr now;
	uint32_t handle;

	ASSERT_EQ(0, get_raw(self, "k", &reg, false, NULL));
	handle = call->attrs[0].data;
	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_MODIFY);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE, handle);
	uverbs_in(call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR, &attr,
		  sizeof(attr));
	uverbs_out(call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER, NOWHERE,
		   sizeof(struct mlx5_ep_xrc_rcv_qp_modify));
	EXPECT_EQ(-EFAULT, uverbs_do(self->node.ctx, call));
	/* The step cannot be taken back. */
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(self->first, &now, NULL));
	EXPECT_EQ(IBV_QPS_INIT, now.qp_state);

	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_QUERY);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE, handle);
	uverbs_out(call, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO, &info,
		   sizeof(info));
	uverbs_out(call, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR, NOWHERE,
		   sizeof(attr));
	EXPECT_EQ(-EFAULT, uverbs_do(self->node.ctx, call));
	call->attrs[1].data = (uintptr_t)NOWHERE;
	call->attrs[2].data = (uintptr_t)&attr;
	EXPECT_EQ(-EFAULT, uverbs_do(self->node.ctx, call));

	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, handle);
	EXPECT_EQ(0, uverbs_do(self->node.ctx, call));
	EXPECT_EQ(1, registrants(self));
}

/* REG with events, as the library makes it. */
static int reg_raw(undo_data *self, uint32_t num)
{
	struct uverbs_call *call = &self->call;

	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_REG);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD, self->xrcd);
	uverbs_in(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM, &num, sizeof(num));
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER,
		      mlx5ep_notifier_fd(self->n));
	return uverbs_do(self->node.ctx, call);
}

/* The notifier is of another address space than the child's. Returns 0, or bits. */
static int child_is_refused(undo_data *self, struct ibv_qp *offer)
{
	struct mlx5_ep_xrc_rcv_qp_reg reg;
	struct uverbs_call *call = &self->call;
	uint32_t handle;
	int bad;

	bad = get_raw(self, "k", &reg, true, NULL) != -EXDEV;
	bad |= (get_raw(self, "z", &reg, true, offer) != -EXDEV) << 1;
	bad |= (reg_raw(self, mlx5ep_xrc_rcv_qp_num(self->first)) != -EXDEV)
	       << 2;
	/* Nothing else refuses. */
	bad |= !!get_raw(self, "k", &reg, false, NULL) << 3;
	handle = call->attrs[0].data;
	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, handle);
	return bad | !!uverbs_do(self->node.ctx, call) << 4;
}

/* The library would refuse by itself, so the calls are made without it. */
TEST_F(undo, of_a_notifier_that_refuses)
{
	struct mlx5ep_xrc_events events = {
		.notifier_fd = mlx5ep_notifier_fd(self->n),
	};
	struct ibv_qp *offer = xrc_upstream_create(&self->node);
	struct mlx5ep_xrc_rcv_qp *again;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, offer);
	pid = fork();
	if (!pid)
		_exit(child_is_refused(self, offer));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, ibv_destroy_qp(offer));
	EXPECT_EQ(1, qps_alive(self));
	EXPECT_EQ(1, registrants(self));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "z", 1, 0, &events,
					   &again));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
}

/* Limits of which each QP with its registration takes one. */
static const char *const limits[] = {
	PARAM "xrc_regs_per_user", PARAM "xrc_qps_per_device",
	PARAM "xrc_qps_per_user",
};

TEST_F(undo, of_room_where_a_limit_is_lowered_below_what_is_held)
{
	struct mlx5ep_xrc_rcv_qp *qps[3], *no;
	unsigned int i, l;

	for (l = 0; l < ARRAY_SIZE(limits); l++) {
		/* With the first one there are four. */
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(
					     self->node.xrcd, NULL, &qps[i]));
		ASSERT_EQ(0, file_write(limits[l], "2"));
		EXPECT_EQ(4, qps_alive(self));
		for (i = 0; i < 3; i++) {
			EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_create(
					self->node.xrcd, NULL, &no)) {
				TH_LOG("%s, %u are held", limits[l], 4 - i);
			}
			EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[i]));
		}
		/* One is held, and one more may be. */
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL,
						      &qps[0])) {
			TH_LOG("%s", limits[l]);
		}
		EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_create(self->node.xrcd,
							    NULL, &no));
		EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[0]));
		ASSERT_EQ(0, file_write(limits[l], "65536"));
	}
}

#define EVENT "{\"op\":\"fault\",\"hca\":0,\"kind\":\"event\",\"event\":\"PATH_MIG\",\"qpn\":%u}"

/* Make an event of the QP, and wait until @n registrations have one unread. */
static void event_of(struct __test_metadata *_metadata, undo_data *self,
		     uint32_t num, uint64_t n)
{
	struct simhca *sim;
	int i;

	ASSERT_EQ(0, simhca_open(&sim, NULL));
	ASSERT_EQ(0, simhca_call(sim, NULL, EVENT, num));
	simhca_close(sim);
	for (i = 0; i < EVENT_MS; i++) {
		if (mlx5ep_notifier_page(self->n)->source_pending == n)
			break;
		usleep(1000);
	}
	ASSERT_EQ(n, mlx5ep_notifier_page(self->n)->source_pending);
}

TEST_F(undo, of_a_registration_with_an_unread_event)
{
	struct mlx5ep_xrc_events events = {
		.notifier_fd = mlx5ep_notifier_fd(self->n), .cookie = 1,
	};
	struct pollfd p = { .fd = events.notifier_fd, .events = POLLIN };
	struct mlx5ep_xrc_rcv_qp *a, *b;
	struct mlx5_ep_event ev[2];
	uint32_t num = mlx5ep_xrc_rcv_qp_num(self->first);

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, &events, &a));
	events.cookie = 2;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, &events, &b));
	event_of(_metadata, self, num, 2);
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
	EXPECT_EQ(1, mlx5ep_notifier_page(self->n)->source_pending);
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, ev, 2));
	EXPECT_EQ(2, ev[0].cookie);
	EXPECT_EQ(num, ev[0].object);
	EXPECT_EQ(0, mlx5ep_notifier_page(self->n)->source_pending);
	EXPECT_EQ(0, poll(&p, 1, 0));

	event_of(_metadata, self, num, 1);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(b));
	EXPECT_EQ(0, mlx5ep_notifier_page(self->n)->source_pending);
	EXPECT_EQ(3, mlx5ep_notifier_page(self->n)->source_total);
	EXPECT_EQ(0, poll(&p, 1, 0));
}

#define REFUSED 10000

/* KiB of slabs, without what only waits for RCU. */
static long undo_slab_kib(void)
{
	file_write("/proc/sys/vm/drop_caches", "2");
	return baseline_slab_kib();
}

/*
 * Each REG brings memory for a record, at least 64 bytes. uverbs frees its own objects
 * after RCU, which on a busy host is late.
 */
TEST_F(undo, of_refused_records_leaves_no_memory)
{
	struct ibv_qp *upstream = xrc_upstream_create(&self->node);
	struct mlx5ep_xrc_rcv_qp *qp;
	long before, most;
	int i;

	if (lab_kernel_is("debug"))
		SKIP(goto out, "KASAN keeps freed memory; kmemleak finds leaks");
	ASSERT_NE(NULL, upstream);
	ASSERT_EQ(0, file_write(PARAM "xrc_qps_per_device", "1"));
	before = undo_slab_kib();
	ASSERT_LT(0, before);
	most = before + REFUSED * 64 / 1024;
	for (i = 0; i < REFUSED; i++)
		ASSERT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
							 upstream->qp_num, NULL,
							 &qp));
	for (i = 0; i < 5 * PATIENCE && undo_slab_kib() >= most; i++)
		sleep(patience_factor());
	EXPECT_GT(most, undo_slab_kib());
out:
	EXPECT_EQ(0, ibv_destroy_qp(upstream));
}

/* What entries of the tables have room in; each kind has one of its own. */
static const char *const caches[] = {
	"kmalloc-cg-64", "kmalloc-cg-96", "kmalloc-cg-128", "kmalloc-cg-192",
	"kmalloc-cg-256", "kmalloc-cg-512",
};

#define CACHES ARRAY_SIZE(caches)
#define FAILED 300

/* Each GET brings entries of all kinds into the tables, and fails after that. */
static int fail_in_new_domains(undo_data *self, int n)
{
	struct xrc_node node = self->node;
	uint32_t own = self->xrcd;
	struct ibv_qp *offer;
	int ret = 0;

	for (; n && !ret; n--) {
		if (mlx5ep_xrcd_open(node.ctx, -1, O_CREAT, &node.xrcd))
			return 1;
		offer = xrc_upstream_create(&node);
		if (!offer)
			return 2;
		self->xrcd = uverbs_xrcd_handle(mlx5ep_xrcd_ibv(node.xrcd));
		ret = get_raw(self, "z", NOWHERE, true, offer) + EFAULT;
		if (ibv_destroy_qp(offer) || mlx5ep_xrcd_close(node.xrcd))
			return 3;
	}
	self->xrcd = own;
	return ret;
}

/* Did a cache grow by half an object or more for each of @FAILED calls? */
static const char *grown(const long *before)
{
	size_t i;

	/* This frees what waits for RCU. */
	file_write("/proc/sys/vm/drop_caches", "2");
	for (i = 0; i < CACHES; i++)
		if (baseline_slab_objects(caches[i]) - before[i] >= FAILED / 2)
			return caches[i];
	return NULL;
}

TEST_F(undo, of_keys_that_were_given_leaves_no_entry)
{
	long before[CACHES];
	size_t i;

	if (lab_kernel_is("debug"))
		SKIP(return, "KASAN keeps freed memory; kmemleak finds leaks");
	ASSERT_EQ(0, fail_in_new_domains(self, FAILED / 10));
	for (i = 0; i < CACHES; i++)
		before[i] = baseline_slab_objects(caches[i]);
	ASSERT_EQ(0, fail_in_new_domains(self, FAILED));
	for (i = 0; i < 5 * PATIENCE && grown(before); i++)
		sleep(patience_factor());
	EXPECT_EQ(NULL, grown(before)) {
		TH_LOG("%s", grown(before));
	}
}

/* A GET that waits for the HCA. */
struct late {
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;
	atomic_bool over;
};

static void *get_late(void *arg)
{
	struct late *late = arg;

	late->ret = mlx5ep_xrc_rcv_qp_get(late->xrcd, "l", 1, 0, NULL,
					  &late->qp);
	atomic_store(&late->over, true);
	return NULL;
}

/* Reads the table of QPs. Return: how many lines are of QPs; -1 where it fails. */
static int qps_shown(bool *numberless)
{
	FILE *table = debugfs_open("xrc");
	char line[512];
	int n = 0;

	if (!table)
		return -1;
	while (fgets(line, sizeof(line), table)) {
		n += !strncmp(line, "qp num=", 7);
		*numberless |= !strncmp(line, "qp num=0x000000", 15);
	}
	fclose(table);
	return n;
}

TEST_F(undo, of_a_qp_that_is_only_being_made_is_not_shown)
{
	struct late late = { .xrcd = self->node.xrcd };
	bool numberless = false;
	pthread_t thread;

	ASSERT_EQ(1, qps_shown(&numberless));
	ASSERT_EQ(0, simhca_delay("CREATE_QP", DELAY_US));
	ASSERT_EQ(0, pthread_create(&thread, NULL, get_late, &late));
	usleep(DELAY_US / 3);
	EXPECT_EQ(1, qps_shown(&numberless));
	EXPECT_FALSE(numberless);
	EXPECT_FALSE(atomic_load(&late.over));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(1, late.ret);
	EXPECT_EQ(2, qps_shown(&numberless));
	EXPECT_FALSE(numberless);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(late.qp));
	EXPECT_EQ(0, simhca_fail_nothing());
}

TEST_HARNESS_MAIN
