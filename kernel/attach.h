/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attach to each mlx5 ib_device as it registers. */

#ifndef MLX5_EP_ATTACH_H
#define MLX5_EP_ATTACH_H

int mlx5_ep_attach_init(void);
void mlx5_ep_attach_fini(void);

#endif
