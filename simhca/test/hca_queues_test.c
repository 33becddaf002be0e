// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: completion queues, shared receive queues, and
 * what may be destroyed when.
 */
#include <errno.h>
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED

static unsigned int events(unsigned int hca, uint8_t type, uint32_t number)
{
	unsigned int i, n = 0;

	for (i = 0; i < w_nevents; i++)
		n += w_events[i].hca == hca && w_events[i].type == type &&
		     w_events[i].number == number;
	return n;
}

static void an_armed_cq_sends_one_event(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 0);
	w_arm(&p.scq[0], false);	/* one is there already */
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 1);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 1);
	w_arm(&p.scq[0], false);	/* the number of the last one: stale */
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 1);
	p.scq[0].arm_sn++;
	w_arm(&p.scq[0], false);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 2);
}

static void a_cq_armed_for_solicited_waits_for_that(void)
{
	struct pair p;
	unsigned int i;

	CHECK(pair_connect(&p, &w_rc_attr));
	for (i = 0; i < 3; i++)
		w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	w_arm(&p.rcq[1], true);
	pair_send(&p, WQE_OP_SEND, OK, 8);
	CHECK_EQ(events(1, EVENT_COMP, p.rcq[1].cqn), 0);
	pair_send(&p, WQE_OP_SEND, OK | WQE_SOLICITED, 8);
	CHECK_EQ(events(1, EVENT_COMP, p.rcq[1].cqn), 1);
}

static void modify_cq(struct w_cq *cq, uint16_t period, uint16_t count)
{
	uint8_t in[IFC_SZ(modify_cq_in)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(modify_cq_in, in, cq_context);

	IFC_SET(modify_cq_in, in, cqn, cq->cqn);
	IFC_SET(modify_cq_in, in,
		modify_field_select_resize_field_select.modify_field_select
			.modify_field_select, 3);
	IFC_SET(cqc, c, cq_period, period);
	IFC_SET(cqc, c, cq_max_count, count);
	CHECK_EQ(w_cmd(cq->hca, cq_cmds, MLX5_CMD_OP_MODIFY_CQ, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
}

static void moderation_gathers_completions(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	modify_cq(&p.scq[0], 3000, 3);
	w_arm(&p.scq[0], false);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 1);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	p.scq[0].arm_sn++;
	w_arm(&p.scq[0], false);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 1);
	w_run(6);
	CHECK_EQ(events(0, EVENT_COMP, p.scq[0].cqn), 2);
}

/* A pair whose requester completes on a CQ of @log_size. */
static bool small_cq(struct pair *p, unsigned int log_size)
{
	struct w_qp_attr attr = w_rc_attr;

	if (!pair_make(p, &attr))
		return false;
	attr.pd = p->pd[0];
	w_cq(&p->scq[0], 0, log_size);
	return !w_qp(&p->qp[0], 0, &attr, &p->scq[0], &p->rcq[0]) &&
	       !w_qp_rts(&p->qp[0], &attr, &p->qp[1]) &&
	       !w_qp_rts(&p->qp[1], &attr, &p->qp[0]);
}

static void an_overrun_kills_the_cq_and_the_qp(void)
{
	struct pair p;
	unsigned int i;

	CHECK(small_cq(&p, 2));
	for (i = 0; i < 4; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_RTS);
	CHECK_EQ(w_hca[0].errors[SIM_ERR_CQ_OVERRUN], 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(w_hca[0].errors[SIM_ERR_CQ_OVERRUN], 1);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);
	CHECK_EQ(events(0, EVENT_CQ_ERROR, p.scq[0].cqn), 1);
	CHECK_EQ(events(0, EVENT_QP_CATAS, p.qp[0].qpn), 1);
	for (i = 0; i < 4; i++)
		CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 0), 0xff);
}

static void a_polled_cq_goes_round_and_round(void)
{
	struct pair p;
	unsigned int i;

	CHECK(small_cq(&p, 1));
	for (i = 0; i < 40; i++) {
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
		CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	}
	CHECK_EQ(w_hca[0].errors[SIM_ERR_CQ_OVERRUN], 0);
}

