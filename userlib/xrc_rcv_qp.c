// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared XRC receive QPs. A registration is a uverbs object of the context that
 * the XRC domain was opened in.
 *
 * The kernel module creates no QP. This file creates one by verbs, registers with it, and
 * destroys it as any other opener would: the registration keeps it. If the process ends in
 * between, the QP ends with it, since nobody has registered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mlx5ep/xrc_rcv_qp.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"
#include "process.h"
#include "xrcd.h"

/* @memory: of the process that is registered */
struct mlx5ep_xrc_rcv_qp {
	struct ibv_context *context;
	uint64_t memory;
	uint32_t handle;
	uint32_t qp_num;
};

static void cmd_start(struct mlx5ep_cmd *cmd, struct ibv_context *context,
		      int method)
{
	mlx5ep_cmd_init(cmd, mlx5ep_uverbs_id(context, "object xrc_rcv_qp"),
			method);
}

static bool events_valid(const struct mlx5ep_xrc_events *events)
{
	return !events || !(events->flags || events->reserved[0] ||
			    events->reserved[1]);
}

/*
 * Adds the attributes that REG and GET have in common to @cmd, and executes it. REG knows
 * the QP number and passes it as @qp_num. GET passes 0, and the kernel returns the number.
 */
static int reg_exec(struct mlx5ep_cmd *cmd, struct mlx5ep_xrcd *xrcd,
		    uint32_t qp_num, const struct mlx5ep_xrc_events *events,
		    struct mlx5ep_xrc_rcv_qp **qp)
{
	struct mlx5_ep_xrc_rcv_qp_reg answer = { .qp_num = qp_num };
	struct ibv_context *context = xrcd->ibv->context;
	struct mlx5ep_xrc_rcv_qp *new;
	int ret;

	if (!events_valid(events))
		return -EINVAL;
	ret = mlx5ep_process_may_change(xrcd->memory);
	if (ret)
		return ret;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	mlx5ep_cmd_obj(cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	mlx5ep_cmd_obj(cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD, xrcd->handle);
	if (!qp_num)
		mlx5ep_cmd_out(cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, &answer,
			       sizeof(answer));
	if (events) {
		mlx5ep_cmd_fd(cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER,
			      events->notifier_fd);
		mlx5ep_cmd_in(cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_COOKIE,
			      &events->cookie, sizeof(events->cookie));
	}
	ret = mlx5ep_cmd_exec(context, cmd);
	if (ret) {
		free(new);
		return ret;
	}
	new->context = context;
	new->memory = xrcd->memory;
	new->handle = mlx5ep_cmd_result(cmd,
					MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);
	new->qp_num = answer.qp_num;
	*qp = new;
	return answer.flags & MLX5_EP_XRC_RCV_QP_REG_CREATED ? 1 : 0;
}

/* Creates a QP that nobody has registered with. Returns 0 or -errno. */
static int qp_create(struct mlx5ep_xrcd *xrcd, struct ibv_qp **qp)
{
	struct ibv_context *context = xrcd->ibv->context;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd->ibv,
	};
	int ret = mlx5ep_uverbs_id(context, "object xrc_rcv_qp");

	if (ret < 0)
		return ret;
	ret = mlx5ep_process_may_change(xrcd->memory);
	if (ret)
		return ret;
	errno = 0;
	*qp = ibv_create_qp_ex(context, &attr);
	if (*qp)
		return 0;
	return errno ? -errno : -EIO;
}

MLX5EP_EXPORT int
mlx5ep_xrc_rcv_qp_create(struct mlx5ep_xrcd *xrcd,
			 const struct mlx5ep_xrc_events *events,
			 struct mlx5ep_xrc_rcv_qp **qp)
{
	struct ibv_qp *new;
	int ret;

	if (!events_valid(events))
		return -EINVAL;
	ret = qp_create(xrcd, &new);
	if (ret)
		return ret;
	ret = mlx5ep_xrc_rcv_qp_reg(xrcd, new->qp_num, events, qp);
	ibv_destroy_qp(new);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_xrc_rcv_qp_reg(struct mlx5ep_xrcd *xrcd,
					uint32_t qp_num,
					const struct mlx5ep_xrc_events *events,
					struct mlx5ep_xrc_rcv_qp **qp)
{
	struct mlx5ep_cmd cmd;

