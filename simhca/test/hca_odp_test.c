// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: on-demand paging. The test acts as the driver: it
 * takes pages away and puts them back by UMR, reads the events, and resumes.
 */
#include <string.h>

#include "object/page_fault.h"
#include "test/unit/pair.h"

#define OK W_SIGNALED
#define LEN 6000u		/* two pages, and no whole number of them */
#define BLOCK 8u		/* entries that one UMR of the test writes */
#define ALL_RIGHTS (ACCESS_WRITES | ACCESS_REMOTE_READ | ACCESS_LOCAL_READ)
#define WAITS 0xff		/* pair_syndrome(): there is no completion */
#define LONG 3000u		/* ms: longer than all retries */

struct umr_seg {
	struct wqe_umr ctrl;
	uint8_t mkc[IFC_SZ(mkc)];
};

static bool make(struct pair *p, enum qp_type type)
{
	struct w_qp_attr attr = w_rc_attr;

	attr.type = type;
	attr.fre = true;
	w_fault_queue = W_FAULTS_TAKEN;
	return pair_connect(p, &attr);
}

/* Post a UMR with inline entries, and wait for it. */
static void umr(struct pair *p, unsigned int hca, uint32_t key,
		unsigned int octoword, const void *entries, size_t len)
{
	struct umr_seg seg = { .ctrl = {
		.flags = UMR_INLINE | UMR_XLT_OFFSET,
		.xlt_octowords = htobe16(len / 16),
		.xlt_offset = htobe16(octoword),
	} };
	struct cqe cqe;
	struct w_wqe w;

	w_wqe(&w, &p->qp[hca], WQE_OP_UMR, OK, key);
	w_add(&w, &seg, sizeof(seg));
	w_add(&w, entries, len);
	w_post(&p->qp[hca], &w);
	w_ring(&p->qp[hca]);
	w_must(!w_poll(&p->scq[hca], &cqe) || w_opcode(&cqe) == CQE_REQ_ERR);
}

/* The first pages of a key of one side: where they are now, and what is allowed. */
static void set_pages(struct pair *p, unsigned int hca, uint32_t key,
		      uint64_t at, uint64_t flags)
{
	uint64_t entries[BLOCK];
	unsigned int i;

	for (i = 0; i < BLOCK; i++)
		entries[i] = flags ? htobe64((at + i * SIM_PAGE) | flags) : 0;
	umr(p, hca, key, 0, entries, sizeof(entries));
}

/*
 * A second key for the memory of one side. The QPs that send UMRs of the other tests'
 * keys would wait with the requests, so the pages change before those are posted.
 */
static void take_away(struct pair *p, unsigned int hca)
{
	set_pages(p, hca, p->key[hca], 0, 0);
}

/* As take_away() and its opposite where the QP of that side waits itself. */
static void put_entries(struct pair *p, unsigned int hca, uint64_t at,
			uint64_t flags)
{
	struct mkey *m = mkey_get(&w_hca[hca], p->key[hca]);
	uint64_t e;
	unsigned int i;

	for (i = 0; i < BLOCK; i++) {
		e = flags ? htobe64((at + i * SIM_PAGE) | flags) : 0;
		memcpy(m->xlt + i * sizeof(e), &e, sizeof(e));
	}
}

static void put_back(struct pair *p, unsigned int hca)
{
	put_entries(p, hca, p->mem[hca], MTT_READ | MTT_WRITE);
}

static uint8_t resume_by(const struct w_fault *f, uint16_t uid, uint32_t type,
			 uint32_t wq, uint32_t token, bool error)
{
	uint8_t in[IFC_SZ(page_fault_resume_in)] = { 0 };
	uint8_t *i = IFC_ADDR_OF(page_fault_resume_in, in, page_fault_info);

	if (f->kind == FAULT_MEMORY) {
		IFC_SET(mem_page_fault_info, i, fault_token_31_0, token);
		IFC_SET(mem_page_fault_info, i, error, error);
	} else {
		IFC_SET(trans_page_fault_info, i, page_fault_type, type);
		IFC_SET(trans_page_fault_info, i, wq_number, wq);
		IFC_SET(trans_page_fault_info, i, fault_token, token);
		IFC_SET(trans_page_fault_info, i, error, error);
	}
	return w_cmd(f->hca, fault_cmds, MLX5_CMD_OP_PAGE_FAULT_RESUME, 0, uid,
		     in, sizeof(in), NULL, 0);
}

