// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared XRC receive QPs. A second process creates the QP and is killed; the
 * group's process joins before that, and receives afterwards.
 *
 * The second process is forked before the first one opens a context, because
 * neither may use what the other has opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"

#define KEY "mlx5ep selftest"
#define LEN 1000u
#define TIMEOUT 14		/* 67 ms, see ibv_modify_qp(3) */

/* What the creator says: the answer of the call, and the number of the QP. */
struct created {
	int ret;
	uint32_t num;
};

/**
 * struct shared - the group's part of a domain
 * @loop: its first QP is one of RC, which knows the path to its own port
 * @sender: an XRC send QP
 */
struct shared {
	struct loopback loop;
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_qp *sender;
};

static int join(struct mlx5ep_xrcd *xrcd, uint32_t flags,
		struct mlx5ep_xrc_rcv_qp **qp)
{
	return mlx5ep_xrc_rcv_qp_get(xrcd, KEY, strlen(KEY), flags, NULL, qp);
}

static void xrc_create(struct selftest *st, int file, int report)
{
	struct created created = { .ret = -EIO };
	struct mlx5ep_xrc_rcv_qp *qp;
	struct mlx5ep_xrcd *xrcd;
	struct ibv_context *ctx;

	ctx = loopback_context(st->device, NULL);
	if (ctx)
		created.ret = mlx5ep_xrcd_open(ctx, file, O_CREAT, &xrcd);
	if (!created.ret)
		created.ret = join(xrcd, 0, &qp);
	if (created.ret >= 0)
		created.num = mlx5ep_xrc_rcv_qp_num(qp);
	if (write(report, &created, sizeof(created)) == sizeof(created))
		pause();
}

/* Returns the process that has created the QP, or -errno. */
static pid_t creator(struct selftest *st, int file, struct created *created)
{
	int fds[2], err;
	ssize_t len;
	pid_t pid;

	if (pipe(fds))
		return -errno;
	pid = fork();
	err = errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		xrc_create(st, file, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	len = pid > 0 ? read(fds[0], created, sizeof(*created)) : 0;
	close(fds[0]);
	if (pid < 0)
		return -err;
	if (len != sizeof(*created))
		created->ret = -EIO;
	return pid;
}

static void xrc_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static struct ibv_srq *srq_open(struct shared *sh)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = sh->loop.pd,
		.xrcd = mlx5ep_xrcd_ibv(sh->xrcd),
		.cq = sh->loop.cq,
	};

	return ibv_create_srq_ex(sh->loop.ctx, &attr);
}

static struct ibv_qp *sender_open(struct shared *sh)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.send_cq = sh->loop.cq,
		.pd = sh->loop.pd,
	};

	return ibv_create_qp_ex(sh->loop.ctx, &attr);
}

static int open_all(struct shared *sh, const char *device, int file)
{
	int ret = loopback_open(&sh->loop, device, NULL);

	if (!ret)
		ret = loopback_add(&sh->loop);
	if (!ret)
		ret = mlx5ep_xrcd_open(sh->loop.ctx, file, O_CREAT, &sh->xrcd);
	if (ret)
		return ret;
	errno = EIO;
	sh->srq = srq_open(sh);
	if (sh->srq)
		sh->sender = sender_open(sh);
	return sh->sender ? 0 : -errno;
}

static void close_all(struct shared *sh)
{
	if (sh->sender)
		ibv_destroy_qp(sh->sender);
	if (sh->srq)
		ibv_destroy_srq(sh->srq);
	if (sh->qp)
		mlx5ep_xrc_rcv_qp_unreg(sh->qp);
	if (sh->xrcd)
		mlx5ep_xrcd_close(sh->xrcd);
	loopback_close(&sh->loop);
}

/* Takes the path to the own port from the QP that is connected to itself. */
static int path(struct shared *sh, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;
	int ret;

	memset(attr, 0, sizeof(*attr));
	ret = ibv_query_qp(sh->loop.qps[0], attr, IBV_QP_AV | IBV_QP_PATH_MTU,
			   &init);
	attr->max_dest_rd_atomic = 1;
	attr->max_rd_atomic = 1;
	attr->min_rnr_timer = 12;
	attr->timeout = TIMEOUT;
	attr->retry_cnt = 3;
	attr->rnr_retry = 3;
	attr->pkey_index = 0;
	attr->qp_access_flags = 0;
	attr->port_num = 1;
	attr->rq_psn = 0;
	attr->sq_psn = 0;
	return -ret;
}

static int to_state(struct shared *sh, struct ibv_qp_attr *attr,
		    enum ibv_qp_state state, int mask, int receiver_mask)
{
	int ret;

	attr->qp_state = state;
	attr->dest_qp_num = sh->sender->qp_num;
	ret = mlx5ep_xrc_rcv_qp_modify(sh->qp, attr,
				       IBV_QP_STATE | receiver_mask, NULL);
	if (ret)
		return ret;
	attr->dest_qp_num = mlx5ep_xrc_rcv_qp_num(sh->qp);
	return -ibv_modify_qp(sh->sender, attr, IBV_QP_STATE | mask);
}

