// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains that have shared QPs, and the XRCD handles of user contexts through
 * which registrations were made.
 *
 * uverbs frees an XRC domain when its last XRCD handle is closed, and in no
 * other way. Therefore a registration pins the handle that it was made through:
 * it keeps a read lock of the XRCD's uobject. While the registration lives,
 * closing the handle answers -EBUSY, as in OFED. It follows that
 *   - a domain is never freed before its last registration has ended;
 *   - when the last handle is closed, the domain has no shared QP.
 *
 * When a context ends, uverbs locks every object of it for write.
 * Kernels up to 6.12 do so one by one, newest first. A registration is younger
 * than the handle that it pins, so the pin is gone when the handle's turn comes.
 * Newer kernels (7.2) call the driver's ufile_hw_cleanup() before, and the one
 * of mlx5_ib locks all objects at once. mlx5_ep_xrc_domain_ufile_cleanup() runs before
 * that and removes the pins. At that time uverbs holds hw_destroy_rwsem for
 * write: no other call can close the handle or register.
 */
#include <linux/slab.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>

#include "compat/compat.h"
#include "xrc.h"

const struct rhashtable_params mlx5_ep_xrc_domain_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_domain, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_domain, xrcd),
	.key_len = sizeof_field(struct mlx5_ep_xrc_domain, xrcd),
	.automatic_shrinking = true,
};

/**
 * mlx5_ep_xrc_domain_get() - find a domain, or enter it into the tables
 * @xrc: tables of the device; their lock is held
 * @xrcd: ib_core's domain, of which the caller has a handle
 * @spare: memory for a new entry, taken if it is needed; *@spare may be NULL
 *
 * The caller adds a QP to a new domain, or gives it to
 * mlx5_ep_xrc_domain_free_unused().
 *
 * Return: the domain; -EAGAIN: *@spare is NULL and was needed; -ENOMEM
 */
struct mlx5_ep_xrc_domain *
mlx5_ep_xrc_domain_get(struct mlx5_ep_xrc *xrc, struct ib_xrcd *xrcd,
		       struct mlx5_ep_xrc_domain **spare)
{
	struct mlx5_ep_xrc_domain *domain;

	lockdep_assert_held(&xrc->lock);

	domain = rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd,
					mlx5_ep_xrc_domain_params);
	if (domain)
		return domain;
	domain = *spare;
	if (!domain)
		return ERR_PTR(-EAGAIN);
	domain->xrcd = xrcd;
	if (rhashtable_insert_fast(&xrc->by_xrcd, &domain->node,
				   mlx5_ep_xrc_domain_params))
		return ERR_PTR(-ENOMEM);
	*spare = NULL;
	domain->id = ++xrc->last_domain;
	INIT_LIST_HEAD(&domain->qps);
	list_add_tail(&domain->entry, &xrc->domains);
	WRITE_ONCE(xrc->num_domains, xrc->num_domains + 1);
	return domain;
}

/**
 * mlx5_ep_xrc_domain_free_unused() - forget a domain that has no shared QP
 * @xrc: tables of the device; their lock is held
 * @domain: stays if it has a shared QP
 */
void mlx5_ep_xrc_domain_free_unused(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_xrc_domain *domain)
{
	lockdep_assert_held(&xrc->lock);

	if (domain->num_qps)
		return;
	list_del(&domain->entry);
	WRITE_ONCE(xrc->num_domains, xrc->num_domains - 1);
	rhashtable_remove_fast(&xrc->by_xrcd, &domain->node,
			       mlx5_ep_xrc_domain_params);
	kfree_rcu(domain, rcu);
}

/**
 * mlx5_ep_xrc_domain_info_get() - what is known of an XRC domain
 * @xrc: tables of an attached device; their lock is taken here
 * @xrcd: only compared; it may be gone
 * @domain: answer: number of the domain, as in mlx5_ep_xrc_show()
 * @qps: answer: shared QPs in it
 *
 * Sleeps.
 *
 * Return: false: the domain has no shared QP
 */
bool mlx5_ep_xrc_domain_info_get(struct mlx5_ep_xrc *xrc,
				 const struct ib_xrcd *xrcd, u32 *domain,
				 u32 *qps)
{
	const struct mlx5_ep_xrc_domain *found;

	mutex_lock(&xrc->lock);
	found = rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd,
				       mlx5_ep_xrc_domain_params);
	if (found) {
		*domain = found->id;
		*qps = found->num_qps;
	}
	mutex_unlock(&xrc->lock);
	return found;
}

/**
 * mlx5_ep_xrc_domain_pin() - keep the XRCD handle that a registration is made through
 * @reg: is being made
 * @xrcd: the handle. The running method has a read lock of it, so its usecnt is
 *	positive.
 */
void mlx5_ep_xrc_domain_pin(struct mlx5_ep_xrc_reg *reg,
			    struct ib_uobject *xrcd)
{
	atomic_inc(&xrcd->usecnt);
	reg->xrcd = xrcd;
}

/**
 * mlx5_ep_xrc_domain_unpin() - undo mlx5_ep_xrc_domain_pin()
 * @reg: registration that may have no pin any more
 */
void mlx5_ep_xrc_domain_unpin(struct mlx5_ep_xrc_reg *reg)
{
	if (!reg->xrcd)
		return;
	atomic_dec(&reg->xrcd->usecnt);
	reg->xrcd = NULL;
}

/**
 * mlx5_ep_xrc_domain_ufile_cleanup() - let a user context end
 * @ufile: the context, its hw_destroy_rwsem held for write
 *
 * Removes the pins of the context's registrations. uverbs destroys these next, before
 * the XRCD handles that they pinned.
 */
void mlx5_ep_xrc_domain_ufile_cleanup(struct ib_uverbs_file *ufile)
{
	struct ib_uobject *uobj;

	compat_for_each_uobject(uobj, ufile)
		if (compat_uobject_id(uobj) == MLX5_EP_OBJECT_XRC_RCV_QP)
			mlx5_ep_xrc_domain_unpin(uobj->object);
}