static uint32_t token_of(const struct w_fault *f)
{
	switch (f->kind) {
	case FAULT_WQE:
		return be32toh(f->ev.wqe.token);
	case FAULT_RDMA:
		return be32toh(f->ev.rdma.type_token) & 0xffffff;
	default:
		return be32toh(f->ev.memory.token_low);
	}
}

/* A driver repeats what the event said; of RDMA the token, in place of a queue. */
static uint8_t resume(const struct w_fault *f, bool error)
{
	uint32_t type_wq = be32toh(f->kind == FAULT_RDMA ?
				   f->ev.rdma.type_token : f->ev.wqe.type_wq);

	return resume_by(f, 0, type_wq >> 24, type_wq & 0xffffff, token_of(f),
			 error);
}

static struct w_fault *last(void)
{
	return &w_faults[w_nfaults - 1];
}

static uint32_t waiting(unsigned int hca)
{
	return w_hca[hca].objs->faults.count;
}

static void a_write_waits_for_the_responders_page(void)
{
	struct event_fault *ev;
	struct pair p;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 1);
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	CHECK_EQ(w_nfaults, 1);
	CHECK_EQ(last()->hca, 1);
	CHECK_EQ(last()->kind, FAULT_RDMA);
	ev = &last()->ev;
	CHECK_EQ(be32toh(ev->rdma.type_token) >> 24, 6);	/* RDMA, write */
	CHECK_EQ(be32toh(ev->rdma.rkey), p.key[1]);
	CHECK_EQ(be64toh(ev->rdma.va), p.mem[1]);
	CHECK_EQ(be32toh(ev->rdma.op_len), LEN);
	CHECK_EQ(be16toh(ev->rdma.packet), 1024);
	CHECK_EQ(ev->rdma.committed, 0);
	put_back(&p, 1);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
	CHECK_EQ(w_nfaults, 1);
	CHECK_EQ(waiting(1), 0);
}

static void a_page_that_moved_is_found_where_it_is(void)
{
	uint64_t other;
	struct pair p;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 2);
	other = w_alloc(1, BLOCK * SIM_PAGE);
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	/* Gone again before the requester comes back: it asks again. */
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	CHECK_EQ(w_nfaults, 2);
	put_entries(&p, 1, other, MTT_READ | MTT_WRITE);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(!memcmp(w_at(1, other), w_at(0, p.mem[0]), LEN));
	CHECK(!pair_same(&p, LEN));
}

static void a_page_to_read_is_no_page_to_write(void)
{
	struct pair p;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 1, LEN, 3);
	put_entries(&p, 1, p.mem[1], MTT_READ);
	pair_send(&p, WQE_OP_RDMA_READ, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
	pair_fill(&p, 0, LEN, 4);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	put_back(&p, 1);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
}

static void a_requester_waits_for_its_own_page(void)
{
	uint16_t index;
	struct pair p;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 1, LEN, 5);
	take_away(&p, 0);
	index = p.qp[0].sq_pi;
	pair_send(&p, WQE_OP_RDMA_READ, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	CHECK_EQ(last()->hca, 0);
	CHECK_EQ(last()->kind, FAULT_WQE);
	CHECK_EQ(be32toh(last()->ev.wqe.type_wq), 3u << 24 | p.qp[0].qpn);
	CHECK_EQ(be16toh(last()->ev.wqe.index), index);
	put_back(&p, 0);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));

	/* A write reads: another type. */
	take_away(&p, 0);
	pair_fill(&p, 0, LEN, 6);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(be32toh(last()->ev.wqe.type_wq), 1u << 24 | p.qp[0].qpn);
	put_entries(&p, 0, p.mem[0], MTT_READ);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
}

