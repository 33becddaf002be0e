/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of mlx5_ep share. Who may call whom: Documentation/source.md.
 * Locks: Documentation/locking.md.
 */

#ifndef MLX5_EP_H
#define MLX5_EP_H

#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mlx5/driver.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "uuar/uuar_policy.h"

/**
 * struct mlx5_ep_settings - a policy with what belongs to it
 * @policy: of enum mlx5_ep_uuar_policy
 * @strict: refuse rather than take the next level
 * @pages: static pages to ask for; 0: automatic
 */
struct mlx5_ep_settings {
	enum mlx5_ep_uuar_policy policy;
	bool strict;
	unsigned int pages;
};

/**
 * struct mlx5_ep_stock - what the driver's ib_device had before we attached
 * @create_qp: operation of the driver
 * @destroy_qp: operation of the driver
 * @alloc_ucontext: operation of the driver
 * @dealloc_ucontext: operation of the driver
 * @mmap: operation of the driver
 * @mmap_free: operation of the driver, may be NULL
 * @ufile_hw_cleanup: operation of the driver, may be NULL
 * @size_ib_ucontext: bytes of its context
 * @size_ib_qp: bytes of its QP
 * @driver_def: its uverbs tree, may be NULL
 */
struct mlx5_ep_stock {
	int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata);
	int (*destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);
	int (*alloc_ucontext)(struct ib_ucontext *uctx, struct ib_udata *udata);
	void (*dealloc_ucontext)(struct ib_ucontext *uctx);
	int (*mmap)(struct ib_ucontext *uctx, struct vm_area_struct *vma);
	void (*mmap_free)(struct rdma_user_mmap_entry *entry);
	void (*ufile_hw_cleanup)(struct ib_uverbs_file *ufile);
	size_t size_ib_ucontext;
	size_t size_ib_qp;
	const struct uapi_definition *driver_def;
};

/**
 * struct mlx5_ep_user - a user who has contexts on a device
 * @node: in mlx5_ep_device.users
 * @uid: who
 * @contexts: how many; the last one that goes frees this
 * @pages: UAR pages that they hold
 */
struct mlx5_ep_user {
	struct list_head node;
	kuid_t uid;
	unsigned int contexts;
	atomic_t pages;
};

/* Bytes of the list of exempt programs, as written and read in sysfs. */
#define MLX5_EP_EXEMPT_LEN 1024

/**
 * struct mlx5_ep_device - our side of one mlx5 ib_device
 * @kobj: the folder "mlx5_ep" in sysfs; owns this memory
 * @ibdev: the device
 * @mdev: its mlx5 core device, valid while attached
 * @auxdev: the auxiliary device that mlx5_ib drives; a reference; NULL where
 *	that was just being added
 * @debugfs: its folder there
 * @xrc: its shared XRC receive QPs, while attached
 * @attached: operations and uverbs tree are ours
 * @late: not attached, and all that is wrong is that it came before us
 * @refusal: why it is not attached
 * @stock: what to restore at detach
 * @defs: our uverbs tree, the driver's chained in front
 * @uar_alloc: what of the driver's was changed, private to uar_alloc.c
 * @managed_pages: UAR pages that managed contexts hold
 * @observed_pages: UAR pages that the others are seen to hold
 * @nr_fallback: contexts that should have been managed and could not be
 * @lock: @settings to @users, the list @contexts with each one's @later and
 *	@later_tgid, and the list @notifiers
 * @settings: policy of contexts that are opened from now on
 * @budget: UAR pages that all managed contexts may hold; 0: no limit
 * @user_limit: UAR pages that one user may hold; 0: no limit
 * @exempt: programs that stay stock, separated by spaces
 * @cgroups: policies of cgroups, struct mlx5_ep_cgroup.node
 * @users: who has contexts, struct mlx5_ep_user.node
 * @contexts: open contexts, struct mlx5_ep_context.node
 * @notifiers: open notifiers, private to notifier.c
 */
struct mlx5_ep_device {
	struct kobject kobj;
	struct ib_device *ibdev;
	struct mlx5_core_dev *mdev;
	struct device *auxdev;
	struct dentry *debugfs;
	struct mlx5_ep_xrc *xrc;
	bool attached;
	bool late;
	char refusal[80];
	struct mlx5_ep_stock stock;
	struct uapi_definition defs[3];
	struct mlx5_ep_uar_alloc *uar_alloc;
	atomic_t managed_pages;
	atomic_t observed_pages;
	atomic_t nr_fallback;

