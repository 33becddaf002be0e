// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains that have registrations, the openings of them (XRCD handles of
 * user contexts), and the processes that registered.
 *
 * uverbs frees an XRC domain when its last XRCD handle closes, and it can be
 * freed in no other way. A registration therefore pins the handle that it was
 * made through: it keeps one read lock of the XRCD's uobject, so that closing
 * that handle answers -EBUSY until the registration is gone, as in OFED. So
 *   - a domain is never lost before its last registration;
 *   - the last handle to close finds no QP of ours, and frees the domain.
 *
 * At the end of a context uverbs locks every object for write. Up to 6.12 it
 * does so one by one, newest first: a registration is younger than the handle
 * that it pins, hence the pin is gone in time. Newer kernels (7.2) call a
 * driver's ufile_hw_cleanup() before that, and the one of mlx5_ib locks all of
 * them; mlx5_ep_xrc_ufile_cleanup() runs before it and takes the pins away. By
 * then hw_destroy_rwsem is held for write, so nobody can close the handle in
 * between, nor register.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <rdma/uverbs_types.h>

#include "compat/compat.h"
#include "xrc.h"

static unsigned int xrc_regs_per_process = 65536;
module_param(xrc_regs_per_process, uint, 0644);
MODULE_PARM_DESC(xrc_regs_per_process,
	"registrations with shared XRC receive QPs that a process may hold on a device, more are refused with EDQUOT (default 65536)");

/**
 * mlx5_ep_xrc_create - make the tables of a device
 * @edev: the device
 *
 * Return: the tables, or NULL where memory is short. May sleep.
 */
struct mlx5_ep_xrc *mlx5_ep_xrc_create(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_xrc *xrc = kzalloc_obj(*xrc, GFP_KERNEL);

	if (!xrc)
		return NULL;
	if (rhashtable_init(&xrc->by_key, &mlx5_ep_xrc_key_params)) {
		kfree(xrc);
		return NULL;
	}
	xrc->edev = edev;
	mutex_init(&xrc->lock);
	INIT_LIST_HEAD(&xrc->domains);
	hash_init(xrc->handles);
	hash_init(xrc->holders);
	return xrc;
}

/**
 * mlx5_ep_xrc_destroy - undo mlx5_ep_xrc_create()
 * @xrc: tables of a device whose user contexts are all gone, hence empty
 *
 * May sleep.
 */
void mlx5_ep_xrc_destroy(struct mlx5_ep_xrc *xrc)
{
	WARN_ON(!list_empty(&xrc->domains) || xrc->num_qps || xrc->num_regs);
	rhashtable_destroy(&xrc->by_key);
	mutex_destroy(&xrc->lock);
	kfree(xrc);
}

static struct mlx5_ep_xrc_domain *domain_get(struct mlx5_ep_xrc *xrc,
					     struct ib_xrcd *xrcd)
{
	struct mlx5_ep_xrc_domain *domain;

	lockdep_assert_held(&xrc->lock);

	list_for_each_entry(domain, &xrc->domains, entry) {
		if (domain->xrcd == xrcd) {
			domain->num_handles++;
			return domain;
		}
	}

	domain = kzalloc_obj(*domain, GFP_KERNEL_ACCOUNT);
	if (!domain)
		return NULL;
	domain->xrcd = xrcd;
	domain->id = ++xrc->last_domain;
	domain->num_handles = 1;
	INIT_LIST_HEAD(&domain->qps);
	list_add_tail(&domain->entry, &xrc->domains);
	return domain;
}

static void domain_put(struct mlx5_ep_xrc *xrc,
		       struct mlx5_ep_xrc_domain *domain)
{
	lockdep_assert_held(&xrc->lock);

	if (--domain->num_handles)
		return;
	WARN_ON(!list_empty(&domain->qps));
	list_del(&domain->entry);
	kfree(domain);
}

/*
 * The caller's method holds a read lock of @uobj, so usecnt is positive and
 * the domain is alive.
 */
static struct mlx5_ep_xrc_handle *handle_get(struct mlx5_ep_xrc *xrc,
					     struct ib_uobject *uobj)
{
	struct mlx5_ep_xrc_handle *handle;

	lockdep_assert_held(&xrc->lock);

	hash_for_each_possible(xrc->handles, handle, node,
			       (unsigned long)uobj) {
		if (handle->uobj == uobj) {
			handle->num_regs++;
			return handle;
		}
	}