	/* QP 0 is the subnet manager's and is in no XRC domain. */
	if (!qp_num)
		return -ENOENT;
	cmd_start(&cmd, xrcd->ibv->context, MLX5_EP_METHOD_XRC_RCV_QP_REG);
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM, &qp_num,
		      sizeof(qp_num));
	return reg_exec(&cmd, xrcd, qp_num, events, qp);
}

/* GET by a key: with flags, or with a QP that is offered. */
static int get_exec(struct mlx5ep_xrcd *xrcd, const void *key, size_t len,
		    const uint32_t *flags, const struct ibv_qp *offer,
		    const struct mlx5ep_xrc_events *events,
		    struct mlx5ep_xrc_rcv_qp **qp)
{
	struct mlx5ep_cmd cmd;

	cmd_start(&cmd, xrcd->ibv->context, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key, len);
	if (offer)
		mlx5ep_cmd_obj(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_GET_QP,
			       offer->handle);
	else
		mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS, flags,
			      sizeof(*flags));
	return reg_exec(&cmd, xrcd, 0, events, qp);
}

MLX5EP_EXPORT int mlx5ep_xrc_rcv_qp_get(struct mlx5ep_xrcd *xrcd,
					const void *key, size_t len,
					uint32_t flags,
					const struct mlx5ep_xrc_events *events,
					struct mlx5ep_xrc_rcv_qp **qp)
{
	bool join_only = flags & MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY;
	struct ibv_qp *offer;
	int ret;

	/* Only who offers a QP then may announce one. */
	if (flags & MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE)
		return -EINVAL;
	if (!join_only)
		flags |= MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE;
	/* Mostly another process was first. */
	ret = get_exec(xrcd, key, len, &flags, NULL, events, qp);
	if (ret != -ENOENT || join_only)
		return ret;

