/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts: the policy of each, and the UAR pages that it holds. */

#ifndef MLX5_EP_CONTEXT_H
#define MLX5_EP_CONTEXT_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "device.h"

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

void mlx5_ep_context_init(struct mlx5_ep_context *ectx,
			  struct mlx5_ep_device *edev);
int mlx5_ep_context_plan(struct mlx5_ep_context *ectx, unsigned int library,
			 unsigned int low_latency);
void mlx5_ep_context_unplan(struct mlx5_ep_context *ectx);
int mlx5_ep_context_observe(struct mlx5_ep_context *ectx,
			    unsigned int static_pages);
void mlx5_ep_context_open(struct mlx5_ep_context *ectx);
void mlx5_ep_context_close(struct mlx5_ep_context *ectx);
void mlx5_ep_context_note_static_page(struct mlx5_ep_context *ectx, unsigned int page,
			   u32 uar);
bool mlx5_ep_context_tracks_page(struct mlx5_ep_context *ectx, unsigned long pgoff);
int mlx5_ep_context_charge_page(struct mlx5_ep_context *ectx);
void mlx5_ep_context_uncharge_page(struct mlx5_ep_context *ectx);
void mlx5_ep_context_track_page(struct mlx5_ep_context *ectx, unsigned long pgoff,
			  struct rdma_user_mmap_entry *entry);
bool mlx5_ep_context_untrack_page(struct mlx5_ep_context *ectx,
			  struct rdma_user_mmap_entry *entry);
int mlx5_ep_context_set_policy(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);
void mlx5_ep_context_set_later(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings);

#endif
