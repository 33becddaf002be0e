// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: RC and UC between two adapters of one process.
 */
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED

static void send_reaches_the_receive_buffer(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 5000, 1);
	w_recv(&p.qp[1], p.mem[1], 8192, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 5000);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
	CHECK_EQ(be32toh(cqe.byte_cnt), 5000);
	CHECK_EQ(be32toh(cqe.opcode_qpn), p.qp[1].qpn);
	CHECK_EQ(be32toh(cqe.flags_rqpn), p.qp[0].qpn);
	CHECK(pair_same(&p, 5000));
	/* 5000 bytes are 5 packets of 1024: the PSN has wrapped */
	CHECK_EQ(qp_find(&w_hca[0], p.qp[0].qpn, 0)->send_psn, 3);
	CHECK_EQ(qp_find(&w_hca[1], p.qp[1].qpn, 0)->recv_psn, 3);
}

/* The null key has no end, and what is written to it goes nowhere. */
static void a_queue_with_much_to_send_leaves_time_for_others(void)
{
	const uint32_t len = 64u << 20;
	unsigned int i;
	struct w_wqe w;
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	for (i = 0; i < 3; i++) {
		w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
		w_raddr(&w, 0, MKEY_NULL);
		w_data(&w, 0, len, MKEY_NULL);
		w_post(&p.qp[0], &w);
	}
	pair_ring_in_turns(&p);
}

static void unsignalled_sends_complete_nothing(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	pair_send(&p, WQE_OP_SEND, 0, 64);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK(!w_wait(&p.scq[0], &cqe, 2));
}

static void inline_data_wraps_around_the_queue(void)
{
	struct pair p;
	struct w_wqe w;
	struct cqe cqe;
	uint8_t data[200];
	unsigned int i;

	CHECK(pair_connect(&p, &w_rc_attr));
	for (i = 0; i < 8; i++) {
		memset(data, 'a' + i, sizeof(data));
		w_recv(&p.qp[1], p.mem[1], 512, p.key[1]);
		w_wqe(&w, &p.qp[0], WQE_OP_SEND_IMM, OK, 0xcafe + i);
		w_inline(&w, data, sizeof(data));
		w_inline(&w, data, 3);
		w_post(&p.qp[0], &w);
		CHECK_EQ(w_ring(&p.qp[0]), RING_OK);
		CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
		CHECK(w_poll(&p.rcq[1], &cqe));
		CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND_IMM);
		CHECK_EQ(be32toh(cqe.imm), 0xcafe + i);
		CHECK_EQ(be32toh(cqe.byte_cnt), sizeof(data) + 3);
		CHECK(!memcmp(w_at(1, p.mem[1]), data, sizeof(data)));
	}
}

static void writes_land_and_reads_return(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 9000, 3);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 9000);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(pair_same(&p, 9000));
	CHECK(!w_poll(&p.rcq[1], &cqe));
	pair_fill(&p, 1, 9000, 9);
	CHECK(!pair_same(&p, 9000));
	pair_send(&p, WQE_OP_RDMA_READ, OK, 9000);
	CHECK(w_wait(&p.scq[0], &cqe, 10));
	CHECK_EQ(be32toh(cqe.byte_cnt), 9000);
	CHECK(pair_same(&p, 9000));
}

static void write_with_immediate_takes_a_receive(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 100, 4);
	w_recv(&p.qp[1], p.mem[1] + 4096, 0, p.key[1]);
	pair_send(&p, WQE_OP_RDMA_WRITE_IMM, OK, 100);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_WRITE_IMM);
	CHECK_EQ(be32toh(cqe.imm), 0x11223344);
	CHECK_EQ(be32toh(cqe.byte_cnt), 100);
	CHECK(pair_same(&p, 100));
}

static void post_atomic(struct pair *p, uint8_t op, uint64_t arg, uint64_t cmp,
			uint64_t off)
{
	struct wqe_atomic a = { .swap_add = htobe64(arg),
				.compare = htobe64(cmp) };
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, OK, 0);
	w_raddr(&w, p->mem[1] + off, p->key[1]);
	w_add(&w, &a, sizeof(a));
	w_data(&w, p->mem[0], 8, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static void atomics_return_what_was_there(void)
{
	struct pair p;
	uint64_t *mine, *theirs;

	CHECK(pair_connect(&p, &w_rc_attr));
	mine = w_at(0, p.mem[0]);
	theirs = w_at(1, p.mem[1]);
	*theirs = 40;
	post_atomic(&p, WQE_OP_ATOMIC_FA, 2, 0, 0);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(*theirs, 42);
	CHECK_EQ(*mine, 40);
	post_atomic(&p, WQE_OP_ATOMIC_CS, 7, 41, 0);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(*theirs, 42);
	CHECK_EQ(*mine, 42);
	post_atomic(&p, WQE_OP_ATOMIC_CS, 7, 42, 0);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(*theirs, 7);
	post_atomic(&p, WQE_OP_ATOMIC_FA, 1, 0, 4);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_INVAL_REQ);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_ERR);
	CHECK(w_event_seen(1, EVENT_QP_INVAL_REQ, p.qp[1].qpn));
}

