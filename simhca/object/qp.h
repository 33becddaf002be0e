/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs, and what shares their numbers: bare send and receive queues, and
 * targets of DC (object/dct.h).
 *
 * Invariants
 * - A send queue executes its work requests in order. A request is complete, or
 *   has failed, before the next one is read. While the cable takes time, later ones
 *   may be sent before, and their completions come in order.
 * - A send queue executes in qp_ring(), in its timer, after a state change, when
 *   the port comes up, when it has its turn (fabric/line.h), or when an answer comes.
 *   It never executes inside another QP's execution.
 * - A QP in error completes all its work requests with a flush error, including
 *   those that are posted later.
 * - Completions of a QP stop when its CQ is in error.
 */
#ifndef SIMHCA_QP_H
#define SIMHCA_QP_H

#include "fabric/line.h"
#include "fw/caps_odp.h"
#include "fw/uar.h"
#include "object/cq.h"
#include "object/mkey.h"
#include "object/objects.h"
#include "object/qbuf.h"
#include "object/srq.h"
#include "object/wqe.h"

/* Service type: field st of the QP context */
enum qp_type {
	QP_RC = 0x0,
	QP_UC = 0x1,
	QP_UD = 0x2,
	QP_XRC = 0x3,
	QP_DCI = 0x5,
	QP_QP0 = 0x7,
	QP_QP1 = 0x8,
	QP_REG_UMR = 0xc,
	QP_DCT = 0x100,		/* the model's own: CREATE_DCT has no st */
};

enum qp_state {
	QP_RST,
	QP_INIT,
	QP_RTR,
	QP_RTS,
	QP_SQER,
	QP_SQD,
	QP_ERR,
};

/* pm_state of a QP that has one path: the adapter has no path migration. */
#define PM_MIGRATED 0x3

enum qp_kind { QP_KIND_QP, QP_KIND_SQ, QP_KIND_DCT };

#define QPC_SIZE IFC_SZ(qpc)
#define PSN_MASK 0xffffffu
#define NO_USER_INDEX 0xffffffu
#define MAX_BAD_STREAMS (1u << LOG_MAX_DCI_ERRORED)

/**
 * struct dci_streams - streams of a DC initiator
 * @on: requests name a stream
 * @max_bad: so many streams in error move the QP to error
 * @nbad: number of streams in error
 * @bad: their numbers
 */
struct dci_streams {
	bool on;
	uint16_t max_bad;
	uint16_t nbad;
	uint16_t bad[MAX_BAD_STREAMS];
};

struct page_fault;
struct sched;
struct rndv;
struct flight;

struct qp {
	struct obj obj;
	struct hca *hca;
	enum qp_kind kind;
	enum qp_type type;
	enum qp_state state;
	uint8_t qpc[QPC_SIZE];	/* the context as the guest set it */
	uint8_t qpc_new[QPC_SIZE]; /* as it was created: 2RST goes back to it */

	struct domain *pd;
	struct domain *xrcd;
	struct cq *scq;
	struct cq *rcq;
	struct srq *srq;
	bool has_sq;
	bool has_rq;
	uint32_t uar;
	uint32_t user_index;
	uint32_t td;		/* transport domain of a bare SQ; 0: none */
	struct obj *tis;	/* of a bare SQ; NULL: none */

	struct qbuf buf;
	uint64_t dbr;
	uint64_t sq_off;	/* of the send queue in the buffer */
	uint8_t log_sq;		/* in blocks of 64 bytes */
	uint8_t log_rq;
	uint8_t log_rq_stride;
	uint16_t sq_head;	/* next block to execute */
	uint16_t rq_head;
	bool no_record;		/* doorbells tell what is posted, no record does */
	uint16_t sq_end;	/* @no_record: the block behind what is posted */
	uint16_t rung;		/* newest request that a doorbell named */
	const void *bf;		/* BlueFlame copy of the request at sq_head */
	size_t bf_len;
	bool torn;		/* @bf differs from the request in memory */

