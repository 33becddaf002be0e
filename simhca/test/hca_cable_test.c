// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * A cable that takes time, without a VMM, in the loop's simulated time. At RATE a
 * thousand bytes leave in a millisecond.
 */
#include <string.h>

#include "data/flight.h"
#include "test/unit/pair.h"

#define OK W_SIGNALED
#define LATENCY 2u		/* ms */
#define RATE 1000000u
#define MS(bytes) ((bytes) / 1000u)
#define QKEY 0x1234

static void cable(unsigned int latency, uint64_t rate)
{
	cable_time.latency = latency * NSEC_PER_MSEC;
	cable_time.rate = rate;
}

static struct qp *qp_of(struct pair *p, unsigned int hca)
{
	return qp_find(&w_hca[hca], p->qp[hca].qpn, 0);
}

static bool connect_rc(struct pair *p)
{
	return pair_connect(p, &w_rc_attr);
}

/* A good completion of the first side is there. */
static bool done(struct pair *p)
{
	struct cqe cqe;

	return w_poll(&p->scq[0], &cqe) && w_opcode(&cqe) == CQE_REQ;
}

static void a_write_lands_when_it_arrives(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_fill(&p, 0, 4000, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 4000);
	w_run(MS(4000) + LATENCY - 1);
	CHECK(!pair_same(&p, 1));
	w_run(1);
	CHECK(pair_same(&p, 4000));
	CHECK(!done(&p));		/* the answer is under way */
	w_run(LATENCY - 1);
	CHECK(!done(&p));
	w_run(1);
	CHECK(done(&p));
	CHECK_EQ(w_hca[0].line->held, 0);
}

static void a_read_has_what_was_there_when_it_arrived(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_fill(&p, 1, 4000, 1);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 4000);
	w_run(LATENCY);
	memset(w_at(1, p.mem[1]), 0, 4000);	/* too late for the answer */
	w_run(MS(4000) + LATENCY - 1);
	CHECK(!done(&p));
	CHECK_EQ(*(uint8_t *)w_at(0, p.mem[0]), 0);
	w_run(1);
	CHECK(done(&p));
	pair_fill(&p, 1, 4000, 1);
	CHECK(pair_same(&p, 4000));
}

static void an_atomic_is_executed_once_and_its_answer_travels(void)
{
	struct wqe_atomic a = { .swap_add = htobe64(2) };
	uint64_t *mine, *theirs;
	struct w_wqe w;
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, 0);
	mine = w_at(0, p.mem[0]);
	theirs = w_at(1, p.mem[1]);
	*theirs = 40;
	w_wqe(&w, &p.qp[0], WQE_OP_ATOMIC_FA, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_add(&w, &a, sizeof(a));
	w_data(&w, p.mem[0], 8, p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(*theirs, 40);
	w_run(LATENCY);
	CHECK_EQ(*theirs, 42);
	CHECK_EQ(*mine, 0);
	w_run(LATENCY);
	CHECK(done(&p));
	CHECK_EQ(*mine, 40);
	CHECK_EQ(*theirs, 42);
}

static void messages_follow_each_other_without_waiting_for_answers(void)
{
	struct pair p;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	for (i = 0; i < 10; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 3000);
	w_run(2 * LATENCY);
	for (i = 0; i < 10; i++) {
		CHECK(!done(&p));
		w_run(MS(3000));
		CHECK(done(&p));
	}
}

static void a_qps_completions_come_in_order(void)
{
	static const uint8_t ops[] = {
		WQE_OP_RDMA_WRITE, WQE_OP_RDMA_READ, WQE_OP_SEND,
		WQE_OP_NOP, WQE_OP_RDMA_WRITE, WQE_OP_RDMA_READ,
	};
	struct cqe cqe;
	struct pair p;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	w_recv(&p.qp[1], p.mem[1] + 4096, 4096, p.key[1]);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		pair_send(&p, ops[i], OK, ops[i] == WQE_OP_NOP ? 0 : 2000);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		CHECK(w_wait(&p.scq[0], &cqe, 50));
		CHECK_EQ(w_opcode(&cqe), CQE_REQ);
		CHECK_EQ(be16toh(cqe.wqe_counter), i);
		CHECK_EQ(be32toh(cqe.opcode_qpn) >> 24, ops[i]);
	}
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be32toh(cqe.byte_cnt), 2000);
}

