/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * XRC for the tests. A node is one process's handle on an XRC domain, with some
 * SRQs that receive. A sender is an XRC initiator QP with a buffer.
 *
 * Functions return 0 or -errno and print to stderr what failed. They never
 * exit.
 */
#ifndef SELFTESTS_XRC_H
#define SELFTESTS_XRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <mlx5ep.h>

#include "address.h"

#define XRC_MSG 64u		/* bytes of a message */
#define XRC_DEPTH 32u		/* messages that an SRQ or a sender takes */

struct xrc_srq {
	struct ibv_srq *srq;
	uint32_t num;
	uint8_t *buf;		/* XRC_DEPTH messages */
	unsigned int next;
};

struct xrc_node {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct mlx5ep_xrcd *xrcd;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct xrc_srq *srqs;
	unsigned int n_srqs;
	struct address address;	/* of the port */
};

struct xrc_sender {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int next;
	struct address address;	/* of the port */
};

/* The name of HCA @index of the guest: mlx5_0, mlx5_1. */
const char *xrc_device(unsigned int index);

/*
 * Open a device by its name; NULL opens the device under test. Return: NULL on
 * failure.
 */
struct ibv_context *xrc_context(const char *device);

/**
 * xrc_node_open() - open a domain and make SRQs in it
 * @node: zeroed on failure
 * @device: its name, NULL for the one under test
 * @path: file that names the domain, made where it is not; NULL: a domain of
 *	this node's own
 * @n_srqs: SRQs to make, each filled with receives
 */
int xrc_node_open(struct xrc_node *node, const char *device, const char *path,
		  unsigned int n_srqs);
/* Return: 0; -EBUSY where registrations are left. */
int xrc_node_close(struct xrc_node *node);

/* Create a receive QP as a program without this module does. NULL: see errno. */
struct ibv_qp *xrc_upstream_create(struct xrc_node *node);

/**
 * xrc_node_recv() - wait for a message
 * @srq: index of the SRQ it came to
 * @msg: XRC_MSG bytes
 * @ms: to wait
 *
 * Return: 0; -ETIMEDOUT; -EIO for a completion in error.
 */
int xrc_node_recv(struct xrc_node *node, unsigned int *srq, void *msg,
		  unsigned int ms);

/**
 * xrc_sender_open() - make an initiator QP
 * @sender: zeroed on failure
 * @device: its name, NULL for the one under test
 */
int xrc_sender_open(struct xrc_sender *sender, const char *device);
void xrc_sender_close(struct xrc_sender *sender);
/* Bring the sender to RTS, connected to the receive QP @peer at @to. */
int xrc_sender_connect(struct xrc_sender *sender, uint32_t peer,
		       const struct address *to);

/**
 * xrc_sender_send() - send a message to an SRQ and wait for its completion
 * @srq_num: number of the SRQ
 * @msg: XRC_MSG bytes
 */
int xrc_sender_send(struct xrc_sender *sender, uint32_t srq_num,
		    const void *msg);

/*
 * The two halves of xrc_sender_send(): post a message; wait @ms for the
 * completion of the oldest one.
 */
int xrc_sender_post(struct xrc_sender *sender, uint32_t srq_num,
		    const void *msg);
int xrc_sender_wait(struct xrc_sender *sender, unsigned int ms);

/**
 * xrc_qp_connect() - bring a shared receive QP to RTS
 * @qp: registration; other registrants may be doing the same
 * @peer: number of the initiator QP
 * @to: where that is
 */
int xrc_qp_connect(struct mlx5ep_xrc_rcv_qp *qp, uint32_t peer,
		   const struct address *to);

/*
 * xrc_qp_step() - one of INIT, RTR, RTS; only RTR looks at @peer and @to
 *
 * Return: 1 where it was there already
 */
int xrc_qp_step(struct mlx5ep_xrc_rcv_qp *qp, enum ibv_qp_state state,
		uint32_t peer, const struct address *to);

/* Does the table of shared QPs in debugfs have one in this state? */
bool xrc_shown_in(const char *state);

/*
 * Fill a message whose bytes depend on all three arguments, or check such a
 * message.
 */
void xrc_msg_fill(void *msg, uint32_t from, uint32_t to, uint32_t seq);
bool xrc_msg_is(const void *msg, uint32_t from, uint32_t to, uint32_t seq);

#endif