static uint8_t resize(struct w_cq *cq, unsigned int log_size, uint64_t *buf)
{
	size_t len = (size_t)CQE_SIZE << log_size, i;
	uint8_t in[IFC_SZ(modify_cq_in) + 8] = { 0 };
	uint8_t *c = IFC_ADDR_OF(modify_cq_in, in, cq_context);
	uint64_t be;

	*buf = w_alloc(cq->hca, len);
	for (i = CQE_SIZE - 1; i < len; i += CQE_SIZE)
		((uint8_t *)w_at(cq->hca, *buf))[i] = 0xf0;
	IFC_SET(modify_cq_in, in, cqn, cq->cqn);
	IFC_SET(modify_cq_in, in,
		modify_field_select_resize_field_select.modify_field_select
			.modify_field_select, 7);
	IFC_SET(cqc, c, log_cq_size, log_size);
	be = htobe64(*buf);
	memcpy(IFC_ADDR_OF(modify_cq_in, in, pas), &be, sizeof(be));
	return w_cmd(cq->hca, cq_cmds, MLX5_CMD_OP_MODIFY_CQ, 1, 0, in,
		     sizeof(in), NULL, 0);
}

static void a_resize_ends_the_old_buffer(void)
{
	struct pair p;
	struct cqe cqe;
	uint64_t buf;

	CHECK(small_cq(&p, 2));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(resize(&p.scq[0], 1, &buf), CMD_BAD_SIZE_OUTS_CQES);
	CHECK_EQ(resize(&p.scq[0], 4, &buf), 0);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESIZE);
	p.scq[0].buf = buf;
	p.scq[0].log_size = 4;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 8);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
}

/* Adapter 1 receives on a shared queue of 8. */
static bool shared(struct pair *p, struct w_srq *srq, enum w_rmp_kind kind)
{
	struct w_qp_attr attr = w_rc_attr;

	if (!pair_make(p, &attr))
		return false;
	w_rmp(srq, 1, p->pd[1], kind);
	attr.pd = p->pd[1];
	attr.srqn = srq->srqn;
	return !w_qp(&p->qp[1], 1, &attr, &p->scq[1], &p->rcq[1]) &&
	       !w_qp_rts(&p->qp[1], &attr, &p->qp[0]) &&
	       !w_qp_rts(&p->qp[0], &w_rc_attr, &p->qp[1]);
}

static void a_shared_queue_follows_its_links(void)
{
	struct wqe_srq_next next = { .next_wqe_index = htobe16(5) };
	struct w_srq srq;
	struct pair p;
	struct cqe cqe;

	CHECK(shared(&p, &srq, W_RMP_LIST));
	memcpy(w_at(1, srq.buf), &next, sizeof(next));
	w_srq_recv(&srq, p.mem[1], 64, p.key[1]);
	w_srq_recv(&srq, p.mem[1] + 64, 64, p.key[1]);
	pair_fill(&p, 0, 64, 1);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK(pair_same(&p, 64));
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be16toh(cqe.wqe_counter), 0);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be16toh(cqe.wqe_counter), 5);
	CHECK(!memcmp(w_at(1, p.mem[1] + 64), w_at(0, p.mem[0]), 64));
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	w_srq_recv(&srq, p.mem[1], 64, p.key[1]);
	CHECK(w_wait(&p.rcq[1], &cqe, 50));
}

static void ring_twice(enum w_rmp_kind kind)
{
	struct w_srq srq;
	struct pair p;
	struct cqe cqe;
	unsigned int i;

	CHECK(shared(&p, &srq, kind));
	for (i = 0; i < 2u << srq.log_size; i++) {
		w_srq_recv(&srq, p.mem[1], 64, p.key[1]);
		pair_fill(&p, 0, 64, i);
		pair_send(&p, WQE_OP_SEND, OK, 64);
		CHECK(pair_same(&p, 64));
		CHECK(w_poll(&p.rcq[1], &cqe));
		CHECK_EQ(be16toh(cqe.wqe_counter),
			 i & ((1u << srq.log_size) - 1));
	}
}

static void a_ring_of_receives_goes_round_and_round(void)
{
	ring_twice(W_RMP_RING_PLAIN);
}

static void a_ring_may_keep_the_segment_of_a_list(void)
{
	ring_twice(W_RMP_RING);
}

static uint8_t set_limit(const struct w_srq *srq, uint16_t lwm)
{
	uint8_t in[IFC_SZ(modify_rmp_in)] = { 0 };

	IFC_SET(modify_rmp_in, in, rmpn, srq->srqn);
	IFC_SET(modify_rmp_in, in, bitmask.lwm, 1);
	IFC_SET(modify_rmp_in, in, ctx.wq.lwm, lwm);
	return w_cmd(srq->hca, srq_cmds, MLX5_CMD_OP_MODIFY_RMP, 0, 0, in,
		     sizeof(in), NULL, 0);
}

