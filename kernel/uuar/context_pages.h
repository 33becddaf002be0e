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

unsigned int mlx5_ep_context_pages_budget(struct mlx5_ep_device *edev);
bool mlx5_ep_context_pages_are_limited(const struct mlx5_ep_context *ectx);
int mlx5_ep_context_pages_charge(struct mlx5_ep_context *ectx,
				 unsigned int pages);
void mlx5_ep_context_pages_uncharge(struct mlx5_ep_context *ectx,
				    unsigned int pages);
void mlx5_ep_context_pages_uncharge_all(struct mlx5_ep_context *ectx);
int mlx5_ep_context_pages_reserve(struct mlx5_ep_context *ectx);
int mlx5_ep_context_pages_charge_one(struct mlx5_ep_context *ectx);
void mlx5_ep_context_pages_uncharge_one(struct mlx5_ep_context *ectx);
bool mlx5_ep_context_pages_tracks(struct mlx5_ep_context *ectx,
				  unsigned long pgoff);
void mlx5_ep_context_pages_track(struct mlx5_ep_context *ectx,
				 unsigned long pgoff, void *entry);
bool mlx5_ep_context_pages_untrack(struct mlx5_ep_context *ectx,
				   struct rdma_user_mmap_entry *entry);
void mlx5_ep_context_pages_note_mm(struct mlx5_ep_uuar_page *entry,
				   struct mm_struct *mm);
void mlx5_ep_context_pages_note_static(struct mlx5_ep_context *ectx,
				       unsigned int page, u32 uar);
void mlx5_ep_context_pages_note_empty(struct mlx5_ep_context *ectx,
				      unsigned int page, unsigned long addr);
bool mlx5_ep_context_pages_uar(struct mlx5_ep_context *ectx, unsigned int page,
			       u32 *uar);

#endif