static void qps_share_the_port(void)
{
	struct pair many, one;
	unsigned int i, n = 0;

	CHECK(connect_rc(&many) && connect_rc(&one));
	cable(0, RATE);
	for (i = 0; i < 10; i++)
		pair_send(&many, WQE_OP_RDMA_WRITE, OK, 40000);
	w_run(100);			/* two of many have gone, half of the third */
	CHECK_EQ(pair_done(&many), 2);
	pair_send(&one, WQE_OP_RDMA_WRITE, OK, 20000);
	w_run(30);
	CHECK(!done(&one));
	w_run(15);			/* twice its time, and a quantum */
	CHECK(done(&one));
	for (i = 0; i < 10; i++)
		pair_send(&one, WQE_OP_RDMA_WRITE, OK, 40000);
	pair_done(&many);
	w_run(400);
	n = pair_done(&many);
	i = pair_done(&one);
	CHECK(n >= 4 && n <= 6);
	CHECK(i >= 4 && i <= 6);
}

static void a_small_message_waits_for_a_quantum_only(void)
{
	struct pair large, small;

	CHECK(connect_rc(&large) && connect_rc(&small));
	cable(0, RATE);
	pair_send(&large, WQE_OP_RDMA_WRITE, OK, 60000);
	w_run(1);
	pair_send(&small, WQE_OP_RDMA_WRITE, OK, 8);
	w_run(5);
	CHECK(done(&small));
	CHECK(!done(&large));
	w_run(60);
	CHECK(done(&large));
}

/* Both directions have the whole rate, and answers to reads count in theirs. */
static void answers_to_reads_share_the_port_of_the_responder(void)
{
	struct pair p, q;
	struct w_wqe w;
	struct cqe cqe;

	CHECK(connect_rc(&p) && connect_rc(&q));
	cable(0, RATE);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 20000);
	w_wqe(&w, &q.qp[1], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, q.mem[0], q.key[0]);
	w_data(&w, q.mem[1], 20000, q.key[1]);
	w_post(&q.qp[1], &w);
	w_ring(&q.qp[1]);
	pair_send(&q, WQE_OP_RDMA_WRITE, OK, 20000);
	w_run(21);
	CHECK(done(&q));
	CHECK(!done(&p));
	CHECK(!w_poll(&q.scq[1], &cqe));
	w_run(20);
	CHECK(done(&p));
	CHECK(w_poll(&q.scq[1], &cqe));
}

static void a_timer_shorter_than_the_cable_sends_nothing_again(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	attr.timeout = 1;		/* 8 us */
	attr.retry_count = 0;
	CHECK(pair_connect(&p, &attr));
	cable(50, RATE);
	pair_fill(&p, 0, 60000, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 60000);
	CHECK_EQ(pair_syndrome(&p, 200), SYND_OK);
	CHECK(pair_same(&p, 60000));
}

static void a_message_is_lost_if_the_port_goes_down_meanwhile(void)
{
	unsigned int side;
	struct pair p;

	for (side = 0; side < W_HCAS; side++) {
		CHECK(connect_rc(&p));
		cable(10, 0);
		pair_fill(&p, 0, 100, 1 + side);
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 100);
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 100);
		w_run(5);
		line_cut(w_hca[side].line);	/* down, and up at once */
		w_run(6);
		CHECK(!pair_same(&p, 100));
		w_run(10);		/* the answer that did not come */
		CHECK(!done(&p));
		CHECK_EQ(qp_of(&p, 0)->retry_left, 0);
		w_run(12);
		CHECK(pair_same(&p, 100));
		CHECK_EQ(pair_syndrome(&p, 50), SYND_OK);
		CHECK_EQ(pair_syndrome(&p, 50), SYND_OK);
		CHECK_EQ(qp_of(&p, 0)->retry_left, 1);
	}
}

static void a_port_that_stays_down_ends_the_retries(void)
{
	struct cqe cqe;
	struct pair p;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(10, 0);
	for (i = 0; i < 3; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 100);
	w_run(5);
	w_port_down[1] = true;
	CHECK_EQ(pair_syndrome(&p, 100), SYND_RETRY_EXC);
	for (i = 1; i < 3; i++) {
		CHECK(w_poll(&p.scq[0], &cqe));
		CHECK_EQ(cqe.syndrome, SYND_FLUSH);
		CHECK_EQ(be16toh(cqe.wqe_counter), i);
	}
	CHECK_EQ(w_hca[0].line->held, 0);
}

