// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Tag matching without a VMM: a sender on adapter 0, and on adapter 1 a queue with a list
 * of tags, a QP whose requests change the list, and the QP at which messages arrive.
 */
#include <string.h>

#include "data/tag_match.h"
#include "test/unit/pair.h"

#define CMD_MAX 8192
#define UIDX 0x77	/* w_xrq() */
#define TAGS 8
#define RECVS 4096	/* where receives are in the memory of adapter 1 */
#define DATA 8192	/* where the data of a rendezvous is, on adapter 0 */
#define ALL UINT64_MAX
#define CTX 0xabcd

enum { NOP = 0x00, APPEND = 0x10, REMOVE = 0x20 };
enum { SW_CNT = 1 << 6, CQE = 1 << 7 };

struct wqe_tag {
	uint8_t opcode;
	uint8_t flags;
	uint16_t index;
	uint8_t rsvd0[2];
	uint16_t sw_cnt;
	uint8_t rsvd1[8];
	uint64_t tag;
	uint64_t mask;
};

struct tm {
	struct pair p;		/* qp[0]: the sender */
	struct w_cq cq;
	struct w_srq xrq;
	struct w_qp list;
	struct w_qp to;
	struct w_qp_attr to_attr;
};

static bool make_queue(struct tm *t)
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_xrq_out)] = { 0 };
	struct w_qp_attr attr = w_rc_attr;
	size_t len;

	if (!pair_make(&t->p, &w_rc_attr))
		return false;
	w_cq(&t->cq, 1, 6);
	len = w_xrq(&t->xrq, 1, t->p.pd[1], &t->cq, in);
	w_must(w_cmd(1, xrq_cmds, MLX5_CMD_OP_CREATE_XRQ, 0, 0, in, len, out,
		     sizeof(out)));
	t->xrq.srqn = IFC_GET(create_xrq_out, out, xrqn);
	attr.srqn = t->xrq.srqn;
	attr.pd = t->p.pd[1];
	return !w_qp(&t->list, 1, &attr, &t->cq, &t->cq) &&
	       !w_qp_rts(&t->list, &attr, &t->list);
}

/* @own: the QP has a send queue of its own; @rtr: it stops in RTR */
static bool make_with(struct tm *t, bool own, bool rtr)
{
	if (!make_queue(t))
		return false;
	t->to_attr = w_rc_attr;
	t->to_attr.srqn = t->xrq.srqn;
	t->to_attr.pd = t->p.pd[1];
	t->to_attr.no_sq = !own;
	t->to_attr.offload = !own;
	t->to_attr.rtr_only = rtr;
	return !w_qp(&t->to, 1, &t->to_attr, &t->cq, &t->cq) &&
	       !w_qp_rts(&t->p.qp[0], &w_rc_attr, &t->to) &&
	       !w_qp_rts(&t->to, &t->to_attr, &t->p.qp[0]);
}

static bool make(struct tm *t)
{
	return make_with(t, false, false);
}

static void change(struct tm *t, struct wqe_tag seg, uint64_t at, uint32_t len)
{
	struct w_wqe w;

	w_wqe(&w, &t->list, WQE_OP_TAG_MATCHING, 0, 0);
	w_add(&w, &seg, sizeof(seg));
	if (seg.opcode == APPEND)
		w_data(&w, t->p.mem[1] + at, len, t->p.key[1]);
	w_post(&t->list, &w);
	w_ring(&t->list);
}

/* Append a tag; its index is the one that the append before it named. */
static void append(struct tm *t, uint16_t next, uint64_t tag, uint64_t mask,
		   uint64_t at, uint32_t len)
{
	change(t, (struct wqe_tag){ .opcode = APPEND, .index = htobe16(next),
				    .tag = htobe64(tag),
				    .mask = htobe64(mask) }, at, len);
}

static void sync_to(struct tm *t, uint16_t count)
{
	change(t, (struct wqe_tag){ .opcode = NOP, .flags = SW_CNT,
				    .sw_cnt = htobe16(count) }, 0, 0);
}

