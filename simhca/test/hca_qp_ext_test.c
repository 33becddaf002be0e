// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Parts of a QP that user-space libraries change by the second mask of INIT2INIT_QP and
 * RTS2RTS_QP, without a VMM: copies of memory, the source port of RoCE v2. Also the order
 * of packets, and queues without a doorbell record.
 */
#include <string.h>

#include "test/unit/pair.h"

/* Where the commands have it (offset in bits), and a bit of it */
#define MASK 0x840
#define MASK_UDP_SPORT 4u

#define COPY (1u << 24)		/* operation modifier of the request */
#define COPY_MAX (1u << LOG_MAX_MMO)
#define TO 8192u		/* in the memory of the pair */
#define STATUS 16384u
#define LEN 1000u
#define SPORT 55555u

static uint8_t udp_sport(const struct w_qp *qp, uint16_t opcode, uint32_t port)
{
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 };

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	IFC_SET(rst2init_qp_in, in, qpc.primary_address_path.udp_sport, port);
	ifc_set64(in, MASK, MASK_UDP_SPORT);
	return w_cmd(qp->hca, qp_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

/* The context of a QP, as the adapter tells it */
static const uint8_t *query(const struct w_qp *qp)
{
	static uint8_t out[IFC_SZ(query_qp_out)];
	uint8_t in[IFC_SZ(query_qp_in)] = { 0 };

	IFC_SET(query_qp_in, in, qpn, qp->qpn);
	w_must(w_cmd(qp->hca, qp_cmds, MLX5_CMD_OP_QUERY_QP, 0, 0, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_ADDR_OF(query_qp_out, out, qpc);
}

static uint32_t sport_of(const struct w_qp *qp)
{
	return IFC_GET(qpc, query(qp), primary_address_path.udp_sport);
}

static void a_source_port_is_changed_in_rts(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	/* RoCE is of Ethernet. */
	CHECK_EQ(udp_sport(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP, SPORT),
		 CMD_BAD_PARAM);
	w_hca[0].link = LINK_ETH;
	CHECK_EQ(udp_sport(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP, SPORT), 0);
	CHECK_EQ(sport_of(&p.qp[0]), SPORT);
	CHECK_EQ(udp_sport(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP, 0xbfff),
		 CMD_BAD_PARAM);
	CHECK_EQ(udp_sport(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP, 0xc000), 0);
	CHECK_EQ(sport_of(&p.qp[0]), 0xc000);
	CHECK_EQ(udp_sport(&p.qp[0], MLX5_CMD_OP_INIT2INIT_QP, SPORT),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_RTS);
}

static uint8_t allow_copies(const struct w_qp *qp)
{
	return w_qp_mmo(qp, MLX5_CMD_OP_INIT2INIT_QP);
}

static bool copying_pair(struct pair *p)
{
	struct w_qp_attr attr = w_rc_attr;

	attr.in_init = allow_copies;
	return pair_connect(p, &attr);
}

/* Copy from and to offsets of the first adapter's memory; the syndrome. */
static uint8_t copy(struct pair *p, uint32_t op, uint32_t from, uint32_t from_key,
		    uint32_t to, uint32_t to_key, uint32_t len)
{
	struct wqe_data status = { .lkey = htobe32(p->key[0]),
				   .addr = htobe64(p->mem[0] + STATUS) };
	struct wqe_ctrl ctrl;
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_MMO, W_SIGNALED, 0);
	memcpy(&ctrl, w.b, sizeof(ctrl));
	ctrl.opmod_idx_opcode |= htobe32(op);
	memcpy(w.b, &ctrl, sizeof(ctrl));
	w_add(&w, &status, sizeof(status));
	w_data(&w, p->mem[0] + from, len, from_key);
	w_data(&w, p->mem[0] + to, len, to_key);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
	return pair_syndrome(p, 10);
}

static void a_copy_stays_on_its_adapter(void)
{
	struct pair p;
	uint8_t *mem;

	CHECK(copying_pair(&p));
	pair_fill(&p, 0, LEN, 3);
	mem = w_at(0, p.mem[0]);
	CHECK_EQ(copy(&p, COPY, 0, p.key[0], TO, p.key[0], LEN), SYND_OK);
	CHECK(!memcmp(mem, mem + TO, LEN));
	CHECK_EQ(mem[TO + LEN], 0);
	/* the peer has seen no message */
	CHECK_EQ(qp_find(&w_hca[1], p.qp[1].qpn, 0)->recv_psn, w_rc_attr.rq_psn);
}

static void a_copy_needs_rights_of_both_keys(void)
{
	uint32_t readable, foreign;
	struct pair p;

	CHECK(copying_pair(&p));
	readable = w_mkey(0, p.pd[0], p.mem[0], PAIR_MEM, ACCESS_LOCAL_READ);
	foreign = w_mkey(0, w_pd(0), p.mem[0], PAIR_MEM, ACCESS_WRITES);
	CHECK_EQ(copy(&p, COPY, 0, readable, TO, p.key[0], LEN), SYND_OK);
	CHECK_EQ(copy(&p, COPY, 0, p.key[0], TO, readable, LEN), SYND_LOCAL_PROT);
	CHECK(copying_pair(&p));
	CHECK_EQ(copy(&p, COPY, 0, foreign, TO, p.key[0], LEN), SYND_LOCAL_PROT);
	CHECK(copying_pair(&p));
	CHECK_EQ(copy(&p, COPY, 0, p.key[0], PAIR_MEM - 8, p.key[0], 9),
		 SYND_LOCAL_PROT);
	CHECK(copying_pair(&p));
	CHECK_EQ(copy(&p, COPY, 0, p.key[0], TO, p.key[0], COPY_MAX + 1),
		 SYND_LOCAL_LENGTH);
}

static void only_a_qp_that_was_told_so_copies(void)
{
	struct w_qp_attr uc = w_rc_attr;
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(copy(&p, COPY, 0, p.key[0], TO, p.key[0], LEN),
		 SYND_LOCAL_QP_OP);
	CHECK(copying_pair(&p));
	CHECK_EQ(copy(&p, 2 * COPY, 0, p.key[0], TO, p.key[0], LEN),
		 SYND_LOCAL_QP_OP);
	CHECK_EQ(w_qp_mmo(&p.qp[1], MLX5_CMD_OP_RTS2RTS_QP), CMD_BAD_PARAM);
	uc.type = QP_UC;
	uc.in_init = allow_copies;
	CHECK(pair_make(&p, &uc));
	CHECK_EQ(w_qp_rts(&p.qp[0], &uc, &p.qp[1]), CMD_BAD_PARAM);
}

static void a_qp_takes_any_order_of_packets_if_its_type_does(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	attr.any_order = true;
	CHECK(pair_connect(&p, &attr));
	CHECK_EQ(IFC_GET(qpc, query(&p.qp[0]), dp_ordering_1), 1);
	CHECK_EQ(IFC_GET(qpc, query(&p.qp[0]), dp_ordering_force), 1);
	pair_fill(&p, 0, LEN, 7);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(pair_same(&p, LEN));
	attr.type = QP_UC;
	CHECK(pair_make(&p, &attr));
	CHECK_EQ(w_qp_rts(&p.qp[0], &attr, &p.qp[1]), CMD_BAD_PARAM);
}

/* Ring a queue without a doorbell record: so much is posted. */
static enum ring_result ring_to(const struct w_qp *qp, uint16_t end)
{
	return qp_ring_to(&w_hca[0], W_UAR, qp->qpn, end);
}

static void a_queue_without_a_record_runs_what_the_doorbell_says(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;
	struct cqe cqe;

	attr.no_record = true;
	CHECK(pair_connect(&p, &attr));
	pair_fill(&p, 0, LEN, 5);
	/* The record says that three are posted, and counts nothing. */
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(w_ring(&p.qp[0]), RING_BAD_STATE);
	CHECK(!w_poll(&p.scq[0], &cqe));
	CHECK_EQ(ring_to(&p.qp[0], 2), RING_OK);
	CHECK(w_poll(&p.scq[0], &cqe) && w_poll(&p.scq[0], &cqe));
	CHECK_EQ(be16toh(cqe.wqe_counter), 1);
	CHECK(!w_poll(&p.scq[0], &cqe));
	CHECK(pair_same(&p, LEN));
	CHECK_EQ(ring_to(&p.qp[0], 2 + 17), RING_BAD_STATE);
	CHECK_EQ(ring_to(&p.qp[0], 3), RING_OK);
	CHECK(w_poll(&p.scq[0], &cqe));
	p.qp[0].qpn += 1000;
	CHECK_EQ(ring_to(&p.qp[0], 3), RING_NO_QP);
}

static void a_queue_with_a_record_is_not_rung_without_it(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(ring_to(&p.qp[0], 1), RING_BAD_STATE);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_source_port_is_changed_in_rts),
	TEST(a_copy_stays_on_its_adapter),
	TEST(a_copy_needs_rights_of_both_keys),
	TEST(only_a_qp_that_was_told_so_copies),
	TEST(a_qp_takes_any_order_of_packets_if_its_type_does),
	TEST(a_queue_without_a_record_runs_what_the_doorbell_says),
	TEST(a_queue_with_a_record_is_not_rung_without_it),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
