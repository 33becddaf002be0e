/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every difference between the kernels that mlx5_ep builds for, and nothing
 * else. Each probe in probe/ says since when and by which commit; an entry goes
 * when the last kernel without it goes.
 */

#ifndef MLX5_EP_COMPAT_H
#define MLX5_EP_COMPAT_H

#include <linux/cgroup.h>
#include <linux/compiler.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/driver.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "probed.h"
#include "untagged.h"

/*
 * Since 7.0 (2932ba8d9c99, "slab: Introduce kmalloc_obj() and family"), which
 * takes the type from the pointer. Drop with 6.12.
 */
#ifndef kzalloc_obj
#include <linux/slab.h>
#define kzalloc_obj(obj, gfp) ((typeof(obj) *)kzalloc(sizeof(obj), gfp))
#endif

/* Absent in 5.15 and in EL 9.4: drop with them. */
#ifndef __uninitialized
#define __uninitialized
#endif

/* The type was not const before 6.2: drop with 6.1. */
static inline void compat_kobject_init(struct kobject *kobj,
				       const struct kobj_type *type)
{
	kobject_init(kobj, (struct kobj_type *)type);
}

/*
 * The cgroup with a number, or an error pointer. 5.15 answers NULL where there is
 * none: drop with it.
 */
static inline struct cgroup *compat_cgroup_get_from_id(u64 id)
{
	return cgroup_get_from_id(id) ?: ERR_PTR(-ENOENT);
}

/*
 * Pages that can be had without a lock and without a fault, as many as come
 * first: drop the older form with EL 8.
 */
static inline int compat_get_pages_fast(unsigned long addr, int npages,
					struct page **pages)
{
#if HAVE_GET_USER_PAGES_FAST_ONLY
	return get_user_pages_fast_only(addr, npages, FOLL_FORCE, pages);
#else
	return __get_user_pages_fast(addr, npages, 0, pages);
#endif
}

/*
 * Is a page pinned, as those of registrations are? Kernels before 5.7 do not know: drop
 * the last answer with EL 8, the one before with 5.15.
 */
static inline bool compat_page_pinned(struct page *page)
{
#if HAVE_FOLIO_MAYBE_DMA_PINNED
	return folio_maybe_dma_pinned(page_folio(page));
#elif defined(GUP_PIN_COUNTING_BIAS)
	return page_maybe_dma_pinned(page);
#else
	return true;
#endif
}

/* The arguments of class_interface callbacks: drop with 6.1. */
#if HAVE_CLASS_INTERFACE_TWO_ARGS
#define CLASS_INTERFACE_ARGS(_dev) \
	struct device *_dev, struct class_interface *intf
#else
#define CLASS_INTERFACE_ARGS(_dev) struct device *_dev
#endif

/* The frame behind one page of a VM_PFNMAP mapping: drop with 6.1. */
#if HAVE_FOLLOW_PFNMAP
static inline int compat_vma_pfn(struct vm_area_struct *vma, unsigned long addr,
				 unsigned long *pfn)
{
	struct follow_pfnmap_args args = { .vma = vma, .address = addr };
	int ret = follow_pfnmap_start(&args);

	if (ret)
		return ret;
	*pfn = args.pfn;
	follow_pfnmap_end(&args);
	return 0;
}
#else
static inline int compat_vma_pfn(struct vm_area_struct *vma, unsigned long addr,
				 unsigned long *pfn)
{
	return follow_pfn(vma, addr, pfn);
}
#endif

/* Sub-devices (SMI planes) have no uverbs: drop with 6.1. */
static inline bool compat_ib_device_is_subdev(const struct ib_device *ibdev)
{
#if HAVE_RDMA_SUBDEV
	return ibdev->type == RDMA_DEVICE_TYPE_SMI;
#else
	return false;
#endif
}

/*
 * Wait until whoever has loaded a pointer to a function, or returns from it, has called or
 * left it. A task that the kernel preempts there has not slept by itself, which is what
 * synchronize_rcu_tasks() waits for. Without preemption it is synchronize_rcu(). A kernel
 * with preemption that lacks it cannot tell.
 */
