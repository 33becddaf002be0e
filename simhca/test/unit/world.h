/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two adapters on one cable, without a guest. A test acts as the driver.
 * Objects, the transfer of data and the bond of two ports are the model's own.
 * world.c replaces bus, firmware and the rest of the fabric: every QP and CQ may
 * use UAR page 0x10 and EQ 1, and w_event_seen() finds the events that were posted.
 */
#ifndef SIMHCA_UNIT_WORLD_H
#define SIMHCA_UNIT_WORLD_H

#include "bus/dma.h"
#include "fw/cmd.h"
#include "object/cq.h"
#include "object/mkey.h"
#include "object/objects.h"
#include "object/qp.h"
#include "object/srq.h"
#include "object/wqe.h"
#include "test/unit/ktap.h"

#define W_UAR 0x10
#define W_EQN 1
#define W_HCAS 2
#define W_MEM (64u << 20)
#define W_EVENTS 64
#define W_LOG_RQ_STRIDE 6	/* four segments */

/* An event as it was posted. */
struct w_event {
	unsigned int hca;
	uint8_t type;
	uint32_t number;	/* of the CQ, QP or SRQ */
};

/* What the driver's event queue for page faults does: there is none at first. */
enum w_fault_queue { W_FAULTS_NONE, W_FAULTS_TAKEN, W_FAULTS_FULL };

/* A page fault that an adapter raised. */
struct w_fault {
	unsigned int hca;
	uint8_t kind;		/* enum fault_kind */
	struct event_fault ev;
};

extern enum w_fault_queue w_fault_queue;
extern struct w_fault w_faults[W_EVENTS];
extern unsigned int w_nfaults;
extern struct hca w_hca[W_HCAS];
extern struct w_event w_events[W_EVENTS];
extern unsigned int w_nevents;
extern bool w_port_down[W_HCAS];

void w_setup(void);
void w_teardown(void);
void w_eth_setup(void);
void w_eth_teardown(void);
void w_run(unsigned int ms);
bool w_event_seen(unsigned int hca, uint8_t type, uint32_t number);

/* Guest memory: allocate it, and find its host address. */
uint64_t w_alloc(unsigned int hca, size_t len);
void *w_at(unsigned int hca, uint64_t addr);

/* Run a command and return the handler's status. @out may be NULL. */
uint8_t w_cmd(unsigned int hca, const struct cmd_def *table, uint16_t opcode,
	      uint16_t op_mod, uint16_t uid, const void *in, size_t in_len,
	      void *out, size_t out_len);

void w_must(uint8_t status);
size_t w_put_pas(uint8_t *to, uint64_t addr, size_t len);

uint32_t w_pd(unsigned int hca);
uint32_t w_xrcd(unsigned int hca);

/* A CQ that a test created. */
struct w_cq {
	unsigned int hca;
	uint32_t cqn;
	uint64_t buf;
	uint64_t dbr;
	unsigned int log_size;
	uint32_t ci;
	unsigned int arm_sn;
};

void w_cq(struct w_cq *cq, unsigned int hca, unsigned int log_size);
bool w_poll(struct w_cq *cq, struct cqe *cqe);
bool w_wait(struct w_cq *cq, struct cqe *cqe, unsigned int ms);
void w_arm(struct w_cq *cq, bool solicited);
uint8_t w_opcode(const struct cqe *cqe);

/* Create an mkey in MTT mode for [addr, addr + len). @rights are ACCESS_*. */
uint32_t w_mkey(unsigned int hca, uint32_t pd, uint64_t addr, uint64_t len,
		unsigned int rights);

struct w_qp {
	unsigned int hca;
	uint32_t qpn;
	uint32_t pd;
	uint64_t buf;
	uint64_t dbr;
	uint64_t sq_off;
	unsigned int log_sq;
	unsigned int log_rq;
	uint16_t sq_pi;
	uint16_t rq_pi;
};

struct w_qp_attr {
	enum qp_type type;
	uint32_t pd;
	uint32_t srqn;
	uint32_t xrcd;
	bool no_sq;
	uint8_t retry_count;
	uint8_t rnr_retry;
	uint8_t timeout;
	uint8_t min_rnr_nak;
	uint32_t sq_psn;
	uint32_t rq_psn;
	uint32_t qkey;
	uint8_t pkey_index;	/* 1: other partition; 2: limited member of 0 */
	uint8_t mtu;
	bool rtr_only;		/* w_qp_rts() stops in RTR */
	bool fre;		/* fast registration, which no user may have */
	bool streams;		/* DC: 4 streams; 2 in error end the QP */
	bool no_record;		/* no doorbell record for requests */
	bool block_lb;		/* UD: no multicast from its own adapter */
	bool offload;		/* the adapter does rendezvous */
	bool any_order;		/* its user forces packets in any order */
	uint8_t (*in_init)(const struct w_qp *qp); /* called in INIT */
};

extern const struct w_qp_attr w_rc_attr;

uint8_t w_qp(struct w_qp *qp, unsigned int hca, const struct w_qp_attr *attr,
	     const struct w_cq *scq, const struct w_cq *rcq);
uint8_t w_qp_rts(struct w_qp *qp, const struct w_qp_attr *attr,
		 const struct w_qp *peer);
uint8_t w_qp_mmo(const struct w_qp *qp, uint16_t opcode);
uint8_t w_qp_simple(const struct w_qp *qp, uint16_t opcode);
enum qp_state w_qp_state(const struct w_qp *qp);

/* A send work request: append segments, then post it and ring the doorbell. */
struct w_wqe {
	uint8_t b[WQE_MAX];
	size_t len;
};

void w_wqe(struct w_wqe *w, const struct w_qp *qp, uint8_t op, uint8_t flags,
	   uint32_t imm);
void w_add(struct w_wqe *w, const void *seg, size_t len);
void w_raddr(struct w_wqe *w, uint64_t addr, uint32_t rkey);
void w_data(struct w_wqe *w, uint64_t addr, uint32_t len, uint32_t lkey);
void w_inline(struct w_wqe *w, const void *data, uint32_t len);
void w_post(struct w_qp *qp, struct w_wqe *w);
enum ring_result w_ring(struct w_qp *qp);
void w_recv(struct w_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey);

struct w_srq {
	unsigned int hca;
	uint32_t srqn;
	uint64_t buf;
	uint64_t dbr;
	unsigned int log_size;
	uint16_t head;
	uint16_t posted;
	bool ring;
	bool plain;
};

void w_xrc_srq(struct w_srq *srq, unsigned int hca, uint32_t pd, uint32_t xrcd,
	       const struct w_cq *cq);

/* Prepare CREATE_XRQ of a list of 8 tags, with rendezvous; the length of the command. */
size_t w_xrq(struct w_srq *srq, unsigned int hca, uint32_t pd,
	     const struct w_cq *cq, uint8_t *in);

/* The order of an RMP's work requests, and the segment they begin with. */
enum w_rmp_kind {
	W_RMP_LIST,
	W_RMP_RING,		/* a ring; next_wqe_index is not used */
	W_RMP_RING_PLAIN,	/* a ring; requests have data segments only */
};

void w_rmp(struct w_srq *srq, unsigned int hca, uint32_t pd,
	   enum w_rmp_kind kind);
void w_srq_recv(struct w_srq *srq, uint64_t addr, uint32_t len, uint32_t lkey);

#define W_SIGNALED (WQE_CE_ALWAYS << WQE_CE_SHIFT)

#endif
