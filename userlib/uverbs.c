// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raw uverbs ioctls. A command is on the caller's stack. The caller adds one
 * attribute after the other and executes the command once. An error while
 * adding is stored and returned by mlx5ep_cmd_exec(), so callers check only
 * there.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "internal.h"

static struct ib_uverbs_attr *cmd_attr(struct mlx5ep_cmd *cmd, uint16_t id,
				       size_t len)
{
	struct ib_uverbs_attr *attr;

	if (cmd->hdr.num_attrs == MLX5EP_CMD_ATTRS || len > UINT16_MAX) {
		cmd->ret = -EINVAL;
		return NULL;
	}
	attr = &cmd->hdr.attrs[cmd->hdr.num_attrs++];
	memset(attr, 0, sizeof(*attr));
	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

/**
 * mlx5ep_cmd_init() - start a command
 * @object: object id, or the negative errno of mlx5ep_uverbs_id()
 * @method: method id, or a negative errno
 */
void mlx5ep_cmd_init(struct mlx5ep_cmd *cmd, int object, int method)
{
	memset(&cmd->hdr, 0, sizeof(cmd->hdr));
	cmd->ret = object < 0 ? object : method < 0 ? method : 0;
	cmd->hdr.object_id = object;
	cmd->hdr.method_id = method;
	cmd->hdr.driver_id = RDMA_DRIVER_MLX5;
}

/**
 * mlx5ep_cmd_in() - add an input
 * @data: copied if @len is 8 or less, else read by mlx5ep_cmd_exec()
 */
void mlx5ep_cmd_in(struct mlx5ep_cmd *cmd, uint16_t id, const void *data,
		   size_t len)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, len);

	if (!attr)
		return;
	if (len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
}

/**
 * mlx5ep_cmd_out() - add an output
 * @data: the kernel writes at most @len bytes here
 */
void mlx5ep_cmd_out(struct mlx5ep_cmd *cmd, uint16_t id, void *data,
		    size_t len)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, len);

	if (attr)
		attr->data = (uintptr_t)data;
}

/**
 * mlx5ep_cmd_obj() - pass an object, or receive the handle of a new one
 * @handle: of an object of the context, or 0 for an object that the call
 *	creates
 */
void mlx5ep_cmd_obj(struct mlx5ep_cmd *cmd, uint16_t id, uint32_t handle)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, 0);

	if (attr)
		attr->data = handle;
}

/**
 * mlx5ep_cmd_fd() - pass a file descriptor, or receive that of a new object
 * @fd: descriptor, or 0 for an object that the call creates
 */
void mlx5ep_cmd_fd(struct mlx5ep_cmd *cmd, uint16_t id, int fd)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, 0);

	if (attr)
		attr->data_s64 = fd;
}

/**
 * mlx5ep_cmd_exec() - run the command
 *
 * Return: 0. The first error met while filling. -EOPNOTSUPP if the kernel has
 * no such object or method. Else the kernel's errno, negative.
 */
int mlx5ep_cmd_exec(struct ibv_context *ctx, struct mlx5ep_cmd *cmd)
{
	if (cmd->ret)
		return cmd->ret;
	cmd->hdr.length = sizeof(cmd->hdr) +
		cmd->hdr.num_attrs * sizeof(cmd->hdr.attrs[0]);
	if (!ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &cmd->hdr))
		return 0;
	if (errno != EPROTONOSUPPORT)
		return -errno;
	mlx5ep_uverbs_forget(ctx);
	return -EOPNOTSUPP;
}

/**
 * mlx5ep_cmd_result() - handle or descriptor of the object that was created
 * @cmd: after mlx5ep_cmd_exec()
 *
 * Return: the value that the kernel wrote, or -ENOENT if @cmd has no attribute
 * @id.
 */
int64_t mlx5ep_cmd_result(const struct mlx5ep_cmd *cmd, uint16_t id)
{
	unsigned int i;

	for (i = 0; i < cmd->hdr.num_attrs; i++)
		if (cmd->hdr.attrs[i].attr_id == id)
			return cmd->hdr.attrs[i].data_s64;
	return -ENOENT;
}
