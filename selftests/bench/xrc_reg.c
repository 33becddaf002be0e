// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xrc_reg [-n PAIRS] [-k QPS] - what registering with a shared XRC receive QP
 * costs, beside upstream's open and close of the same QP
 *
 * With QPS shared QPs in the domain, prints one line: the medians over PAIRS
 * turns of
 *	REG+UNREG   OPEN_QP+DESTROY   GET+UNREG (join)   CREATE+UNREG
 * in ticks of the time stamp counter, which are instructions where QEMU counts
 * them. The first three take turns, in changing order, so that all meet the same
 * guest; creation comes last, since its firmware commands leave work behind.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "instr.h"
#include "uverbs.h"
#include "xrc.h"

enum { KINDS = 4, CREATE = 3 };

static struct xrc_node node;
static uint32_t xrcd, num;

/*
 * The program makes the ioctls of the first three itself, so that kernel is compared
 * with kernel.
 */
static int xrc_reg_reg(int method, const void *key, size_t len,
		       uint32_t *handle)
{
	struct mlx5_ep_xrc_rcv_qp_reg answer;
	struct uverbs_call call;
	int ret;

	uverbs_begin(&call, MLX5_EP_OBJECT_XRC_RCV_QP, method);
	uverbs_handle(&call, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	uverbs_handle(&call, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD, xrcd);
	/* As the library does: REG knows the answer. */
	if (method != MLX5_EP_METHOD_XRC_RCV_QP_REG)
		uverbs_out(&call, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, &answer,
			   sizeof(answer));
	if (method == MLX5_EP_METHOD_XRC_RCV_QP_REG)
		uverbs_in(&call, MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM, key, len);
	else
		uverbs_in(&call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key, len);
	ret = uverbs_do(node.ctx, &call);
	if (!ret)
		*handle = call.attrs[0].data;
	return ret;
}

static int unreg(uint32_t handle)
{
	struct uverbs_call call;

	uverbs_begin(&call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(&call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, handle);
	return uverbs_do(node.ctx, &call);
}

static int upstream_open(uint32_t *handle)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ib_uverbs_open_qp cmd = {
		.response = (uintptr_t)&resp,
		.pd_handle = xrcd,
		.qpn = num,
		.qp_type = 10,		/* IB_QPT_XRC_TGT */
	};
	uint64_t which = IB_USER_VERBS_CMD_OPEN_QP;
	struct uverbs_call call;
	int ret;

	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	uverbs_in(&call, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	uverbs_out(&call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	uverbs_in(&call, UVERBS_ATTR_WRITE_CMD, &which, sizeof(which));
	ret = uverbs_do(node.ctx, &call);
	*handle = resp.qp_handle;
	return ret;
}

static int upstream_close(uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	uverbs_handle(&call, UVERBS_ATTR_DESTROY_QP_HANDLE, handle);
	uverbs_out(&call, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	return uverbs_do(node.ctx, &call);
}

static int turn(unsigned int kind)
{
	static const char key[] = "key 0";
	struct mlx5ep_xrc_rcv_qp *qp;
	uint32_t handle;
	int ret;

	switch (kind) {
	case 0:
		ret = xrc_reg_reg(MLX5_EP_METHOD_XRC_RCV_QP_REG, &num,
				  sizeof(num), &handle);
		return ret ? ret : unreg(handle);
	case 1:
		ret = upstream_open(&handle);
		return ret ? ret : upstream_close(handle);
	case 2:
		ret = xrc_reg_reg(MLX5_EP_METHOD_XRC_RCV_QP_GET, key,
				  sizeof(key), &handle);
		return ret ? ret : unreg(handle);
	default:
		ret = mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qp);
		return ret ? ret : mlx5ep_xrc_rcv_qp_unreg(qp);
	}
}

static int xrc_reg_fill(unsigned int qps)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	char key[32];
	unsigned int i;
	int ret;

	for (i = 0; i < qps; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		ret = mlx5ep_xrc_rcv_qp_get(node.xrcd, key, strlen(key) + 1, 0,
					    NULL, &qp);
		if (ret != 1)
			return ret;
		if (!i)
			num = mlx5ep_xrc_rcv_qp_num(qp);
	}
	return 0;
}

static uint64_t *ticks[KINDS];

/*
 * An untimed turn comes before the timed one, because the other kinds have
 * replaced what the caches held.
 */
static int xrc_reg_measure(unsigned int kind, unsigned int pair)
{
	uint64_t start;
	int ret = turn(kind);

	if (ret)
		return ret;
	start = ticks_now();
	ret = turn(kind);
	ticks[kind][pair] = ticks_now() - start;
	return ret;
}

static int measure_all(unsigned int pairs)
{
	unsigned int i, k;
	int ret = 0;

	for (i = 0; i < pairs && !ret; i++)
		for (k = 0; k < CREATE && !ret; k++)
			ret = xrc_reg_measure((i + k) % CREATE, i);
	for (i = 0; i < pairs && !ret; i++)
		ret = xrc_reg_measure(CREATE, i);
	return ret;
}

int main(int argc, char **argv)
{
	unsigned int pairs = 101, qps = 1, kind;
	int opt, ret;

	while ((opt = getopt(argc, argv, "n:k:")) != -1) {
		if (opt == 'n')
			pairs = atoi(optarg);
		else if (opt == 'k')
			qps = atoi(optarg);
		else
			return 2;
	}
	ret = xrc_node_open(&node, NULL, NULL, 0);
	if (ret)
		return 1;
	xrcd = uverbs_xrcd_handle(mlx5ep_xrcd_ibv(node.xrcd));
	for (kind = 0; kind < KINDS; kind++)
		ticks[kind] = calloc(pairs, sizeof(**ticks));
	ret = xrc_reg_fill(qps);
	if (!ret)
		ret = measure_all(pairs);
	if (ret) {
		fprintf(stderr, "xrc_reg: %s\n", strerror(-ret));
		return 1;
	}
	for (kind = 0; kind < KINDS; kind++) {
		instr_sort(ticks[kind], pairs);
		printf("%s%llu", kind ? " " : "",
		       (unsigned long long)ticks[kind][pairs / 2]);
	}
	putchar('\n');
	return 0;
}
