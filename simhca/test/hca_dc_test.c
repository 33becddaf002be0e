// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: DC, an initiator on adapter 0 and a target with
 * its shared queue on adapter 1.
 */
#include <string.h>

#include "object/dct.h"
#include "test/unit/pair.h"

#define OK W_SIGNALED
#define KEY 0x1122334455667788ull
#define LEN 64u
#define NO_ANSWER 50u	/* ms: longer than all retries */

struct dc {
	struct pair p;		/* qp[0]: the initiator; qp[1]: its like */
	struct w_srq srq;
	uint32_t dctn;
	uint64_t key;		/* what the next requests say */
	uint16_t stream;
};

static uint8_t dct_create(uint32_t pd, uint32_t cqn, uint32_t srqn,
			  uint8_t mtu, uint32_t *dctn)
{
	uint8_t in[IFC_SZ(create_dct_in)] = { 0 };
	uint8_t out[IFC_SZ(create_dct_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_dct_in, in, dct_context_entry);
	uint8_t status;

	IFC_SET(dctc, c, pd, pd);
	IFC_SET(dctc, c, cqn, cqn);
	IFC_SET(dctc, c, srqn_xrqn, srqn);
	IFC_SET64(dctc, c, dc_access_key, KEY);
	IFC_SET(dctc, c, rre, 1);
	IFC_SET(dctc, c, rwe, 1);
	IFC_SET(dctc, c, rae, 1);
	IFC_SET(dctc, c, mtu, mtu);
	IFC_SET(dctc, c, port, 1);
	IFC_SET(dctc, c, min_rnr_nak, 1);
	IFC_SET(dctc, c, user_index, 0x77);
	status = w_cmd(1, dct_cmds, MLX5_CMD_OP_CREATE_DCT, 0, 0, in,
		       sizeof(in), out, sizeof(out));
	*dctn = IFC_GET(create_dct_out, out, dctn);
	return status;
}

/* The commands of a target have its number at the same place. */
static uint8_t dct_do(const struct dc *d, uint16_t opcode)
{
	uint8_t in[IFC_SZ(destroy_dct_in)] = { 0 };

	IFC_SET(destroy_dct_in, in, dctn, d->dctn);
	return w_cmd(1, dct_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

static bool make(struct dc *d, bool streams)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair *p = &d->p;

	memset(d, 0, sizeof(*d));
	attr.type = QP_DCI;
	attr.streams = streams;
	d->key = KEY;
	if (!pair_connect(p, &attr))
		return false;
	w_rmp(&d->srq, 1, p->pd[1], W_RMP_LIST);
	return !dct_create(p->pd[1], p->rcq[1].cqn, d->srq.srqn, attr.mtu,
			   &d->dctn);
}

static void post(struct dc *d, uint8_t op, const struct wqe_atomic *atomic,
		 uint32_t len)
{
	struct wqe_av av = { .qkey = htobe32(d->key >> 32),
			     .key_low = htobe32((uint32_t)d->key),
			     .dqpn = htobe32(d->dctn | WQE_AV_EXTENDED),
			     .rlid = htobe16(2) };
	struct pair *p = &d->p;
	struct wqe_ctrl ctrl;
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, OK, 0x77);
	memcpy(&ctrl, w.b, sizeof(ctrl));
	ctrl.stream[0] = d->stream >> 8;
	ctrl.stream[1] = d->stream & 0xff;
	memcpy(w.b, &ctrl, sizeof(ctrl));
	w_add(&w, &av, sizeof(av));
	if (op != WQE_OP_SEND && op != WQE_OP_SEND_IMM)
		w_raddr(&w, p->mem[1], p->key[1]);
	if (atomic)
		w_add(&w, atomic, sizeof(*atomic));
	w_data(&w, p->mem[0], len, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static uint8_t run(struct dc *d, uint8_t op)
{
	pair_fill(&d->p, 0, LEN, d->p.qp[0].sq_pi);
	post(d, op, NULL, LEN);
	return pair_syndrome(&d->p, NO_ANSWER);
}

static void a_send_lands_in_the_targets_queue(void)
{
	struct cqe cqe;
	struct dc d;

	CHECK(make(&d, false));
	w_srq_recv(&d.srq, d.p.mem[1], LEN, d.p.key[1]);
	CHECK_EQ(run(&d, WQE_OP_SEND_IMM), SYND_OK);
	CHECK(pair_same(&d.p, LEN));
	CHECK(w_poll(&d.p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND_IMM);
	CHECK_EQ(be32toh(cqe.srqn_uidx), 0x77);
	CHECK_EQ(be32toh(cqe.opcode_qpn), d.dctn);
	CHECK_EQ(be32toh(cqe.flags_rqpn), d.p.qp[0].qpn);
	CHECK_EQ(be16toh(cqe.slid), 1);
	CHECK_EQ(be32toh(cqe.byte_cnt), LEN);
}

static void writes_reads_and_atomics_arrive(void)
{
	struct wqe_atomic add = { .swap_add = htobe64(2) };
	struct dc d;

	CHECK(make(&d, false));
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_OK);
	CHECK(pair_same(&d.p, LEN));
	pair_fill(&d.p, 1, LEN, 99);
	post(&d, WQE_OP_RDMA_READ, NULL, LEN);
	CHECK_EQ(pair_syndrome(&d.p, NO_ANSWER), SYND_OK);
	CHECK(pair_same(&d.p, LEN));
	*(uint64_t *)w_at(1, d.p.mem[1]) = 40;
	post(&d, WQE_OP_ATOMIC_FA, &add, sizeof(uint64_t));
	CHECK_EQ(pair_syndrome(&d.p, NO_ANSWER), SYND_OK);
	CHECK_EQ(*(uint64_t *)w_at(1, d.p.mem[1]), 42);
	CHECK_EQ(*(uint64_t *)w_at(0, d.p.mem[0]), 40);
}

static void another_key_gets_no_answer(void)
{
	uint8_t out[IFC_SZ(query_dct_out)] = { 0 };
	uint8_t in[IFC_SZ(query_dct_in)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(query_dct_out, out, dct_context_entry);
	struct dc d;

	CHECK(make(&d, false));
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION), 0);
	d.key = KEY ^ 1;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_RETRY_EXC);
	CHECK(!pair_same(&d.p, LEN));
	CHECK_EQ(w_qp_state(&d.p.qp[0]), QP_ERR);
	CHECK(w_event_seen(1, EVENT_DCT_KEY, d.dctn));
	IFC_SET(query_dct_in, in, dctn, d.dctn);
	CHECK_EQ(w_cmd(1, dct_cmds, MLX5_CMD_OP_QUERY_DCT, 0, 0, in, sizeof(in),
		       out, sizeof(out)), 0);
	/* the first try and w_rc_attr.retry_count more */
	CHECK_EQ(IFC_GET(dctc, c, dc_access_key_violation_count), 2);
	CHECK_EQ(IFC_GET64(dctc, c, dc_access_key), KEY);
}

static void the_high_half_of_the_key_counts_too(void)
{
	struct dc d;

	CHECK(make(&d, false));
	d.key = KEY ^ 1ull << 63;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_RETRY_EXC);
}

