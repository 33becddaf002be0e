// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Plain verbs: RC QPs that are connected to themselves, and checked data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selftest.h"

#define DEADLINE_S 5
#define INLINE_LEN 32u
#define PLAIN_LEN 1000u
#define UNTOUCHED 0xdd

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **device;
	struct ibv_context *ctx = NULL;

	if (!list)
		return NULL;
	errno = ENODEV;
	for (device = list; *device && !ctx; device++)
		if (!strcmp(ibv_get_device_name(*device), name))
			ctx = ibv_open_device(*device);
	ibv_free_device_list(list);
	return ctx;
}

#define ADDRESS_LOOKS 50
#define ADDRESS_LOOK_US 100000

static bool has_address(struct ibv_context *ctx)
{
	static const union ibv_gid none;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int i;

	/* What goes wrong with the port is for the checks to say. */
	if (ibv_query_port(ctx, 1, &port) ||
	    port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return true;
	for (i = 0; i < port.gid_tbl_len; i++)
		if (!ibv_query_gid(ctx, 1, i, &gid) &&
		    memcmp(&gid, &none, sizeof(gid)))
			return true;
	return false;
}

/**
 * loopback_possible() - can QPs of a device connect to themselves?
 *
 * Waits some seconds for the address of a port whose driver was just loaded.
 *
 * Return: false where an Ethernet port has no address, as that of representors.
 */
bool loopback_possible(const char *device)
{
	struct ibv_context *ctx = open_device(device);
	bool possible;
	int i;

	/* A group of checks says why the device cannot be opened. */
	if (!ctx)
		return true;
	for (i = 0; !(possible = has_address(ctx)) && i < ADDRESS_LOOKS; i++)
		usleep(ADDRESS_LOOK_US);
	ibv_close_device(ctx);
	return possible;
}

/**
 * loopback_managed() - do the QPs of a device connect by rdma_cm only, as with iWARP?
 *
 * Nothing is opened. False where the device is not there.
 */
bool loopback_managed(const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **at;
	bool managed = false;

	for (at = list; at && *at; at++)
		if (!strcmp(ibv_get_device_name(*at), device))
			managed = (*at)->transport_type == IBV_TRANSPORT_IWARP;
	if (list)
		ibv_free_device_list(list);
	return managed;
}

/**
 * loopback_context() - open a context under a policy
 * @policy: with %MLX5_EP_POLICY_LATER_OPENS; NULL: the policy of the device
 *
 * The policy is that of this process. Nothing of the device is set.
 *
 * Return: the context, or NULL with errno.
 */
struct ibv_context *
loopback_context(const char *device,
		 const struct mlx5_ep_context_policy *policy)
{
	struct ibv_context *wish, *ctx;
	int ret;

	wish = open_device(device);
	if (!wish || !policy)
		return wish;
	ret = mlx5ep_context_set_policy(wish, policy);
	if (ret) {
		ibv_close_device(wish);
		errno = -ret;
		return NULL;
	}
	ctx = open_device(device);
	ret = errno;
	ibv_close_device(wish);
	errno = ret;
	return ctx;
}

/**
 * loopback_add() - create a QP and connect it to itself
 *
 * Return: 0 or -errno.
 */
int loopback_add(struct loopback *loop)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = loop->cq,
		.recv_cq = loop->cq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_LEN,
		},
	};
	struct mlx5ep_endpoint_address address;
	struct ibv_qp *qp;
	int ret;

	if (loop->n == LOOPBACK_QPS)
		return -ENOBUFS;
	errno = 0;
	qp = ibv_create_qp(loop->pd, &attr);
	if (!qp)
		return errno ? -errno : -EIO;
	ret = mlx5ep_endpoint_address(qp, NULL, &address);
	if (!ret)
		ret = mlx5ep_endpoint_connect(qp, NULL, &address);
	if (ret) {
		ibv_destroy_qp(qp);
		return ret;
	}
	loop->qps[loop->n++] = qp;
	return 0;
}

/**
 * loopback_open() - open a context with all that its QPs need
 * @loop: closed by loopback_close(), also after a failure
 * @policy: as for loopback_context()
 *
 * Return: 0 or -errno.
 */
