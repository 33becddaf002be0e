// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How many registrations and QPs there may be: limits per device and per user.
 *
 * A registration counts for the user who opened its context. A QP counts for the user
 * whose registration brought it, until it is shared no more: that registration may
 * have ended long before.
 */
#include <linux/module.h>

#include "account/limit.h"
#include "account/user.h"
#include "device.h"
#include "uuar/context.h"
#include "xrc.h"

static unsigned int xrc_qps_per_device = 65536;
module_param(xrc_qps_per_device, uint, 0644);
MODULE_PARM_DESC(xrc_qps_per_device,
	"shared XRC receive QPs that a device may have, more are refused with EDQUOT (default 65536)");

static unsigned int xrc_qps_per_user = 32768;
module_param(xrc_qps_per_user, uint, 0644);
MODULE_PARM_DESC(xrc_qps_per_user,
	"shared XRC receive QPs of a device with which one user may have registered first, more are refused with EDQUOT (default 32768)");

static unsigned int xrc_regs_per_user = 262144;
module_param(xrc_regs_per_user, uint, 0644);
MODULE_PARM_DESC(xrc_regs_per_user,
	"registrations with shared XRC receive QPs that a user may hold on a device, more are refused with EDQUOT (default 262144)");

/**
 * mlx5_ep_xrc_limits_charge() - count a registration for its user
 * @reg: is being made, with @reg->ectx set
 *
 * Return: 0; -EDQUOT: the user holds as many as it may
 */
int mlx5_ep_xrc_limits_charge(struct mlx5_ep_xrc_reg *reg)
{
	return mlx5_ep_user_charge(reg->ectx->edev, reg->ectx->user,
				   MLX5_EP_XRC_REGS, 1,
				   READ_ONCE(xrc_regs_per_user));
}

/**
 * mlx5_ep_xrc_limits_uncharge() - undo mlx5_ep_xrc_limits_charge()
 * @reg: has no QP any more
 */
void mlx5_ep_xrc_limits_uncharge(struct mlx5_ep_xrc_reg *reg)
{
	mlx5_ep_account_uncharge(reg->ectx->user, MLX5_EP_XRC_REGS, 1);
}

/**
 * mlx5_ep_xrc_limits_charge_qp() - count a QP for its device and its creator
 * @xrc: tables of the device; their lock is held
 * @user: the creator's account; one more reference of it is taken
 *
 * Return: 0; -EDQUOT
 */
int mlx5_ep_xrc_limits_charge_qp(struct mlx5_ep_xrc *xrc,
				 struct mlx5_ep_account *user)
{
	struct mlx5_ep_device *edev = xrc->edev;
	struct mlx5_ep_refusal refusal = {
		.what = "shared XRC receive QPs",
		.who = "the device",
		.held = xrc->num_qps,
		.refused = 1,
		.reason = MLX5_EP_REASON_XRC_QPS_DEVICE,
		.limit = READ_ONCE(xrc_qps_per_device),
	};
	int ret;

	lockdep_assert_held(&xrc->lock);

	if (refusal.held >= refusal.limit)
		return mlx5_ep_limit_refuse(edev, &refusal);
	ret = mlx5_ep_user_charge(edev, user, MLX5_EP_XRC_QPS, 1,
				  READ_ONCE(xrc_qps_per_user));
	if (ret)
		return ret;
	mlx5_ep_account_hold(&edev->users, user);
	WRITE_ONCE(xrc->num_qps, xrc->num_qps + 1);
	return 0;
}

/**
 * mlx5_ep_xrc_limits_uncharge_qp() - undo mlx5_ep_xrc_limits_charge_qp()
 * @xrc: tables of the device; their lock is held
 * @user: the creator's account, to which the QP was charged
 */
void mlx5_ep_xrc_limits_uncharge_qp(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_account *user)
{
	lockdep_assert_held(&xrc->lock);

	WRITE_ONCE(xrc->num_qps, xrc->num_qps - 1);
	mlx5_ep_account_uncharge(user, MLX5_EP_XRC_QPS, 1);
	mlx5_ep_account_put(&xrc->edev->users, user);
}
