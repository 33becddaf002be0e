/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Methods on the uverbs objects of the core. */

#ifndef MLX5_EP_METHODS_H
#define MLX5_EP_METHODS_H

struct uapi_definition;

extern const struct uapi_definition mlx5_ep_device_defs[];
extern const struct uapi_definition mlx5_ep_qp_defs[];

#endif
