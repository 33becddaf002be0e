// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Contexts as the tests of limits open and try them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "ctx_open.h"
#include "uverbs.h"
#include "verbs.h"

struct ibv_context *ctx_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	struct ibv_device *device;
	int err;

	if (!list)
		return NULL;
	device = verbs_find_device(list, verbs_device_name());
	if (device)
		ctx = ibv_open_device(device);
	err = errno;
	ibv_free_device_list(list);
	errno = err;
	return ctx;
}

int ctx_device_file(char *path, size_t size)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device;

	if (!list)
		return -errno;
	device = verbs_find_device(list, verbs_device_name());
	if (device)
		snprintf(path, size, "/dev/infiniband/%s", device->dev_name);
	ibv_free_device_list(list);
	return device ? 0 : -ENODEV;
}

static int open_answered(const char *path,
			 const struct mlx5_ib_alloc_ucontext_req_v2 *req,
			 uint16_t len, void *answer, uint16_t answer_len)
{
	struct ibv_context ctx = {};
	struct uverbs_call call;
	uint32_t vectors;
	uint64_t core;
	int ret;

	ctx.cmd_fd = open(path, O_RDWR | O_CLOEXEC);
	if (ctx.cmd_fd < 0)
		return -errno;
	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	uverbs_out(&call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
		   sizeof(vectors));
	uverbs_out(&call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core,
		   sizeof(core));
	uverbs_in(&call, UVERBS_ATTR_UHW_IN, req, len);
	uverbs_out(&call, UVERBS_ATTR_UHW_OUT, answer, answer_len);
	ret = uverbs_do(&ctx, &call);
	if (ret)
		close(ctx.cmd_fd);
	return ret ? ret : ctx.cmd_fd;
}

int ctx_open_file(const char *path,
		  const struct mlx5_ib_alloc_ucontext_req_v2 *req, uint16_t len)
{
	struct mlx5_ib_alloc_ucontext_resp resp;

	return open_answered(path, req, len, &resp, sizeof(resp));
}

int ctx_open_answered(const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		      uint16_t len, void *answer, uint16_t answer_len)
{
	char path[CTX_DEVICE_PATH];
	int ret = ctx_device_file(path, sizeof(path));

	return ret ? ret : open_answered(path, req, len, answer, answer_len);
}

int ctx_open_request(const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		     uint16_t len)
{
	char path[CTX_DEVICE_PATH];
	int ret = ctx_device_file(path, sizeof(path));

	return ret ? ret : ctx_open_file(path, req, len);
}

int ctx_arm_cq(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *cq;
	int ret;

	if (!channel)
		return -errno;
	cq = ibv_create_cq(ctx, 8, NULL, channel, 0);
	ret = cq ? -ibv_req_notify_cq(cq, 0) : -errno;
	if (cq)
		ibv_destroy_cq(cq);
	ibv_destroy_comp_channel(channel);
	return ret;
}

int ctx_open_to_all(void)
{
	char path[CTX_DEVICE_PATH];
	int ret = ctx_device_file(path, sizeof(path));

	if (!ret && chmod(path, 0666))
		ret = -errno;
	return ret;
}