static void an_initiators_error_leaves_the_target_alone(void)
{
	uint32_t rights;
	struct dc d;

	CHECK(make(&d, false));
	rights = d.p.key[1];
	d.p.key[1] = w_mkey(1, w_pd(1), d.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_qp_state(&d.p.qp[0]), QP_ERR);
	CHECK(!w_event_seen(1, EVENT_QP_ACCESS, d.dctn));
	/* Its like on the target's own adapter goes on. */
	d.p.key[1] = rights;
	d.p.qp[0] = d.p.qp[1];
	d.p.scq[0] = d.p.scq[1];
	d.p.mem[0] = d.p.mem[1] + LEN;
	d.p.key[0] = d.p.key[1];
	post(&d, WQE_OP_RDMA_WRITE, NULL, LEN);
	CHECK_EQ(pair_syndrome(&d.p, NO_ANSWER), SYND_OK);
}

static void an_empty_queue_makes_the_initiator_wait(void)
{
	struct cqe cqe;
	struct dc d;

	CHECK(make(&d, false));
	post(&d, WQE_OP_SEND, NULL, LEN);
	CHECK(!w_wait(&d.p.scq[0], &cqe, 3));
	w_srq_recv(&d.srq, d.p.mem[1], LEN, d.p.key[1]);
	CHECK_EQ(pair_syndrome(&d.p, NO_ANSWER), SYND_OK);
}

static void a_drained_target_answers_nobody(void)
{
	struct dc d;

	CHECK(make(&d, false));
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_DRAIN_DCT), 0);
	CHECK(w_event_seen(1, EVENT_DCT_DRAINED, d.dctn));
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_DRAIN_DCT), CMD_BAD_RES_STATE);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_RETRY_EXC);
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_DESTROY_DCT), 0);
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_DESTROY_DCT), CMD_BAD_RES);
}

