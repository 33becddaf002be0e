/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tag matching in the transfer of data. See object/xrq.h for the model.
 */
#ifndef SIMHCA_TAG_MATCH_H
#define SIMHCA_TAG_MATCH_H

#include "data/transport.h"
#include "object/xrq.h"

/* app_op of a completion: what became of a message, or which request is done */
enum {
	TM_CONSUMED = 0x1,	/* its data is being fetched */
	TM_EXPECTED = 0x2,	/* the data is there */
	TM_UNEXPECTED = 0x3,
	TM_NO_TAG = 0x4,
	TM_APPEND = 0x5,
	TM_REMOVE = 0x6,
	TM_NOOP = 0x7,
	TM_CONSUMED_MSG = 0xa,
	TM_CONSUMED_MSG_SW_RNDV = 0xb,	/* the driver is to fetch the data */
	TM_CANCELED = 0xc,	/* the data will not come */
};

/* tag_match.c */
uint8_t tm_execute(struct qp *qp, const uint8_t *tail, size_t len);
bool tm_match(struct qp *qp, const struct send_wqe *w, struct cqe *cqe,
	      enum reply *reply);
void tm_count(struct qp *qp, const struct cqe *cqe);
int rndv_fetched(struct qp *qp);
void rndv_cancel(struct qp *qp);

/* rndv.c */
void rndv_run(struct qp *qp);

#endif