static void what_leaves_while_the_port_is_down_does_not_arrive(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(10, 0);
	w_port_down[0] = true;
	pair_fill(&p, 0, 100, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 100);
	w_run(5);
	w_port_down[0] = false;
	w_run(14);
	CHECK(!pair_same(&p, 100));
	CHECK_EQ(pair_syndrome(&p, 50), SYND_OK);
	CHECK(pair_same(&p, 100));
}

static void a_send_without_a_receive_is_sent_again(void)
{
	struct cqe cqe;
	struct pair p;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_fill(&p, 0, 100, 1);
	for (i = 0; i < 3; i++)
		pair_send(&p, WQE_OP_SEND, OK, 100);
	w_run(10);
	for (i = 0; i < 3; i++)
		w_recv(&p.qp[1], p.mem[1], 100, p.key[1]);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(pair_syndrome(&p, 20), SYND_OK);
		CHECK(w_poll(&p.rcq[1], &cqe));
		CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
	}
	CHECK(!w_poll(&p.rcq[1], &cqe));
	CHECK(pair_same(&p, 100));
}

/* While the second one leaves, it is known that the first one is to be sent again. */
static void what_leaves_behind_a_failure_is_sent_again(void)
{
	struct cqe cqe;
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_fill(&p, 0, 20000, 1);
	pair_send(&p, WQE_OP_SEND, OK, 1000);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 20000);
	w_run(4);
	w_recv(&p.qp[1], p.mem[1] + 40000, 1000, p.key[1]);
	CHECK_EQ(pair_syndrome(&p, 20), SYND_OK);
	CHECK(!pair_same(&p, 20000));
	CHECK_EQ(pair_syndrome(&p, 40), SYND_OK);
	CHECK(pair_same(&p, 20000));
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK(!w_poll(&p.rcq[1], &cqe));
}

static void an_error_comes_behind_what_was_sent_before(void)
{
	struct w_wqe w;
	struct cqe cqe;
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1] ^ 1);	/* no such key */
	w_data(&w, p.mem[0], 1000, p.key[0]);
	w_post(&p.qp[0], &w);
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_data(&w, p.mem[0], 1000, p.key[0] ^ 1);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_REMOTE_ACCESS);
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(cqe.syndrome, SYND_FLUSH);
	CHECK_EQ(be16toh(cqe.wqe_counter), 2);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_ERR);
}

static void post_write(struct pair *p, uint8_t fence, uint32_t len)
{
	pair_send(p, WQE_OP_RDMA_WRITE, OK | fence << WQE_FENCE_SHIFT, len);
}

static void a_fence_waits_for_reads(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 1000);	/* 5 ms */
	post_write(&p, WQE_FENCE_UMR_READS, 1000);	/* 5 ms */
	w_run(5);
	CHECK(done(&p));
	w_run(4);
	CHECK(!done(&p));
	w_run(1);
	CHECK(done(&p));
	post_write(&p, 0, 1000);
	post_write(&p, WQE_FENCE_UMR_READS, 1000);	/* no read is under way */
	w_run(6);
	CHECK_EQ(pair_done(&p), 2);
	post_write(&p, 0, 1000);
	post_write(&p, WQE_FENCE_ALL, 1000);
	w_run(9);
	CHECK_EQ(pair_done(&p), 1);
	w_run(1);
	CHECK_EQ(pair_done(&p), 1);
}

/* w_qp_rts() lets a QP have one at a time. */
static void reads_wait_for_the_answers_that_their_qp_may_have(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 1000);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 1000);
	CHECK_EQ(qp_of(&p, 0)->reading, 1);
	w_run(5);
	CHECK_EQ(pair_done(&p), 1);
	w_run(4);
	CHECK_EQ(pair_done(&p), 0);
	w_run(1);
	CHECK_EQ(pair_done(&p), 1);
	CHECK_EQ(qp_of(&p, 0)->reading, 0);
}

static void a_qp_in_error_flushes_what_is_under_way(void)
{
	struct cqe cqe;
	struct pair p;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_fill(&p, 0, 1000, 1);
	for (i = 0; i < 4; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(2);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_2ERR_QP), 0);
	for (i = 0; i < 4; i++) {
		CHECK(w_poll(&p.scq[0], &cqe));
		CHECK_EQ(cqe.syndrome, SYND_FLUSH);
		CHECK_EQ(be16toh(cqe.wqe_counter), i);
	}
	CHECK_EQ(w_hca[0].line->held, 0);
	w_run(20);
	CHECK(!pair_same(&p, 1000));
	CHECK(!w_poll(&p.scq[0], &cqe));
}

