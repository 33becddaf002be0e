// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uUAR policy of a context, and the uUARs of its QPs: one ioctl per call.
 *
 * A structure is passed with the size that the program was built with, which
 * may be older or newer than this library. The kernel cuts its answer to that
 * size, or fills it up with zeroes.
 */
#include <string.h>

#include <mlx5ep/uuar.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"

MLX5EP_EXPORT int _mlx5ep_context_query(struct ibv_context *context,
					struct mlx5_ep_context_info *info,
					size_t size)
{
	struct mlx5ep_cmd cmd;

	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_DEVICE,
			mlx5ep_uverbs_id(context, "method device context_query"));
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_CONTEXT_QUERY_RESP, info, size);
	return mlx5ep_cmd_exec(context, &cmd);
}

MLX5EP_EXPORT int
_mlx5ep_context_set_policy(struct ibv_context *context,
			   const struct mlx5_ep_context_policy *policy,
			   size_t size)
{
	struct mlx5ep_cmd cmd;

	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_DEVICE,
			mlx5ep_uverbs_id(context,
					 "method device context_set_policy"));
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ, policy,
		      size);
	return mlx5ep_cmd_exec(context, &cmd);
}

MLX5EP_EXPORT int _mlx5ep_context_dump(struct ibv_context *context,
				       struct mlx5_ep_uuar_info *uuars,
				       unsigned int *count, size_t size)
{
	uint32_t entry_size = size;
	unsigned int room = *count;
	char none;
	struct mlx5ep_cmd cmd;
	uint32_t resp = 0;
	int ret;

	if (!size || size > UINT16_MAX)
		return -EINVAL;
	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_DEVICE,
			mlx5ep_uverbs_id(context, "method device context_dump"));
	/* An attribute's length has 16 bits. No table has that many entries. */
	if (room > UINT16_MAX / entry_size)
		room = UINT16_MAX / entry_size;
	/* The attribute is mandatory, and not empty. */
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS,
		       room ? (void *)uuars : &none,
		       room ? room * entry_size : sizeof(none));
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE, &entry_size,
		      sizeof(entry_size));
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT, &resp,
		       sizeof(resp));
	ret = mlx5ep_cmd_exec(context, &cmd);
	if (!ret)
		*count = resp;
	return ret;
}

MLX5EP_EXPORT int _mlx5ep_qp_query_uuar(struct ibv_qp *qp,
					struct mlx5_ep_qp_uuar *uuar,
					size_t size)
{
	struct mlx5ep_cmd cmd;

	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_QP,
			mlx5ep_uverbs_id(qp->context,
					 "method qp query_uuar"));
	mlx5ep_cmd_obj(&cmd, MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE, qp->handle);
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, uuar, size);
	return mlx5ep_cmd_exec(qp->context, &cmd);
}
