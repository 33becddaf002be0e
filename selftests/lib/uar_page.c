// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* UAR pages that a test allocates as uverbs objects. */
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "uar_page.h"
#include "uverbs.h"

int uar_page_ask(struct ibv_context *ctx, uint32_t *handle, uint64_t *at,
		 uint32_t *page)
{
	uint64_t type = 0;	/* BlueFlame */
	struct uverbs_call call;
	uint32_t length;
	int ret;

	uverbs_begin(&call, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	uverbs_handle(&call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	uverbs_in(&call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, &type, sizeof(type));
	uverbs_out(&call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, at,
		   sizeof(*at));
	uverbs_out(&call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length,
		   sizeof(length));
	uverbs_out(&call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, page,
		   sizeof(*page));
	ret = uverbs_do(ctx, &call);
	*handle = call.attrs[0].data;
	return ret;
}

int uar_page_alloc(struct ibv_context *ctx, uint32_t *handle, uint64_t *at)
{
	uint64_t offset = 0;
	uint32_t page;
	int ret = uar_page_ask(ctx, handle, &offset, &page);

	if (at)
		*at = offset;
	return ret;
}

int uar_page_free(struct ibv_context *ctx, uint32_t handle)
{
	struct uverbs_call call;

	uverbs_begin(&call, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	uverbs_handle(&call, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle);
	return uverbs_do(ctx, &call);
}