int loopback_open(struct loopback *loop, const char *device,
		  const struct mlx5_ep_context_policy *policy)
{
	size_t len = 2 * LOOPBACK_LEN * LOOPBACK_QPS;

	memset(loop, 0, sizeof(*loop));
	errno = EIO;
	loop->ctx = loopback_context(device, policy);
	if (!loop->ctx)
		return -errno;
	loop->buf = aligned_alloc(LOOPBACK_LEN, len);
	if (!loop->buf)
		return -ENOMEM;
	loop->pd = ibv_alloc_pd(loop->ctx);
	if (!loop->pd)
		return -errno;
	loop->channel = ibv_create_comp_channel(loop->ctx);
	if (!loop->channel)
		return -errno;
	loop->cq = ibv_create_cq(loop->ctx, 4 * LOOPBACK_QPS, NULL,
				 loop->channel, 0);
	if (!loop->cq)
		return -errno;
	loop->mr = ibv_reg_mr(loop->pd, loop->buf, len,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return loop->mr ? 0 : -errno;
}

static uint8_t *target(struct loopback *loop, unsigned int i)
{
	return loop->buf + (2 * i + 1) * LOOPBACK_LEN;
}

/**
 * loopback_wait() - wait for so many completions without an error
 *
 * Return: 0; -EIO for a completion in error; -ETIMEDOUT.
 */
int loopback_wait(struct loopback *loop, unsigned int n)
{
	time_t end = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;
	int ret;

	while (n) {
		ret = ibv_poll_cq(loop->cq, 1, &wc);
		if (ret < 0 || (ret && wc.status))
			return -EIO;
		n -= ret;
		if (!ret && time(NULL) > end)
			return -ETIMEDOUT;
	}
	return 0;
}

static int loopback_post(struct loopback *loop, unsigned int i,
			 const void *from, uint32_t lkey, unsigned int len,
			 int flags, bool send)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from, .length = len, .lkey = lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		.send_flags = flags,
		.wr.rdma = {
			.remote_addr = (uintptr_t)target(loop, i),
			.rkey = loop->mr->rkey,
		},
	};

	return -ibv_post_send(loop->qps[i], &wr, &bad);
}

/**
 * loopback_write() - let a QP write memory to where the QP receives
 * @lkey: of @from
 * @flags: IBV_SEND_INLINE or 0
 *
 * Return: 0; -EIO for a completion in error; -ETIMEDOUT; another -errno.
 */
int loopback_write(struct loopback *loop, unsigned int i, const void *from,
		   uint32_t lkey, unsigned int len, int flags)
{
	int ret = loopback_post(loop, i, from, lkey, len, flags, false);

	return ret ? ret : loopback_wait(loop, 1);
}

static int do_send(struct loopback *loop, unsigned int i, const void *from)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)target(loop, i),
		.length = LOOPBACK_LEN,
		.lkey = loop->mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret;

	ret = -ibv_post_recv(loop->qps[i], &wr, &bad);
	if (!ret)
		ret = loopback_post(loop, i, from, loop->mr->lkey, PLAIN_LEN, 0,
				    true);
	return ret ? ret : loopback_wait(loop, 2);
}

/* The bytes depend on the QP and on the operation. */
static uint8_t *loopback_fill(struct loopback *loop, unsigned int i,
			      unsigned int op)
{
	uint8_t *from = loop->buf + 2 * i * LOOPBACK_LEN;
	uint32_t x = loop->qps[i]->qp_num * 2654435761u + op * 40503u;
	unsigned int k;

	for (k = 0; k < PLAIN_LEN; k++) {
		x = x * 1664525u + 1013904223u;
		from[k] = x >> 24;
	}
	memset(target(loop, i), UNTOUCHED, LOOPBACK_LEN);
	return from;
}

/* Has the QP's target the bytes that were sent, and nothing behind them? */
static bool arrived(struct loopback *loop, unsigned int i, const uint8_t *from,
		    unsigned int len)
{
	const uint8_t *to = target(loop, i);

	if (memcmp(to, from, len))
		return false;
	while (len < LOOPBACK_LEN && to[len] == UNTOUCHED)
		len++;
	return len == LOOPBACK_LEN;
}

/**
 * loopback_data() - write, write inline (by BlueFlame) and send; compare
 *
 * Return: 0; -EBADMSG for wrong data, or too much of it; as loopback_write().
 */
int loopback_data(struct loopback *loop, unsigned int i)
{
	uint32_t lkey = loop->mr->lkey;
	unsigned int op, len;
	uint8_t *from;
	int ret;

	for (op = 0; op < 3; op++) {
		from = loopback_fill(loop, i, op);
		len = op == 1 ? INLINE_LEN : PLAIN_LEN;
		if (op == 2)
			ret = do_send(loop, i, from);
		else
			ret = loopback_write(loop, i, from, lkey, len,
					     op ? IBV_SEND_INLINE : 0);
		if (ret)
			return ret;
		if (!arrived(loop, i, from, len))
			return -EBADMSG;
	}
	return 0;
}

/**
 * loopback_close() - destroy what exists
 */
void loopback_close(struct loopback *loop)
{
	while (loop->n)
		ibv_destroy_qp(loop->qps[--loop->n]);
	if (loop->mr)
		ibv_dereg_mr(loop->mr);
	if (loop->cq)
		ibv_destroy_cq(loop->cq);
	if (loop->channel)
		ibv_destroy_comp_channel(loop->channel);
	if (loop->pd)
		ibv_dealloc_pd(loop->pd);
	free(loop->buf);
	if (loop->ctx)
		ibv_close_device(loop->ctx);
}
