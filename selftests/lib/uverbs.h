/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Makes one uverbs ioctl, attribute by attribute. Nothing is checked, because
 * some tests send invalid requests.
 */
#ifndef SELFTESTS_UVERBS_H
#define SELFTESTS_UVERBS_H

#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define UVERBS_MAX_ATTRS 20

struct uverbs_call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[UVERBS_MAX_ATTRS];
};

/* Start a call of a method of an mlx5 device. */
void uverbs_begin(struct uverbs_call *call, uint16_t object, uint16_t method);
/* Attributes: data in, data out, and the handle of an object. */
void uverbs_in(struct uverbs_call *call, uint16_t id, const void *data,
	       uint16_t len);
void uverbs_out(struct uverbs_call *call, uint16_t id, void *data,
		uint16_t len);
void uverbs_handle(struct uverbs_call *call, uint16_t id, uint32_t handle);

/* uverbs_do() - make the call. Return: 0 or -errno. */
int uverbs_do(struct ibv_context *ctx, struct uverbs_call *call);

/**
 * uverbs_id() - an id as the module announces it in sysfs
 * @name: kind and name, as in "method device query_features"
 *
 * Return: the id, or -ENOENT.
 */
int uverbs_id(const char *name);

/* The kernel's handle of an XRC domain, which no public header shows. */
uint32_t uverbs_xrcd_handle(struct ibv_xrcd *xrcd);

struct mlx5_ep_qp_info;

/**
 * uverbs_qp_list() - QP_LIST of a context
 * @first: QPs to pass over
 * @room: entries of @qps
 *
 * Return: the number of entries, or -errno.
 */
int uverbs_qp_list(struct ibv_context *ctx, uint32_t first, uint32_t room,
		   struct mlx5_ep_qp_info *qps);

#endif
