// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: XRC, an initiator on adapter 0 and a target with
 * its shared queues on adapter 1.
 */
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED

struct xrc {
	struct pair p;	/* qp[0]: INI, qp[1]: TGT */
	uint32_t xrcd;
	struct w_srq srq;
	struct w_cq cq;
	uint32_t srq_pd;
	uint32_t srq_key;
};

static bool make(struct xrc *x)
{
	struct w_qp_attr ini = w_rc_attr, tgt = w_rc_attr;
	struct pair *p = &x->p;

	ini.type = QP_XRC;
	tgt.type = QP_XRC;
	tgt.no_sq = true;
	if (!pair_make(p, &w_rc_attr))
		return false;
	x->xrcd = w_xrcd(1);
	ini.xrcd = w_xrcd(0);
	tgt.xrcd = x->xrcd;
	ini.pd = p->pd[0];
	tgt.pd = w_pd(1);	/* nobody's: the queue's PD is what counts */
	x->srq_pd = p->pd[1];
	w_cq(&x->cq, 1, 6);
	w_xrc_srq(&x->srq, 1, x->srq_pd, x->xrcd, &x->cq);
	return !w_qp(&p->qp[0], 0, &ini, &p->scq[0], &p->rcq[0]) &&
	       !w_qp(&p->qp[1], 1, &tgt, &p->scq[1], &p->rcq[1]) &&
	       !w_qp_rts(&p->qp[0], &ini, &p->qp[1]) &&
	       !w_qp_rts(&p->qp[1], &tgt, &p->qp[0]);
}

