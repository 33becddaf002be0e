// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Makes one uverbs ioctl, attribute by attribute. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "sysfs.h"
#include "uverbs.h"

void uverbs_begin(struct uverbs_call *call, uint16_t object, uint16_t method)
{
	memset(call, 0, sizeof(*call));
	call->hdr.object_id = object;
	call->hdr.method_id = method;
	call->hdr.driver_id = RDMA_DRIVER_MLX5;
	call->hdr.length = sizeof(call->hdr);
}

static struct ib_uverbs_attr *uverbs_add(struct uverbs_call *call, uint16_t id,
					 uint16_t len)
{
	struct ib_uverbs_attr *attr = &call->attrs[call->hdr.num_attrs++];

	call->hdr.length += sizeof(*attr);
	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

void uverbs_in(struct uverbs_call *call, uint16_t id, const void *data,
	       uint16_t len)
{
	struct ib_uverbs_attr *attr = uverbs_add(call, id, len);

	if (len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
}

void uverbs_out(struct uverbs_call *call, uint16_t id, void *data,
		uint16_t len)
{
	uverbs_add(call, id, len)->data = (uintptr_t)data;
}

void uverbs_handle(struct uverbs_call *call, uint16_t id, uint32_t handle)
{
	uverbs_add(call, id, 0)->data = handle;
}

int uverbs_do(struct ibv_context *ctx, struct uverbs_call *call)
{
	if (ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &call->hdr))
		return -errno;
	return 0;
}

int uverbs_id(const char *name)
{
	char ids[4096], *line, *save;
	size_t len = strlen(name);
	int ret;

	ret = sysfs_read("uverbs_ids", ids, sizeof(ids));
	if (ret)
		return ret;
	for (line = strtok_r(ids, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtol(line + len, NULL, 0);
	return -ENOENT;
}

int uverbs_qp_list(struct ibv_context *ctx, uint32_t first, uint32_t room,
		   struct mlx5_ep_qp_info *qps)
{
	uint32_t entry_size = sizeof(*qps), count;
	struct uverbs_call call;
	int ret;

	uverbs_begin(&call, UVERBS_OBJECT_QP, uverbs_id("method qp list"));
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_FIRST, &first, sizeof(first));
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_QPS, qps,
		   room * sizeof(*qps));
	uverbs_out(&call, MLX5_EP_ATTR_QP_LIST_RESP_COUNT, &count,
		   sizeof(count));
	uverbs_in(&call, MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE, &entry_size,
		  sizeof(entry_size));
	ret = uverbs_do(ctx, &call);
	if (ret || count <= first)
		return ret;
	return count - first < room ? count - first : room;
}

uint32_t uverbs_xrcd_handle(struct ibv_xrcd *xrcd)
{
	/* The provider's struct of libibverbs */
	struct {
		struct ibv_xrcd xrcd;
		uint32_t comp_mask, handle;
	} *provider = (void *)xrcd;

	return provider->handle;
}
