/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A made-up kernel for tests of the library's calls on the host: it answers the
 * ioctls, remembers the last one, and counts the memory that the library holds. A
 * program includes this once.
 */
#ifndef XRC_FAKE_H
#define XRC_FAKE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mlx5ep.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define FAKE_OBJECT	0x100a
#define FAKE_ATTRS	16
#define FAKE_QP_NUM	99	/* of a QP that the kernel knows */
#define FAKE_NEW_NUM	98	/* of one that verbs create */
#define FAKE_NEW_HANDLE	60

static struct {
	int error;		/* that each ioctl has; 0: it succeeds */
	uint32_t handle;	/* of the next registration */
	uint32_t reg_flags;	/* the answer's */
	int no_key;		/* GETs that find no QP of the key */
	int create_error;	/* of verbs */
	int qps;		/* that verbs created and did not destroy */
	struct ibv_qp qp;
	void (*meanwhile)(void);	/* what another thread does during an ioctl */

	unsigned int calls;
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[FAKE_ATTRS];	/* as the call had them */
	struct ib_uverbs_qp_attr attr;		/* what MODIFY was given */

	bool counts;		/* memory is counted */
	int blocks;
	int left;		/* allocations that succeed; -1: all */
} fake = { .left = -1 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *block);

static bool fake_has_memory(void)
{
	if (fake.counts && !fake.left)
		return false;
	fake.left -= fake.counts && fake.left > 0;
	fake.blocks += fake.counts;
	return true;
}

void *malloc(size_t size)
{
	return fake_has_memory() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t n, size_t size)
{
	return fake_has_memory() ? __libc_calloc(n, size) : NULL;
}

void free(void *block)
{
	fake.blocks -= fake.counts && block;
	__libc_free(block);
}

/* The attribute of the last call; NULL: it had none of this id. */
static inline const struct ib_uverbs_attr *fake_attr(uint16_t id)
{
	unsigned int i;

	for (i = 0; i < fake.hdr.num_attrs; i++)
		if (fake.attrs[i].attr_id == id)
			return &fake.attrs[i];
	return NULL;
}

/* Bytes that differ from each other, and from those of another @from. */
static void fake_fill(void *to, size_t size, uint8_t from)
{
	uint8_t *byte = to;

	while (size--)
		*byte++ = from++;
}

static void fake_register(struct ib_uverbs_attr *attr)
{
	struct mlx5_ep_xrc_rcv_qp_reg *answer = (void *)(uintptr_t)attr->data;

	if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE) {
		attr->data = fake.handle;
	} else if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER) {
		answer->qp_num = FAKE_QP_NUM;
		answer->flags = fake.reg_flags;
	}
}

static void fake_answer(int method, struct ib_uverbs_attr *attr)
{
	void *data = (void *)(uintptr_t)attr->data;

	switch (method) {
	case MLX5_EP_METHOD_XRC_RCV_QP_MODIFY:
		if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR)
			memcpy(&fake.attr, data, sizeof(fake.attr));
		else if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER)
			fake_fill(data, attr->len, 1);
		break;
	case MLX5_EP_METHOD_XRC_RCV_QP_QUERY:
		if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO)
			fake_fill(data, attr->len, 2);
		else if (attr->attr_id == MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR)
			fake_fill(data, attr->len, 3);
		break;
	case MLX5_EP_METHOD_XRC_RCV_QP_UNREG:
		break;
	default:
		fake_register(attr);
	}
}

/* Stands for the one of libc, in the library too. */
int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	unsigned int i;
	va_list args;

	va_start(args, request);
	hdr = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	fake.calls++;
	if (fake.meanwhile)
		fake.meanwhile();
	fake.hdr = *hdr;
	memcpy(fake.attrs, hdr->attrs, hdr->num_attrs * sizeof(fake.attrs[0]));
	errno = fake.error;
	if (hdr->method_id == MLX5_EP_METHOD_XRC_RCV_QP_GET && fake.no_key) {
		fake.no_key--;
		errno = ENOENT;
	}
	if (errno)
		return -1;
	for (i = 0; i < hdr->num_attrs; i++)
		fake_answer(hdr->method_id, &hdr->attrs[i]);
	return 0;
}

/* Verbs create one QP at a time. */
static struct ibv_qp *fake_create_qp(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr)
{
	errno = fake.create_error;
	if (errno || fake.qps || attr->qp_type != IBV_QPT_XRC_RECV ||
	    attr->comp_mask != IBV_QP_INIT_ATTR_XRCD || !attr->xrcd)
		return NULL;
	fake.qps++;
	fake.qp.context = context;
	fake.qp.qp_num = FAKE_NEW_NUM;
	fake.qp.handle = FAKE_NEW_HANDLE;
	return &fake.qp;
}

/* Stands for the one of libibverbs, in the library too. */
int ibv_destroy_qp(struct ibv_qp *qp)
{
	fake.qps -= qp == &fake.qp;
	return 0;
}

/* As the mlx5 provider has it. */
struct fake_domain {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/* A context of a device that the module is attached to. */
struct fake_context {
	char dir[64];
	struct ibv_device dev;
	struct verbs_context verbs;
};

static int fake_put(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/mlx5_ep/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0)
		return -1;
	return fclose(file);
}

/* A context of a device without the module */
static int fake_open_stock(struct fake_context *c)
{
	char path[128];

	strcpy(c->dir, "/tmp/mlx5ep_xrc.XXXXXX");
	if (!mkdtemp(c->dir))
		return -1;
	snprintf(path, sizeof(path), "%s/mlx5_ep", c->dir);
	strcpy(c->dev.ibdev_path, c->dir);
	c->verbs.context.device = &c->dev;
	c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->verbs.sz = sizeof(c->verbs);
	c->verbs.create_qp_ex = fake_create_qp;
	return mkdir(path, 0700);
}

static inline int fake_open(struct fake_context *c)
{
	return fake_open_stock(c) ||
	       fake_put(c->dir, "abi_version", "1\n") ||
	       fake_put(c->dir, "uverbs_ids", "object xrc_rcv_qp 0x100a\n");
}

static int fake_close(struct fake_context *c)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", c->dir);
	return system(command);
}

#endif