static void the_limit_event_comes_once(void)
{
	struct w_srq srq;
	struct pair p;
	unsigned int i;

	CHECK(shared(&p, &srq, W_RMP_LIST));
	for (i = 0; i < 4; i++)
		w_srq_recv(&srq, p.mem[1], 64, p.key[1]);
	CHECK_EQ(set_limit(&srq, 3), 0);
	pair_send(&p, WQE_OP_SEND, OK, 8);
	CHECK_EQ(events(1, EVENT_SRQ_LIMIT, srq.srqn), 0);
	pair_send(&p, WQE_OP_SEND, OK, 8);
	pair_send(&p, WQE_OP_SEND, OK, 8);
	CHECK_EQ(events(1, EVENT_SRQ_LIMIT, srq.srqn), 1);
	CHECK_EQ(set_limit(&srq, 9), CMD_BAD_PARAM);
	CHECK_EQ(set_limit(&srq, 2), 0);	/* below it already */
	CHECK_EQ(events(1, EVENT_SRQ_LIMIT, srq.srqn), 2);
}

static void an_absurd_counter_kills_the_shared_queue(void)
{
	struct w_srq srq;
	struct pair p;

	CHECK(shared(&p, &srq, W_RMP_LIST));
	srq.posted = 99;
	w_srq_recv(&srq, p.mem[1], 64, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 8);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_REMOTE_OP);
	CHECK_EQ(events(1, EVENT_SRQ_CATAS, srq.srqn), 1);
	CHECK_EQ(events(1, EVENT_LAST_WQE, p.qp[1].qpn), 1);
}