/* All objects of an adapter go, as with its reset, while messages are under way. */
static void an_adapter_goes_meanwhile(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_send(&p, WQE_OP_RDMA_READ, OK, 1000);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(LATENCY);			/* the answer to the read waits to leave */
	objects_reset(&w_hca[0]);
	CHECK_EQ(w_hca[0].line->held, 0);
	w_run(20);
	CHECK(!w_hca[0].line->first && !w_hca[1].line->first);
	CHECK(!w_hca[1].line->now);
}

static void the_peer_goes_meanwhile(void)
{
	struct pair p;

	CHECK(connect_rc(&p));
	cable(LATENCY, RATE);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(1);
	objects_reset(&w_hca[1]);
	CHECK_EQ(pair_syndrome(&p, 50), SYND_RETRY_EXC);
	CHECK_EQ(w_hca[0].line->held, 0);
}

static bool connect_own(struct pair *p, struct w_qp *other)
{
	struct w_qp_attr attr = w_rc_attr;

	if (!pair_make(p, &attr))
		return false;
	attr.pd = p->pd[0];
	return !w_qp(other, 0, &attr, &p->scq[0], &p->rcq[0]) &&
	       !w_qp_rts(&p->qp[0], &attr, other) &&
	       !w_qp_rts(other, &attr, &p->qp[0]);
}

static void what_stays_in_an_adapter_needs_no_time(void)
{
	struct w_qp other;
	struct w_wqe w;
	struct pair p;

	CHECK(connect_own(&p, &other));
	cable(LATENCY, RATE);
	w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p.mem[0] + 4096, p.key[0]);
	w_data(&w, p.mem[0], 4096, p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK(done(&p));
}

static void uc_is_complete_when_it_arrives(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct pair p;

	attr.type = QP_UC;
	CHECK(pair_connect(&p, &attr));
	cable(LATENCY, RATE);
	pair_fill(&p, 0, 3000, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 3000);
	w_run(4);
	CHECK(!done(&p) && !pair_same(&p, 1));
	w_run(1);
	CHECK(done(&p) && pair_same(&p, 3000));
}

static void post_datagram(struct pair *p, uint8_t flags, unsigned int hca)
{
	struct wqe_av av = {
		.qkey = htobe32(QKEY),
		.dqpn = htobe32(p->qp[hca].qpn | WQE_AV_EXTENDED),
		.rlid = htobe16(hca + 1),
	};
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_SEND, flags, 0);
	w_add(&w, &av, sizeof(av));
	w_data(&w, p->mem[0], 1000, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static bool connect_ud(struct pair *p)
{
	static const struct w_qp_attr attr = { .type = QP_UD, .qkey = QKEY };

	return pair_connect(p, &attr);
}

static void a_datagram_arrives_though_its_sender_is_gone(void)
{
	struct cqe cqe;
	struct pair p;

	CHECK(connect_ud(&p));
	cable(LATENCY, RATE);
	w_recv(&p.qp[1], p.mem[1], 2048, p.key[1]);
	post_datagram(&p, OK, 1);
	CHECK(done(&p));
	CHECK(!w_poll(&p.rcq[1], &cqe));
	objects_reset(&w_hca[0]);
	w_run(2);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	w_run(1);
	CHECK(w_poll(&p.rcq[1], &cqe));
}

static void a_datagram_is_lost_with_the_link_and_to_oneself_it_is_there(void)
{
	struct cqe cqe;
	struct pair p;

	CHECK(connect_ud(&p));
	cable(LATENCY, RATE);
	w_recv(&p.qp[1], p.mem[1], 2048, p.key[1]);
	w_recv(&p.qp[0], p.mem[0] + 4096, 2048, p.key[0]);
	post_datagram(&p, OK, 0);
	CHECK(w_poll(&p.rcq[0], &cqe));
	post_datagram(&p, OK, 1);
	w_run(1);
	line_cut(w_hca[1].line);
	w_run(10);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_hca[0].line->held, 0);
}

