/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One end of DC traffic, as libmlx5 gives it to programs: a target (DCT) with a
 * shared receive queue, an initiator (DCI), and registered memory.
 *
 * Functions return 0 or -errno and print to stderr what failed.
 */
#ifndef SELFTESTS_DC_END_H
#define SELFTESTS_DC_END_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/mlx5dv.h>

#include "address.h"

#define DC_KEY 0x0123456789abcdefULL
#define DC_LEN 256u	/* bytes of a message */
#define DC_RECVS 8u
#define DC_IMM 0x5a5a1234u

struct dc_end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;	/* of sends */
	struct ibv_cq *rcq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *dct;
	struct ibv_qp *dci;
	struct address address;
	uint8_t *from;		/* what is sent, and where reads arrive */
	uint8_t *to;		/* what others write and read */
	uint8_t *received;	/* DC_RECVS messages */
};

/* Where a message goes: to this target, and for RDMA to this memory. */
struct dc_to {
	struct ibv_ah *ah;
	uint32_t dctn;
	uint64_t key;
	uint16_t stream;	/* initiators with streams */
	uint64_t addr;
	uint32_t rkey;
};

/*
 * Open an end on a device and bring its QPs up. @own: the address to use, NULL:
 * that of address_query(). @log_streams: streams of the initiator; half as many
 * may be in error. 0: none.
 */
int dc_end_open(struct dc_end *end, const char *device,
		const struct address *own, uint8_t log_streams);
void dc_end_close(struct dc_end *end);

/* Make another initiator; the old one is destroyed. */
int dc_end_renew(struct dc_end *end, uint8_t log_streams);

/* How @end reaches @peer. Return: the AH is NULL, and errno, where it fails. */
struct dc_to dc_to(struct dc_end *end, const struct dc_end *peer);

/* Fill what is sent with a pattern. */
void dc_fill(struct dc_end *end, uint8_t seed);

/*
 * Post one work request of DC_LEN bytes, or of 8 for the atomics, and wait for its
 * completion. Return: enum ibv_wc_status, or -errno.
 */
int dc_run(struct dc_end *end, const struct dc_to *to, enum ibv_wr_opcode op);

/* Post a receive, and wait for a message: its bytes, or -errno. */
int dc_recv_post(struct dc_end *end, unsigned int slot);
int dc_recv(struct dc_end *end, struct ibv_wc *wc);

#endif
