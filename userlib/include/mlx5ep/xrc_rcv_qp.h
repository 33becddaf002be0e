/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_XRC_RCV_QP_H
#define MLX5EP_XRC_RCV_QP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <mlx5ep/xrcd.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct mlx5ep_xrc_rcv_qp - one registration with a shared XRC receive QP
 *
 * The QP belongs to the kernel and lives while anybody is registered, whoever
 * created it. A process may register with one QP as often as it likes.
 */
struct mlx5ep_xrc_rcv_qp;

/**
 * struct mlx5ep_xrc_events - where the events of a registration go
 * @notifier_fd: file descriptor of a notifier of the same context
 * @cookie: comes back with each event
 */
struct mlx5ep_xrc_events {
	int notifier_fd;
	uint64_t cookie;
};

/**
 * mlx5ep_xrc_rcv_qp_create - create a shared receive QP and register with it
 * @xrcd: open domain
 * @events: NULL for none
 * @qp: written on success; in state RESET
 *
 * Return: 0; -EOPNOTSUPP without the module; -EDQUOT where the process or the
 * device has as many as allowed; -EBADF or -EIO for an unfit notifier; -ENOMEM.
 */
int mlx5ep_xrc_rcv_qp_create(struct mlx5ep_xrcd *xrcd,
			     const struct mlx5ep_xrc_events *events,
			     struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_reg - register with the receive QP of a number
 * @xrcd: open domain
 * @qp_num: its number, whoever created it and by whatever means
 * @events: NULL for none
 * @qp: written on success
 *
 * Return: as mlx5ep_xrc_rcv_qp_create(); -ENOENT where the domain has no QP of
 * that number.
 */
int mlx5ep_xrc_rcv_qp_reg(struct mlx5ep_xrcd *xrcd, uint32_t qp_num,
			  const struct mlx5ep_xrc_events *events,
			  struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_get - register with the receive QP of a key, create it
 *	where there is none
 * @xrcd: open domain
 * @key: names the remote process that the QP is for, in the words of the caller
 * @len: bytes of @key, 1 to MLX5_EP_XRC_KEY_MAX
 * @flags: 0 or MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY
 * @events: NULL for none
 * @qp: written on success
 *
 * Of any number of racing callers, in any processes, exactly one creates the QP
 * and all are registered with it.
 *
 * Return: 1 where this call created the QP, 0 where it joined; else as
 * mlx5ep_xrc_rcv_qp_create(); -EINVAL for the key's length or unknown flags;
 * -ENOENT where MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY found none.
 */
int mlx5ep_xrc_rcv_qp_get(struct mlx5ep_xrcd *xrcd, const void *key, size_t len,
			  uint32_t flags,
			  const struct mlx5ep_xrc_events *events,
			  struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_unreg - end a registration
 * @qp: not to be used any more on success
 *
 * The last one destroys the QP.
 *
 * Return: 0, also where the device was removed and the registration with it;
 * -EBUSY while another thread's call uses @qp. -EIO: as 0, @qp is gone.
 */
int mlx5ep_xrc_rcv_qp_unreg(struct mlx5ep_xrc_rcv_qp *qp);

/**
 * mlx5ep_xrc_rcv_qp_num - the QP's number, for the remote side
 * @qp: registration
 */
uint32_t mlx5ep_xrc_rcv_qp_num(const struct mlx5ep_xrc_rcv_qp *qp);

/* What is exported: @size is that of the structure which the program knows. */
int _mlx5ep_xrc_rcv_qp_modify(struct mlx5ep_xrc_rcv_qp *qp,
			      const struct ibv_qp_attr *attr, int mask,
			      struct mlx5_ep_xrc_rcv_qp_modify *answer,
			      size_t size);
int _mlx5ep_xrc_rcv_qp_query(struct mlx5ep_xrc_rcv_qp *qp,
			     struct ibv_qp_attr *attr,
			     struct mlx5_ep_xrc_rcv_qp_info *info, size_t size);

/**
 * mlx5ep_xrc_rcv_qp_modify - change the QP
 * @qp: registration
 * @attr: new attributes
 * @mask: enum ibv_qp_attr_mask, as for an IBV_QPT_XRC_RECV QP
 * @answer: NULL, or written on success: state, and whether it was there already
 *
 * A request for a state that another registrant has brought the QP to before is
 * success and changes nothing; see struct mlx5_ep_xrc_rcv_qp_modify.
 *
 * Return: 0; -EINVAL for an attribute or a transition that is not allowed; -EIO
 * where the device is gone.
 */
static inline int
mlx5ep_xrc_rcv_qp_modify(struct mlx5ep_xrc_rcv_qp *qp,
			 const struct ibv_qp_attr *attr, int mask,
			 struct mlx5_ep_xrc_rcv_qp_modify *answer)
{
	return _mlx5ep_xrc_rcv_qp_modify(qp, attr, mask, answer,
					 sizeof(*answer));
}

/**
 * mlx5ep_xrc_rcv_qp_query - ask for the QP's attributes
 * @qp: registration
 * @attr: NULL, or written on success
 * @info: NULL, or written on success: number, state, registrants, key
 *
 * Return: 0; -EIO where the device is gone.
 */
static inline int mlx5ep_xrc_rcv_qp_query(struct mlx5ep_xrc_rcv_qp *qp,
					  struct ibv_qp_attr *attr,
					  struct mlx5_ep_xrc_rcv_qp_info *info)
{
	return _mlx5ep_xrc_rcv_qp_query(qp, attr, info, sizeof(*info));
}

#ifdef __cplusplus
}
#endif

#endif