/* More than there is room for: the QP waits, and goes on when messages arrive. */
static void a_million_messages_need_no_more_than_their_room(void)
{
	struct pair p;
	struct qp *qp;
	unsigned int n;

	CHECK(connect_ud(&p));
	cable(5000, 0);
	qp = qp_of(&p, 0);
	for (n = 0; n < 1000000; n++) {
		if ((uint16_t)(p.qp[0].sq_pi - qp->sq_head) >= 8)
			break;
		post_datagram(&p, 0, 1);
	}
	CHECK(n > 40000 && n < 100000);
	CHECK(w_hca[0].line->held >= LINE_ROOM);
	CHECK(w_hca[0].line->held < LINE_ROOM + 2000);
	w_run(5001);
	CHECK_EQ(qp->sq_head, p.qp[0].sq_pi);
	w_run(5001);
	CHECK_EQ(w_hca[0].line->held, 0);
}

static void the_cable_may_change_while_messages_are_on_it(void)
{
	struct pair p;
	struct cqe cqe;
	unsigned int i;

	CHECK(connect_rc(&p));
	cable(10, RATE);
	for (i = 0; i < 2; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(1);
	cable(0, 0);
	pair_fill(&p, 0, 1000, 9);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	CHECK(!done(&p));
	for (i = 0; i < 3; i++) {
		CHECK(w_wait(&p.scq[0], &cqe, 50));
		CHECK_EQ(w_opcode(&cqe), CQE_REQ);
		CHECK_EQ(be16toh(cqe.wqe_counter), i);
	}
	CHECK(pair_same(&p, 1000));
	w_run(20);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	CHECK(done(&p));		/* at once, as without a cable */
}

static void a_cable_is_described_in_words(void)
{
	struct cable_time t = { 7, 7 };

	CHECK(!cable_parse("latency=2000,rate=20", &t));
	CHECK_EQ(t.latency, 2 * NSEC_PER_MSEC);
	CHECK_EQ(t.rate, 20000000);
	CHECK(!cable_parse("rate=3", &t));
	CHECK(!t.latency && t.rate == 3000000);
	CHECK(!cable_parse("latency=10000000", &t));
	CHECK_EQ(t.latency, LINE_LATENCY_MAX);
	CHECK(!cable_parse("latency=0,rate=0", &t));
	CHECK(!t.latency && !t.rate);
	t.latency = 7;
	CHECK(cable_parse("", &t));
	CHECK(cable_parse("2000", &t));
	CHECK(cable_parse("latency=", &t));
	CHECK(cable_parse("latency=-1", &t));
	CHECK(cable_parse("latency=10000001", &t));
	CHECK(cable_parse("rate=1000001", &t));
	CHECK(cable_parse("rate=99999999999999999999999", &t));
	CHECK(cable_parse("latency=1 ,rate=1", &t));
	CHECK(cable_parse("rate=1,", &t));
	CHECK_EQ(t.latency, 7);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_write_lands_when_it_arrives),
	TEST(a_read_has_what_was_there_when_it_arrived),
	TEST(an_atomic_is_executed_once_and_its_answer_travels),
	TEST(messages_follow_each_other_without_waiting_for_answers),
	TEST(a_qps_completions_come_in_order),
	TEST(qps_share_the_port),
	TEST(a_small_message_waits_for_a_quantum_only),
	TEST(answers_to_reads_share_the_port_of_the_responder),
	TEST(a_timer_shorter_than_the_cable_sends_nothing_again),
	TEST(a_message_is_lost_if_the_port_goes_down_meanwhile),
	TEST(a_port_that_stays_down_ends_the_retries),
	TEST(what_leaves_while_the_port_is_down_does_not_arrive),
	TEST(a_send_without_a_receive_is_sent_again),
	TEST(what_leaves_behind_a_failure_is_sent_again),
	TEST(an_error_comes_behind_what_was_sent_before),
	TEST(a_fence_waits_for_reads),
	TEST(reads_wait_for_the_answers_that_their_qp_may_have),
	TEST(a_qp_in_error_flushes_what_is_under_way),
	TEST(an_adapter_goes_meanwhile),
	TEST(the_peer_goes_meanwhile),
	TEST(what_stays_in_an_adapter_needs_no_time),
	TEST(uc_is_complete_when_it_arrives),
	TEST(a_datagram_arrives_though_its_sender_is_gone),
	TEST(a_datagram_is_lost_with_the_link_and_to_oneself_it_is_there),
	TEST(a_million_messages_need_no_more_than_their_room),
	TEST(the_cable_may_change_while_messages_are_on_it),
	TEST(a_cable_is_described_in_words),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
