/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Change a caller's request for the time of one call of the driver. */

#ifndef MLX5_EP_REQUEST_H
#define MLX5_EP_REQUEST_H

#include <rdma/ib_verbs.h>

/* Bytes that one patch may have. */
#define MLX5_EP_PATCH_MAX 32

/**
 * struct mlx5_ep_request - a caller's request for the time of one call
 * @udata: of the call
 * @node: in a list of requests that are in use
 * @mm: address space of the caller
 * @inbuf: the caller's own buffer; this and the next three are what @udata said when the
 *	call began
 * @inlen: bytes there
 * @outbuf: where the answer goes
 * @outlen: bytes that have room there
 * @file: holds the copy of a protected request; NULL for a patched one
 * @copy: address at which the copy is mapped
 * @copy_len: bytes mapped there
 * @offset: first byte that is patched
 * @len: bytes that are patched
 * @old: the caller's bytes
 * @new: our bytes
 */
struct mlx5_ep_request {
	struct ib_udata *udata;
	struct hlist_node node;
	struct mm_struct *mm;
	const void __user *inbuf;
	size_t inlen;
	const void __user *outbuf;
	size_t outlen;
	struct file *file;
	unsigned long copy;
	size_t copy_len;
	size_t offset;
	size_t len;
	u8 old[MLX5_EP_PATCH_MAX];
	u8 new[MLX5_EP_PATCH_MAX];
};

int mlx5_ep_request_begin(struct mlx5_ep_request *req, struct ib_udata *udata);
void mlx5_ep_request_end(struct mlx5_ep_request *req);
int mlx5_ep_request_patch(struct mlx5_ep_request *req, size_t offset,
			  const void *old, const void *new, size_t len);
int mlx5_ep_request_protect(struct mlx5_ep_request *req, size_t offset,
			    const void *new, size_t len);
bool mlx5_ep_request_restore(struct mlx5_ep_request *req);

#endif
