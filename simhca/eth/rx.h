/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What receives frames: receive queues (RQ), tables of them (RQT), and the TIRs
 * that direct frames to an RQ or an RQT.
 *
 * Invariants
 * - A frame that finds no room is dropped and counted; the queue stays as it is.
 * - The work request is copied before it is used, and it is used once.
 */
#ifndef SIMHCA_RX_H
#define SIMHCA_RX_H

#include "eth/eth.h"
#include "eth/frame.h"
#include "object/cq.h"
#include "object/qbuf.h"

#define RQT_MAX 256u	/* 1 << log_max_rqt_size */

enum { RQ_RST, RQ_RDY, RQ_ERR = 3 };

struct rq {
	struct obj obj;
	struct hca *hca;
	struct qbuf buf;
	struct cq *cq;
	uint32_t state;
	struct domain *pd;	/* NULL: none, it drops everything */
	uint32_t counter_set;
	uint32_t user_index;
	uint64_t dbr;
	uint8_t log_size;
	uint8_t log_stride;
	bool keep_tag;		/* vsd: leave the VLAN tag in the frame */
	uint16_t head;
};

/**
 * struct rqt - a table of receive queues
 * @n: how many
 * @rqs: each is held
 */
struct rqt {
	struct obj obj;
	uint32_t n;
	struct rq *rqs[RQT_MAX];
};

struct tir {
	struct obj obj;
	struct domain *td;	/* NULL: a DevX user named none */
	struct rq *rq;		/* NULL: @rqt has the queues */
	struct rqt *rqt;
	uint8_t ctx[IFC_SZ(tirc)];
};

/* ---- receive.c */
void tir_receive(struct tir *tir, const struct frame *f, uint32_t flow_tag,
		 uint32_t td);

#endif
