/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages of a context: for whom they count, and which the context holds. */

#ifndef MLX5_EP_CONTEXT_PAGES_H
#define MLX5_EP_CONTEXT_PAGES_H

#include <linux/types.h>

struct mlx5_ep_context;
struct mlx5_ep_device;
struct mlx5_ep_uuar_page;
struct mm_struct;
struct rdma_user_mmap_entry;

unsigned int mlx5_ep_budget(struct mlx5_ep_device *edev);
bool mlx5_ep_context_is_limited(const struct mlx5_ep_context *ectx);
int mlx5_ep_context_charge(struct mlx5_ep_context *ectx, unsigned int pages);
void mlx5_ep_context_uncharge(struct mlx5_ep_context *ectx, unsigned int pages);
void mlx5_ep_context_uncharge_all(struct mlx5_ep_context *ectx);
int mlx5_ep_context_charge_page(struct mlx5_ep_context *ectx);
void mlx5_ep_context_uncharge_page(struct mlx5_ep_context *ectx);
bool mlx5_ep_context_tracks_page(struct mlx5_ep_context *ectx,
				 unsigned long pgoff);
void mlx5_ep_context_track_page(struct mlx5_ep_context *ectx,
				unsigned long pgoff, void *entry);
bool mlx5_ep_context_untrack_page(struct mlx5_ep_context *ectx,
				  struct rdma_user_mmap_entry *entry);
void mlx5_ep_context_note_mm(struct mlx5_ep_uuar_page *entry,
			     struct mm_struct *mm);
void mlx5_ep_context_note_static_page(struct mlx5_ep_context *ectx,
				      unsigned int page, u32 uar);
void mlx5_ep_context_note_empty_page(struct mlx5_ep_context *ectx,
				     unsigned int page, unsigned long addr);
bool mlx5_ep_context_page_uar(struct mlx5_ep_context *ectx, unsigned int page,
			      u32 *uar);

#endif
