/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the callbacks of an address space do, and how to wait for them. */
#ifndef MLX5_EP_WATCH_INVALIDATE_H
#define MLX5_EP_WATCH_INVALIDATE_H

struct mlx5_ep_watches;
struct mmu_notifier;
struct mmu_notifier_range;

int mlx5_ep_watch_invalidate_begin(struct mmu_notifier *mn,
				   const struct mmu_notifier_range *range);
void mlx5_ep_watch_invalidate_end(struct mmu_notifier *mn,
				  const struct mmu_notifier_range *range);
int mlx5_ep_watch_invalidate_wait(struct mlx5_ep_watches *ws,
				  unsigned long first, unsigned long last);

#endif /* MLX5_EP_WATCH_INVALIDATE_H */