/* A message with a header and a pattern; the sender's syndrome. */
static uint8_t send_tag(struct tm *t, uint8_t op, uint64_t tag, uint32_t len)
{
	struct tmh h = { .op = op, .app_ctx = htobe32(CTX),
			 .tag = htobe64(tag) };

	pair_fill(&t->p, 0, len, (uint8_t)tag);
	memcpy(w_at(0, t->p.mem[0]), &h, len < sizeof(h) ? len : sizeof(h));
	pair_send(&t->p, WQE_OP_SEND, W_SIGNALED, len);
	return pair_syndrome(&t->p, 5);
}

static uint8_t send_rndv(struct tm *t, uint64_t tag, uint32_t rkey, uint32_t len)
{
	struct rvh rvh = { .va = htobe64(t->p.mem[0] + DATA),
			   .rkey = htobe32(rkey), .len = htobe32(len) };
	struct tmh h = { .op = TMH_RNDV, .app_ctx = htobe32(CTX),
			 .tag = htobe64(tag) };
	uint8_t *at = w_at(0, t->p.mem[0]);

	memset(at + DATA, (uint8_t)tag, len);
	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), &rvh, sizeof(rvh));
	pair_send(&t->p, WQE_OP_SEND, W_SIGNALED, sizeof(h) + sizeof(rvh));
	return pair_syndrome(&t->p, 5);
}

/* The next completion of the queue is one of tag matching: its kind, else 0xff. */
static uint8_t kind(struct tm *t, struct cqe *cqe)
{
	if (!w_wait(&t->cq, cqe, 5) || cqe->app != 1 ||
	    be32toh(cqe->srqn_uidx) != UIDX)
		return 0xff;
	return cqe->app_op;
}

static bool silent(struct tm *t)
{
	struct cqe cqe;

	return !w_wait(&t->cq, &cqe, 3);
}

static struct tmh header(const struct cqe *cqe)
{
	struct tmh h;

	memcpy(&h, cqe, sizeof(h));
	return h;
}

static bool arrived(struct tm *t, uint64_t at, uint32_t skip, uint32_t len)
{
	return !memcmp(w_at(1, t->p.mem[1] + at),
		       (uint8_t *)w_at(0, t->p.mem[0]) + skip, len);
}

static uint8_t phases(struct tm *t, uint32_t *hw, uint32_t *sw, uint32_t *next)
{
	uint8_t in[IFC_SZ(query_xrq_in)] = { 0 };
	uint8_t out[IFC_SZ(query_xrq_out)] = { 0 };
	uint8_t status;

	IFC_SET(query_xrq_in, in, xrqn, t->xrq.srqn);
	status = w_cmd(1, xrq_cmds, MLX5_CMD_OP_QUERY_XRQ, 0, 0, in, sizeof(in),
		       out, sizeof(out));
#define TMC(fld) xrq_context.tag_matching_topology_context.fld
	*hw = IFC_GET(query_xrq_out, out, TMC(hw_phase_cnt));
	*sw = IFC_GET(query_xrq_out, out, TMC(sw_phase_cnt));
	*next = IFC_GET(query_xrq_out, out, TMC(append_next_index));
	return status;
}

static void requests_change_the_list(void)
{
	struct wqe_tag seg = { .opcode = APPEND, .flags = CQE,
			       .index = htobe16(1), .mask = ALL };
	uint32_t hw, sw, next;
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	change(&t, seg, 0, 64);
	CHECK_EQ(kind(&t, &cqe), TM_APPEND);
	CHECK_EQ(w_opcode(&cqe), CQE_NO_PACKET);
	CHECK_EQ(phases(&t, &hw, &sw, &next), 0);
	CHECK_EQ(next, 1);
	seg.opcode = REMOVE;
	seg.index = 0;
	change(&t, seg, 0, 0);
	CHECK_EQ(kind(&t, &cqe), TM_REMOVE);
	CHECK_EQ(cqe.rsvd0[0], 0x80);
	change(&t, seg, 0, 0);
	CHECK_EQ(kind(&t, &cqe), TM_REMOVE);
	CHECK_EQ(cqe.rsvd0[0], 0);
	seg.opcode = NOP;
	change(&t, seg, 0, 0);
	CHECK_EQ(kind(&t, &cqe), TM_NOOP);
	append(&t, 2, 5, ALL, 0, 64);
	CHECK(silent(&t));	/* it asked for no completion */
	CHECK_EQ(w_qp_state(&t.list), QP_RTS);
}