	handle = kzalloc_obj(*handle, GFP_KERNEL_ACCOUNT);
	if (!handle)
		return NULL;
	handle->domain = domain_get(xrc, uobj->object);
	if (!handle->domain) {
		kfree(handle);
		return NULL;
	}
	uverbs_uobject_get(uobj);
	atomic_inc(&uobj->usecnt);
	handle->uobj = uobj;
	handle->pinned = true;
	handle->num_regs = 1;
	hash_add(xrc->handles, &handle->node, (unsigned long)uobj);
	return handle;
}

static void handle_unpin(struct mlx5_ep_xrc_handle *handle)
{
	if (!handle->pinned)
		return;
	atomic_dec(&handle->uobj->usecnt);
	handle->pinned = false;
}

static void handle_put(struct mlx5_ep_xrc *xrc,
		       struct mlx5_ep_xrc_handle *handle)
{
	lockdep_assert_held(&xrc->lock);

	if (--handle->num_regs)
		return;
	hash_del(&handle->node);
	domain_put(xrc, handle->domain);
	handle_unpin(handle);
	uverbs_uobject_put(handle->uobj);
	kfree(handle);
}

static struct mlx5_ep_xrc_holder *holder_get(struct mlx5_ep_xrc *xrc)
{
	struct pid *pid = task_tgid(current);
	struct mlx5_ep_xrc_holder *holder;

	lockdep_assert_held(&xrc->lock);

	hash_for_each_possible(xrc->holders, holder, node,
			       (unsigned long)pid) {
		if (holder->pid != pid)
			continue;
		if (holder->num_regs >= READ_ONCE(xrc_regs_per_process))
			return ERR_PTR(-EDQUOT);
		holder->num_regs++;
		return holder;
	}

	if (!READ_ONCE(xrc_regs_per_process))
		return ERR_PTR(-EDQUOT);
	holder = kzalloc_obj(*holder, GFP_KERNEL_ACCOUNT);
	if (!holder)
		return ERR_PTR(-ENOMEM);
	holder->pid = get_pid(pid);
	holder->num_regs = 1;
	get_task_comm(holder->comm, current->group_leader);
	hash_add(xrc->holders, &holder->node, (unsigned long)pid);
	return holder;
}

static void holder_put(struct mlx5_ep_xrc *xrc,
		       struct mlx5_ep_xrc_holder *holder)
{
	lockdep_assert_held(&xrc->lock);

	if (--holder->num_regs)
		return;
	hash_del(&holder->node);
	put_pid(holder->pid);
	kfree(holder);
}

/**
 * mlx5_ep_xrc_charge - enter a registration in the books of its process, XRCD
 *	handle and domain
 * @reg: with @reg->xrc set, its lock held; @reg->holder and @reg->handle are
 *	set here
 * @xrcd: uobject of the XRC domain, locked for read by the method that runs
 *
 * Return: 0; -EDQUOT where the process has as many as it may; -ENOMEM. May
 * sleep.
 */
int mlx5_ep_xrc_charge(struct mlx5_ep_xrc_reg *reg, struct ib_uobject *xrcd)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_holder *holder = holder_get(xrc);

	if (IS_ERR(holder))
		return PTR_ERR(holder);
	reg->handle = handle_get(xrc, xrcd);
	if (!reg->handle) {
		holder_put(xrc, holder);
		return -ENOMEM;
	}
	reg->holder = holder;
	xrc->num_regs++;
	return 0;
}

/**
 * mlx5_ep_xrc_uncharge - undo mlx5_ep_xrc_charge()
 * @reg: registration that has no QP any more; @reg->xrc's lock is held
 *
 * May sleep.
 */
void mlx5_ep_xrc_uncharge(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;

	xrc->num_regs--;
	handle_put(xrc, reg->handle);
	holder_put(xrc, reg->holder);
}

/**
 * mlx5_ep_xrc_ufile_cleanup - let a user context end
 * @xrc: tables of its device
 * @ufile: the context, its hw_destroy_rwsem held for write
 *
 * Takes the pins off the context's XRCD handles; its registrations are
 * destroyed next, before those handles. May sleep.
 */
void mlx5_ep_xrc_ufile_cleanup(struct mlx5_ep_xrc *xrc,
			       struct ib_uverbs_file *ufile)
{
	struct mlx5_ep_xrc_handle *handle;
	unsigned int bucket;

	mutex_lock(&xrc->lock);
	hash_for_each(xrc->handles, bucket, handle, node)
		if (handle->uobj->ufile == ufile)
			handle_unpin(handle);
	mutex_unlock(&xrc->lock);
}
