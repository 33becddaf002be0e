// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Builder of raw uverbs ioctls. A command lives on the caller's stack, is
 * filled attribute by attribute and executed once. An error while filling is
 * kept and returned by mlx5ep_cmd_exec(), so that a caller checks once.
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
 * mlx5ep_cmd_init - start a command
 * @cmd: to be filled
 * @object: object id, or a negative errno (from mlx5ep_uverbs_id())
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
 * mlx5ep_cmd_in - add an input; up to 8 bytes travel inline
 * @cmd: being filled
 * @id: attribute
 * @data: input, in place until mlx5ep_cmd_exec() returns
 * @len: its size in bytes
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
 * mlx5ep_cmd_out - add an output
 * @cmd: being filled
 * @id: attribute
 * @data: where the kernel writes
 * @len: its size in bytes
 */
void mlx5ep_cmd_out(struct mlx5ep_cmd *cmd, uint16_t id, void *data,
		    size_t len)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, len);

	if (attr)
		attr->data = (uintptr_t)data;
}

/**
 * mlx5ep_cmd_obj - name an object, or make room for the handle of a new one
 * @cmd: being filled
 * @id: attribute
 * @handle: of an object of the context; 0 for one that the call creates
 */
void mlx5ep_cmd_obj(struct mlx5ep_cmd *cmd, uint16_t id, uint32_t handle)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, 0);

	if (attr)
		attr->data = handle;
}

/**
 * mlx5ep_cmd_fd - pass a file descriptor, or make room for that of a new object
 * @cmd: being filled
 * @id: attribute
 * @fd: descriptor; 0 for one that the call creates
 */
void mlx5ep_cmd_fd(struct mlx5ep_cmd *cmd, uint16_t id, int fd)
{
	struct ib_uverbs_attr *attr = cmd_attr(cmd, id, 0);

	if (attr)
		attr->data_s64 = fd;
}

/**
 * mlx5ep_cmd_optional - let an older kernel ignore the attribute added last
 * @cmd: being filled
 */
void mlx5ep_cmd_optional(struct mlx5ep_cmd *cmd)
{
	if (!cmd->ret && cmd->hdr.num_attrs)
		cmd->hdr.attrs[cmd->hdr.num_attrs - 1].flags = 0;
}

/**
 * mlx5ep_cmd_exec - run the command
 * @ctx: context whose file it goes to
 * @cmd: filled command
 *
 * Return: 0; the first error met while filling; -EOPNOTSUPP where the kernel
 * knows no such object or method; else what the kernel said, negative.
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
 * mlx5ep_cmd_result - handle or descriptor of the object just created
 * @cmd: executed command
 * @id: attribute
 *
 * Return: what the kernel left there; -ENOENT without such an attribute.
 */
int64_t mlx5ep_cmd_result(const struct mlx5ep_cmd *cmd, uint16_t id)
{
	unsigned int i;

	for (i = 0; i < cmd->hdr.num_attrs; i++)
		if (cmd->hdr.attrs[i].attr_id == id)
			return cmd->hdr.attrs[i].data_s64;
	return -ENOENT;
}
