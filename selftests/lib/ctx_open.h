/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Contexts as the tests of limits open and try them. */
#ifndef SELFTESTS_CTX_OPEN_H
#define SELFTESTS_CTX_OPEN_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

/* Open the device under test with libmlx5. Return: NULL, and errno. */
struct ibv_context *ctx_open(void);

/* Bytes that the path of a file below /dev/infiniband needs at most. */
#define CTX_DEVICE_PATH (64 + IBV_SYSFS_NAME_MAX)

/* The path of its file below /dev/infiniband. Return: 0 or -errno. */
int ctx_device_file(char *path, size_t size);

/*
 * Open a file below /dev/infiniband with a request of the caller's, without
 * libmlx5. Return: a file to be closed, or -errno.
 */
int ctx_open_file(const char *path,
		  const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		  uint16_t len);

/*
 * Open the device under test with a request of the caller's, without libmlx5.
 * Return: a file to be closed, or -errno.
 */
int ctx_open_request(const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		     uint16_t len);

/* The same with the caller's memory for the driver's answer. */
int ctx_open_answered(const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		      uint16_t len, void *answer, uint16_t answer_len);

/* Create a CQ and request a notification, which rings a UAR page. */
int ctx_arm_cq(struct ibv_context *ctx);

/*
 * Let users other than root open the device under test. Return: 0 or -errno.
 */
int ctx_open_to_all(void);

#endif
