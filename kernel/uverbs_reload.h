/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ib_uverbs comes and goes while mlx5_ep is there. */

#ifndef MLX5_EP_UVERBS_RELOAD_H
#define MLX5_EP_UVERBS_RELOAD_H

struct module;

int mlx5_ep_uverbs_reload_init(void);
void mlx5_ep_uverbs_reload_fini(void);
const char *mlx5_ep_uverbs_reload_awaits(void);
struct module *mlx5_ep_uverbs_reload_hold(void);

#endif
