// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who holds registrations and QPs, and how many each may hold: limits per
 * device, per user and per process.
 *
 * A registration counts for the process and for the user that made it. A QP
 * counts for the user that created it, until the QP is destroyed: the creator
 * may have closed its own registration long before.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

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

static const struct rhashtable_params user_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_user, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_user, uid),
	.key_len = sizeof_field(struct mlx5_ep_xrc_user, uid),
	.automatic_shrinking = true,
};

static const struct rhashtable_params holder_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_holder, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_holder, pid),
	.key_len = sizeof_field(struct mlx5_ep_xrc_holder, pid),
	.automatic_shrinking = true,
};

/**
 * mlx5_ep_xrc_limits_init() - make the tables of users and processes
 * @xrc: tables that nobody else knows yet
 *
 * May sleep.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_xrc_limits_init(struct mlx5_ep_xrc *xrc)
{
	int ret;

	ret = rhashtable_init(&xrc->users, &user_params);
	if (ret)
		return ret;
	ret = rhashtable_init(&xrc->holders, &holder_params);
	if (ret)
		rhashtable_destroy(&xrc->users);
	return ret;
}

/**
 * mlx5_ep_xrc_limits_fini() - free the tables, which are empty
 * @xrc: tables that nobody else uses any more
 */
void mlx5_ep_xrc_limits_fini(struct mlx5_ep_xrc *xrc)
{
	rhashtable_destroy(&xrc->holders);
	rhashtable_destroy(&xrc->users);
}

static void user_free_unused(struct mlx5_ep_xrc *xrc,
			     struct mlx5_ep_xrc_user *user)
{
	if (user->num_regs || user->num_qps)
		return;
	rhashtable_remove_fast(&xrc->users, &user->node, user_params);
	kfree_rcu(user, rcu);
}

static struct mlx5_ep_xrc_user *user_find(struct mlx5_ep_xrc *xrc,
					  struct mlx5_ep_xrc_spare *spare)
{
	uid_t uid = __kuid_val(current_uid());
	struct mlx5_ep_xrc_user *user;
	int ret;

	user = rhashtable_lookup_fast(&xrc->users, &uid, user_params);
	if (user)
		return user;
	user = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_USER);
	if (!user)
		return ERR_PTR(-EAGAIN);
	user->uid = uid;
	ret = rhashtable_insert_fast(&xrc->users, &user->node, user_params);
	if (ret) {
		kfree(user);
		return ERR_PTR(ret);
	}
	return user;
}

static struct mlx5_ep_xrc_holder *holder_find(struct mlx5_ep_xrc *xrc,
					      struct mlx5_ep_xrc_spare *spare)
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

static void holder_free_unused(struct mlx5_ep_xrc *xrc,
			       struct mlx5_ep_xrc_holder *holder)
{
	if (holder->num_regs)
		return;
	rhashtable_remove_fast(&xrc->holders, &holder->node, holder_params);
	put_pid(holder->pid);
	kfree_rcu(holder, rcu);
}

/**
 * mlx5_ep_xrc_charge() - count a registration for the calling process and user
 * @reg: with @reg->xrc set, its lock held; @reg->holder and @reg->user are
 *	set here
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0; -EDQUOT: the process or the user holds as many as it may; -EAGAIN:
 * @spare lacks memory
 */
int mlx5_ep_xrc_charge(struct mlx5_ep_xrc_reg *reg,
		       struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_holder *holder;
	struct mlx5_ep_xrc_user *user;
	int ret = -EDQUOT;

	lockdep_assert_held(&xrc->lock);

	user = user_find(xrc, spare);
	if (IS_ERR(user))
		return PTR_ERR(user);
	if (user->num_regs >= READ_ONCE(xrc_regs_per_user))
		goto err_user;
	holder = holder_find(xrc, spare);
	if (IS_ERR(holder)) {
		ret = PTR_ERR(holder);
		goto err_user;
	}
	if (holder->num_regs >= READ_ONCE(xrc_regs_per_process))
		goto err_holder;
	holder->num_regs++;
	user->num_regs++;
	xrc->num_regs++;
	reg->holder = holder;
	reg->user = user;
	return 0;

err_holder:
	holder_free_unused(xrc, holder);
err_user:
	user_free_unused(xrc, user);
	return ret;
}

/**
 * mlx5_ep_xrc_uncharge() - undo mlx5_ep_xrc_charge()
 * @reg: has no QP any more; @reg->xrc's lock is held
 */
void mlx5_ep_xrc_uncharge(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;

	lockdep_assert_held(&xrc->lock);

	xrc->num_regs--;
	reg->user->num_regs--;
	reg->holder->num_regs--;
	holder_free_unused(xrc, reg->holder);
	user_free_unused(xrc, reg->user);
}

/**
 * mlx5_ep_xrc_charge_qp() - count a QP for its device and its creator
 * @xrc: tables of the device; their lock is held
 * @user: the creator, whose registration is charged already
 *
 * Return: 0; -EDQUOT
 */
int mlx5_ep_xrc_charge_qp(struct mlx5_ep_xrc *xrc,
			  struct mlx5_ep_xrc_user *user)
{
	lockdep_assert_held(&xrc->lock);

	if (xrc->num_qps >= READ_ONCE(xrc_qps_per_device) ||
	    user->num_qps >= READ_ONCE(xrc_qps_per_user))
		return -EDQUOT;
	xrc->num_qps++;
	user->num_qps++;
	return 0;
}

/**
 * mlx5_ep_xrc_uncharge_qp() - undo mlx5_ep_xrc_charge_qp()
 * @xrc: tables of the device; their lock is held
 * @user: the creator, for whom the QP was charged; freed if nothing else counts
 *	for it
 */
void mlx5_ep_xrc_uncharge_qp(struct mlx5_ep_xrc *xrc,
			     struct mlx5_ep_xrc_user *user)
{
	lockdep_assert_held(&xrc->lock);

	xrc->num_qps--;
	user->num_qps--;
	user_free_unused(xrc, user);
}
