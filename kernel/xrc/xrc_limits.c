// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who holds registrations and QPs, and how many each may hold: limits per
 * device, per user and per process.
 *
 * A registration counts for the process that made it, and for the user who
 * opened its context. A QP counts for the user whose registration created it,
 * until the QP is destroyed: that registration may have ended long before.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>

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
	"shared XRC receive QPs of a device that one user may have created, more are refused with EDQUOT (default 32768)");

static unsigned int xrc_regs_per_user = 262144;
module_param(xrc_regs_per_user, uint, 0644);
MODULE_PARM_DESC(xrc_regs_per_user,
	"registrations with shared XRC receive QPs that a user may hold on a device, more are refused with EDQUOT (default 262144)");

static unsigned int xrc_regs_per_process = 65536;
module_param(xrc_regs_per_process, uint, 0644);
MODULE_PARM_DESC(xrc_regs_per_process,
	"registrations with shared XRC receive QPs that a process may hold on a device, more are refused with EDQUOT (default 65536)");

static const struct rhashtable_params holder_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_holder, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_holder, pid),
	.key_len = sizeof_field(struct mlx5_ep_xrc_holder, pid),
	.automatic_shrinking = true,
};

/**
 * mlx5_ep_xrc_limits_init() - make the table of processes
 * @xrc: tables that nobody else knows yet
 *
 * May sleep.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_xrc_limits_init(struct mlx5_ep_xrc *xrc)
{
	return rhashtable_init(&xrc->holders, &holder_params);
}

/**
 * mlx5_ep_xrc_limits_fini() - free the table, which is empty
 * @xrc: tables that nobody else uses any more
 */
void mlx5_ep_xrc_limits_fini(struct mlx5_ep_xrc *xrc)
{
	rhashtable_destroy(&xrc->holders);
}

static struct mlx5_ep_xrc_holder *
limits_holder_find(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_spare *spare)
{
	struct pid *pid = task_tgid(current);
	struct mlx5_ep_xrc_holder *holder;
	int ret;

	holder = rhashtable_lookup_fast(&xrc->holders, &pid, holder_params);
	if (holder)
		return holder;
	holder = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_HOLDER);
	if (!holder)
		return ERR_PTR(-EAGAIN);
	holder->pid = pid;
	ret = rhashtable_insert_fast(&xrc->holders, &holder->node,
				     holder_params);
	if (ret) {
		kfree(holder);
		return ERR_PTR(ret);
	}
	get_pid(pid);
	get_task_comm(holder->comm, current->group_leader);
	return holder;
}

static void limits_holder_free_unused(struct mlx5_ep_xrc *xrc,
				      struct mlx5_ep_xrc_holder *holder)
{
	if (holder->num_regs)
		return;
	rhashtable_remove_fast(&xrc->holders, &holder->node, holder_params);
	put_pid(holder->pid);
	kfree_rcu(holder, rcu);
}

/**
 * mlx5_ep_xrc_limits_charge() - count a registration for its process and user
 * @reg: with @reg->xrc set, its lock held; @reg->holder and @reg->user are
 *	set here
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0; -EDQUOT: the process or the user holds as many as it may; -EAGAIN:
 * @spare lacks memory
 */
int mlx5_ep_xrc_limits_charge(struct mlx5_ep_xrc_reg *reg,
			      struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_device *edev = xrc->edev;
	struct mlx5_ep_account *user =
		mlx5_ep_context_of(edev, reg->uobj.context)->user;
	struct mlx5_ep_refusal refusal = {
		.what = "XRC registrations",
		.refused = 1,
		.reason = MLX5_EP_REASON_XRC_REGS_PROCESS,
	};
	struct mlx5_ep_xrc_holder *holder;
	int ret;

	lockdep_assert_held(&xrc->lock);

	holder = limits_holder_find(xrc, spare);
	if (IS_ERR(holder))
		return PTR_ERR(holder);
	refusal.held = holder->num_regs;
	refusal.limit = READ_ONCE(xrc_regs_per_process);
	if (refusal.held < refusal.limit)
		ret = mlx5_ep_user_charge(edev, user, MLX5_EP_XRC_REGS, 1,
					  READ_ONCE(xrc_regs_per_user));
	else
		ret = mlx5_ep_limit_refuse_process(edev, &refusal);
	if (ret) {
		limits_holder_free_unused(xrc, holder);
		return ret;
	}
	holder->num_regs++;
	WRITE_ONCE(xrc->num_regs, xrc->num_regs + 1);
	reg->holder = holder;
	reg->user = user;
	return 0;
}

/**
 * mlx5_ep_xrc_limits_uncharge() - undo mlx5_ep_xrc_limits_charge()
 * @reg: has no QP any more; @reg->xrc's lock is held
 */
void mlx5_ep_xrc_limits_uncharge(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;

	lockdep_assert_held(&xrc->lock);

	WRITE_ONCE(xrc->num_regs, xrc->num_regs - 1);
	reg->holder->num_regs--;
	limits_holder_free_unused(xrc, reg->holder);
	mlx5_ep_account_uncharge(reg->user, MLX5_EP_XRC_REGS, 1);
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