static void a_receiver_not_ready_is_waited_for(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK(!w_wait(&p.scq[0], &cqe, 5));
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	CHECK_EQ(pair_syndrome(&p, 50), SYND_OK);
}

static void a_receiver_never_ready_is_given_up(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	attr.rnr_retry = 3;
	CHECK(pair_connect(&p, &attr));
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 50), SYND_RNR_RETRY_EXC);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_RTS);
}

/* What a write ends in between members of two entries of the P_Key table. */
static uint8_t between(uint8_t mine, uint8_t yours)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;
	uint8_t ret;

	attr.pkey_index = mine;
	ret = !pair_make(&p, &attr) || w_qp_rts(&p.qp[0], &attr, &p.qp[1]);
	attr.pkey_index = yours;
	if (ret || w_qp_rts(&p.qp[1], &attr, &p.qp[0]))
		return 0xff;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	return pair_syndrome(&p, 100);
}

static void partitions_do_not_mix(void)
{
	CHECK_EQ(between(0, 0), SYND_OK);
	CHECK_EQ(between(1, 1), SYND_OK);
	CHECK_EQ(between(0, 1), SYND_RETRY_EXC);
	CHECK_EQ(between(1, 0), SYND_RETRY_EXC);
	/* a limited member talks to full ones alone */
	CHECK_EQ(between(0, 2), SYND_OK);
	CHECK_EQ(between(2, 0), SYND_OK);
	CHECK_EQ(between(2, 2), SYND_RETRY_EXC);
	/* no such entry */
	CHECK_EQ(between(3, 0), 0xff);
}

static void a_dead_peer_is_given_up_and_the_rest_flushed(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(w_qp_simple(&p.qp[1], MLX5_CMD_OP_2RST_QP), 0);
	w_recv(&p.qp[0], p.mem[0], 64, p.key[0]);
	pair_send(&p, WQE_OP_RDMA_WRITE, 0, 64);
	pair_send(&p, WQE_OP_RDMA_WRITE, 0, 64);
	CHECK_EQ(pair_syndrome(&p, 100), SYND_RETRY_EXC);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_FLUSH);
	CHECK(w_poll(&p.rcq[0], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_ERR);
	CHECK_EQ(cqe.syndrome, SYND_FLUSH);
	/* what is posted later is flushed too, with and without a doorbell */
	pair_send(&p, WQE_OP_RDMA_WRITE, 0, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_FLUSH);
	w_recv(&p.qp[0], p.mem[0], 64, p.key[0]);
	CHECK(w_wait(&p.rcq[0], &cqe, 100));
	CHECK_EQ(cqe.syndrome, SYND_FLUSH);
}

static void an_unexpected_sequence_number_is_not_answered(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	attr.rq_psn = 5;
	CHECK(pair_connect(&p, &attr));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 100), SYND_RETRY_EXC);
}

static void a_port_that_is_down_answers_nothing(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;
	struct cqe cqe;

	attr.timeout = 12;	/* 16 ms */
	attr.retry_count = 7;
	CHECK(pair_connect(&p, &attr));
	w_port_down[0] = true;
	w_port_down[1] = true;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK(!w_wait(&p.scq[0], &cqe, 30));
	w_port_down[0] = false;
	w_port_down[1] = false;
	CHECK_EQ(pair_syndrome(&p, 100), SYND_OK);
}

static void check_remote_access(uint64_t off, uint32_t len, uint32_t key_xor,
				unsigned int rights)
{
	struct pair p;
	struct w_wqe w;

	CHECK(pair_connect(&p, &w_rc_attr));
	p.key[1] = w_mkey(1, p.pd[1], p.mem[1], PAIR_MEM, rights);
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1] + off, p.key[1] ^ key_xor);
	w_data(&w, p.mem[0], len, p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_ERR);
	CHECK(w_event_seen(1, EVENT_QP_ACCESS, p.qp[1].qpn));
}

static void remote_memory_is_guarded(void)
{
	unsigned int ok = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE;

	check_remote_access(0, 64, 1, ok);		/* variant */
	check_remote_access(0, 64, 0x10000, ok);	/* index */
	check_remote_access(PAIR_MEM - 63, 64, 0, ok);	/* end */
	check_remote_access(-1ull, 64, 0, ok);		/* start */
	check_remote_access(0, 64, 0, ACCESS_LOCAL_WRITE | ACCESS_REMOTE_READ);
}

static void a_key_of_another_domain_is_refused(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	p.key[1] = w_mkey(1, w_pd(1), p.mem[1], PAIR_MEM, ACCESS_WRITES);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_ACCESS);
}

static void a_message_too_long_fails_both_ends(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	w_recv(&p.qp[1], p.mem[1], 63, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_INVAL_REQ);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_ERR);
	CHECK_EQ(cqe.syndrome, SYND_LOCAL_LENGTH);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_ERR);
}