static void a_target_holds_what_it_names(void)
{
	uint8_t in[IFC_SZ(destroy_rmp_in)] = { 0 };
	struct dc d;

	CHECK(make(&d, false));
	IFC_SET(destroy_rmp_in, in, rmpn, d.srq.srqn);
	CHECK_EQ(w_cmd(1, srq_cmds, MLX5_CMD_OP_DESTROY_RMP, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	CHECK_EQ(dct_do(&d, MLX5_CMD_OP_DESTROY_DCT), 0);
	CHECK_EQ(w_cmd(1, srq_cmds, MLX5_CMD_OP_DESTROY_RMP, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
}

static void a_target_is_no_qp_and_a_qp_no_target(void)
{
	uint8_t in[IFC_SZ(destroy_dct_in)] = { 0 };
	struct w_qp target;
	struct dc d;

	CHECK(make(&d, false));
	target = (struct w_qp){ .hca = 1, .qpn = d.dctn };
	CHECK_EQ(w_qp_simple(&target, MLX5_CMD_OP_2ERR_QP), CMD_BAD_RES);
	CHECK_EQ(w_qp_simple(&target, MLX5_CMD_OP_DESTROY_QP), CMD_BAD_RES);
	IFC_SET(destroy_dct_in, in, dctn, d.p.qp[1].qpn);
	CHECK_EQ(w_cmd(1, dct_cmds, MLX5_CMD_OP_DESTROY_DCT, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES);
}

static void bad_targets_are_refused(void)
{
	struct w_srq xrc;
	uint32_t dctn;
	struct dc d;

	CHECK(make(&d, false));
	w_xrc_srq(&xrc, 1, d.p.pd[1], w_xrcd(1), &d.p.rcq[1]);
	CHECK_EQ(dct_create(d.p.pd[1], d.p.rcq[1].cqn, xrc.srqn, 3, &dctn),
		 CMD_BAD_RES);
	CHECK_EQ(dct_create(0xffff, d.p.rcq[1].cqn, d.srq.srqn, 3, &dctn),
		 CMD_BAD_RES);
	CHECK_EQ(dct_create(d.p.pd[1], d.p.rcq[1].cqn, d.srq.srqn, 0, &dctn),
		 CMD_BAD_PARAM);
	CHECK_EQ(dct_create(d.p.pd[1], d.p.rcq[1].cqn, d.srq.srqn, 7, &dctn),
		 CMD_BAD_PARAM);
}

static uint8_t stream_reset(const struct dc *d, unsigned int qp, uint8_t mask)
{
	uint8_t in[0x8a0 / 8 + 8] = { 0 };

	IFC_SET(rts2rts_qp_in, in, qpn, d->p.qp[qp].qpn);
	ifc_set32(in, 0x40, 1, 1);
	ifc_set64(in, 0x840, mask);
	ifc_set32(in, 0x890, 16, d->stream);
	return w_cmd(qp, qp_cmds, MLX5_CMD_OP_RTS2RTS_QP, 0, 0, in, sizeof(in),
		     NULL, 0);
}

/* Streams of these initiators: two in error are too many. */
static void an_error_ends_its_stream_only(void)
{
	uint32_t rights;
	struct dc d;

	CHECK(make(&d, true));
	rights = d.p.key[1];
	d.stream = 5;
	d.p.key[1] = w_mkey(1, w_pd(1), d.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_qp_state(&d.p.qp[0]), QP_RTS);
	d.p.key[1] = rights;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_FLUSH);
	CHECK(!pair_same(&d.p, LEN));
	d.stream = 0x105;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_OK);
	CHECK(pair_same(&d.p, LEN));
	d.stream = 5;
	CHECK_EQ(stream_reset(&d, 0, 2), CMD_BAD_PARAM);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_FLUSH);
	CHECK_EQ(stream_reset(&d, 0, 1), 0);
	CHECK_EQ(stream_reset(&d, 0, 1), CMD_BAD_RES_STATE);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_OK);
}

static void too_many_streams_in_error_end_the_qp(void)
{
	struct dc d;

	CHECK(make(&d, true));
	d.p.key[1] = w_mkey(1, w_pd(1), d.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	d.stream = 1;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_REMOTE_ACCESS);
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_FLUSH);
	CHECK_EQ(w_qp_state(&d.p.qp[0]), QP_RTS);
	d.stream = 2;
	CHECK_EQ(run(&d, WQE_OP_RDMA_WRITE), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_qp_state(&d.p.qp[0]), QP_ERR);
}

static void only_an_initiator_has_streams(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct w_qp qp;
	struct dc d;

	CHECK(make(&d, false));
	CHECK_EQ(stream_reset(&d, 0, 1), CMD_BAD_PARAM);
	attr.streams = true;
	CHECK_EQ(w_qp(&qp, 0, &attr, &d.p.scq[0], &d.p.rcq[0]), CMD_BAD_PARAM);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_send_lands_in_the_targets_queue),
	TEST(writes_reads_and_atomics_arrive),
	TEST(another_key_gets_no_answer),
	TEST(the_high_half_of_the_key_counts_too),
	TEST(an_initiators_error_leaves_the_target_alone),
	TEST(an_empty_queue_makes_the_initiator_wait),
	TEST(a_drained_target_answers_nobody),
	TEST(a_target_holds_what_it_names),
	TEST(a_target_is_no_qp_and_a_qp_no_target),
	TEST(bad_targets_are_refused),
	TEST(an_error_ends_its_stream_only),
	TEST(too_many_streams_in_error_end_the_qp),
	TEST(only_an_initiator_has_streams),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
