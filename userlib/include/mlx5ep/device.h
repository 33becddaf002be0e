/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_DEVICE_H
#define MLX5EP_DEVICE_H

#include <stddef.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * mlx5ep_device_attached - is the kernel module attached to a device?
 * @device: from ibv_get_device_list()
 * @reason: where the answer of the module is written, a line without newline,
 *	or NULL
 * @len: bytes at @reason
 *
 * Return: 0 if it is; -EOPNOTSUPP if it is not (@reason says why, or is empty
 * where no module is loaded).
 */
int mlx5ep_device_attached(const struct ibv_device *device, char *reason,
			   size_t len);

/* What is exported: @size is that of the structure which the program knows. */
int _mlx5ep_device_query(struct ibv_context *context,
			 struct mlx5_ep_features *features, size_t size);

/**
 * mlx5ep_device_query - what the module can do on the device of a context
 * @context: open context
 * @features: written on success; fields that the module does not know are 0
 *
 * Return: 0; -EOPNOTSUPP without the module; -EIO where the device is gone.
 */
static inline int mlx5ep_device_query(struct ibv_context *context,
				      struct mlx5_ep_features *features)
{
	return _mlx5ep_device_query(context, features, sizeof(*features));
}

#ifdef __cplusplus
}
#endif

#endif
