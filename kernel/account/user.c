// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What users hold on a device, and the limits of it: UAR pages, notifiers,
 * shared XRC receive QPs and registrations with them. Notifiers of /dev/mlx5_ep have
 * accounts of their own, since they belong to no device.
 *
 * All of it counts for the user who opened the context, or the file. A process in a user
 * namespace counts for its own user id, and for the owner of that namespace and
 * of each namespace above it, as in the kernel's ucounts. So a user with a range
 * of subordinate ids holds no more than a user without.
 *
 * The account of a user is found by its owner's account and its id: a user has
 * one account for each chain of owners.
 */

#include <linux/cred.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "account/limit.h"
#include "account/user.h"
#include "device.h"

/* Owner of the namespace that is @level + 1 levels below the initial one. */
static kuid_t user_at(struct user_namespace *ns, int level)
{
	while (ns->level > level + 1)
		ns = ns->parent;
	return ns->owner;
}

/**
 * mlx5_ep_user_get() - find or make the account of the caller
 * @users: accounts of the users of a device, or of /dev/mlx5_ep
 *
 * The account counts one context more. May sleep.
 *
 * Return: the account, to be given to mlx5_ep_user_put(); NULL: no memory
 */
struct mlx5_ep_account *mlx5_ep_user_get(struct mlx5_ep_accounts *users)
{
	struct user_namespace *ns = current_user_ns();
	struct mlx5_ep_account *user = NULL;
	kuid_t uid;
	int level;

	for (level = 0; level <= ns->level; level++) {
		uid = level < ns->level ? user_at(ns, level) : current_uid();
		/* An owner who is in the namespace counts once. */
		if (user && user->id == __kuid_val(uid))
			continue;
		user = mlx5_ep_account_get(users, user, __kuid_val(uid),
					   UINT_MAX);
		if (!user)
			return NULL;
	}
	mlx5_ep_account_charge(user, MLX5_EP_CONTEXTS, 1, UINT_MAX);
	return user;
}

/**
 * mlx5_ep_user_put() - a context of the user is closed
 * @users: what was given to mlx5_ep_user_get()
 * @user: what mlx5_ep_user_get() returned, NULL too
 */
void mlx5_ep_user_put(struct mlx5_ep_accounts *users,
		      struct mlx5_ep_account *user)
{
	mlx5_ep_account_uncharge(user, MLX5_EP_CONTEXTS, 1);
	mlx5_ep_account_put(users, user);
}

static int user_refuse(struct mlx5_ep_device *edev,
		       const struct mlx5_ep_account *full,
		       enum mlx5_ep_resource resource, unsigned int number,
		       unsigned int limit)
{
	static const struct {
		const char *what;
		enum mlx5_ep_reason reason;
	} names[MLX5_EP_NR_RESOURCES] = {
		[MLX5_EP_UAR_PAGES] = { "UAR pages", MLX5_EP_REASON_USER },
		[MLX5_EP_NOTIFIERS] = { "notifiers", MLX5_EP_REASON_NOTIFIERS },
		[MLX5_EP_DMABUF_WATCHES] = { "watches of dma-bufs",
					     MLX5_EP_REASON_DMABUF_WATCHES },
		[MLX5_EP_XRC_QPS] = { "shared XRC receive QPs",
				      MLX5_EP_REASON_XRC_QPS_USER },
		[MLX5_EP_XRC_REGS] = { "XRC registrations",
				       MLX5_EP_REASON_XRC_REGS_USER },
	};
	struct mlx5_ep_refusal refusal = {
		.what = names[resource].what,
		.held = mlx5_ep_account_held(full, resource),
		.refused = number,
		.reason = names[resource].reason,
		.limit = limit,
	};
	char who[24];

	snprintf(who, sizeof(who), "user %u", (unsigned int)full->id);
	refusal.who = who;
	return mlx5_ep_limit_refuse(edev, &refusal);
}

/**
 * mlx5_ep_user_check() - would mlx5_ep_user_charge() refuse?
 * @edev: device of @user; NULL: an account of /dev/mlx5_ep
 * @user: the user's account; NULL: nobody is charged
 * @resource: what is counted; not MLX5_EP_CONTEXTS
 * @number: how many of it are to be charged
 * @limit: how many of it any one user may hold; UINT_MAX: no limit
 *
 * A refusal is logged and traced. Does not sleep.
 *
 * Return: 0; -EDQUOT: the user, or one of the owners of its user namespaces, would hold
 * more than the limit
 */
int mlx5_ep_user_check(struct mlx5_ep_device *edev,
		       struct mlx5_ep_account *user,
		       enum mlx5_ep_resource resource, unsigned int number,
		       unsigned int limit)
{
	struct mlx5_ep_account *full =
		mlx5_ep_account_full(user, resource, number, limit);

	return full ? user_refuse(edev, full, resource, number, limit) : 0;
}

/**
 * mlx5_ep_user_charge() - charge a user and the owners of its user namespaces
 * @edev: device of @user; NULL: an account of /dev/mlx5_ep
 * @user: the user's account; NULL: nobody is charged
 * @resource: what is counted; not MLX5_EP_CONTEXTS
 * @number: how many of it
 * @limit: how many of it any one user may hold; UINT_MAX: no limit
 *
 * A refusal is logged and traced. Does not sleep. mlx5_ep_account_uncharge()
 * undoes the charge.
 *
 * Return: 0; -EDQUOT: the user, or one of the owners, would hold more than the
 * limit
 */
int mlx5_ep_user_charge(struct mlx5_ep_device *edev,
			struct mlx5_ep_account *user,
			enum mlx5_ep_resource resource, unsigned int number,
			unsigned int limit)
{
	struct mlx5_ep_account *full =
		mlx5_ep_account_charge(user, resource, number, limit);

	return full ? user_refuse(edev, full, resource, number, limit) : 0;
}
