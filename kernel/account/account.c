// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Accounts: how much a user or a cgroup holds on a device.
 *
 * Accounts form trees. What is charged to an account is charged to each account
 * above it too. So a user holds what the users of its user namespaces hold, and
 * a cgroup holds what the cgroups below it hold. user.c and cgroup.c say which
 * account is above which.
 *
 * A charge first looks whether all accounts have room, and adds nothing if one has
 * none: a user who tries again and again at its own limit takes no room from others. If
 * another charge takes the room between the look and the charge, what was added below is
 * taken back.
 *
 * An account exists while something refers to it. The caller that
 * charges an account uncharges the same amount before it puts the reference.
 */

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "account/account.h"
#include "compat/compat.h"

/**
 * mlx5_ep_accounts_init() - begin without an account
 * @accounts: accounts that nobody else knows yet
 */
void mlx5_ep_accounts_init(struct mlx5_ep_accounts *accounts)
{
	spin_lock_init(&accounts->lock);
	hash_init(accounts->table);
}

static struct mlx5_ep_account *account_find(struct mlx5_ep_accounts *accounts,
					    struct mlx5_ep_account *parent,
					    u64 id)
{
	struct mlx5_ep_account *account;

	hash_for_each_possible(accounts->table, account, node, id)
		if (account->id == id && account->parent == parent)
			return account;
	return NULL;
}

/**
 * mlx5_ep_account_get() - find or make an account
 * @accounts: accounts of the device; their lock is taken here
 * @parent: the account above, whose reference is taken over; NULL: none
 * @id: of the user or cgroup
 * @limit: UAR pages that a new account may hold; UINT_MAX: no limit of its own
 *
 * May sleep. The memory is charged to the memory cgroup of the caller.
 *
 * Return: the account, to be given to mlx5_ep_account_put(); NULL: no memory,
 * and the reference of @parent is put
 */
struct mlx5_ep_account *mlx5_ep_account_get(struct mlx5_ep_accounts *accounts,
					    struct mlx5_ep_account *parent,
					    u64 id, unsigned int limit)
{
	struct mlx5_ep_account *account, *new = NULL;

	spin_lock(&accounts->lock);
	account = account_find(accounts, parent, id);
	if (!account) {
		spin_unlock(&accounts->lock);
		new = kzalloc_obj(*new, GFP_KERNEL_ACCOUNT);
		spin_lock(&accounts->lock);
		account = account_find(accounts, parent, id);
	}
	if (!account && new) {
		new->id = id;
		new->limit = limit;
		new->parent = parent;
		hash_add(accounts->table, &new->node, id);
		account = new;
		new = NULL;
		/* The new account keeps the reference of its parent. */
		parent = NULL;
	}
	if (account)
		account->refs++;
	spin_unlock(&accounts->lock);
	kfree(new);
	mlx5_ep_account_put(accounts, parent);
	return account;
}

/**
 * mlx5_ep_account_hold() - take one more reference
 * @accounts: accounts of the device; their lock is taken here
 * @account: an account with a reference; NULL: none
 */
void mlx5_ep_account_hold(struct mlx5_ep_accounts *accounts,
			  struct mlx5_ep_account *account)
{
	if (!account)
		return;
	spin_lock(&accounts->lock);
	account->refs++;
	spin_unlock(&accounts->lock);
}

/**
 * mlx5_ep_account_put() - give a reference back
 * @accounts: accounts of the device; their lock is taken here
 * @account: the account; NULL: none
 */
void mlx5_ep_account_put(struct mlx5_ep_accounts *accounts,
			 struct mlx5_ep_account *account)
{
	struct mlx5_ep_account *parent;
	bool last = true;

	/* Cgroups can be nested deeply: the lock is let go after each account. */
	for (; account && last; account = parent) {
		parent = account->parent;
		spin_lock(&accounts->lock);
		last = !--account->refs;
		if (last)
			hash_del(&account->node);
		spin_unlock(&accounts->lock);
		if (last)
			kfree(account);
	}
}

/**
 * mlx5_ep_account_set_limit() - change the limit of an account if it exists
 * @accounts: accounts of the device; their lock is taken here
 * @id: of the cgroup
 * @limit: UAR pages that the account may hold; UINT_MAX: no limit of its own
 */
void mlx5_ep_account_set_limit(struct mlx5_ep_accounts *accounts, u64 id,
			       unsigned int limit)
{
	struct mlx5_ep_account *account;

	spin_lock(&accounts->lock);
	hash_for_each_possible(accounts->table, account, node, id)
		if (account->id == id)
			WRITE_ONCE(account->limit, limit);
	spin_unlock(&accounts->lock);
}

/**
 * mlx5_ep_account_is_limited() - has the account, or one above it, a limit?
 * @account: the account; NULL: none
 *
 * Return: false if every account up to the top has no limit of its own
 */
bool mlx5_ep_account_is_limited(const struct mlx5_ep_account *account)
{
	while (account && READ_ONCE(account->limit) == UINT_MAX)
		account = account->parent;
	return account;
}

static bool account_add_within(atomic_t *held, unsigned int number,
			       unsigned int limit)
{
	int was = atomic_read(held);

	do {
		if (!mlx5_ep_account_fits(number, was, limit))
			return false;
	} while (!atomic_try_cmpxchg(held, &was, was + number));
	return true;
}

/**
 * mlx5_ep_account_full() - look whether an account and all above it have room
 * @account: the account; NULL: none
 * @resource: what is counted
 * @number: how many of it are to be charged
 * @limit: how many each of these accounts may hold; UINT_MAX: each has its own
 *	limit only
 *
 * Return: NULL; where a limit is reached, the account that has it
 */
struct mlx5_ep_account *
mlx5_ep_account_full(struct mlx5_ep_account *account,
		     enum mlx5_ep_resource resource, unsigned int number,
		     unsigned int limit)
{
	while (account &&
	       mlx5_ep_account_fits(number,
				    mlx5_ep_account_held(account, resource),
				    min(limit, READ_ONCE(account->limit))))
		account = account->parent;
	return account;
}

/**
 * mlx5_ep_account_charge() - charge an account and all above it, or none
 * @account: the account; NULL: nobody is charged
 * @resource: what is counted
 * @number: how many of it
 * @limit: how many each of these accounts may hold; UINT_MAX: each has its own
 *	limit only
 *
 * Return: NULL; where a limit is reached, the account that has it
 */
struct mlx5_ep_account *
mlx5_ep_account_charge(struct mlx5_ep_account *account,
		       enum mlx5_ep_resource resource, unsigned int number,
		       unsigned int limit)
{
	struct mlx5_ep_account *at, *full;

	full = mlx5_ep_account_full(account, resource, number, limit);
	if (full)
		return full;
	for (full = account; full; full = full->parent)
		if (!account_add_within(&full->held[resource], number,
					min(limit, READ_ONCE(full->limit))))
			break;
	for (at = account; full && at != full; at = at->parent)
		atomic_sub(number, &at->held[resource]);
	return full;
}

/**
 * mlx5_ep_account_uncharge() - undo mlx5_ep_account_charge()
 * @account: the account that was charged; NULL: nobody
 * @resource: what was counted
 * @number: how many; not more than are charged
 */
void mlx5_ep_account_uncharge(struct mlx5_ep_account *account,
			      enum mlx5_ep_resource resource,
			      unsigned int number)
{
	for (; account; account = account->parent)
		atomic_sub(number, &account->held[resource]);
}
