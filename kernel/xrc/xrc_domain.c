// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains that have registrations, and the XRCD handles of user contexts
 * through which the registrations were made.
 *
 * uverbs frees an XRC domain when its last XRCD handle is closed, and in no
 * other way. Therefore a registration pins the handle that it was made through:
 * it keeps one read lock of the XRCD's uobject. While the registration lives,
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
#include <rdma/uverbs_types.h>

#include "compat/compat.h"
#include "xrc.h"

static const struct rhashtable_params domain_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_domain, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_domain, xrcd),
	.key_len = sizeof_field(struct mlx5_ep_xrc_domain, xrcd),
	.automatic_shrinking = true,
};

static const struct rhashtable_params handle_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_handle, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_handle, uobj),
	.key_len = sizeof_field(struct mlx5_ep_xrc_handle, uobj),
	.automatic_shrinking = true,
};

static const struct rhashtable_params file_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_file, node),
	.key_offset = offsetof(struct mlx5_ep_xrc_file, ufile),
	.key_len = sizeof_field(struct mlx5_ep_xrc_file, ufile),
	.automatic_shrinking = true,
};

/**
 * mlx5_ep_xrc_domains_init() - make the tables of domains and handles
 * @xrc: tables that nobody else knows yet
 *
 * Sleeps.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_xrc_domains_init(struct mlx5_ep_xrc *xrc)
{
	int ret;

	INIT_LIST_HEAD(&xrc->domains);
	ret = rhashtable_init(&xrc->by_xrcd, &domain_params);
	if (ret)
		return ret;
	ret = rhashtable_init(&xrc->handles, &handle_params);
	if (ret)
		goto err_domains;
	ret = rhashtable_init(&xrc->files, &file_params);
	if (ret)
		goto err_handles;
	return 0;

err_handles:
	rhashtable_destroy(&xrc->handles);
err_domains:
	rhashtable_destroy(&xrc->by_xrcd);
	return ret;
}

/**
 * mlx5_ep_xrc_domains_fini() - free the tables, which are empty
 * @xrc: tables that nobody else uses any more
 */
void mlx5_ep_xrc_domains_fini(struct mlx5_ep_xrc *xrc)
{
	rhashtable_destroy(&xrc->files);
	rhashtable_destroy(&xrc->handles);
	rhashtable_destroy(&xrc->by_xrcd);
}

static struct mlx5_ep_xrc_domain *domain_get(struct mlx5_ep_xrc *xrc,
					     struct ib_xrcd *xrcd,
					     struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc_domain *domain;
	int ret;

	domain = rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd, domain_params);
	if (domain) {
		domain->num_handles++;
		return domain;
	}

	domain = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_DOMAIN);
	if (!domain)
		return ERR_PTR(-EAGAIN);
	domain->xrcd = xrcd;
	ret = rhashtable_insert_fast(&xrc->by_xrcd, &domain->node,
				     domain_params);
	if (ret) {
		kfree(domain);
		return ERR_PTR(ret);
	}
	domain->id = ++xrc->last_domain;
	domain->num_handles = 1;
	init_rwsem(&domain->births);
	INIT_LIST_HEAD(&domain->qps);
	list_add_tail(&domain->entry, &xrc->domains);
	WRITE_ONCE(xrc->num_domains, xrc->num_domains + 1);
	return domain;
}

static void domain_free_unused(struct mlx5_ep_xrc *xrc,
			       struct mlx5_ep_xrc_domain *domain)
{
	if (domain->num_handles || domain->num_waiters)
		return;
	WARN_ON(!list_empty(&domain->qps));
	list_del(&domain->entry);
	WRITE_ONCE(xrc->num_domains, xrc->num_domains - 1);
	rhashtable_remove_fast(&xrc->by_xrcd, &domain->node, domain_params);
	kfree_rcu(domain, rcu);
}

static void domain_put(struct mlx5_ep_xrc *xrc,
		       struct mlx5_ep_xrc_domain *domain)
{
	domain->num_handles--;
	domain_free_unused(xrc, domain);
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
 * Return: false: the domain has no registrations
 */
bool mlx5_ep_xrc_domain_info_get(struct mlx5_ep_xrc *xrc,
				 const struct ib_xrcd *xrcd, u32 *domain,
				 u32 *qps)
{
	const struct mlx5_ep_xrc_domain *found;

	mutex_lock(&xrc->lock);
	found = rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd, domain_params);
	if (found) {
		*domain = found->id;
		*qps = found->num_qps;
	}
	mutex_unlock(&xrc->lock);
	return found;
}

/**
 * mlx5_ep_xrc_domain_wait_births() - wait for the calls that create a QP in a domain
 * @xrc: tables of the device; neither they nor a record is locked
 * @xrcd: the domain, which the caller keeps alive
 *
 * Calls that begin later are not waited for, nor those in other domains. Sleeps,
 * until those calls have the answer of the firmware.
 */
void mlx5_ep_xrc_domain_wait_births(struct mlx5_ep_xrc *xrc,
				    struct ib_xrcd *xrcd)
{
	struct mlx5_ep_xrc_domain *domain;

	mutex_lock(&xrc->lock);
	/* Whoever creates a QP has a handle of its domain. */
	domain = rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd, domain_params);
	if (domain)
		domain->num_waiters++;
	mutex_unlock(&xrc->lock);
	if (!domain)
		return;
	down_write(&domain->births);
	up_write(&domain->births);
	mutex_lock(&xrc->lock);
	domain->num_waiters--;
	domain_free_unused(xrc, domain);
	mutex_unlock(&xrc->lock);
}

