/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_INTERNAL_H
#define MLX5EP_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define MLX5EP_EXPORT __attribute__((visibility("default")))
#define MLX5EP_CMD_ATTRS 16

/**
 * struct mlx5ep_cmd - one uverbs ioctl that is being filled
 * @ret: the first error met while filling; mlx5ep_cmd_exec() returns it
 * @hdr: the ioctl's argument, which the kernel reads
 * @room: space for @hdr and its attributes
 */
struct mlx5ep_cmd {
	int ret;
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		uint64_t room[(sizeof(struct ib_uverbs_ioctl_hdr) +
			       MLX5EP_CMD_ATTRS *
			       sizeof(struct ib_uverbs_attr)) / 8];
	};
};

void mlx5ep_cmd_init(struct mlx5ep_cmd *cmd, int object, int method);
void mlx5ep_cmd_in(struct mlx5ep_cmd *cmd, uint16_t id, const void *data,
		   size_t len);
void mlx5ep_cmd_out(struct mlx5ep_cmd *cmd, uint16_t id, void *data,
		    size_t len);
void mlx5ep_cmd_obj(struct mlx5ep_cmd *cmd, uint16_t id, uint32_t handle);
void mlx5ep_cmd_fd(struct mlx5ep_cmd *cmd, uint16_t id, int fd);
int mlx5ep_cmd_exec(struct ibv_context *ctx, struct mlx5ep_cmd *cmd);
int64_t mlx5ep_cmd_result(const struct mlx5ep_cmd *cmd, uint16_t id);

int mlx5ep_uverbs_id(struct ibv_context *ctx, const char *name);
void mlx5ep_uverbs_forget(struct ibv_context *ctx);
ssize_t mlx5ep_read_sysfs(const struct ibv_device *dev, const char *name,
			  char *buf, size_t len);

/*
 * Copy an answer into the structure of a program that was built with another
 * size of it: the copy is cut, or filled up with zeroes.
 */
static inline void mlx5ep_answer(void *to, size_t size, const void *answer,
				 size_t len)
{
	memcpy(to, answer, size < len ? size : len);
	if (size > len)
		memset((char *)to + len, 0, size - len);
}

#endif