	/* Fields of the context that the transport needs for every message. */
	uint32_t remote_qpn;
	uint32_t qkey;
	uint16_t rlid;
	uint16_t pkey;		/* value */
	uint8_t mtu;		/* enum ib_mtu */
	bool rre, rwe, rae;
	bool mmo;		/* may copy memory (data/mmo.c) */
	bool drain;		/* stops behind the request that is executed */

	uint32_t send_psn;
	uint32_t recv_psn;
	struct sim_timer timer;	/* retry, RNR */
	bool waiting;		/* the request at sq_head waits for an answer */
	struct sched *group;	/* of requests (qos/sched.c) */
	struct sched *read_group; /* of data that it answers reads with */
	struct page_fault *fault; /* that it waits for */
	uint8_t fault_tries;	/* of keys in lists, resumed with an error */
	uint8_t fault_failed;	/* enum fault_side: resumed with an error there */
	uint8_t retry_left;
	uint8_t rnr_left;
	bool comm_est;
	struct dci_streams streams;

	/* While the cable takes time (data/flight.h) */
	struct turn turn;	/* to send */
	struct flight *flights;	/* under way */
	struct flight *flights_last;
	unsigned int reading;	/* of these, whose answers have data */
	bool halted;		/* the last one of these was not executed */

	struct rndv *rndv;	/* that the adapter is to do (xrq.h) */

	bool in_err_list;
	struct qp *err_next;

	uint64_t doorbells;
	uint64_t blueflame;
	uint64_t wrong_uar;
};

/* ---- qp.c */
struct qp *qp_find(struct hca *hca, uint32_t qpn, uint16_t uid);
void qp_free(struct qp *qp);
void qp_load(struct qp *qp);
struct accessor qp_accessor(const struct qp *qp);
const char *qp_type_name(const struct qp *qp);
void qp_count_ring(struct hca *hca, uint32_t qpn, bool bf, bool wrong_uar);
struct json_object *qp_dump(const struct qp *qp);

static inline bool qp_is_ud(const struct qp *qp)
{
	return qp->type == QP_UD || qp->type == QP_QP0 || qp->type == QP_QP1;
}

static inline bool qp_can_receive(const struct qp *qp)
{
	return qp->state >= QP_RTR && qp->state <= QP_SQD;
}

/* ---- qp_cmd.c, qp_modify.c, qp_ext.c */
uint8_t qp_destroy(struct cmd *cmd, struct qp *qp);
void qp_hold_refs(struct qp *qp);
uint8_t qp_modify(struct cmd *cmd);
bool qp_ext_present(const struct cmd *cmd);
uint8_t qp_ext_modify(struct cmd *cmd, struct qp *qp);

/* ---- data/ring.c */
void qp_kick(struct qp *qp);
void qp_retry(struct sim_timer *timer);
enum ring_result qp_ring(struct hca *hca, uint32_t uar, uint32_t qpn,
			 uint16_t index, const void *bf, size_t bf_len);
enum ring_result qp_ring_to(struct hca *hca, uint32_t uar, uint32_t qpn,
			    uint16_t end);

/* ---- data/qp_error.c */
void qp_init(struct hca *hca);
void qp_error(struct qp *qp, uint8_t event);
void qp_reset(struct qp *qp);
void err_list_remove(struct qp *qp);

/* ---- data/send.c, data/sq.c */
void send_init(struct qp *qp);
void send_run(struct qp *qp);
int sq_fetch(struct qp *qp, uint16_t at, uint8_t *to, size_t *len);
int sq_posted(struct qp *qp);
void sq_cqe(const struct qp *qp, uint16_t at, uint8_t op, uint8_t synd,
	    uint32_t bytes, struct cqe *cqe);
void sq_flush(struct qp *qp);

/* ---- data/recv.c */
struct recv {
	struct qp *qp;
	struct srq *srq;	/* NULL: the QP's own queue */
	struct recv_wqe wqe;
};
void recv_put_back(struct recv *r);
int recv_take(struct qp *qp, struct srq *srq, struct recv *r);
uint8_t recv_map(const struct recv *r, const struct accessor *who,
		 uint64_t len, struct sglist *out);
int recv_complete(struct recv *r, struct cqe *cqe, bool solicited);
void recv_fail(struct recv *r, uint8_t syndrome);
bool recv_flush(struct qp *qp);

#endif
