/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Plain libibverbs for the tests. A setup is a context with all that traffic
 * needs. An endpoint is a QP with a part of the setup's buffer. It is connected
 * to itself unless a test connects it to another, so N endpoints are N QPs. An
 * endpoint of type XRC_SEND is an initiator QP, with a target QP and an SRQ in
 * the same process.
 *
 * Functions return 0 or -errno and print to stderr what failed. They never
 * exit. They are not thread-safe: use one setup per thread, or a lock.
 */
#ifndef SELFTESTS_VERBS_H
#define SELFTESTS_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "address.h"

#define VERBS_SLICE 4096u	/* bytes to send, and as many to receive */

struct verbs_setup {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_xrcd *xrcd;	/* from the first XRC endpoint on */
	uint8_t *buf;
	size_t max_endpoints;
	size_t next;		/* first slice not handed out */
	struct address address;	/* of the port */
	bool imported;
};

struct verbs_endpoint {
	struct verbs_setup *setup;
	struct ibv_qp *qp;
	struct ibv_ah *ah;	/* UD */
	struct ibv_qp *target;	/* XRC: what @qp is connected to ... */
	struct ibv_srq *srq;	/* ... and where its sends arrive */
	uint32_t srq_num;
	struct verbs_endpoint *peer;	/* whose buffer is written and read */
	uint8_t *src, *dst;
	uint32_t seq;
};

enum verbs_op {
	VERBS_WRITE,		/* RC, XRC, UC */
	VERBS_WRITE_INLINE,	/* small enough for BlueFlame */
	VERBS_SEND,
	VERBS_SEND_INLINE,
	VERBS_READ,		/* RC, XRC */
	VERBS_ATOMIC,		/* RC, XRC: fetch and add */
};

/*
 * Name of the device under test: $MLX5_EP_DEVICE, or the first one on the bus, which
 * is that of HCA 0. The list of libibverbs has another order after a rebind.
 */
const char *verbs_device_name(void);

/*
 * Find the device of that name in a list. Return: NULL, and ENODEV, where it is
 * not there.
 */
struct ibv_device *verbs_find_device(struct ibv_device **list,
				     const char *name);

/**
 * verbs_open() - open a context with PD, CQ and a registered buffer
 * @setup: zeroed on failure
 * @device: its name, NULL for verbs_device_name()
 * @max_endpoints: endpoints to be expected; sizes the CQ and the buffer
 */
int verbs_open(struct verbs_setup *setup, const char *device,
	       size_t max_endpoints);

/**
 * verbs_import() - as verbs_open(), of a context and a PD that are open already
 * @cmd_fd: of that context, in whatever process opened it; it is duplicated
 * @pd_handle: of the PD
 *
 * Return: 0; -errno of ibv_import_device(), or of what came behind it.
 */
int verbs_import(struct verbs_setup *setup, int cmd_fd, uint32_t pd_handle,
		 size_t max_endpoints);

/* The endpoints must be gone. */
void verbs_close(struct verbs_setup *setup);

/**
 * verbs_qp_create() - make a QP as these tests use it; see errno on NULL
 * @pd: PD, or the PD of a thread domain (ibv_alloc_parent_domain())
 */
struct ibv_qp *verbs_qp_create(struct ibv_pd *pd, struct ibv_cq *cq,
			       enum ibv_qp_type type);

/*
 * Bring a QP from RESET to RTS, connected to the QP @peer at the address @to. A
 * UD QP ignores both, and so does a raw packet QP, for which @to may be NULL.
 */
int verbs_qp_connect(struct ibv_qp *qp, uint32_t peer,
		     const struct address *to);

/**
 * verbs_send_frame() - send a frame that nobody receives, and wait until it is sent
 * @qp: a raw packet QP in RTS
 * @buf: the frame; its addresses are written here
 * @len: bytes of it
 * @lkey: of the registration that covers it
 *
 * Return: 0 or -EIO
 */
int verbs_send_frame(struct ibv_qp *qp, void *buf, uint32_t len, uint32_t lkey);

/*
 * Create a QP and bring it to RTS, connected to itself. A failure prints
 * nothing.
 */
int verbs_endpoint_create(struct verbs_setup *setup,
			  struct verbs_endpoint *endpoint,
			  enum ibv_qp_type type);
/* The same in a PD of the caller. */
int verbs_endpoint_create_in(struct verbs_setup *setup, struct ibv_pd *pd,
			     struct verbs_endpoint *endpoint,
			     enum ibv_qp_type type);
void verbs_endpoint_destroy(struct verbs_endpoint *endpoint);

/**
 * verbs_uuar() - number of the uUAR that libmlx5 rings for @qp
 * @index: 2 * page + slot, counted over the pages of the context's static table
 *
 * Not for a QP in a thread domain: libmlx5 does not always say.
 *
 * Return: 0; -ENOENT where the page was allocated later; another -errno.
 */
int verbs_uuar(struct ibv_qp *qp, unsigned int *index);

/**
 * verbs_write() - write memory with RDMA and wait for the completion
 * @qp: connected; nothing else is posted to it, and @cq is its own
 * @lkey: of @from
 * @rkey: of @to
 * @seconds: to wait at most
 *
 * Return: 0; -EIO for a bad completion; -ETIMEDOUT; another -errno.
 */
int verbs_write(struct ibv_qp *qp, struct ibv_cq *cq, const void *from,
		uint32_t lkey, void *to, uint32_t rkey, uint32_t len,
		unsigned int seconds);

/* Does that QP type carry that operation? */
bool verbs_op_fits(enum ibv_qp_type type, enum verbs_op op);

/**
 * verbs_traffic() - every endpoint does @op once in each of @rounds rounds
 *
 * All post, then all are waited for (60 s), then every byte is compared with
 * what was sent.
 *
 * Return: 0; -EBADMSG for wrong data; -ETIMEDOUT; -EIO for a bad completion.
 */
int verbs_traffic(struct verbs_endpoint *endpoints, size_t n, enum verbs_op op,
		  unsigned int rounds);

/* Do every operation that the QP type has, @rounds rounds of each. */
int verbs_traffic_all(struct verbs_endpoint *endpoints, size_t n,
		      unsigned int rounds);

#endif