	/* protects what follows */
	struct mutex lock;
	struct mlx5_ep_settings settings;
	unsigned int budget;
	unsigned int user_limit;
	char exempt[MLX5_EP_EXEMPT_LEN];
	struct list_head cgroups;
	struct list_head users;
	struct list_head contexts;
	struct list_head notifiers;
};

/**
 * struct mlx5_ep_context - our side of a user context
 * @edev: its device; NULL for a context that was not set up
 * @node: in @edev->contexts
 * @settings: the policy in force
 * @source: of enum mlx5_ep_policy_source: why that one
 * @later: policy for contexts that the process @later_tgid opens
 * @later_tgid: thread group that asked for @later; NULL when nobody did
 * @tgid: thread group of the opener
 * @comm: its name
 * @static_pages: UAR pages allocated at open
 * @pages: @edev's count that this context's pages are in
 * @user: the opener's count that they are in too; may be NULL
 * @low_latency: the library's count
 * @dynamic: UAR pages allocated since, by page offset of their mapping: its
 *	entry, or a value for a page without one
 * @lock: @settings, @source, @table, @placing, @had_qp and the list @qps with
 *	all its members
 * @placing: the policy places QPs in @table; never true again once false
 * @had_qp: a QP was created
 * @table: uUARs; NULL when observed; allocated at open, freed at close
 * @qps: struct mlx5_ep_qp.node
 * @nr_qps: length of @qps
 *
 * Lives behind the driver's context in the same allocation, zeroed at birth.
 */
struct mlx5_ep_context {
	struct mlx5_ep_device *edev;
	struct list_head node;
	struct mlx5_ep_settings settings;
	enum mlx5_ep_policy_source source;
	struct mlx5_ep_settings later;
	struct pid *later_tgid;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	unsigned int static_pages;
	atomic_t *pages;
	struct mlx5_ep_user *user;
	unsigned int low_latency;
	struct xarray dynamic;

	/* protects what follows */
	spinlock_t lock;
	bool placing;
	bool had_qp;
	struct mlx5_ep_uuar_table *table;
	struct list_head qps;
	unsigned int nr_qps;
};

/**
 * struct mlx5_ep_qp - our side of a QP
 * @ectx: context of a user's QP that we noted; NULL for all others
 * @node: in @ectx->qps
 * @qp: the QP that this belongs to
 * @uar: UAR page named in the request; MLX5_EP_UAR_UNKNOWN when none was
 * @uuar: static bfreg index where the policy placed it; negative when it did
 *	not
 * @shared: of an XRC target QP: the registrations with it, under the lock of
 *	the device's struct mlx5_ep_xrc; NULL for none
 *
 * Lives behind the driver's QP in the same allocation, zeroed at birth.
 */
struct mlx5_ep_qp {
	struct mlx5_ep_context *ectx;
	struct list_head node;
	struct ib_qp *qp;
	u32 uar;
	int uuar;
	struct mlx5_ep_xrc_qp *shared;
};

/* main.c */
extern const char *const mlx5_ep_policy_names[];
#define MLX5_EP_NR_POLICIES (MLX5_EP_UUAR_POLICY_SHARED_UUAR + 1)

/* attach.c */
int mlx5_ep_attach_init(void);
void mlx5_ep_attach_fini(void);
struct mlx5_ep_device *mlx5_ep_device_find(const struct ib_device *ibdev);
__printf(2, 3) int mlx5_ep_device_refuse(struct mlx5_ep_device *edev,
					 const char *fmt, ...);

/* graft.c */
/* Chains of definitions within chains: mlx5_ib has two levels. */
#define MLX5_EP_DEFS_DEPTH 8

int mlx5_ep_graft_add(struct mlx5_ep_device *edev);
void mlx5_ep_graft_remove(struct mlx5_ep_device *edev);
ssize_t mlx5_ep_graft_show(char *buf);