static void a_send_takes_one_receive_however_often_it_waits(void)
{
	unsigned int i;
	struct cqe cqe;
	struct pair p;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 7);
	take_away(&p, 1);
	w_recv(&p.qp[1], p.mem[1], LEN, p.key[1]);
	w_recv(&p.qp[1], p.mem[1] + BLOCK * SIM_PAGE, LEN, p.key[1]);
	pair_send(&p, WQE_OP_SEND_IMM, OK, LEN);
	for (i = 1; i <= 3; i++) {
		CHECK_EQ(pair_syndrome(&p, 1), WAITS);
		CHECK_EQ(w_nfaults, i);
		CHECK_EQ(last()->kind, FAULT_WQE);
		CHECK_EQ(be32toh(last()->ev.wqe.type_wq),
			 2u << 24 | p.qp[1].qpn);
		CHECK_EQ(be16toh(last()->ev.wqe.index), 0);
		CHECK_EQ(be16toh(last()->ev.wqe.packet), 1024);
		if (i == 3)
			put_back(&p, 1);
		CHECK_EQ(resume(last(), false), CMD_OK);
	}
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND_IMM);
	CHECK_EQ(be16toh(cqe.wqe_counter), 0);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(!memcmp(w_at(1, p.mem[1] + BLOCK * SIM_PAGE),
		      w_at(0, p.mem[0]), LEN));
}

static void an_atomic_is_executed_once(void)
{
	struct wqe_atomic add = { .swap_add = htobe64(2) };
	struct w_wqe w;
	struct pair p;

	CHECK(make(&p, QP_RC));
	*(uint64_t *)w_at(1, p.mem[1]) = 40;
	take_away(&p, 1);
	w_wqe(&w, &p.qp[0], WQE_OP_ATOMIC_FA, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_add(&w, &add, sizeof(add));
	w_data(&w, p.mem[0], sizeof(uint64_t), p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	CHECK_EQ(*(uint64_t *)w_at(1, p.mem[1]), 40);
	put_back(&p, 1);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK_EQ(*(uint64_t *)w_at(1, p.mem[1]), 42);
	CHECK_EQ(*(uint64_t *)w_at(0, p.mem[0]), 40);
}

static void shared_queues_are_named_by_their_number(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct w_srq srq;
	struct cqe cqe;
	struct pair p;

	CHECK(make(&p, QP_RC));
	w_rmp(&srq, 1, p.pd[1], W_RMP_LIST);
	attr.fre = true;
	attr.pd = p.pd[0];
	CHECK(!w_qp(&p.qp[0], 0, &attr, &p.scq[0], &p.rcq[0]));
	attr.pd = p.pd[1];
	attr.srqn = srq.srqn;
	take_away(&p, 1);
	CHECK(!w_qp(&p.qp[1], 1, &attr, &p.scq[1], &p.rcq[1]));
	CHECK(!w_qp_rts(&p.qp[0], &attr, &p.qp[1]));
	CHECK(!w_qp_rts(&p.qp[1], &attr, &p.qp[0]));
	w_srq_recv(&srq, p.mem[1], LEN, p.key[1]);
	w_srq_recv(&srq, p.mem[1], LEN, p.key[1]);
	pair_fill(&p, 0, LEN, 8);
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	CHECK_EQ(be32toh(last()->ev.wqe.type_wq), srq.srqn);
	CHECK_EQ(be16toh(last()->ev.wqe.index), 0);
	put_back(&p, 1);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
	CHECK(w_poll(&p.rcq[1], &cqe));
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be16toh(cqe.wqe_counter), 1);
}

static void an_error_ends_the_request(void)
{
	struct cqe cqe;
	struct pair p;

	CHECK(make(&p, QP_RC));
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(resume(last(), true), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_LOCAL_PROT);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);

	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(resume(last(), true), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_REMOTE_ACCESS);
	CHECK(w_event_seen(1, EVENT_QP_ACCESS, p.qp[1].qpn));

	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	w_recv(&p.qp[1], p.mem[1], LEN, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(resume(last(), true), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_REMOTE_OP);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(cqe.syndrome, SYND_LOCAL_PROT);
	CHECK_EQ(w_nfaults, 3);
}

static void a_wrong_resume_is_refused(void)
{
	uint32_t type_wq, token;
	struct w_fault *f;
	struct pair p;

	CHECK(make(&p, QP_RC));
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	f = last();
	type_wq = be32toh(f->ev.wqe.type_wq);
	token = token_of(f);
	put_back(&p, 0);
	CHECK_EQ(resume_by(f, 0, 1, type_wq & 0xffffff, token + 1, false),
		 CMD_BAD_RES);
	CHECK_EQ(resume_by(f, 0, 3, type_wq & 0xffffff, token, false),
		 CMD_BAD_RES);
	CHECK_EQ(resume_by(f, 0, 1, (type_wq & 0xffffff) + 1, token, false),
		 CMD_BAD_RES);
	CHECK_EQ(resume_by(f, 7, 1, type_wq & 0xffffff, token, false),
		 CMD_BAD_PARAM);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	CHECK_EQ(waiting(0), 1);
	CHECK_EQ(resume(f, false), CMD_OK);
	CHECK_EQ(resume(f, false), CMD_BAD_RES);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK_EQ(w_hca[0].objs->fault_counts.resumed, 1);
}

static void whoever_is_gone_waits_no_more(void)
{
	struct pair p;

	/* The requester is reset: its driver may resume nevertheless. */
	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_2RST_QP), 0);
	CHECK_EQ(waiting(1), 1);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);

	/* It is destroyed: nobody can resume what a request of it waited for. */
	CHECK(make(&p, QP_RC));
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(waiting(0), 1);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(waiting(0), 0);
	CHECK_EQ(resume(last(), false), CMD_BAD_RES);

	/* The responder is destroyed: the requester times out. */
	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	w_recv(&p.qp[1], p.mem[1], LEN, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(w_qp_simple(&p.qp[1], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(waiting(1), 0);
	CHECK_EQ(pair_syndrome(&p, LONG), SYND_RETRY_EXC);
}

static void the_end_of_an_adapter_ends_its_faults(void)
{
	struct pair p;

	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(waiting(1), 1);
	objects_reset(&w_hca[1]);
	CHECK_EQ(waiting(1), 0);
	CHECK_EQ(pair_syndrome(&p, LONG), SYND_RETRY_EXC);
}

static void without_a_queue_or_the_capability_nobody_waits(void)
{
	uint8_t cap[sizeof(w_hca[0].odp_cap)];
	struct pair p;

	CHECK(make(&p, QP_RC));
	w_fault_queue = W_FAULTS_NONE;
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_LOCAL_PROT);

	CHECK(make(&p, QP_UC));
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_LOCAL_PROT);

	caps_odp_get(&w_hca[1], true, cap);
	IFC_SET(odp_cap, cap, transport_page_fault_scheme_cap.rc_odp_caps.write,
		0);
	CHECK_EQ(caps_odp_set(&w_hca[1], cap), CMD_OK);
	CHECK(make(&p, QP_RC));
	take_away(&p, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_REMOTE_ACCESS);
	CHECK_EQ(w_nfaults, 0);
}

