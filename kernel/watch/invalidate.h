/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5_EP_WATCH_INVALIDATE_H
#define MLX5_EP_WATCH_INVALIDATE_H

void mlx5_ep_watch_spaces_flush(void);

#endif /* MLX5_EP_WATCH_INVALIDATE_H */
