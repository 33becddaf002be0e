/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* QPs and the uUARs that they ring. */

#ifndef MLX5_EP_QP_UUAR_H
#define MLX5_EP_QP_UUAR_H

#include <linux/list.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "device.h"
#include "uuar/uuar_policy.h"

struct mlx5_ep_context;
struct mlx5_ep_uuar_table;
struct mlx5_ep_xrc_qp;

/**
 * struct mlx5_ep_uar_qps - QPs of a context that ring one UAR page
 * @slots: on each of its uUARs
 * @any: on one of them, but the kernel does not know on which
 *
 * Stays from the first such QP until the context is closed, so a context has at
 * most as many of them as the device has UAR pages.
 */
struct mlx5_ep_uar_qps {
	unsigned int slots[MLX5_EP_UUARS_PER_PAGE];
	unsigned int any;
};

/**
 * struct mlx5_ep_qp - our side of a QP
 * @side: of the QP, which begins the structure
 * @ectx: context of a user's QP that we noted; NULL for all others, and for a
 *	cursor, see qp_list.h
 * @node: in @ectx->qps
 * @qp: the QP that this belongs to; NULL for one that was made by DevX
 * @told_qpn: number that the program was told, of a QP that was made by DevX and of a
 *	DC target
 * @uar: UAR page named in the request; MLX5_EP_UAR_UNKNOWN when none was
 * @slot: uUAR of that page; MLX5_EP_SLOT_UNKNOWN when not known
 * @placer: who chose the uUAR
 * @uuar: static bfreg index where the policy placed it; negative when it did
 *	not
 * @page: all QPs on @uar; NULL when @uar is not known
 * @shared: of an XRC target QP: the registrations with it, under the lock of
 *	the device's struct mlx5_ep_xrc; NULL for none
 * @state: of an XRC target QP: enum ib_qp_state, as the last MODIFY or event has left it
 *
 * That of a QP made by DevX is in no table of sides, see devx_qp.c.
 */
struct mlx5_ep_qp {
	struct mlx5_ep_side side;
	struct mlx5_ep_context *ectx;
	struct list_head node;
	struct ib_qp *qp;
	u32 told_qpn;
	u32 uar;
	u8 slot;
	enum mlx5_ep_placer placer;
	int uuar;
	struct mlx5_ep_uar_qps *page;
	struct mlx5_ep_xrc_qp *shared;
	u32 state;
};

/**
 * mlx5_ep_qp_of() - our side of a QP
 * @edev: attached device of the QP
 * @qp: a QP, and not a handle from ib_open_qp()
 *
 * As mlx5_ep_side_find().
 *
 * Return: NULL where the QP has none: it is a QP of the kernel, or of no use to the
 * policies, or was created before the device was attached or without memory to list it
 */
static inline struct mlx5_ep_qp *mlx5_ep_qp_of(struct mlx5_ep_device *edev,
					       const struct ib_qp *qp)
{
	return (void *)mlx5_ep_side_find(&edev->qp_sides, qp);
}

/**
 * mlx5_ep_qp_uuar_number() - the number of a QP
 * @eqp: our side of the QP, on the list of its context
 *
 * Return: the number; MLX5_EP_QPN_UNKNOWN for a QP of DevX or a DC target when not
 * known. The ib_qp of a DC target has none.
 */
static inline u32 mlx5_ep_qp_uuar_number(const struct mlx5_ep_qp *eqp)
{
	return eqp->qp && eqp->placer != MLX5_EP_PLACER_NONE ?
		       eqp->qp->qp_num : eqp->told_qpn;
}

extern const char *const mlx5_ep_qp_uuar_placer_names[];

static_assert(!offsetof(struct mlx5_ep_qp, side));

struct mlx5_ep_qp *mlx5_ep_qp_create(struct mlx5_ep_device *edev,
				     struct ib_qp *qp);
void mlx5_ep_qp_destroy(struct mlx5_ep_device *edev, struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_uuar_set_number(struct mlx5_ep_qp *eqp, u32 qpn);
int mlx5_ep_qp_uuar_place(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
			  bool closed, const unsigned long *avoid);
void mlx5_ep_qp_uuar_placed(struct mlx5_ep_qp *eqp, u32 uar);
void mlx5_ep_qp_uuar_unplace(struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_uuar_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
			  enum mlx5_ep_placer placer, u32 uar, u8 slot);
void mlx5_ep_qp_uuar_release(struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_uuar_get(struct mlx5_ep_qp *eqp, struct mlx5_ep_qp_uuar *uuar);
void mlx5_ep_qp_uuar_info_get(const struct mlx5_ep_uuar_table *table,
			      unsigned int uuar,
			      struct mlx5_ep_uuar_info *info);

#endif