static void a_full_queue_is_no_error(void)
{
	struct pair p;

	CHECK(make(&p, QP_RC));
	w_fault_queue = W_FAULTS_FULL;
	take_away(&p, 1);
	pair_fill(&p, 0, LEN, 9);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	CHECK_EQ(w_nfaults, 0);
	w_fault_queue = W_FAULTS_TAKEN;
	CHECK_EQ(pair_syndrome(&p, 2), WAITS);
	CHECK_EQ(w_nfaults, 1);
	put_back(&p, 1);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
}

/* Of a bare queue the context has no type, and the capabilities name none. */
static void a_bare_queue_waits_for_no_page(void)
{
	struct pair p;
	struct qp *qp;

	CHECK(make(&p, QP_RC));
	qp = qp_find(&w_hca[0], p.qp[0].qpn, 0);
	qp->kind = QP_KIND_SQ;
	CHECK(!fault_local(qp, false));
	qp->kind = QP_KIND_QP;
	CHECK_EQ(waiting(0), 0);
	CHECK(fault_local(qp, false));
	CHECK_EQ(waiting(0), 1);
}

static void only_what_the_adapter_has_can_be_set(void)
{
	uint8_t cap[sizeof(w_hca[0].odp_cap)];

	caps_odp_get(&w_hca[0], false, cap);
	CHECK_EQ(IFC_GET(odp_cap, cap, mem_page_fault), 0);
	CHECK_EQ(caps_odp_set(&w_hca[0], cap), CMD_OK);
	IFC_SET(odp_cap, cap, mem_page_fault, 1);
	CHECK_EQ(caps_odp_set(&w_hca[0], cap), CMD_BAD_PARAM);
	IFC_SET(odp_cap, cap, mem_page_fault, 0);
	IFC_SET(odp_cap, cap, transport_page_fault_scheme_cap.uc_odp_caps.send,
		1);
	CHECK_EQ(caps_odp_set(&w_hca[0], cap), CMD_BAD_PARAM);
	w_hca[0].link = LINK_ETH;
	caps_odp_get(&w_hca[0], false, cap);
	CHECK_EQ(IFC_GET(odp_cap, cap, mem_page_fault), 1);
	CHECK_EQ(caps_odp_set(&w_hca[0], cap), CMD_OK);
	CHECK(odp_memory_scheme(&w_hca[0]));
}