static uint8_t destroy(const struct cmd_def *table, uint16_t opcode,
		       uint32_t number)
{
	uint8_t in[IFC_SZ(destroy_qp_in)] = { 0 };

	/* all of these have the number in the same place */
	IFC_SET(destroy_qp_in, in, qpn, number);
	return w_cmd(1, table, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

static void what_is_used_cannot_be_destroyed(void)
{
	struct w_srq srq;
	struct pair p;

	CHECK(shared(&p, &srq, W_RMP_LIST));
	CHECK_EQ(destroy(pd_cmds, MLX5_CMD_OP_DEALLOC_PD, p.pd[1]),
		 CMD_BAD_RES_STATE);
	CHECK_EQ(destroy(cq_cmds, MLX5_CMD_OP_DESTROY_CQ, p.rcq[1].cqn),
		 CMD_BAD_RES_STATE);
	CHECK_EQ(destroy(srq_cmds, MLX5_CMD_OP_DESTROY_RMP, srq.srqn),
		 CMD_BAD_RES_STATE);
	CHECK_EQ(destroy(srq_cmds, MLX5_CMD_OP_DESTROY_XRC_SRQ, srq.srqn),
		 CMD_BAD_RES);
	CHECK_EQ(destroy(qp_cmds, MLX5_CMD_OP_DESTROY_QP, p.qp[1].qpn), 0);
	CHECK_EQ(destroy(qp_cmds, MLX5_CMD_OP_DESTROY_QP, p.qp[1].qpn),
		 CMD_BAD_RES);
	CHECK_EQ(destroy(srq_cmds, MLX5_CMD_OP_DESTROY_RMP, srq.srqn), 0);
}

static void a_devx_user_reaches_its_own_objects_only(void)
{
	uint8_t in[IFC_SZ(dealloc_pd_in)] = { 0 };
	uint8_t out[IFC_SZ(alloc_pd_out)] = { 0 };

	CHECK_EQ(w_cmd(0, pd_cmds, MLX5_CMD_OP_ALLOC_PD, 0, 3, in, sizeof(in),
		       out, sizeof(out)), 0);
	IFC_SET(dealloc_pd_in, in, pd, IFC_GET(alloc_pd_out, out, pd));
	CHECK_EQ(w_cmd(0, pd_cmds, MLX5_CMD_OP_DEALLOC_PD, 0, 4, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES);
	CHECK_EQ(w_cmd(0, pd_cmds, MLX5_CMD_OP_DEALLOC_PD, 0, 3, in,
		       sizeof(in), NULL, 0), 0);
	IFC_SET(dealloc_pd_in, in, pd, w_pd(0));	/* the driver's */
	CHECK_EQ(w_cmd(0, pd_cmds, MLX5_CMD_OP_DEALLOC_PD, 0, 3, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES);
}

/* Query an object of the first adapter. Each QUERY names it alike. */
static uint8_t query(const struct cmd_def *table, uint16_t opcode, uint16_t uid,
		     uint32_t number)
{
	static uint8_t out[1024];
	uint8_t in[IFC_SZ(query_cq_in)] = { 0 };

	IFC_SET(query_cq_in, in, cqn, number);
	return w_cmd(0, table, opcode, 0, uid, in, sizeof(in), out,
		     sizeof(out));
}

static void a_devx_user_cannot_look_into_what_is_the_drivers(void)
{
	uint8_t in[IFC_SZ(create_qp_in)] = { 0 };
	uint8_t out[IFC_SZ(create_qp_out)];
	struct w_srq rmp, xrc;
	struct w_cq cq;

	w_cq(&cq, 0, 4);
	w_rmp(&rmp, 0, w_pd(0), W_RMP_LIST);
	w_xrc_srq(&xrc, 0, w_pd(0), w_xrcd(0), &cq);
	CHECK_EQ(query(cq_cmds, MLX5_CMD_OP_QUERY_CQ, 0, cq.cqn), 0);
	CHECK_EQ(query(cq_cmds, MLX5_CMD_OP_QUERY_CQ, 3, cq.cqn), CMD_BAD_RES);
	CHECK_EQ(query(srq_cmds, MLX5_CMD_OP_QUERY_RMP, 0, rmp.srqn), 0);
	CHECK_EQ(query(srq_cmds, MLX5_CMD_OP_QUERY_RMP, 3, rmp.srqn),
		 CMD_BAD_RES);
	CHECK_EQ(query(srq_cmds, MLX5_CMD_OP_QUERY_XRC_SRQ, 0, xrc.srqn), 0);
	CHECK_EQ(query(srq_cmds, MLX5_CMD_OP_QUERY_XRC_SRQ, 3, xrc.srqn),
		 CMD_BAD_RES);
	/* nor may it have a QP that changes keys of every PD */
	IFC_SET(create_qp_in, in, qpc.st, QP_REG_UMR);
	CHECK_EQ(w_cmd(0, qp_cmds, MLX5_CMD_OP_CREATE_QP, 0, 0, in, sizeof(in),
		       out, sizeof(out)), CMD_BAD_RES);
	CHECK_EQ(w_cmd(0, qp_cmds, MLX5_CMD_OP_CREATE_QP, 0, 3, in, sizeof(in),
		       out, sizeof(out)), CMD_BAD_PARAM);
}

/* CREATE_XRC_SRQ of one page, of 2^@log times 4 KiB */
static uint8_t srq_of_pages(uint32_t log)
{
	uint8_t in[IFC_SZ(create_xrc_srq_in) + sizeof(uint64_t)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	uint8_t out[IFC_SZ(create_xrc_srq_out)];
	struct w_cq cq;

	w_cq(&cq, 0, 4);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, 3);
	IFC_SET(xrc_srqc, c, log_rq_stride, 2);
	IFC_SET(xrc_srqc, c, log_page_size, log);
	IFC_SET(xrc_srqc, c, xrcd, w_xrcd(0));
	IFC_SET(xrc_srqc, c, cqn, cq.cqn);
	IFC_SET(xrc_srqc, c, pd, w_pd(0));
	IFC_SET(xrc_srqc, c, db_record_addr_l, w_alloc(0, DB_RECORD) >> 2);
	return w_cmd(0, srq_cmds, MLX5_CMD_OP_CREATE_XRC_SRQ, 0, 0, in,
		     sizeof(in), out, sizeof(out));
}

static void pages_of_a_queue_can_be_too_large(void)
{
	CHECK_EQ(srq_of_pages(31), 0);
	CHECK_EQ(srq_of_pages(32), CMD_BAD_PARAM);
	CHECK_EQ(srq_of_pages(63), CMD_BAD_PARAM);
}

/* CREATE_UMEM of two pages, for a DevX user; @rights are MTT_*. */
static uint32_t umem(uint64_t page, unsigned int rights, uint16_t uid)
{
	uint64_t mtt[] = { htobe64(page | rights),
			   htobe64((page + SIM_PAGE) | rights) };
	uint8_t in[IFC_SZ(create_umem_in) + sizeof(mtt)] = { 0 };
	uint8_t out[IFC_SZ(create_umem_out)] = { 0 };

	IFC_SET64(create_umem_in, in, umem.num_of_mtt, ARRAY_SIZE(mtt));
	memcpy(in + IFC_SZ(create_umem_in), mtt, sizeof(mtt));
	w_must(w_cmd(0, umem_cmds, MLX5_CMD_OP_CREATE_UMEM, 0, uid, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(create_umem_out, out, umem_id);
}

static uint8_t umem_cq(uint32_t id, uint64_t offset, uint16_t uid,
		       uint32_t *cqn)
{
	uint8_t in[IFC_SZ(create_cq_in)] = { 0 };
	uint8_t out[IFC_SZ(create_cq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_cq_in, in, cq_context);
	uint8_t status;

	IFC_SET(cqc, c, log_cq_size, 4);
	IFC_SET(cqc, c, uar_page, W_UAR);
	IFC_SET(cqc, c, c_eqn_or_apu_element, W_EQN);
	IFC_SET(cqc, c, dbr_umem_valid, 1);
	IFC_SET64(cqc, c, dbr_addr, 8);
	ifc_set32(c, 0x20, 32, id);		/* dbr_umem_id */
	ifc_set64(in, 0x280, offset);		/* cq_umem_offset */
	ifc_set32(in, 0x2c0, 32, id);		/* cq_umem_id */
	IFC_SET(create_cq_in, in, cq_umem_valid, 1);
	status = w_cmd(0, cq_cmds, MLX5_CMD_OP_CREATE_CQ, 0, uid, in,
		       sizeof(in), out, sizeof(out));
	*cqn = IFC_GET(create_cq_out, out, cqn);
	return status;
}

/* Can a queue access this memory? A refusal must be counted. */
static int reached(unsigned int hca, uint64_t addr, size_t len)
{
	uint64_t before = w_hca[hca].errors[SIM_ERR_DMA_GUARD];
	bool there = dma_queue_ptr(&w_hca[hca], addr, len, true);
	bool told = w_hca[hca].errors[SIM_ERR_DMA_GUARD] == before + 1;

	return there == told ? -EINVAL : there;
}

static void a_queue_can_live_in_user_memory(void)
{
	uint8_t in[IFC_SZ(destroy_umem_in)] = { 0 };
	uint64_t page = w_alloc(0, 2 * SIM_PAGE), at = SIM_PAGE + 3072;
	uint32_t id = umem(page, MTT_READ | MTT_WRITE, 3), cqn;
	struct cqe cqe = { 0 };

	/* a UMEM alone gives no queue any memory */
	CHECK_EQ(reached(0, page + 8, DB_RECORD), 0);
	CHECK_EQ(reached(0, page + at, 1024), 0);
	CHECK_EQ(umem_cq(id, at + 1, 3, &cqn), CMD_BAD_PARAM);
	CHECK_EQ(umem_cq(id, at + 64, 3, &cqn), CMD_BAD_PARAM);
	CHECK_EQ(umem_cq(id, at, 4, &cqn), CMD_BAD_PARAM);
	CHECK_EQ(umem_cq(id, at, 3, &cqn), 0);
	CHECK_EQ(reached(0, page + 8, DB_RECORD), 1);
	CHECK_EQ(reached(0, page + at, 1024), 1);
	cqe.wqe_counter = 0x1234;
	CHECK_EQ(cq_post(cq_find(&w_hca[0], cqn, 3), &cqe, false), 0);
	CHECK(!memcmp(w_at(0, page + at + 60), &cqe.wqe_counter, 2));
	IFC_SET(destroy_umem_in, in, umem_id, id);
	CHECK_EQ(w_cmd(0, umem_cmds, MLX5_CMD_OP_DESTROY_UMEM, 0, 3, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_cq_in, in, cqn, cqn);
	CHECK_EQ(w_cmd(0, cq_cmds, MLX5_CMD_OP_DESTROY_CQ, 0, 3, in,
		       sizeof(in), NULL, 0), 0);
	CHECK_EQ(reached(0, page + at, 1024), 0);
	CHECK_EQ(reached(0, page + 8, DB_RECORD), 0);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_umem_in, in, umem_id, id);
	CHECK_EQ(w_cmd(0, umem_cmds, MLX5_CMD_OP_DESTROY_UMEM, 0, 3, in,
		       sizeof(in), NULL, 0), 0);
}

/* The memory may be a file that the user may only read. */
static void a_cq_cannot_be_where_its_user_cannot_write(void)
{
	uint64_t page = w_alloc(0, 2 * SIM_PAGE);
	uint32_t cqn;

	CHECK_EQ(umem_cq(umem(page, MTT_READ, 3), 64, 3, &cqn), CMD_BAD_PARAM);
	CHECK_EQ(umem_cq(umem(page, MTT_READ | MTT_WRITE, 3), 64, 3, &cqn), 0);
}

static void memory_that_was_taken_back_is_out_of_reach(void)
{
	struct pair p;
	struct w_cq cq;

	w_cq(&cq, 1, 7);
	CHECK_EQ(reached(1, cq.buf, sizeof(struct cqe) << 7), 1);
	CHECK_EQ(reached(1, cq.dbr, DB_RECORD), 1);
	CHECK_EQ(destroy(cq_cmds, MLX5_CMD_OP_DESTROY_CQ, cq.cqn), 0);
	CHECK_EQ(reached(1, cq.buf, sizeof(struct cqe)), 0);
	CHECK_EQ(reached(1, cq.buf + (sizeof(struct cqe) << 7) - 1, 1), 0);
	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(reached(1, p.qp[1].buf, 64), 1);
	CHECK_EQ(destroy(qp_cmds, MLX5_CMD_OP_DESTROY_QP, p.qp[1].qpn), 0);
	CHECK_EQ(reached(1, p.qp[1].buf, 64), 0);
	CHECK_EQ(reached(1, p.qp[1].buf + p.qp[1].sq_off, 64), 0);
	/* user data is no queue's */
	CHECK_EQ(reached(1, p.mem[1], 64), 0);
}

/* It is told that it may, as DPDK does, and never compresses. */
static void a_cq_may_compress(void)
{
	uint8_t in[IFC_SZ(create_cq_in) + 8] = { 0 };
	uint8_t out[IFC_SZ(query_cq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_cq_in, in, cq_context);
	size_t len;

	IFC_SET(cqc, c, log_cq_size, 4);
	IFC_SET(cqc, c, uar_page, W_UAR);
	IFC_SET(cqc, c, c_eqn_or_apu_element, W_EQN);
	IFC_SET(cqc, c, cqe_comp_en, 1);
	IFC_SET64(cqc, c, dbr_addr, w_alloc(0, DB_RECORD));
	len = w_put_pas(IFC_ADDR_OF(create_cq_in, in, pas),
			w_alloc(0, SIM_PAGE), 16 * CQE_SIZE);
	CHECK_EQ(w_cmd(0, cq_cmds, MLX5_CMD_OP_CREATE_CQ, 0, 0, in,
		       IFC_OFF(create_cq_in, pas) + len, out, sizeof(out)), 0);
	len = IFC_GET(create_cq_out, out, cqn);
	memset(in, 0, sizeof(in));
	IFC_SET(query_cq_in, in, cqn, len);
	CHECK_EQ(w_cmd(0, cq_cmds, MLX5_CMD_OP_QUERY_CQ, 0, 0, in,
		       IFC_SZ(query_cq_in), out, sizeof(out)), 0);
	c = IFC_ADDR_OF(query_cq_out, out, cq_context);
	CHECK_EQ(IFC_GET(cqc, c, cqe_comp_en), 1);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(an_armed_cq_sends_one_event),
	TEST(a_cq_armed_for_solicited_waits_for_that),
	TEST(moderation_gathers_completions),
	TEST(an_overrun_kills_the_cq_and_the_qp),
	TEST(a_polled_cq_goes_round_and_round),
	TEST(a_resize_ends_the_old_buffer),
	TEST(a_shared_queue_follows_its_links),
	TEST(a_ring_of_receives_goes_round_and_round),
	TEST(a_ring_may_keep_the_segment_of_a_list),
	TEST(the_limit_event_comes_once),
	TEST(an_absurd_counter_kills_the_shared_queue),
	TEST(what_is_used_cannot_be_destroyed),
	TEST(a_devx_user_reaches_its_own_objects_only),
	TEST(a_devx_user_cannot_look_into_what_is_the_drivers),
	TEST(pages_of_a_queue_can_be_too_large),
	TEST(a_queue_can_live_in_user_memory),
	TEST(a_cq_cannot_be_where_its_user_cannot_write),
	TEST(memory_that_was_taken_back_is_out_of_reach),
	TEST(a_cq_may_compress),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