#define compat_wait_for_callers() synchronize_rcu_tasks()
#if defined(CONFIG_TASKS_RCU) || \
	!(defined(CONFIG_PREEMPTION) || defined(CONFIG_PREEMPT))
#define COMPAT_CAN_LEAVE true
#else
#define COMPAT_CAN_LEAVE false
#endif

/* What callbacks of a binary attribute are told: drop with 6.12. */
#if HAVE_CONST_BIN_ATTRIBUTE
#define COMPAT_BIN_ATTRIBUTE const struct bin_attribute
#else
#define COMPAT_BIN_ATTRIBUTE struct bin_attribute
#endif

/* Flags of a mapping were written directly: drop with 6.1. */
#if !HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/*
 * An object that is a file is told when the file ends, where ib_uverbs can go before. There
 * what mlx5_ep calls of uverbs is in a module of its own: drop with 6.12.
 */
#ifdef UVERBS_TYPE_ALLOC_FD_RELEASE
#define COMPAT_TYPE_ALLOC_FD UVERBS_TYPE_ALLOC_FD_RELEASE
#define COMPAT_FD_RELEASE
#define COMPAT_UVERBS_MODULE "ib_uverbs_support"
#else
#define COMPAT_UVERBS_MODULE "ib_uverbs"
#define COMPAT_TYPE_ALLOC_FD(_size, _destroy, _release, ...) \
	UVERBS_TYPE_ALLOC_FD((_size) + 0 * sizeof(typeof(_release) *), \
			     _destroy, __VA_ARGS__)
#define COMPAT_FD_RELEASE __maybe_unused
#endif

/*
 * The driver's turn before uverbs ends a context, where the core has one; NULL
 * elsewhere: drop with 6.12.
 */
typedef void (*compat_ufile_hw_cleanup_fn)(struct ib_uverbs_file *ufile);

static inline compat_ufile_hw_cleanup_fn *
compat_ufile_hw_cleanup(struct ib_device_ops *ops)
{
#if HAVE_UFILE_HW_CLEANUP
	return &ops->ufile_hw_cleanup;
#else
	return NULL;
#endif
}

/* The device of a context that ends so. */
static inline struct ib_device *compat_ufile_device(struct ib_uverbs_file *ufile)
{
#if HAVE_UFILE_HW_CLEANUP
	return ufile->ucontext->device;
#else
	return NULL;
#endif
}

/*
 * The objects of a context that ends so, which nobody else uses any more, and the id of
 * the type of one.
 */
#if HAVE_UFILE_HW_CLEANUP
#define compat_for_each_uobject(_uobj, _ufile) \
	list_for_each_entry(_uobj, &(_ufile)->uobjects, list)
#define compat_uobject_id(_uobj) uobj_get_object_id(_uobj)
#else
#define compat_for_each_uobject(_uobj, _ufile) \
	for (_uobj = NULL; (_ufile) && _uobj; )
#define compat_uobject_id(_uobj) (_uobj)->id
#endif

/*
 * What a driver adds to what netlink says of an SRQ, where the core asks for it; NULL
 * elsewhere: drop with 6.1.
 */
typedef int (*compat_fill_res_srq_fn)(struct sk_buff *msg, struct ib_srq *srq);

static inline compat_fill_res_srq_fn *
compat_fill_res_srq(struct ib_device_ops *ops)
{
#if HAVE_FILL_RES_SRQ_ENTRY
	return &ops->fill_res_srq_entry;
#else
	return NULL;
#endif
}

/*
 * Does write combining work on this device? Where mlx5_core does not tell, mlx5_ib alone
 * knows, and says so in its answer to an open: drop with 6.1.
 */
static inline bool compat_wc_support(struct mlx5_core_dev *mdev)
{
#if HAVE_MLX5_WC_SUPPORT_GET
#pragma weak mlx5_wc_support_get /* as mlx5_cmd_exec(), see cmd.c */
	return mlx5_wc_support_get(mdev);
#else
	return MLX5_CAP_GEN(mdev, bf);
#endif
}

#endif
