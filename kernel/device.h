/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What mlx5_ep keeps for each mlx5 ib_device, and how to find it from there.
 * Locks: Documentation/internals.md.
 */

#ifndef MLX5_EP_DEVICE_H
#define MLX5_EP_DEVICE_H

#include <linux/list.h>
#include <linux/mlx5/driver.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "account/account.h"
#include "account/limit.h"
#include "side.h"
#include "uuar/uuar_policy.h"
#include "uverbs_tree.h"

struct mlx5_ep_object_hook;
struct mlx5_ep_xrc;

/**
 * struct mlx5_ep_settings - a policy and its two parameters
 * @policy: which policy
 * @strict: refuse a QP that would have to share more than the policy says, and a
 *	context that cannot be managed for lack of a page
 * @pages: static UAR pages of a context; 0: found out at open
 */
struct mlx5_ep_settings {
	enum mlx5_ep_uuar_policy policy;
	bool strict;
	unsigned int pages;
};

/* Bytes of the list of exempt programs, as written and read in sysfs. */
#define MLX5_EP_EXEMPT_LEN 1024

/**
 * struct mlx5_ep_values - what can be set for a device; see values.c
 * @settings: policy of contexts that are opened from now on
 * @budget: UAR pages that all managed contexts together may hold; 0: three
 *	quarters of those that the device has
 * @user_limit: UAR pages that one user may hold; 0: no limit
 * @exempt: names of programs that stay stock, separated by spaces
 */
struct mlx5_ep_values {
	struct mlx5_ep_settings settings;
	unsigned int budget;
	unsigned int user_limit;
	char exempt[MLX5_EP_EXEMPT_LEN];
};

/**
 * struct mlx5_ep_stock - what the ib_device had before it was attached
 * @mmap: NULL where the driver has none, and then no context is managed
 * @mmap_free: NULL where the driver has none
 * @query_ucontext: NULL where the driver has none
 * @ufile_hw_cleanup: NULL where the driver or the kernel has none
 * @fill_res_qp_entry: NULL where the driver has none, or it is not wrapped yet
 * @fill_res_srq_entry: NULL likewise
 * @driver_def: the driver's uverbs definitions; NULL where it has none
 *
 * The other members are operations of the driver.
 */
struct mlx5_ep_stock {
	int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata);
	int (*modify_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata);
	int (*destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);
	int (*alloc_ucontext)(struct ib_ucontext *uctx, struct ib_udata *udata);
	void (*dealloc_ucontext)(struct ib_ucontext *uctx);
	int (*query_ucontext)(struct ib_ucontext *uctx,
			      struct uverbs_attr_bundle *attrs);
	int (*mmap)(struct ib_ucontext *uctx, struct vm_area_struct *vma);
	void (*mmap_free)(struct rdma_user_mmap_entry *entry);
	void (*ufile_hw_cleanup)(struct ib_uverbs_file *ufile);
	int (*fill_res_qp_entry)(struct sk_buff *msg, struct ib_qp *qp);
	int (*fill_res_srq_entry)(struct sk_buff *msg, struct ib_srq *srq);
	const struct uapi_definition *driver_def;
};

/**
 * enum mlx5_ep_call - calls of wrapped operations
 * @MLX5_EP_CALL_MAKER: of one that can give an object a side of ours
 * @MLX5_EP_CALL_OTHER: of another
 * @MLX5_EP_CALLS: how many kinds there are
 */
enum mlx5_ep_call {
	MLX5_EP_CALL_MAKER,
	MLX5_EP_CALL_OTHER,
	MLX5_EP_CALLS
};

/**
 * struct mlx5_ep_inside - calls inside the wrapped operations, of one processor
 * @calls: those that began there, less those that ended there
 */
struct mlx5_ep_inside {
	int calls[MLX5_EP_CALLS];
};