static void xrc_send(struct xrc *x, uint8_t op, uint32_t srqn, uint32_t len)
{
	struct wqe_xrc seg = { .srqn = htobe32(srqn) };
	struct pair *p = &x->p;
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, OK, 0x77);
	w_add(&w, &seg, sizeof(seg));
	if (op == WQE_OP_RDMA_WRITE || op == WQE_OP_RDMA_READ)
		w_raddr(&w, p->mem[1], p->key[1]);
	w_data(&w, p->mem[0], len, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static void a_send_lands_in_the_queue_it_names(void)
{
	struct w_srq other;
	struct xrc x;
	struct cqe cqe;

	CHECK(make(&x));
	w_xrc_srq(&other, 1, x.srq_pd, x.xrcd, &x.cq);
	w_srq_recv(&x.srq, x.p.mem[1], 64, x.p.key[1]);
	w_srq_recv(&other, x.p.mem[1] + 128, 64, x.p.key[1]);
	pair_fill(&x.p, 0, 64, 8);
	xrc_send(&x, WQE_OP_SEND, other.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_OK);
	CHECK(w_poll(&x.cq, &cqe));
	CHECK_EQ(be32toh(cqe.srqn_uidx), other.srqn);
	CHECK_EQ(be32toh(cqe.opcode_qpn), x.p.qp[1].qpn);
	CHECK(!memcmp(w_at(1, x.p.mem[1] + 128), w_at(0, x.p.mem[0]), 64));
	CHECK(!pair_same(&x.p, 64));
	xrc_send(&x, WQE_OP_SEND, x.srq.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_OK);
	CHECK(pair_same(&x.p, 64));
}

static void memory_is_checked_against_the_queues_domain(void)
{
	struct xrc x;

	CHECK(make(&x));
	pair_fill(&x.p, 0, 64, 8);
	xrc_send(&x, WQE_OP_RDMA_WRITE, x.srq.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_OK);
	CHECK(pair_same(&x.p, 64));
	xrc_send(&x, WQE_OP_RDMA_READ, x.srq.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_OK);
	x.p.key[1] = w_mkey(1, w_pd(1), x.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	xrc_send(&x, WQE_OP_RDMA_WRITE, x.srq.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_qp_state(&x.p.qp[1]), QP_ERR);
}

static void fetch_and_add(struct xrc *x, uint64_t add)
{
	struct wqe_xrc seg = { .srqn = htobe32(x->srq.srqn) };
	struct wqe_atomic a = { .swap_add = htobe64(add) };
	struct pair *p = &x->p;
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_ATOMIC_FA, OK, 0);
	w_add(&w, &seg, sizeof(seg));
	w_raddr(&w, p->mem[1], p->key[1]);
	w_add(&w, &a, sizeof(a));
	w_data(&w, p->mem[0], 8, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static void atomics_are_checked_against_the_queues_domain(void)
{
	uint64_t *mine, *theirs;
	struct xrc x;

	CHECK(make(&x));
	mine = w_at(0, x.p.mem[0]);
	theirs = w_at(1, x.p.mem[1]);
	*theirs = 40;
	fetch_and_add(&x, 2);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_OK);
	CHECK_EQ(*theirs, 42);
	CHECK_EQ(*mine, 40);
	x.p.key[1] = w_mkey(1, w_pd(1), x.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	fetch_and_add(&x, 2);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_REMOTE_ACCESS);
	CHECK_EQ(*theirs, 42);
}

static void a_queue_of_another_xrc_domain_is_refused(void)
{
	struct w_srq foreign;
	struct xrc x;

	CHECK(make(&x));
	w_xrc_srq(&foreign, 1, x.srq_pd, w_xrcd(1), &x.cq);
	w_srq_recv(&foreign, x.p.mem[1], 64, x.p.key[1]);
	xrc_send(&x, WQE_OP_SEND, foreign.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_REMOTE_INVAL_REQ);
	CHECK(w_event_seen(1, EVENT_QP_INVAL_REQ, x.p.qp[1].qpn));
}

static void a_queue_that_is_none_is_refused(void)
{
	struct w_srq plain;
	struct xrc x;

	CHECK(make(&x));
	w_rmp(&plain, 1, x.srq_pd, W_RMP_LIST);
	xrc_send(&x, WQE_OP_SEND, plain.srqn, 64);
	CHECK_EQ(pair_syndrome(&x.p, 10), SYND_REMOTE_INVAL_REQ);
}

static void an_empty_queue_makes_the_initiator_wait(void)
{
	struct xrc x;
	struct cqe cqe;

	CHECK(make(&x));
	xrc_send(&x, WQE_OP_SEND_IMM, x.srq.srqn, 64);
	CHECK(!w_wait(&x.p.scq[0], &cqe, 3));
	w_srq_recv(&x.srq, x.p.mem[1], 64, x.p.key[1]);
	CHECK_EQ(pair_syndrome(&x.p, 50), SYND_OK);
	CHECK(w_poll(&x.cq, &cqe));
	CHECK_EQ(be32toh(cqe.imm), 0x77);
}

static void arm(const struct w_srq *srq, uint16_t lwm)
{
	uint8_t in[IFC_SZ(arm_xrc_srq_in)] = { 0 };

	IFC_SET(arm_xrc_srq_in, in, xrc_srqn, srq->srqn);
	IFC_SET(arm_xrc_srq_in, in, lwm, lwm);
	CHECK_EQ(w_cmd(1, srq_cmds, MLX5_CMD_OP_ARM_XRC_SRQ, 1, 0, in,
		       sizeof(in), NULL, 0), 0);
}

static void the_limit_event_names_the_queue(void)
{
	struct xrc x;

	CHECK(make(&x));
	w_srq_recv(&x.srq, x.p.mem[1], 64, x.p.key[1]);
	arm(&x.srq, 1);
	CHECK(!w_event_seen(1, EVENT_SRQ_LIMIT, x.srq.srqn));
	xrc_send(&x, WQE_OP_SEND, x.srq.srqn, 64);
	CHECK(w_event_seen(1, EVENT_SRQ_LIMIT, x.srq.srqn));
}

static void the_target_outlives_the_initiator(void)
{
	struct xrc x;

	CHECK(make(&x));
	CHECK_EQ(w_qp_simple(&x.p.qp[0], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(w_qp_state(&x.p.qp[1]), QP_RTS);
	CHECK_EQ(w_qp_simple(&x.p.qp[1], MLX5_CMD_OP_2ERR_QP), 0);
	CHECK(w_event_seen(1, EVENT_LAST_WQE, x.p.qp[1].qpn));
	CHECK_EQ(w_qp_simple(&x.p.qp[1], MLX5_CMD_OP_DESTROY_QP), 0);
}

static void the_domain_is_held_by_its_objects(void)
{
	uint8_t in[IFC_SZ(dealloc_xrcd_in)] = { 0 };
	struct xrc x;

	CHECK(make(&x));
	IFC_SET(dealloc_xrcd_in, in, xrcd, x.xrcd);
	CHECK_EQ(w_cmd(1, pd_cmds, MLX5_CMD_OP_DEALLOC_XRCD, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	CHECK_EQ(w_qp_simple(&x.p.qp[1], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(w_cmd(1, pd_cmds, MLX5_CMD_OP_DEALLOC_XRCD, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_xrc_srq_in, in, xrc_srqn, x.srq.srqn);
	CHECK_EQ(w_cmd(1, srq_cmds, MLX5_CMD_OP_DESTROY_XRC_SRQ, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
	memset(in, 0, sizeof(in));
	IFC_SET(dealloc_xrcd_in, in, xrcd, x.xrcd);
	CHECK_EQ(w_cmd(1, pd_cmds, MLX5_CMD_OP_DEALLOC_XRCD, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_send_lands_in_the_queue_it_names),
	TEST(memory_is_checked_against_the_queues_domain),
	TEST(atomics_are_checked_against_the_queues_domain),
	TEST(a_queue_of_another_xrc_domain_is_refused),
	TEST(a_queue_that_is_none_is_refused),
	TEST(an_empty_queue_makes_the_initiator_wait),
	TEST(the_limit_event_names_the_queue),
	TEST(the_target_outlives_the_initiator),
	TEST(the_domain_is_held_by_its_objects),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