static void a_tag_takes_one_message_without_its_header(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 3, 5, ALL, 64, 100);
	append(&t, 4, 6, ALL, 256, 100);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 6, 116), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
	CHECK_EQ(be16toh(cqe.app_info), 3);
	CHECK_EQ(be32toh(cqe.byte_cnt), 100);
	CHECK_EQ(be32toh(cqe.opcode_qpn), t.to.qpn);
	CHECK_EQ(be64toh(header(&cqe).tag), 6);
	CHECK_EQ(be32toh(header(&cqe).app_ctx), CTX);
	CHECK(arrived(&t, 256, sizeof(struct tmh), 100));
	CHECK_EQ(send_tag(&t, TMH_EAGER, 5, 116), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(be16toh(cqe.app_info), 0);
	CHECK(arrived(&t, 64, sizeof(struct tmh), 100));
	/* That one is gone now. */
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 6, 116), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
}

static void the_first_tag_that_matches_takes_it(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 0x10, 0xff, 0, 64);
	append(&t, 2, 0x2000, 0xff00, 64, 64);
	append(&t, 3, 0x2010, ALL, 128, 64);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 0x2010, 16), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(be16toh(cqe.app_info), 0);
	CHECK_EQ(be32toh(cqe.byte_cnt), 0);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 0x2010, 16), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(be16toh(cqe.app_info), 1);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 0x2010, 16), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(be16toh(cqe.app_info), 2);
}

static void a_new_tag_waits_until_the_counts_agree(void)
{
	uint32_t hw, sw, next;
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 1, ALL, 0, 64);
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS + 128, 128, t.p.key[1]);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 9, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
	CHECK_EQ(be64toh(header(&cqe).tag), 0);
	CHECK_EQ(be32toh(cqe.byte_cnt), 80);
	CHECK(arrived(&t, RECVS, 0, 80));
	change(&t, (struct wqe_tag){ .opcode = APPEND, .flags = CQE,
				     .index = htobe16(2), .tag = htobe64(9),
				     .mask = ALL }, 64, 64);
	CHECK_EQ(kind(&t, &cqe), TM_APPEND);
	CHECK_EQ(cqe.rsvd0[5], 1);	/* the count of the adapter */
	CHECK_EQ(send_tag(&t, TMH_EAGER, 9, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
	/* Old ones match all the time. */
	CHECK_EQ(send_tag(&t, TMH_EAGER, 1, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	sync_to(&t, 1);
	CHECK_EQ(phases(&t, &hw, &sw, &next), 0);
	CHECK_EQ(hw, 2);
	CHECK_EQ(sw, 1);
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 9, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
	sync_to(&t, 3);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 9, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
	CHECK_EQ(be16toh(cqe.app_info), 1);
}

static void messages_without_a_tag_are_not_counted(void)
{
	static const struct {
		uint8_t op;
		uint32_t len;
	} sent[] = { { TMH_NO_TAG, 64 }, { TMH_FIN, 16 }, { TMH_EAGER, 15 } };
	uint32_t hw, sw, next;
	struct cqe cqe;
	struct tm t;
	size_t i;

	CHECK(make(&t));
	append(&t, 1, 1, 0, 0, 64);	/* takes any tag */
	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
		CHECK_EQ(send_tag(&t, sent[i].op, 1, sent[i].len), SYND_OK);
		CHECK_EQ(kind(&t, &cqe), TM_NO_TAG);
		CHECK_EQ(be32toh(cqe.byte_cnt), sent[i].len);
		CHECK_EQ(be16toh(cqe.wqe_counter), i);
		CHECK(arrived(&t, RECVS, 0, sent[i].len));
	}
	CHECK_EQ(phases(&t, &hw, &sw, &next), 0);
	CHECK_EQ(hw, 0);
}

static void a_message_that_must_wait_is_counted_once(void)
{
	uint32_t hw, sw, next;
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	CHECK_EQ(send_tag(&t, TMH_EAGER, 1, 64), 0xff);
	CHECK_EQ(phases(&t, &hw, &sw, &next), 0);
	CHECK_EQ(hw, 0);
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
	CHECK_EQ(pair_syndrome(&t.p, 50), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
	CHECK_EQ(phases(&t, &hw, &sw, &next), 0);
	CHECK_EQ(hw, 1);
}

static void a_message_that_does_not_fit_cancels_its_tag(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 1, ALL, 0, 63);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 1, 80), SYND_REMOTE_INVAL_REQ);
	CHECK_EQ(kind(&t, &cqe), TM_CANCELED);
	CHECK_EQ(w_qp_state(&t.to), QP_ERR);
}