/* Both adapters tell of memory; they stay on one subnet. */
static void memory_scheme(void)
{
	unsigned int i;

	for (i = 0; i < W_HCAS; i++) {
		w_hca[i].link = LINK_ETH;
		caps_odp_reset(&w_hca[i]);
		IFC_SET(odp_cap, w_hca[i].odp_cap, mem_page_fault, 1);
		w_hca[i].link = LINK_IB;
	}
}

static void the_memory_scheme_names_key_and_pages(void)
{
	struct event_fault *ev;
	struct pair p;

	memory_scheme();
	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 10);
	take_away(&p, 1);
	w_recv(&p.qp[1], p.mem[1] + 100, LEN, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, LEN);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	ev = &last()->ev;
	CHECK_EQ(last()->hca, 1);
	CHECK_EQ(last()->kind, FAULT_MEMORY);
	CHECK_EQ(ev->memory.flags, FAULT_LAST);
	CHECK_EQ(be32toh(ev->memory.key), p.key[1]);
	CHECK_EQ(be64toh(ev->memory.va), p.mem[1]);
	CHECK_EQ(be32toh(ev->memory.bytes), 2 * SIM_PAGE);
	CHECK_EQ(be16toh(ev->memory.pages_after), 8);
	CHECK_EQ(ev->memory.pages_before, 0);
	CHECK_EQ(ev->memory.token_high, 0);
	put_back(&p, 1);
	CHECK_EQ(resume_by(last(), 0, 0, 0, token_of(last()) + 1, false),
		 CMD_BAD_RES);
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(!memcmp(w_at(1, p.mem[1] + 100), w_at(0, p.mem[0]), LEN));

	/* Behind the end of a key there is nothing to prefetch. */
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, PAIR_MEM - 3 * SIM_PAGE);
	CHECK_EQ(last()->hca, 0);
	CHECK_EQ(be16toh(last()->ev.memory.pages_after), 3);
	CHECK_EQ(resume(last(), true), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_LOCAL_PROT);
	CHECK_EQ(w_hca[0].objs->fault_counts.failed, 1);
}