static void a_bad_receive_buffer_fails_both_ends(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1] ^ 1);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_OP);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(cqe.syndrome, SYND_LOCAL_PROT);
}

static void bad_requests_are_local_errors(void)
{
	struct pair p;
	struct w_wqe w;

	CHECK(pair_connect(&p, &w_rc_attr));
	p.key[0] ^= 1;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_LOCAL_PROT);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);

	CHECK(pair_connect(&p, &w_rc_attr));
	w_wqe(&w, &p.qp[0], 0x7e, OK, 0);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_LOCAL_QP_OP);
	CHECK_EQ(w_hca[0].errors[SIM_ERR_BAD_WQE], 1);

	CHECK(pair_connect(&p, &w_rc_attr));
	p.qp[0].sq_pi = 1;	/* a block that nobody wrote */
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_LOCAL_QP_OP);
}

static void an_absurd_producer_index_kills_the_qp(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	p.qp[0].sq_pi = 100;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);
	CHECK(w_event_seen(0, EVENT_QP_CATAS, p.qp[0].qpn));
}

static void the_first_message_establishes_communication(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	CHECK(pair_make(&p, &attr));
	CHECK_EQ(w_qp_rts(&p.qp[0], &attr, &p.qp[1]), 0);
	attr.rtr_only = true;
	CHECK_EQ(w_qp_rts(&p.qp[1], &attr, &p.qp[0]), 0);
	CHECK(!w_event_seen(1, EVENT_COMM_EST, p.qp[1].qpn));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(w_event_seen(1, EVENT_COMM_EST, p.qp[1].qpn));
	w_nevents = 0;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK(!w_event_seen(1, EVENT_COMM_EST, p.qp[1].qpn));
}

static void transitions_out_of_order_are_refused(void)
{
	struct pair p;

	CHECK(pair_make(&p, &w_rc_attr));
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_RTR2RTS_QP),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_INIT2RTR_QP),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(w_ring(&p.qp[0]), RING_BAD_STATE);
	CHECK_EQ(w_qp_rts(&p.qp[0], &w_rc_attr, &p.qp[1]), 0);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_RST2INIT_QP),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_2ERR_QP), 0);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR + 1, p.qp[0].qpn, 0, NULL, 0),
		 RING_WRONG_UAR);
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, 0xfff, 0, NULL, 0), RING_NO_QP);
}

static void a_blueflame_copy_that_differs_is_torn(void)
{
	struct pair p;
	struct w_wqe w;

	CHECK(pair_connect(&p, &w_rc_attr));
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_data(&w, p.mem[0], 64, p.key[0]);
	w_post(&p.qp[0], &w);
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, p.qp[0].qpn, 0, w.b, 64), RING_OK);
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_data(&w, p.mem[0], 64, p.key[0]);
	w_post(&p.qp[0], &w);
	w.b[40] ^= 1;
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, p.qp[0].qpn, 1, w.b, 64),
		 RING_TORN);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	/* a copy that is shorter than the request */
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_inline(&w, w_at(0, p.mem[0]), 64);
	w_post(&p.qp[0], &w);
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, p.qp[0].qpn, 2, w.b, 64),
		 RING_TORN);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
}

static void uc_drops_what_nobody_can_take(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;
	struct cqe cqe;

	attr.type = QP_UC;
	CHECK(pair_connect(&p, &attr));
	pair_fill(&p, 0, 64, 5);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK(!w_poll(&p.rcq[1], &cqe));
	CHECK(pair_same(&p, 64));
	pair_fill(&p, 0, 64, 6);
	p.key[1] ^= 1;
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(!pair_same(&p, 64));
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_RTS);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_LOCAL_QP_OP);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_SQER);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(send_reaches_the_receive_buffer),
	TEST(a_queue_with_much_to_send_leaves_time_for_others),
	TEST(unsignalled_sends_complete_nothing),
	TEST(inline_data_wraps_around_the_queue),
	TEST(writes_land_and_reads_return),
	TEST(write_with_immediate_takes_a_receive),
	TEST(atomics_return_what_was_there),
	TEST(a_receiver_not_ready_is_waited_for),
	TEST(a_receiver_never_ready_is_given_up),
	TEST(partitions_do_not_mix),
	TEST(a_dead_peer_is_given_up_and_the_rest_flushed),
	TEST(an_unexpected_sequence_number_is_not_answered),
	TEST(a_port_that_is_down_answers_nothing),
	TEST(remote_memory_is_guarded),
	TEST(a_key_of_another_domain_is_refused),
	TEST(a_message_too_long_fails_both_ends),
	TEST(a_bad_receive_buffer_fails_both_ends),
	TEST(bad_requests_are_local_errors),
	TEST(an_absurd_producer_index_kills_the_qp),
	TEST(the_first_message_establishes_communication),
	TEST(transitions_out_of_order_are_refused),
	TEST(a_blueflame_copy_that_differs_is_torn),
	TEST(uc_drops_what_nobody_can_take),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