static void memory_of_another_domain_cancels_its_tag(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	t.p.key[1] = w_mkey(1, w_pd(1), t.p.mem[1], PAIR_MEM, ACCESS_WRITES);
	append(&t, 1, 1, ALL, 0, 64);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 1, 80), SYND_REMOTE_OP);
	CHECK_EQ(kind(&t, &cqe), TM_CANCELED);
}

static void the_adapter_fetches_and_tells(void)
{
	struct cqe cqe;
	struct tmh fin;
	struct tm t;

	CHECK(make(&t));
	w_recv(&t.p.qp[0], t.p.mem[0] + RECVS, 64, t.p.key[0]);
	append(&t, 1, 7, ALL, 512, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK_EQ(w_opcode(&cqe), CQE_NO_PACKET);
	CHECK_EQ(be64toh(header(&cqe).tag), 7);
	CHECK_EQ(kind(&t, &cqe), TM_EXPECTED);
	CHECK_EQ(be16toh(cqe.app_info), 0);
	CHECK_EQ(be32toh(cqe.byte_cnt), 300);
	CHECK_EQ(be64toh(header(&cqe).tag), 0);
	CHECK(arrived(&t, 512, DATA, 300));
	CHECK(w_wait(&t.p.rcq[0], &cqe, 5));
	CHECK_EQ(be32toh(cqe.byte_cnt), sizeof(fin));
	memcpy(&fin, w_at(0, t.p.mem[0] + RECVS), sizeof(fin));
	CHECK_EQ(fin.op, TMH_FIN);
	CHECK_EQ(be32toh(fin.app_ctx), CTX);
	CHECK_EQ(be64toh(fin.tag), 7);
	/* Both directions count on. */
	append(&t, 2, 7, ALL, 512, 300);
	CHECK_EQ(send_tag(&t, TMH_EAGER, 7, 80), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG);
}

static void the_end_waits_for_a_receive(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 7, ALL, 512, 300);
	append(&t, 2, 8, ALL, 1024, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK_EQ(kind(&t, &cqe), TM_EXPECTED);
	CHECK_EQ(send_rndv(&t, 8, t.p.key[0], 0), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK(silent(&t));	/* one after the other */
	w_recv(&t.p.qp[0], t.p.mem[0] + RECVS, 64, t.p.key[0]);
	w_recv(&t.p.qp[0], t.p.mem[0] + RECVS, 64, t.p.key[0]);
	CHECK(w_wait(&t.p.rcq[0], &cqe, 50));
	CHECK_EQ(kind(&t, &cqe), TM_EXPECTED);
	CHECK_EQ(be16toh(cqe.app_info), 1);
	CHECK(w_wait(&t.p.rcq[0], &cqe, 50));
}

static void a_rendezvous_waits_until_the_qp_may_send(void)
{
	uint8_t in[IFC_SZ(rtr2rts_qp_in)] = { 0 };
	struct cqe cqe;
	struct tm t;

	CHECK(make_with(&t, false, true));
	append(&t, 1, 7, ALL, 512, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK(silent(&t));
	IFC_SET(rtr2rts_qp_in, in, qpn, t.to.qpn);
	IFC_SET(rtr2rts_qp_in, in, qpc.next_send_psn, w_rc_attr.sq_psn);
	IFC_SET(rtr2rts_qp_in, in, qpc.primary_address_path.ack_timeout,
		w_rc_attr.timeout);
	IFC_SET(rtr2rts_qp_in, in, qpc.log_msg_max, LOG_MAX_MSG);
	IFC_SET(rtr2rts_qp_in, in, qpc.rnr_retry, 7);
	CHECK_EQ(w_cmd(1, qp_cmds, MLX5_CMD_OP_RTR2RTS_QP, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
	CHECK_EQ(kind(&t, &cqe), TM_EXPECTED);
}

static void software_does_what_the_adapter_cannot(void)
{
	struct cqe cqe;
	struct tm t;

	/* The QP has a send queue of its own. */
	CHECK(make_with(&t, true, false));
	append(&t, 1, 7, ALL, 512, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG_SW_RNDV);
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
	CHECK_EQ(be32toh(cqe.byte_cnt), sizeof(struct rvh));
	CHECK(arrived(&t, 512, sizeof(struct tmh), sizeof(struct rvh)));
	CHECK(silent(&t));
}

static void software_does_what_is_longer_than_the_tag(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 7, ALL, 512, 299);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED_MSG_SW_RNDV);
	w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_UNEXPECTED);
}

static void data_that_may_not_be_read_cancels_its_tag(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 7, ALL, 512, 300);
	append(&t, 2, 8, ALL, 512, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0] ^ 1, 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK_EQ(kind(&t, &cqe), TM_CANCELED);
	CHECK_EQ(be16toh(cqe.app_info), 0);
	CHECK_EQ(w_qp_state(&t.to), QP_ERR);
	CHECK_EQ(w_qp_state(&t.p.qp[0]), QP_ERR);
	CHECK(silent(&t));	/* The tag of nobody stays. */
}

static bool reconnect(struct tm *t, bool rtr)
{
	t->to_attr.rtr_only = rtr;
	t->p.qp[0].sq_pi = 0;
	return !w_qp_simple(&t->to, MLX5_CMD_OP_2RST_QP) &&
	       !w_qp_simple(&t->p.qp[0], MLX5_CMD_OP_2RST_QP) &&
	       !w_qp_rts(&t->p.qp[0], &w_rc_attr, &t->to) &&
	       !w_qp_rts(&t->to, &t->to_attr, &t->p.qp[0]);
}

static void the_end_of_a_qp_ends_its_rendezvous(void)
{
	struct cqe cqe;
	struct tm t;

	CHECK(make_with(&t, false, true));
	append(&t, 1, 7, ALL, 512, 300);
	append(&t, 2, 8, ALL, 512, 300);
	append(&t, 3, 9, ALL, 512, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK_EQ(w_qp_simple(&t.to, MLX5_CMD_OP_2ERR_QP), 0);
	CHECK_EQ(kind(&t, &cqe), TM_CANCELED);
	CHECK(reconnect(&t, true));
	CHECK_EQ(send_rndv(&t, 8, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK(reconnect(&t, false));	/* a reset forgets it */
	CHECK(silent(&t));
	CHECK(reconnect(&t, true));
	CHECK_EQ(send_rndv(&t, 9, t.p.key[0], 300), SYND_OK);
	CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	CHECK_EQ(w_qp_simple(&t.to, MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK(silent(&t));
}

/* A QP in RTR keeps them. It has no more than the list has tags, which no driver needs. */
static void a_qp_keeps_as_many_rendezvous_as_there_are_tags(void)
{
	struct cqe cqe;
	unsigned int i;
	struct tm t;

	CHECK(make_with(&t, false, true));
	for (i = 0; i < TAGS; i++) {
		append(&t, (i + 1) % TAGS, 7, ALL, 0, 300);
		CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_OK);
		CHECK_EQ(kind(&t, &cqe), TM_CONSUMED);
	}
	append(&t, 1, 7, ALL, 0, 300);
	CHECK_EQ(send_rndv(&t, 7, t.p.key[0], 300), SYND_REMOTE_OP);
	for (i = 0; i < TAGS + 1; i++)
		CHECK_EQ(kind(&t, &cqe), TM_CANCELED);
	CHECK_EQ(w_qp_state(&t.to), QP_ERR);
}

static void bad_requests_end_the_qp(void)
{
	static const struct wqe_tag bad[] = {
		{ .opcode = APPEND, .index = 0x0800 },		/* 8 */
		{ .opcode = APPEND | 1 },
		{ .opcode = 0x30 },
	};
	struct cqe cqe;
	struct tm t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK(make(&t));
		change(&t, bad[i], 0, 64);
		CHECK(w_wait(&t.cq, &cqe, 5));
		CHECK_EQ(w_opcode(&cqe), CQE_REQ_ERR);
		CHECK_EQ(cqe.syndrome, SYND_LOCAL_QP_OP);
		CHECK_EQ(w_qp_state(&t.list), QP_ERR);
	}
	CHECK(make(&t));	/* the list is full */
	for (i = 0; i < TAGS; i++)
		append(&t, (i + 1) % TAGS, 1, ALL, 0, 64);
	CHECK_EQ(w_qp_state(&t.list), QP_RTS);
	append(&t, 1, 1, ALL, 0, 64);
	CHECK_EQ(w_qp_state(&t.list), QP_ERR);
	CHECK(make(&t));	/* a QP without such a queue */
	t.list = t.p.qp[0];
	sync_to(&t, 0);
	CHECK_EQ(pair_syndrome(&t.p, 5), SYND_LOCAL_QP_OP);
}

/* What CREATE_XRQ says about a context of which one field differs. */
static uint8_t create(void (*differ)(uint8_t *c))
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_xrq_out)] = { 0 };
	struct w_srq srq;
	struct w_cq cq;
	size_t len;

	w_cq(&cq, 1, 6);
	len = w_xrq(&srq, 1, w_pd(1), &cq, in);
	differ(IFC_ADDR_OF(create_xrq_in, in, xrq_context));
	return w_cmd(1, xrq_cmds, MLX5_CMD_OP_CREATE_XRQ, 0, 0, in, len, out,
		     sizeof(out));
}

#define DIFFER(name, fld, v) \
	static void name(uint8_t *c) { IFC_SET(xrqc, c, fld, v); }
#define TML tag_matching_topology_context.log_matching_list_sz

DIFFER(most_tags, TML, LOG_MAX_TAGS)
DIFFER(too_many_tags, TML, LOG_MAX_TAGS + 1)
DIFFER(no_tags, TML, 0)
DIFFER(plain, topology, 0)
DIFFER(other_offload, offload, 2)
DIFFER(no_cq, cqn, 0xfffff)
DIFFER(no_pd, wq.pd, 0xfffff)
DIFFER(too_large, wq.log_wq_sz, 16)
DIFFER(cyclic, wq.wq_type, 1)

static void what_the_adapter_lacks_is_refused(void)
{
	CHECK_EQ(create(most_tags), 0);
	CHECK_EQ(create(too_many_tags), CMD_BAD_PARAM);
	CHECK_EQ(create(no_tags), CMD_BAD_PARAM);
	CHECK_EQ(create(plain), CMD_BAD_PARAM);
	CHECK_EQ(create(other_offload), CMD_BAD_PARAM);
	CHECK_EQ(create(no_cq), CMD_BAD_RES);
	CHECK_EQ(create(no_pd), CMD_BAD_RES);
	CHECK_EQ(create(too_large), CMD_BAD_PARAM);
	CHECK_EQ(create(cyclic), CMD_BAD_PARAM);
	w_hca[1].link = LINK_ETH;
	CHECK_EQ(create(most_tags), CMD_BAD_OP);
	w_hca[1].link = LINK_IB;
}

static void qps_that_cannot_use_it_are_refused(void)
{
	struct w_qp_attr attr;
	struct w_srq rmp;
	struct w_qp qp;
	struct tm t;

	CHECK(make(&t));
	attr = t.to_attr;
	attr.no_sq = false;
	CHECK_EQ(w_qp(&qp, 1, &attr, &t.cq, &t.cq), CMD_BAD_PARAM);
	attr = t.to_attr;
	attr.srqn = 0;
	CHECK_EQ(w_qp(&qp, 1, &attr, &t.cq, &t.cq), CMD_BAD_PARAM);
	w_rmp(&rmp, 1, t.p.pd[1], W_RMP_LIST);
	attr.srqn = rmp.srqn;
	CHECK_EQ(w_qp(&qp, 1, &attr, &t.cq, &t.cq), CMD_BAD_RES);
	attr.offload = false;
	CHECK_EQ(w_qp(&qp, 1, &attr, &t.cq, &t.cq), 0);
	attr.srqn = t.xrq.srqn;
	attr.type = QP_UC;
	CHECK_EQ(w_qp(&qp, 1, &attr, &t.cq, &t.cq), CMD_BAD_RES);
}

static uint8_t destroy(struct tm *t, uint16_t uid)
{
	uint8_t in[IFC_SZ(destroy_xrq_in)] = { 0 };

	IFC_SET(destroy_xrq_in, in, xrqn, t->xrq.srqn);
	return w_cmd(1, xrq_cmds, MLX5_CMD_OP_DESTROY_XRQ, 0, uid, in,
		     sizeof(in), NULL, 0);
}

static void the_queue_is_held_by_its_qps(void)
{
	uint32_t hw, sw, next;
	struct tm t;

	CHECK(make(&t));
	append(&t, 1, 7, ALL, 512, 300);
	CHECK_EQ(destroy(&t, 0), CMD_BAD_RES_STATE);
	CHECK_EQ(w_qp_simple(&t.to, MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(w_qp_simple(&t.list, MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(destroy(&t, 5), CMD_BAD_RES);	/* another user's */
	CHECK_EQ(destroy(&t, 0), 0);
	CHECK_EQ(destroy(&t, 0), CMD_BAD_RES);
	CHECK_EQ(phases(&t, &hw, &sw, &next), CMD_BAD_RES);
}

static void arm(struct tm *t, bool as_rq)
{
	uint8_t in[IFC_SZ(arm_xrq_in)] = { 0 };

	IFC_SET(arm_xrq_in, in, xrqn, t->xrq.srqn);
	IFC_SET(arm_xrq_in, in, lwm, 1);
	if (as_rq)	/* as stock drivers do: the two have one layout */
		CHECK_EQ(w_cmd(1, srq_cmds, MLX5_CMD_OP_ARM_RQ,
			       MLX5_ARM_RQ_IN_OP_MOD_XRQ, 0, in, sizeof(in),
			       NULL, 0), 0);
	else
		CHECK_EQ(w_cmd(1, xrq_cmds, MLX5_CMD_OP_ARM_XRQ, 0, 0, in,
			       sizeof(in), NULL, 0), 0);
}

static void the_limit_counts_receives(void)
{
	struct tm t;
	int as_rq;

	for (as_rq = 0; as_rq < 2; as_rq++) {
		CHECK(make(&t));
		w_srq_recv(&t.xrq, t.p.mem[1] + RECVS, 128, t.p.key[1]);
		append(&t, 1, 7, ALL, 512, 300);
		arm(&t, as_rq);
		CHECK_EQ(send_tag(&t, TMH_EAGER, 7, 80), SYND_OK);
		CHECK(!w_event_seen(1, EVENT_SRQ_LIMIT, t.xrq.srqn));
		CHECK_EQ(send_tag(&t, TMH_EAGER, 7, 80), SYND_OK);
		CHECK(w_event_seen(1, EVENT_SRQ_LIMIT, t.xrq.srqn));
	}
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(requests_change_the_list),
	TEST(a_tag_takes_one_message_without_its_header),
	TEST(the_first_tag_that_matches_takes_it),
	TEST(a_new_tag_waits_until_the_counts_agree),
	TEST(messages_without_a_tag_are_not_counted),
	TEST(a_message_that_must_wait_is_counted_once),
	TEST(a_message_that_does_not_fit_cancels_its_tag),
	TEST(memory_of_another_domain_cancels_its_tag),
	TEST(the_adapter_fetches_and_tells),
	TEST(the_end_waits_for_a_receive),
	TEST(a_rendezvous_waits_until_the_qp_may_send),
	TEST(software_does_what_the_adapter_cannot),
	TEST(software_does_what_is_longer_than_the_tag),
	TEST(data_that_may_not_be_read_cancels_its_tag),
	TEST(the_end_of_a_qp_ends_its_rendezvous),
	TEST(a_qp_keeps_as_many_rendezvous_as_there_are_tags),
	TEST(bad_requests_end_the_qp),
	TEST(what_the_adapter_lacks_is_refused),
	TEST(qps_that_cannot_use_it_are_refused),
	TEST(the_queue_is_held_by_its_qps),
	TEST(the_limit_counts_receives),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