/* Connects the sender and the shared QP with each other. */
static int connect(struct shared *sh)
{
	const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	const int rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		IBV_QP_RQ_PSN;
	const int rts = IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
	struct ibv_qp_attr attr;
	int ret;

	ret = path(sh, &attr);
	if (!ret)
		ret = to_state(sh, &attr, IBV_QPS_INIT, init, init);
	if (!ret)
		ret = to_state(sh, &attr, IBV_QPS_RTR, rtr,
			       rtr | IBV_QP_MAX_DEST_RD_ATOMIC |
			       IBV_QP_MIN_RNR_TIMER);
	if (!ret)
		ret = to_state(sh, &attr, IBV_QPS_RTS,
			       rts | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_MAX_QP_RD_ATOMIC, rts);
	return ret;
}

static int post_receive(struct shared *sh)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(sh->loop.buf + LOOPBACK_LEN),
		.length = LOOPBACK_LEN,
		.lkey = sh->loop.mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	return -ibv_post_srq_recv(sh->srq, &wr, &bad);
}

static int post_send(struct shared *sh)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)sh->loop.buf,
		.length = LEN,
		.lkey = sh->loop.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};
	struct ibv_send_wr *bad;
	int ret = -ibv_get_srq_num(sh->srq, &wr.qp_type.xrc.remote_srqn);

	return ret ? ret : -ibv_post_send(sh->sender, &wr, &bad);
}

static int exchange(struct shared *sh)
{
	uint8_t *to = sh->loop.buf + LOOPBACK_LEN;
	unsigned int i;
	int ret;

	for (i = 0; i < LEN; i++)
		sh->loop.buf[i] = i * 7 + 3;
	memset(to, 0xdd, LOOPBACK_LEN);
	ret = post_receive(sh);
	if (!ret)
		ret = post_send(sh);
	if (!ret)
		ret = loopback_wait(&sh->loop, 2);
	if (!ret && memcmp(to, sh->loop.buf, LEN))
		ret = -EBADMSG;
	return ret;
}

static unsigned int registrants(struct shared *sh)
{
	struct mlx5_ep_xrc_rcv_qp_info info = {};

	return mlx5ep_xrc_rcv_qp_query(sh->qp, NULL, &info) ? 0 :
		info.registrants;
}

/* The sender's next message must come back in error. */
static void ends(struct selftest *st, struct shared *sh)
{
	int ret = mlx5ep_xrc_rcv_qp_unreg(sh->qp);

	if (!ret) {
		sh->qp = NULL;
		ret = post_send(sh);
	}
	if (!ret)
		ret = loopback_wait(&sh->loop, 1);
	selftest_expect(st, ret == -EIO, "the QP ends with its last registrant",
			"a message to it: %s",
			ret ? strerror(-ret) : "delivered");
}

static void share(struct selftest *st, struct shared *sh, pid_t *pid,
		  uint32_t num)
{
	unsigned int before, after;
	int ret;

	ret = join(sh->xrcd, MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, &sh->qp);
	if (!selftest_expect(st, !ret && mlx5ep_xrc_rcv_qp_num(sh->qp) == num,
			     "another process joins the QP by its key", "%s",
			     ret ? strerror(-ret) : "the same number"))
		return;
	before = registrants(sh);
	xrc_end(*pid);
	*pid = -1;
	after = registrants(sh);
	selftest_expect(st, before == 2 && after == 1,
			"a killed process is no registrant",
			"%u registrants before, %u after", before, after);
	ret = connect(sh);
	if (!ret)
		ret = exchange(sh);
	if (selftest_expect(st, !ret, "the QP outlives its killed creator",
			    "data: %s", ret ? strerror(-ret) : "unchanged"))
		ends(st, sh);
}

static void xrc_run(struct selftest *st, int file)
{
	struct shared shared = {};
	struct created created = {};
	pid_t pid = creator(st, file, &created);
	int ret = pid < 0 ? pid : created.ret;

	if (ret == -EOPNOTSUPP)
		selftest_say(st, NOT_TESTABLE, "a process creates the QP",
			     "the device or the module has no shared XRC receive QPs");
	else if (selftest_expect(st, ret == 1, "a process creates the QP", "%s",
				 ret < 0 ? strerror(-ret) :
				 ret ? "created" : "it exists already")) {
		ret = open_all(&shared, st->device, file);
		if (ret)
			selftest_say(st, FAILED, "a domain is opened", "%s",
				     strerror(-ret));
		else
			share(st, &shared, &pid, created.num);
	}
	if (pid > 0)
		xrc_end(pid);
	close_all(&shared);
}

/**
 * selftest_xrc() - a shared XRC receive QP, its users and its end
 */
void selftest_xrc(struct selftest *st)
{
	/* The domain is that of a file which no other process can open. */
	FILE *file = tmpfile();

	if (!selftest_expect(st, file, "a file for the domain", "%s",
			     file ? "made" : strerror(errno)))
		return;
	xrc_run(st, fileno(file));
	fclose(file);
}
