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
 * The kernel owns the QP. It exists as long as any process is registered with
 * it, also after its creator has ended. A process may register several times
 * with one QP. A forked child has none of the registrations of its parent: calls that
 * would register or modify return -EXDEV there, and the end of a registration frees
 * the child's copy only. A child of vfork(2) or clone(CLONE_VM), which shares the memory,
 * may only ask.
 */
struct mlx5ep_xrc_rcv_qp;

/**
 * struct mlx5ep_xrc_events - where the events of a registration are reported
 * @notifier_fd: descriptor of a notifier of the same context
 * @flags: must be 0
 * @cookie: is in each event of this registration
 * @reserved: must be 0
 */
struct mlx5ep_xrc_events {
	int notifier_fd;
	uint32_t flags;
	uint64_t cookie;
	uint64_t reserved[2];
};

/**
 * mlx5ep_xrc_rcv_qp_create() - create a shared receive QP and register with it
 * @events: NULL for no events
 * @qp: the QP is in state RESET
 *
 * Return: 0. -EOPNOTSUPP without the module. -EINVAL if a reserved field of
 * @events is not 0. -EDQUOT if the user has the maximum number of registrations already
 * (xrc_regs_per_user), or the user or the device that of QPs (xrc_qps_per_user,
 * xrc_qps_per_device). -EBADF or -EIO if the notifier cannot be used. -ENOMEM. What
 * ibv_create_qp_ex(3) sets errno to.
 */
int mlx5ep_xrc_rcv_qp_create(struct mlx5ep_xrcd *xrcd,
			     const struct mlx5ep_xrc_events *events,
			     struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_reg() - register with the receive QP of a number
 * @qp_num: any call may have created the QP, also one of verbs
 * @events: NULL for no events
 *
 * Return: as mlx5ep_xrc_rcv_qp_create(). -ENOENT if the domain has no QP of
 * that number.
 */
int mlx5ep_xrc_rcv_qp_reg(struct mlx5ep_xrcd *xrcd, uint32_t qp_num,
			  const struct mlx5ep_xrc_events *events,
			  struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_get() - register with the receive QP of a key, or create it
 * @key: bytes that the caller chooses, for instance the name of the remote
 *	process
 * @len: length of @key, 1 to MLX5_EP_XRC_KEY_MAX
 * @flags: 0 or MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY
 * @events: NULL for no events
 *
 * If several callers, in any processes, pass the same key at the same time,
 * exactly one creates the QP and all are registered with it.
 *
 * Return: 1 if this call created the QP, 0 if there was one. The errors of
 * mlx5ep_xrc_rcv_qp_create(). -EINVAL for the length of the key or for unknown
 * flags. -ENOENT if MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY is set and there is none.
 */
int mlx5ep_xrc_rcv_qp_get(struct mlx5ep_xrcd *xrcd, const void *key, size_t len,
			  uint32_t flags,
			  const struct mlx5ep_xrc_events *events,
			  struct mlx5ep_xrc_rcv_qp **qp);

/**
 * mlx5ep_xrc_rcv_qp_unreg() - end a registration
 * @qp: freed on success, unchanged on failure
 *
 * The last registration of a QP destroys the QP.
 *
 * Return: 0, also if the device is gone and the registration ended with it.
 * -EBUSY while another thread is in a call with @qp.
 */
int mlx5ep_xrc_rcv_qp_unreg(struct mlx5ep_xrc_rcv_qp *qp);

/**
 * mlx5ep_xrc_rcv_qp_num() - the number of the QP, for the remote process
 */
uint32_t mlx5ep_xrc_rcv_qp_num(const struct mlx5ep_xrc_rcv_qp *qp);

/* The exported calls. @size: size of the structure in the calling program. */
int _mlx5ep_xrc_rcv_qp_modify(struct mlx5ep_xrc_rcv_qp *qp,
			      const struct ibv_qp_attr *attr, int mask,
			      struct mlx5_ep_xrc_rcv_qp_modify *answer,
			      size_t size);
int _mlx5ep_xrc_rcv_qp_query(struct mlx5ep_xrc_rcv_qp *qp,
			     struct ibv_qp_attr *attr,
			     struct mlx5_ep_xrc_rcv_qp_info *info, size_t size);

/**
 * mlx5ep_xrc_rcv_qp_modify() - change attributes of the QP
 * @mask: enum ibv_qp_attr_mask, as for an IBV_QPT_XRC_RECV QP
 * @answer: may be NULL; receives the state, and whether the QP had it already
 *
 * If another registrant has brought the QP to the requested state already, the
 * call succeeds and changes nothing; see struct mlx5_ep_xrc_rcv_qp_modify.
 *
 * Return: 0. -EINVAL for an attribute or a transition that is not allowed.
 * -EISCONN for RTR if the QP is connected already, to another remote QP than
 * @attr names. -EIO if the device is gone.
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
 * mlx5ep_xrc_rcv_qp_query() - ask for attributes of the QP
 * @attr: may be NULL
 * @info: may be NULL; receives number, state, number of registrations, and key
 *
 * Return: 0, or -EIO if the device is gone.
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
