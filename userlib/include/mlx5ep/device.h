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
 * mlx5ep_device_attached() - is the kernel module attached to a device?
 * @reason: receives the module's answer, one line without a newline; may be
 *	NULL
 * @len: size of @reason in bytes
 *
 * Return: 0 if the module is attached. -EOPNOTSUPP if it is not, or for policies and
 * limits only: @reason then says so, and what the rest waits for, or is empty if no module
 * is loaded.
 */
int mlx5ep_device_attached(const struct ibv_device *device, char *reason,
			   size_t len);

/* The exported calls. @size: size of the structure in the calling program. */
int _mlx5ep_device_query(struct ibv_context *context,
			 struct mlx5_ep_features *features, size_t size);

/**
 * mlx5ep_device_query() - what can the module do on the device of a context?
 * @features: fields that the module does not know are set to 0
 *
 * Return: 0. -EOPNOTSUPP unless mlx5ep_device_attached() says 0. -EIO if the device is
 * gone.
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
