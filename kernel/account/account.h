/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Accounts: how much a user or a cgroup holds, and those below it. */

#ifndef MLX5_EP_ACCOUNT_H
#define MLX5_EP_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* What is counted. */
enum mlx5_ep_resource {
	MLX5_EP_CONTEXTS,
	MLX5_EP_UAR_PAGES,
	MLX5_EP_NOTIFIERS,
	MLX5_EP_DMABUF_WATCHES,
	MLX5_EP_XRC_QPS,
	MLX5_EP_XRC_REGS,
	MLX5_EP_NR_RESOURCES
};

/**
 * struct mlx5_ep_account - what one user or one cgroup holds on a device
 * @node: in mlx5_ep_accounts.table
 * @parent: account of which this one is a part, referenced; NULL for none
 * @id: user id in the initial user namespace, or id of the cgroup
 * @refs: contexts, shared XRC receive QPs and accounts that refer to this one
 * @limit: UAR pages that the account may hold; UINT_MAX: no limit of its own
 * @held: what it holds, with what all accounts below it hold
 */
struct mlx5_ep_account {
	struct hlist_node node;
	struct mlx5_ep_account *parent;
	u64 id;
	unsigned int refs;
	unsigned int limit;
	atomic_t held[MLX5_EP_NR_RESOURCES];
};

/**
 * struct mlx5_ep_accounts - the accounts of all users, or cgroups, of a device
 * @lock: protects @table, and refs of each account
 * @table: struct mlx5_ep_account.node by its id
 */
struct mlx5_ep_accounts {
	spinlock_t lock;
	DECLARE_HASHTABLE(table, 8);
};

void mlx5_ep_accounts_init(struct mlx5_ep_accounts *accounts);
struct mlx5_ep_account *mlx5_ep_account_get(struct mlx5_ep_accounts *accounts,
					    struct mlx5_ep_account *parent,
					    u64 id, unsigned int limit);
void mlx5_ep_account_hold(struct mlx5_ep_accounts *accounts,
			  struct mlx5_ep_account *account);
void mlx5_ep_account_put(struct mlx5_ep_accounts *accounts,
			 struct mlx5_ep_account *account);
void mlx5_ep_account_set_limit(struct mlx5_ep_accounts *accounts, u64 id,
			       unsigned int limit);
bool mlx5_ep_account_is_limited(const struct mlx5_ep_account *account);
struct mlx5_ep_account *
mlx5_ep_account_full(struct mlx5_ep_account *account,
		     enum mlx5_ep_resource resource, unsigned int number,
		     unsigned int limit);
struct mlx5_ep_account *
mlx5_ep_account_charge(struct mlx5_ep_account *account,
		       enum mlx5_ep_resource resource, unsigned int number,
		       unsigned int limit);
void mlx5_ep_account_uncharge(struct mlx5_ep_account *account,
			      enum mlx5_ep_resource resource,
			      unsigned int number);

/* May so many more be held, beside those that are held? */
static inline bool mlx5_ep_account_fits(unsigned int number, unsigned int held,
					unsigned int limit)
{
	return number <= limit - min(limit, held);
}

static inline unsigned int
mlx5_ep_account_held(const struct mlx5_ep_account *account,
		     enum mlx5_ep_resource resource)
{
	return atomic_read(&account->held[resource]);
}

#endif