static struct mlx5_ep_xrc_file *domain_file_get(struct mlx5_ep_xrc *xrc,
						struct ib_uverbs_file *ufile,
						struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc_file *file;
	int ret;

	file = rhashtable_lookup_fast(&xrc->files, &ufile, file_params);
	if (file)
		return file;
	file = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_FILE);
	if (!file)
		return ERR_PTR(-EAGAIN);
	file->ufile = ufile;
	INIT_LIST_HEAD(&file->handles);
	ret = rhashtable_insert_fast(&xrc->files, &file->node, file_params);
	if (ret) {
		kfree(file);
		return ERR_PTR(ret);
	}
	return file;
}

static void domain_file_free_unused(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_xrc_file *file)
{
	if (!list_empty(&file->handles))
		return;
	rhashtable_remove_fast(&xrc->files, &file->node, file_params);
	kfree_rcu(file, rcu);
}

/* Enters a new handle into the table, its file's list and its domain. */
static int domain_handle_add(struct mlx5_ep_xrc *xrc,
			     struct mlx5_ep_xrc_handle *handle,
			     struct mlx5_ep_xrc_spare *spare)
{
	int ret;

	handle->file = domain_file_get(xrc, handle->uobj->ufile, spare);
	if (IS_ERR(handle->file))
		return PTR_ERR(handle->file);
	handle->domain = domain_get(xrc, handle->uobj->object, spare);
	if (IS_ERR(handle->domain)) {
		ret = PTR_ERR(handle->domain);
		goto err_file;
	}
	ret = rhashtable_insert_fast(&xrc->handles, &handle->node,
				     handle_params);
	if (ret)
		goto err_domain;
	list_add(&handle->entry, &handle->file->handles);
	return 0;

err_domain:
	domain_put(xrc, handle->domain);
err_file:
	domain_file_free_unused(xrc, handle->file);
	return ret;
}

/**
 * mlx5_ep_xrc_domain_handle_get() - pin the XRCD handle that a registration is made
 *	through
 * @reg: with @reg->xrc set, its lock held; @reg->handle is set here
 * @uobj: of the XRC domain. The running method holds a read lock of it, so its
 *	usecnt is positive and the domain is alive.
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0; -EAGAIN: @spare lacks memory; -ENOMEM
 */
int mlx5_ep_xrc_domain_handle_get(struct mlx5_ep_xrc_reg *reg,
				  struct ib_uobject *uobj,
				  struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_handle *handle;
	int ret;

	lockdep_assert_held(&xrc->lock);

	handle = rhashtable_lookup_fast(&xrc->handles, &uobj, handle_params);
	if (!handle) {
		handle = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_HANDLE);
		if (!handle)
			return -EAGAIN;
		handle->uobj = uobj;
		ret = domain_handle_add(xrc, handle, spare);
		if (ret) {
			kfree(handle);
			return ret;
		}
		uverbs_uobject_get(uobj);
		atomic_inc(&uobj->usecnt);
		handle->pinned = true;
	}
	handle->num_regs++;
	reg->handle = handle;
	return 0;
}

static void domain_handle_unpin(struct mlx5_ep_xrc_handle *handle)
{
	if (!handle->pinned)
		return;
	atomic_dec(&handle->uobj->usecnt);
	handle->pinned = false;
}

/**
 * mlx5_ep_xrc_domain_handle_put() - undo mlx5_ep_xrc_domain_handle_get()
 * @reg: has no QP any more; @reg->xrc's lock is held
 */
void mlx5_ep_xrc_domain_handle_put(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_handle *handle = reg->handle;
	struct mlx5_ep_xrc *xrc = reg->xrc;

	lockdep_assert_held(&xrc->lock);

	if (--handle->num_regs)
		return;
	list_del(&handle->entry);
	domain_file_free_unused(xrc, handle->file);
	rhashtable_remove_fast(&xrc->handles, &handle->node, handle_params);
	domain_put(xrc, handle->domain);
	domain_handle_unpin(handle);
	uverbs_uobject_put(handle->uobj);
	kfree_rcu(handle, rcu);
}

/**
 * mlx5_ep_xrc_domain_ufile_cleanup() - let a user context end
 * @xrc: tables of the device of @ufile; their lock is taken here
 * @ufile: the context, its hw_destroy_rwsem held for write
 *
 * Removes the pins of the context's XRCD handles. uverbs destroys the
 * context's registrations next, before those handles. A context without such
 * a handle does not take the device's lock: nobody else can add one to it.
 *
 * May sleep.
 */
void mlx5_ep_xrc_domain_ufile_cleanup(struct mlx5_ep_xrc *xrc,
				      struct ib_uverbs_file *ufile)
{
	struct mlx5_ep_xrc_handle *handle;
	struct mlx5_ep_xrc_file *file;

	/* Only calls on @ufile itself make or free its entry. */
	file = rhashtable_lookup_fast(&xrc->files, &ufile, file_params);
	if (!file)
		return;
	mutex_lock(&xrc->lock);
	list_for_each_entry(handle, &file->handles, entry)
		domain_handle_unpin(handle);
	mutex_unlock(&xrc->lock);
}
