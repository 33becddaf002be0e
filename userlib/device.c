// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Is the module attached to a device, and what can it do there? */
#include <stdio.h>

#include <mlx5ep/device.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"

MLX5EP_EXPORT int mlx5ep_device_attached(const struct ibv_device *device,
					 char *reason, size_t len)
{
	char text[256];
	ssize_t ret;

	ret = mlx5ep_read_sysfs(device, "attached", text, sizeof(text));
	if (ret > 0 && text[ret - 1] == '\n')
		text[ret - 1] = '\0';
	if (reason)
		snprintf(reason, len, "%s", text);
	/*
	 * Behind it the module may say who does not see the device. Without the
	 * module the text is empty.
	 */
	if (strncmp(text, "yes", 3))
		return -EOPNOTSUPP;
	return 0;
}

MLX5EP_EXPORT int _mlx5ep_device_query(struct ibv_context *context,
				       struct mlx5_ep_features *features,
				       size_t size)
{
	struct mlx5ep_cmd cmd;

	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_DEVICE,
			mlx5ep_uverbs_id(context, "method device query_features"));
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_QUERY_FEATURES_RESP, features, size);
	return mlx5ep_cmd_exec(context, &cmd);
}