/* uar_alloc.c */
const struct uapi_definition *
mlx5_ep_uar_alloc_hook(struct mlx5_ep_device *edev);
void mlx5_ep_uar_alloc_unhook(struct mlx5_ep_device *edev);
bool mlx5_ep_uar_alloc_is_hooked(const struct mlx5_ep_device *edev);

/* interpose.c */
int mlx5_ep_interpose_add(struct mlx5_ep_device *edev);
void mlx5_ep_interpose_remove(struct mlx5_ep_device *edev);
struct mlx5_ep_context *mlx5_ep_context_of(struct mlx5_ep_device *edev,
					   struct ib_ucontext *uctx);
struct mlx5_ep_qp *mlx5_ep_qp_of(struct mlx5_ep_device *edev,
				 struct ib_qp *qp);

/* context.c */
void mlx5_ep_context_init(struct mlx5_ep_context *ectx,
			  struct mlx5_ep_device *edev);
int mlx5_ep_context_plan(struct mlx5_ep_context *ectx, unsigned int library,
			 unsigned int low_latency);
void mlx5_ep_context_unplan(struct mlx5_ep_context *ectx);
int mlx5_ep_context_observe(struct mlx5_ep_context *ectx,
			    unsigned int static_pages);
void mlx5_ep_context_open(struct mlx5_ep_context *ectx);
void mlx5_ep_context_close(struct mlx5_ep_context *ectx);
void mlx5_ep_context_learn(struct mlx5_ep_context *ectx, unsigned int page,
			   u32 uar);
bool mlx5_ep_context_holds(struct mlx5_ep_context *ectx, unsigned long pgoff);
int mlx5_ep_context_take(struct mlx5_ep_context *ectx);
void mlx5_ep_context_untake(struct mlx5_ep_context *ectx);
void mlx5_ep_context_keep(struct mlx5_ep_context *ectx, unsigned long pgoff,
			  struct rdma_user_mmap_entry *entry);
bool mlx5_ep_context_drop(struct mlx5_ep_context *ectx,
			  struct rdma_user_mmap_entry *entry);
int mlx5_ep_context_set_policy(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);
void mlx5_ep_context_set_later(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);

/* uuar.c */
int mlx5_ep_qp_place(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     u32 *uar);
void mlx5_ep_qp_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     u32 uar);
void mlx5_ep_qp_release(struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_uuar_get(struct mlx5_ep_qp *eqp, struct mlx5_ep_qp_uuar *uuar);
void mlx5_ep_context_info_get(struct mlx5_ep_context *ectx,
			      struct mlx5_ep_context_info *info);
void mlx5_ep_uuar_info_get(const struct mlx5_ep_uuar_table *table,
			   unsigned int uuar, struct mlx5_ep_uuar_info *info);

/* methods.c */
extern const struct uapi_definition mlx5_ep_device_defs[];
extern const struct uapi_definition mlx5_ep_qp_defs[];

/* cmd.c */
int mlx5_ep_cmd_query_qp_uar(struct mlx5_core_dev *mdev, u32 qpn, u32 *uar);
unsigned int mlx5_ep_cmd_uar_pages(struct mlx5_core_dev *mdev);

/* cgroup.c */
const struct mlx5_ep_settings *
mlx5_ep_cgroup_settings(struct mlx5_ep_device *edev);
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_settings *settings);
ssize_t mlx5_ep_cgroup_show(struct mlx5_ep_device *edev, char *buf);
void mlx5_ep_cgroup_fini(struct mlx5_ep_device *edev);

/* user.c */
struct mlx5_ep_user *mlx5_ep_user_get(struct mlx5_ep_device *edev);
void mlx5_ep_user_put(struct mlx5_ep_device *edev, struct mlx5_ep_user *user);
int mlx5_ep_user_charge(struct mlx5_ep_device *edev, struct mlx5_ep_user *user,
			unsigned int least, unsigned int most);
void mlx5_ep_user_uncharge(struct mlx5_ep_user *user, unsigned int pages);

/* sysfs.c */
extern const struct kobj_type mlx5_ep_device_ktype;

/* debugfs.c */
void mlx5_ep_debugfs_init(void);
void mlx5_ep_debugfs_fini(void);
void mlx5_ep_debugfs_add(struct mlx5_ep_device *edev);
void mlx5_ep_debugfs_remove(struct mlx5_ep_device *edev);

#endif
