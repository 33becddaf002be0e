/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts: the policy of each, and the UAR pages that it holds. */

#ifndef MLX5_EP_CONTEXT_H
#define MLX5_EP_CONTEXT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "device.h"

/**
 * struct mlx5_ep_context - our side of a user context
 * @side: of the context, which begins the structure
 * @edev: attached device, which outlives the context
 * @node: in mlx5_ep_device.contexts, while the context is open
 * @settings: the policy in force
 * @source: why that policy
 * @later: policy for contexts that the process @later_tgid opens
 * @later_tgid: the process that asked for @later; NULL where none did
 * @later_node: in mlx5_ep_device.laters, once @later was asked for
 * @tgid: the process that opened the context
 * @comm: name of that process
 * @pinned: mlx5_ep cannot be unloaded while the context is open
 * @on_demand: its library allocates UAR pages by itself, where it is not told of
 *	static ones
 * @static_pages: UAR pages that the driver allocated at open
 * @reserved: UAR pages that are charged for the library's first allocation
 * @pages: the counter of @edev in which the pages of this context count
 * @user: account of the user for whom they count; NULL where there was no memory
 * @cgroup: account of the cgroup for which they count; NULL likewise
 * @low_latency: uUARs that the library rings without a lock
 * @dynamic: UAR pages allocated since open, by page offset of their mapping: the
 *	core's entry, or a value for a page that has none
 * @back_lock: held while a UAR page is allocated for the table
 * @lock: protects @settings, @source, @table, @placing, @had_qp and the list
 *	@qps with all its members
 * @placing: the policy places QPs in @table; once false it stays false
 * @had_qp: a QP was created
 * @table: the uUARs of a managed context, from open to close; NULL for an
 *	observed one
 * @qps: struct mlx5_ep_qp.node, the oldest first, and cursors of those who read
 *	it, see qp_list.c
 * @nr_qps: QPs in @qps
 * @uar_qps: struct mlx5_ep_uar_qps, by UAR page; @lock protects their members
 */
struct mlx5_ep_context {
	struct mlx5_ep_side side;
	struct mlx5_ep_device *edev;
	struct list_head node;
	struct mlx5_ep_settings settings;
	enum mlx5_ep_policy_source source;
	struct mlx5_ep_settings later;
	struct pid *later_tgid;
	struct list_head later_node;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	bool pinned;
	bool on_demand;
	unsigned int static_pages;
	unsigned int reserved;
	atomic_t *pages;
	struct mlx5_ep_account *user;
	struct mlx5_ep_account *cgroup;
	unsigned int low_latency;
	struct xarray dynamic;
	struct mutex back_lock;

	/* protects what follows */
	spinlock_t lock;
	bool placing;
	bool had_qp;
	struct mlx5_ep_uuar_table *table;
	struct list_head qps;
	unsigned int nr_qps;
	struct xarray uar_qps;
};

/**
 * enum mlx5_ep_opened - as what the driver has opened a context
 * @MLX5_EP_OPENED_OBSERVED: as its library asks, because the policy due is stock
 * @MLX5_EP_OPENED_FALLBACK: as its library asks, because the policy due could not
 *	be had
 * @MLX5_EP_OPENED_MANAGED: with a table, in which the policy due places its QPs
 */
enum mlx5_ep_opened {
	MLX5_EP_OPENED_OBSERVED,
	MLX5_EP_OPENED_FALLBACK,
	MLX5_EP_OPENED_MANAGED,
};

/**
 * mlx5_ep_context_of() - our side of a user context
 * @edev: attached device of the context
 * @uctx: context of @edev, while the driver has it
 *
 * Return: NULL where the context was opened before the device was attached
 */
static inline struct mlx5_ep_context *
mlx5_ep_context_of(struct mlx5_ep_device *edev, const struct ib_ucontext *uctx)
{
	return (void *)mlx5_ep_side_find(&edev->context_sides, uctx);
}

static_assert(!offsetof(struct mlx5_ep_context, side));

struct mlx5_ep_context *mlx5_ep_context_create(struct mlx5_ep_device *edev,
					       const struct ib_ucontext *uctx);
int mlx5_ep_context_init(struct mlx5_ep_context *ectx);
int mlx5_ep_context_plan(struct mlx5_ep_context *ectx, unsigned int library,
			 unsigned int low_latency);
void mlx5_ep_context_unplan(struct mlx5_ep_context *ectx);
int mlx5_ep_context_observe(struct mlx5_ep_context *ectx,
			    unsigned int static_pages, bool on_demand);
void mlx5_ep_context_fall_back(struct mlx5_ep_context *ectx, int error,
			       const char *why);
void mlx5_ep_context_refuse(struct mlx5_ep_context *ectx, int error,
			    const char *why);
void mlx5_ep_context_open(struct mlx5_ep_context *ectx,
			  enum mlx5_ep_opened opened);
void mlx5_ep_context_close(struct mlx5_ep_context *ectx);
int mlx5_ep_context_set_policy(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);
void mlx5_ep_context_set_later(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);
void mlx5_ep_context_info_get(struct mlx5_ep_context *ectx,
			      struct mlx5_ep_context_info *info);

#endif