/* CREATE_MKEY of a list with one entry: bytes of another key, from its start on. */
static uint32_t list_of(struct pair *p, const struct wqe_klm *e)
{
	uint8_t in[IFC_SZ(create_mkey_in) + 4 * sizeof(*e)] = { 0 };
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(mkc, c, access_mode_1_0, MKEY_KLM);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, umr_en, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, mkey_7_0, 0x55);
	IFC_SET(mkc, c, pd, p->pd[0]);
	IFC_SET64(mkc, c, len, be32toh(e->bcount));
	IFC_SET(mkc, c, translations_octword_size, 4);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size, 4);
	memcpy(in + IFC_OFF(create_mkey_in, klm_pas_mtt), e, sizeof(*e));
	w_must(w_cmd(0, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(create_mkey_out, out, mkey_index) << 8 | 0x55;
}

static void post_write(struct pair *p, uint32_t key, uint32_t len)
{
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_RDMA_WRITE, OK, 0);
	w_raddr(&w, p->mem[1], p->key[1]);
	w_data(&w, 0, len, key);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static void the_null_key_holds_a_place_in_a_list(void)
{
	struct wqe_klm e = { htobe32(LEN), htobe32(MKEY_NULL), 0 };
	struct mkey *m;
	struct pair p;
	uint32_t key;

	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 11);
	key = list_of(&p, &e);
	post_write(&p, key, LEN);
	CHECK_EQ(pair_syndrome(&p, LONG), WAITS);
	CHECK_EQ(last()->kind, FAULT_WQE);
	e = (struct wqe_klm){ htobe32(LEN), htobe32(p.key[0]),
			      htobe64(p.mem[0]) };
	m = mkey_get(&w_hca[0], key);
	memcpy(m->xlt, &e, sizeof(e));
	CHECK_EQ(resume(last(), false), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	CHECK(pair_same(&p, LEN));
}

static void a_key_that_left_its_list_is_not_missed(void)
{
	struct wqe_klm e;
	struct mkey *m;
	struct pair p;
	uint32_t key;

	memory_scheme();
	CHECK(make(&p, QP_RC));
	pair_fill(&p, 0, LEN, 12);
	e = (struct wqe_klm){ htobe32(LEN), htobe32(p.key[0]),
			      htobe64(p.mem[0]) };
	key = list_of(&p, &e);
	take_away(&p, 0);
	post_write(&p, key, LEN);
	CHECK_EQ(be32toh(last()->ev.memory.key), p.key[0]);
	CHECK_EQ(resume(last(), true), CMD_OK);
	CHECK_EQ(pair_syndrome(&p, 1), WAITS);
	e.key = htobe32(w_mkey(0, p.pd[0], p.mem[0], PAIR_MEM, ALL_RIGHTS));
	m = mkey_get(&w_hca[0], key);
	memcpy(m->xlt, &e, sizeof(e));
	CHECK_EQ(pair_syndrome(&p, 20), SYND_OK);
	CHECK(pair_same(&p, LEN));

	/* One that stays there ends in an error after some tries. */
	CHECK(make(&p, QP_RC));
	e = (struct wqe_klm){ htobe32(LEN), htobe32(p.key[0]),
			      htobe64(p.mem[0]) };
	key = list_of(&p, &e);
	take_away(&p, 0);
	post_write(&p, key, LEN);
	while (waiting(0) && w_nfaults < W_EVENTS) {
		CHECK_EQ(resume(last(), true), CMD_OK);
		w_run(20);
	}
	CHECK_EQ(pair_syndrome(&p, 1), SYND_LOCAL_PROT);
	CHECK_EQ(w_nfaults, 22);
}

static void a_query_shows_a_list(void)
{
	struct wqe_klm e = { htobe32(100), htobe32(MKEY_NULL), htobe64(7) };
	uint8_t out[IFC_SZ(query_mkey_out) + 2 * sizeof(e)] = { 0 };
	uint8_t in[IFC_SZ(query_mkey_in)] = { 0 };
	struct pair p;

	CHECK(make(&p, QP_RC));
	IFC_SET(query_mkey_in, in, mkey_index, list_of(&p, &e) >> 8);
	CHECK_EQ(w_cmd(0, mkey_cmds, MLX5_CMD_OP_QUERY_MKEY, 0, 0, in,
		       sizeof(in), out, sizeof(out)), CMD_OK);
	CHECK(!memcmp(IFC_ADDR_OF(query_mkey_out, out, bsf0_klm0_pas_mtt0_1),
		      &e, sizeof(e)));
}

static void the_dump_counts_faults(void)
{
	struct json_object *o = json_object_new_object(), *n, *v;
	struct pair p;
	bool ok;

	CHECK(make(&p, QP_RC));
	take_away(&p, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, LEN);
	CHECK_EQ(resume(last(), true), CMD_OK);
	faults_dump(&w_hca[0], o);
	ok = json_object_object_get_ex(o, "page_faults", &n) &&
	     json_object_object_get_ex(n, "wqe", &v) &&
	     json_object_get_int64(v) == 1 &&
	     json_object_object_get_ex(n, "rdma", &v) &&
	     json_object_get_int64(v) == 0 &&
	     json_object_object_get_ex(n, "failed", &v) &&
	     json_object_get_int64(v) == 1;
	json_object_put(o);
	CHECK(ok);
	objects_clear_counters(&w_hca[0]);
	CHECK_EQ(w_hca[0].objs->fault_counts.resumed, 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_write_waits_for_the_responders_page),
	TEST(a_page_that_moved_is_found_where_it_is),
	TEST(a_page_to_read_is_no_page_to_write),
	TEST(a_requester_waits_for_its_own_page),
	TEST(a_send_takes_one_receive_however_often_it_waits),
	TEST(an_atomic_is_executed_once),
	TEST(shared_queues_are_named_by_their_number),
	TEST(an_error_ends_the_request),
	TEST(a_wrong_resume_is_refused),
	TEST(whoever_is_gone_waits_no_more),
	TEST(the_end_of_an_adapter_ends_its_faults),
	TEST(without_a_queue_or_the_capability_nobody_waits),
	TEST(a_full_queue_is_no_error),
	TEST(a_bare_queue_waits_for_no_page),
	TEST(only_what_the_adapter_has_can_be_set),
	TEST(the_memory_scheme_names_key_and_pages),
	TEST(the_null_key_holds_a_place_in_a_list),
	TEST(a_key_that_left_its_list_is_not_missed),
	TEST(a_query_shows_a_list),
	TEST(the_dump_counts_faults),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