	ret = qp_create(xrcd, &offer);
	if (ret)
		return ret;
	ret = get_exec(xrcd, key, len, NULL, offer, events, qp);
	ibv_destroy_qp(offer);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_xrc_rcv_qp_unreg(struct mlx5ep_xrc_rcv_qp *qp)
{
	struct mlx5ep_cmd cmd;
	int ret;

	/* The registration of a forked child is its parent's. */
	if (!process_same(qp->memory)) {
		free(qp);
		return 0;
	}
	if (mlx5ep_process_shared())
		return -EXDEV;
	cmd_start(&cmd, qp->context, MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	mlx5ep_cmd_obj(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, qp->handle);
	ret = mlx5ep_cmd_exec(qp->context, &cmd);
	/* The device is gone, and the registration ended with it. */
	if (ret == -EIO)
		ret = 0;
	if (!ret)
		free(qp);
	return ret;
}

MLX5EP_EXPORT uint32_t
mlx5ep_xrc_rcv_qp_num(const struct mlx5ep_xrc_rcv_qp *qp)
{
	return qp->qp_num;
}

/* Copies an address: the structures of kernel and verbs have the same names. */
#define AH_COPY(to, from)						\
	do {								\
		(to)->grh.flow_label = (from)->grh.flow_label;		\
		(to)->grh.sgid_index = (from)->grh.sgid_index;		\
		(to)->grh.hop_limit = (from)->grh.hop_limit;		\
		(to)->grh.traffic_class = (from)->grh.traffic_class;	\
		(to)->dlid = (from)->dlid;				\
		(to)->sl = (from)->sl;					\
		(to)->src_path_bits = (from)->src_path_bits;		\
		(to)->static_rate = (from)->static_rate;		\
		(to)->is_global = (from)->is_global;			\
		(to)->port_num = (from)->port_num;			\
	} while (0)

static void ah_to_kernel(struct ib_uverbs_ah_attr *to,
			 const struct ibv_ah_attr *from)
{
	memcpy(to->grh.dgid, from->grh.dgid.raw, sizeof(to->grh.dgid));
	AH_COPY(to, from);
}

static void ah_from_kernel(struct ibv_ah_attr *to,
			   const struct ib_uverbs_ah_attr *from)
{
	memcpy(to->grh.dgid.raw, from->grh.dgid, sizeof(from->grh.dgid));
	AH_COPY(to, from);
}

/* Copies each attribute whose bit is in @mask, except the addresses. */
#define ATTR_COPY(to, from, mask)					\
	do {								\
		ATTR(to, from, mask, STATE, qp_state);			\
		ATTR(to, from, mask, CUR_STATE, cur_qp_state);		\
		ATTR(to, from, mask, PATH_MTU, path_mtu);		\
		ATTR(to, from, mask, PATH_MIG_STATE, path_mig_state);	\
		ATTR(to, from, mask, RQ_PSN, rq_psn);			\
		ATTR(to, from, mask, SQ_PSN, sq_psn);			\
		ATTR(to, from, mask, DEST_QPN, dest_qp_num);		\
		ATTR(to, from, mask, ACCESS_FLAGS, qp_access_flags);	\
		ATTR(to, from, mask, PKEY_INDEX, pkey_index);		\
		ATTR(to, from, mask, MAX_QP_RD_ATOMIC, max_rd_atomic);	\
		ATTR(to, from, mask, MAX_DEST_RD_ATOMIC,		\
		     max_dest_rd_atomic);				\
		ATTR(to, from, mask, MIN_RNR_TIMER, min_rnr_timer);	\
		ATTR(to, from, mask, PORT, port_num);			\
		ATTR(to, from, mask, TIMEOUT, timeout);			\
		ATTR(to, from, mask, RETRY_CNT, retry_cnt);		\
		ATTR(to, from, mask, RNR_RETRY, rnr_retry);		\
		ATTR(to, from, mask, ALT_PATH, alt_pkey_index);		\
		ATTR(to, from, mask, ALT_PATH, alt_port_num);		\
		ATTR(to, from, mask, ALT_PATH, alt_timeout);		\
	} while (0)

#define ATTR(to, from, mask, bit, field)				\
	do {								\
		if ((mask) & IBV_QP_##bit)				\
			(to)->field = (from)->field;			\
	} while (0)

/* Reads only the attributes in @mask: the others may be uninitialised. */
static void attr_to_kernel(struct ib_uverbs_qp_attr *to,
			   const struct ibv_qp_attr *from, int mask)
{
	memset(to, 0, sizeof(*to));
	to->qp_attr_mask = mask;
	ATTR_COPY(to, from, mask);
	if (mask & IBV_QP_AV)
		ah_to_kernel(&to->ah_attr, &from->ah_attr);
	if (mask & IBV_QP_ALT_PATH)
		ah_to_kernel(&to->alt_ah_attr, &from->alt_ah_attr);
}

static void attr_from_kernel(struct ibv_qp_attr *to,
			     const struct ib_uverbs_qp_attr *from)
{
	memset(to, 0, sizeof(*to));
	ATTR_COPY(to, from, ~0);
	ah_from_kernel(&to->ah_attr, &from->ah_attr);
	ah_from_kernel(&to->alt_ah_attr, &from->alt_ah_attr);
}

MLX5EP_EXPORT int
_mlx5ep_xrc_rcv_qp_modify(struct mlx5ep_xrc_rcv_qp *qp,
			  const struct ibv_qp_attr *attr, int mask,
			  struct mlx5_ep_xrc_rcv_qp_modify *answer, size_t size)
{
	struct ib_uverbs_qp_attr kernel;
	struct mlx5ep_cmd cmd;
	int ret;

	ret = mlx5ep_process_may_change(qp->memory);
	if (ret)
		return ret;
	attr_to_kernel(&kernel, attr, mask);
	cmd_start(&cmd, qp->context, MLX5_EP_METHOD_XRC_RCV_QP_MODIFY);
	mlx5ep_cmd_obj(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE, qp->handle);
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR, &kernel,
		      sizeof(kernel));
	if (answer)
		mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER,
			       answer, size);
	return mlx5ep_cmd_exec(qp->context, &cmd);
}

MLX5EP_EXPORT int
_mlx5ep_xrc_rcv_qp_query(struct mlx5ep_xrc_rcv_qp *qp, struct ibv_qp_attr *attr,
			 struct mlx5_ep_xrc_rcv_qp_info *info, size_t size)
{
	struct mlx5_ep_xrc_rcv_qp_info unwanted;
	struct ib_uverbs_qp_attr kernel = {};
	struct mlx5ep_cmd cmd;
	int ret;

	cmd_start(&cmd, qp->context, MLX5_EP_METHOD_XRC_RCV_QP_QUERY);
	mlx5ep_cmd_obj(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE, qp->handle);
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO,
		       info ? info : &unwanted,
		       info ? size : sizeof(unwanted));
	if (attr)
		mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR,
			       &kernel, sizeof(kernel));
	ret = mlx5ep_cmd_exec(qp->context, &cmd);
	if (!ret && attr)
		attr_from_kernel(attr, &kernel);
	return ret;
}