/**
 * struct mlx5_ep_device - what mlx5_ep keeps for one mlx5 ib_device
 * @folders: folders of the device in sysfs, private to sysfs.c, under the class
 *	mutex
 * @unseen: entries in the class for which no folder could be made, under the class
 *	mutex; read without it
 * @mdev: the device as mlx5_core knows it, valid while attached
 * @auxdev: a reference to the auxiliary device that mlx5_ib drives; NULL where
 *	that device was just being added below a PCI function
 * @debugfs: folder of the device there
 * @xrc: shared XRC receive QPs of the device, while attached
 * @attached: the operations are replaced
 * @preexisting: the device had registered before mlx5_ep was loaded
 * @whole: uverbs reads our definitions before anybody can open the device. If the device
 *	is @preexisting, uverbs has read them, and mlx5_ep is held until ib_uverbs or the
 *	device goes
 * @pinned: mlx5_ep cannot be unloaded while the device is attached
 * @wrapped: operations are replaced, see ops.c
 * @refusal: why the device is not attached, or not wholly
 * @uars_together: UAR pages that the device gives at once: those of one page of
 *	the system. Each counts
 * @no_policies: why no context can be managed, as the last open found; NULL where some can
 * @stock: what detaching restores
 * @lacking: why the device has not a part of the module, see enum mlx5_ep_part; empty:
 *	it has that part
 * @ids: what uverbs_ids in sysfs shows if @whole
 * @ids_len: length of @ids
 * @hooked_def: the driver's uverbs definitions with our hooks
 * @defs: the uverbs definitions while attached: the gate (uverbs_tree.c), @hooked_def, ours
 * @uar_hook: wrapped methods of UAR objects, see uar_alloc.c; NULL for none
 * @devx_hook: wrapped methods of DevX objects, see devx_qp.c; NULL for none
 * @inside: calls inside the wrapped operations, by processor, see ops.c
 * @context_sides: our side of its contexts, see side.c
 * @qp_sides: our side of its QPs, likewise
 * @managed_pages: UAR pages that managed contexts hold
 * @observed_pages: UAR pages that all other contexts are seen to hold
 * @nr_fallback: contexts that should have been managed and could not be
 * @refusals: what limits and strict policies have refused
 * @users: what users hold, with accounts of users
 * @cgroup_accounts: what cgroups hold, with accounts of cgroups
 * @restrack_wrapped: 1: what netlink says of QPs is wrapped, see restrack.c
 * @lock: protects the members from @values to @notifiers; of each context in
 *	@contexts it protects later, later_tgid and later_node
 * @values: what was set for the device
 * @cgroups: policies and limits of cgroups, struct mlx5_ep_cgroup.node
 * @contexts: open contexts, struct mlx5_ep_context.node, the newest first
 * @laters: those that have a policy for later contexts, struct
 *	mlx5_ep_context.later_node, the newest wish first
 * @notifiers: open notifiers, private to notifier.c
 */
struct mlx5_ep_device {
	struct list_head folders;
	unsigned int unseen;
	struct ib_device *ibdev;
	struct mlx5_core_dev *mdev;
	struct device *auxdev;
	struct dentry *debugfs;
	struct mlx5_ep_xrc *xrc;
	bool attached;
	bool preexisting;
	int whole;
	bool pinned;
	bool wrapped;
	char refusal[80];
	unsigned int uars_together;
	const char *no_policies;
	struct mlx5_ep_stock stock;
	char lacking[MLX5_EP_PARTS][64];
	char ids[512];
	size_t ids_len;
	const struct uapi_definition *hooked_def;
	struct uapi_definition defs[MLX5_EP_PARTS + 3];
	struct mlx5_ep_object_hook *uar_hook;
	struct mlx5_ep_object_hook *devx_hook;
	struct mlx5_ep_inside __percpu *inside;
	struct rhashtable context_sides;
	struct rhashtable qp_sides;
	atomic_t managed_pages;
	atomic_t observed_pages;
	atomic_t nr_fallback;
	struct mlx5_ep_refusals refusals;
	struct mlx5_ep_accounts users;
	struct mlx5_ep_accounts cgroup_accounts;
	atomic_t restrack_wrapped;

	/* protects what follows */
	struct mutex lock;
	struct mlx5_ep_values values;
	struct list_head cgroups;
	struct list_head contexts;
	struct list_head laters;
	struct list_head notifiers;
};

struct mlx5_ep_device *mlx5_ep_device_create(struct ib_device *ibdev);
void mlx5_ep_device_destroy(struct mlx5_ep_device *edev);
struct mlx5_ep_device *mlx5_ep_device_find(const struct ib_device *ibdev);
struct device *mlx5_ep_device_next_preexisting(unsigned long *index);
unsigned int mlx5_ep_device_forget_uverbs(void);
struct mlx5_ep_device *mlx5_ep_device_hold_wrapped(unsigned long *index,
						   bool *passed);

/* As it is named in logs and traces; NULL: what belongs to no device. */
static inline const char *
mlx5_ep_device_name(const struct mlx5_ep_device *edev)
{
	return edev ? dev_name(&edev->ibdev->dev) : "-";
}

bool mlx5_ep_device_may_attach(struct mlx5_ep_device *edev);
__printf(2, 3) int mlx5_ep_device_refuse(struct mlx5_ep_device *edev,
					 const char *fmt, ...);

#endif
