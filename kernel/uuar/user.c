// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages by user, and the limit of what one user may hold on a device.
 *
 * UAR pages are a resource of the whole node, and nothing else in the kernel
 * counts them. A page counts for the user who opened the context that holds it,
 * from before it is allocated until after it is freed.
 */

#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/user.h"

/**
 * mlx5_ep_user_get() - find or make the record of the caller on a device
 * @edev: attached device; its lock is taken here
 *
 * Return: the user, to be given to mlx5_ep_user_put(); NULL where there is no
 * memory: the caller's pages are not counted then
 */
struct mlx5_ep_user *mlx5_ep_user_get(struct mlx5_ep_device *edev)
{
	kuid_t uid = current_uid();
	struct mlx5_ep_user *user;

	mutex_lock(&edev->lock);
	list_for_each_entry(user, &edev->users, node)
		if (uid_eq(user->uid, uid))
			goto out_unlock;
	user = kzalloc_obj(*user, GFP_KERNEL);
	if (!user)
		goto out_unlock;
	user->uid = uid;
	list_add_tail(&user->node, &edev->users);

out_unlock:
	if (user)
		user->contexts++;
	mutex_unlock(&edev->lock);
	return user;
}

/**
 * mlx5_ep_user_put() - a context of the user is closed
 * @edev: device given to mlx5_ep_user_get(); its lock is taken here
 * @user: what mlx5_ep_user_get() returned, NULL too
 */
void mlx5_ep_user_put(struct mlx5_ep_device *edev, struct mlx5_ep_user *user)
{
	if (!user)
		return;
	mutex_lock(&edev->lock);
	if (!--user->contexts) {
		list_del(&user->node);
		kfree(user);
	}
	mutex_unlock(&edev->lock);
}

/**
 * mlx5_ep_user_charge() - count pages for a user
 * @edev: device of @user, whose user_limit is read without a lock
 * @user: the user; NULL: nobody
 * @least: the fewest pages that are of use
 * @most: the most that are of use
 *
 * Takes as many pages as the limit allows. They are found and taken in one step,
 * so that a request which is refused does not make another one fail that runs
 * at the same time.
 *
 * Return: pages, from @least to @most; -EDQUOT: with @least the user would hold
 * more than the limit
 */
int mlx5_ep_user_charge(struct mlx5_ep_device *edev, struct mlx5_ep_user *user,
			unsigned int least, unsigned int most)
{
	unsigned int limit = READ_ONCE(edev->user_limit);
	unsigned int pages;
	int held;

	if (!user)
		return most;
	held = atomic_read(&user->pages);
	do {
		pages = most;
		if (limit)
			pages = min(pages, limit - min_t(unsigned int, limit,
							 held));
		if (pages < least)
			goto err_limit;
	} while (!atomic_try_cmpxchg(&user->pages, &held, held + pages));
	return pages;

err_limit:
	dev_notice_ratelimited(&edev->ibdev->dev,
			       "mlx5_ep: user %u holds %u UAR pages and is refused %u more: close contexts or raise uar_user_limit (%u)\n",
			       from_kuid(&init_user_ns, user->uid), held, least,
			       limit);
	return -EDQUOT;
}

/**
 * mlx5_ep_user_uncharge() - give charged pages back
 * @user: the user; NULL: nobody
 * @pages: how many; not more than are charged
 */
void mlx5_ep_user_uncharge(struct mlx5_ep_user *user, unsigned int pages)
{
	if (user)
		atomic_sub(pages, &user->pages);
}
