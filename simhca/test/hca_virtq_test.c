// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Virtqueues, without a VMM: the split ring under a list of keys, events by a pair of
 * QPs, rings that break a rule, and commands that are refused.
 */
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>
#include <string.h>

#include "object/virtq.h"
#include "test/unit/pair.h"

#define SIZE 8u
#define IOVA 0x7000000u		/* where the driver sees its memory */
#define MEM (32u << 10)
#define HALF (MEM / 2)
#define DESC 0u			/* offsets in the memory */
#define AVAIL 0x1000u
#define USED 0x2000u
#define BUFS 0x3000u		/* a buffer for each descriptor */
#define BUF 0x800u
#define LOG_RQ 4u
#define PATH_PORT 1
#define UMEM_PAGES 2u
#define RX 0u
#define TX 1u

struct queue {
	uint32_t pd;
	uint32_t key;
	uint32_t umem;
	uint32_t tisn;
	uint32_t qpn[2];	/* the adapter's, the driver's */
	uint32_t id;
	uint64_t mem;
	struct w_cq cq;
	uint8_t in[IFC_SZ(create_virtio_net_q_in)];
};

static uint8_t *mem_at(const struct queue *q, uint64_t off)
{
	return w_at(0, q->mem + off);
}

static void put16(const struct queue *q, uint64_t off, uint16_t v)
{
	v = htole16(v);
	memcpy(mem_at(q, off), &v, sizeof(v));
}

static uint16_t get16(const struct queue *q, uint64_t off)
{
	uint16_t v;

	memcpy(&v, mem_at(q, off), sizeof(v));
	return le16toh(v);
}

/* A key for [IOVA, IOVA + MEM): a list of two, which have a half of the memory each. */
static uint32_t listed_key(uint32_t pd, uint64_t mem)
{
	uint8_t in[IFC_SZ(create_mkey_in) + 2 * sizeof(struct wqe_klm)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	struct wqe_klm klms[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		klms[i] = (struct wqe_klm){
			.bcount = htobe32(HALF),
			.key = htobe32(w_mkey(0, pd, mem + i * HALF, HALF,
					      ACCESS_LOCAL_WRITE)),
			.va = htobe64(mem + i * HALF),
		};
	memcpy(IFC_ADDR_OF(create_mkey_in, in, klm_pas_mtt), klms,
	       sizeof(klms));
	IFC_SET(mkc, c, access_mode_1_0, MKEY_KLM);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, lw, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, pd, pd);
	IFC_SET64(mkc, c, start_addr, IOVA);
	IFC_SET64(mkc, c, len, MEM);
	IFC_SET(mkc, c, translations_octword_size, 2);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size, 2);
	w_must(w_cmd(0, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(create_mkey_out, out, mkey_index) << 8;
}

static uint32_t umem(void)
{
	uint8_t in[IFC_SZ(create_umem_in) + UMEM_PAGES * 8] = { 0 };
	uint8_t out[IFC_SZ(create_umem_out)] = { 0 };
	uint64_t at = w_alloc(0, UMEM_PAGES * SIM_PAGE);

	IFC_SET64(create_umem_in, in, umem.num_of_mtt, UMEM_PAGES);
	w_put_pas(in + IFC_SZ(create_umem_in), at, UMEM_PAGES * SIM_PAGE);
	w_must(w_cmd(0, umem_cmds, MLX5_CMD_OP_CREATE_UMEM, 0, 0, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(create_umem_out, out, umem_id);
}

static uint32_t tis(void)
{
	uint8_t in[IFC_SZ(create_tis_in)] = { 0 };
	uint8_t out[IFC_SZ(create_tis_out)] = { 0 };

	w_must(w_cmd(0, pd_cmds, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0, in,
		     IFC_SZ(alloc_transport_domain_in), out, sizeof(out)));
	IFC_SET(create_tis_in, in, ctx.transport_domain,
		IFC_GET(alloc_transport_domain_out, out, transport_domain));
	w_must(w_cmd(0, tis_cmds, MLX5_CMD_OP_CREATE_TIS, 0, 0, in, sizeof(in),
		     out, sizeof(out)));
	return IFC_GET(create_tis_out, out, tisn);
}

/* A QP of the pair: the driver's has a receive queue, of empty requests. */
static uint32_t event_qp(const struct queue *q, bool driver)
{
	uint8_t in[IFC_SZ(create_qp_in) + 8] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_qp_in, in, qpc);
	uint8_t out[IFC_SZ(create_qp_out)] = { 0 };
	uint64_t dbr = w_alloc(0, DB_RECORD);
	uint32_t posted = htobe32(1u << LOG_RQ);

	IFC_SET(qpc, c, st, QP_RC);
	IFC_SET(qpc, c, pm_state, PM_MIGRATED);
	IFC_SET(qpc, c, pd, q->pd);
	IFC_SET(qpc, c, no_sq, 1);
	IFC_SET(qpc, c, rq_type, 3);
	if (driver) {
		memcpy(w_at(0, dbr), &posted, sizeof(posted));
		IFC_SET(qpc, c, rq_type, 0);
		IFC_SET(qpc, c, cqn_rcv, q->cq.cqn);
		IFC_SET(qpc, c, log_rq_size, LOG_RQ);
		IFC_SET64(qpc, c, dbr_addr, dbr);
		w_put_pas(IFC_ADDR_OF(create_qp_in, in, pas), w_alloc(0, 1), 1);
	}
	w_must(w_cmd(0, qp_cmds, MLX5_CMD_OP_CREATE_QP, 0, 0, in, sizeof(in),
		     out, sizeof(out)));
	return IFC_GET(create_qp_out, out, qpn);
}

/* The driver leaves its own QP, which only receives, in RTR: that is @steps 2. */
static void connect(uint32_t qpn, uint32_t remote, size_t steps)
{
	static const uint16_t ops[] = { MLX5_CMD_OP_RST2INIT_QP,
					MLX5_CMD_OP_INIT2RTR_QP,
					MLX5_CMD_OP_RTR2RTS_QP };
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(rst2init_qp_in, in, qpc);
	size_t i;

	IFC_SET(rst2init_qp_in, in, qpn, qpn);
	IFC_SET(qpc, c, remote_qpn, remote);
	IFC_SET(qpc, c, rwe, 1);
	IFC_SET(qpc, c, mtu, 1);
	IFC_SET(qpc, c, log_msg_max, 30);
	IFC_SET(qpc, c, primary_address_path.vhca_port_num, PATH_PORT);
	for (i = 0; i < steps; i++)
		w_must(w_cmd(0, qp_cmds, ops[i], 0, 0, in, sizeof(in), NULL, 0));
}

#define OBJ(q, fld, v) \
	IFC_SET(virtio_net_q_object, \
		IFC_ADDR_OF(create_virtio_net_q_in, (q)->in, obj_context), fld, v)
#define CTX(q, fld, v) OBJ(q, virtio_q_context.fld, v)
#define ADDR(q, fld, v) \
	IFC_SET64(virtio_net_q_object, \
		  IFC_ADDR_OF(create_virtio_net_q_in, (q)->in, obj_context), \
		  virtio_q_context.fld, v)

static uint8_t op(struct queue *q, uint16_t opcode, uint8_t *out)
{
	IFC_SET(general_obj_in_cmd_hdr, q->in, obj_type,
		MLX5_OBJ_TYPE_VIRTIO_NET_Q);
	IFC_SET(general_obj_in_cmd_hdr, q->in, obj_id, q->id);
	return w_cmd(0, general_cmds, opcode, 0, 0, q->in, sizeof(q->in), out,
		     out ? IFC_SZ(query_virtio_net_q_out) : 0);
}

/* All that a queue needs, and the command that makes it. */
static void prepare(struct queue *q, uint16_t index)
{
	memset(q, 0, sizeof(*q));
	w_hca[0].function = FUNCTION_VDPA;
	q->pd = w_pd(0);
	q->mem = w_alloc(0, MEM);
	q->key = listed_key(q->pd, q->mem);
	q->umem = umem();
	q->tisn = tis();
	w_cq(&q->cq, 0, LOG_RQ);
	q->qpn[0] = event_qp(q, false);
	q->qpn[1] = event_qp(q, true);
	connect(q->qpn[0], q->qpn[1], 3);
	connect(q->qpn[1], q->qpn[0], 2);
	OBJ(q, tisn_or_qpn, index & 1 ? q->tisn : 0);
	CTX(q, event_mode, VIRTQ_EVENT_QP);
	CTX(q, event_qpn_or_msix, q->qpn[0]);
	CTX(q, queue_index, index);
	CTX(q, queue_size, SIZE);
	CTX(q, virtio_version_1_0, 1);
	CTX(q, virtio_q_mkey, q->key);
	CTX(q, pd, q->pd);
	CTX(q, umem_1_id, q->umem);
	CTX(q, umem_2_id, q->umem);
	CTX(q, umem_3_id, q->umem);
	CTX(q, umem_1_size, UMEM_PAGES * SIM_PAGE);
	CTX(q, umem_2_size, UMEM_PAGES * SIM_PAGE);
	CTX(q, umem_3_size, UMEM_PAGES * SIM_PAGE);
	ADDR(q, desc_addr, IOVA + DESC);
	ADDR(q, available_addr, IOVA + AVAIL);
	ADDR(q, used_addr, IOVA + USED);
}

static uint8_t make(struct queue *q)
{
	uint8_t out[IFC_SZ(query_virtio_net_q_out)] = { 0 };
	uint8_t status = op(q, MLX5_CMD_OP_CREATE_GENERAL_OBJECT, out);

	q->id = IFC_GET(general_obj_out_cmd_hdr, out, obj_id);
	return status;
}

static uint8_t become(struct queue *q, enum virtq_state state)
{
	IFC_SET64(virtio_net_q_object,
		  IFC_ADDR_OF(create_virtio_net_q_in, q->in, obj_context),
		  modify_field_select, MLX5_VIRTQ_MODIFY_MASK_STATE);
	OBJ(q, state, state);
	return op(q, MLX5_CMD_OP_MODIFY_GENERAL_OBJECT, NULL);
}

static void start(struct queue *q, uint16_t index)
{
	prepare(q, index);
	w_must(make(q));
	w_must(become(q, VIRTQ_RDY));
}

static const struct virtq *virtq(const struct queue *q)
{
	return idtable_get(&w_hca[0].objs->virtqs, q->id);
}

/* Descriptor @i has @len bytes of its buffer. */
static void desc(const struct queue *q, uint16_t i, uint32_t len,
		 uint16_t flags, uint16_t next)
{
	struct vring_desc d = {
		.addr = htole64(IOVA + BUFS + i * BUF),
		.len = htole32(len),
		.flags = htole16(flags),
		.next = htole16(next),
	};

	memcpy(mem_at(q, DESC + i * sizeof(d)), &d, sizeof(d));
}

/* Make a chain available, and tell the adapter. */
static void offer(const struct queue *q, uint16_t head)
{
	uint16_t idx = get16(q, AVAIL + 2);

	put16(q, AVAIL + 4 + idx % SIZE * 2, head);
	put16(q, AVAIL + 2, idx + 1);
	virtq_kick(&w_hca[0], virtq(q)->index);
}

/* The length of used entry @n, which must be that of descriptor @head. */
static uint32_t used(const struct queue *q, uint16_t n, uint32_t head)
{
	struct vring_used_elem e;

	memcpy(&e, mem_at(q, USED + 4 + n % SIZE * sizeof(e)), sizeof(e));
	return le32toh(e.id) == head ? le32toh(e.len) : UINT32_MAX;
}

static void a_tx_queue_sends_chains_and_tells(void)
{
	struct cqe cqe;
	struct queue q;

	start(&q, TX);
	memset(mem_at(&q, BUFS + 3 * BUF), 0xa5, 60);
	desc(&q, 1, VIRTQ_HEADER, VRING_DESC_F_NEXT, 3);
	desc(&q, 3, 60, 0, 0);
	offer(&q, 1);
	CHECK_EQ(w_nframes, 1);
	CHECK_EQ(w_frame_len, 60);
	CHECK(w_frame[0] == 0xa5 && w_frame[59] == 0xa5);
	CHECK_EQ(get16(&q, USED + 2), 1);
	CHECK_EQ(used(&q, 0, 1), 0);
	CHECK(w_poll(&q.cq, &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_WRITE_IMM);
	CHECK(!w_event_seen(0, EVENT_COMM_EST, q.qpn[1]));
	put16(&q, AVAIL, VRING_AVAIL_F_NO_INTERRUPT);
	offer(&q, 1);
	CHECK_EQ(w_nframes, 2);
	CHECK(!w_poll(&q.cq, &cqe));
	CHECK_EQ(virtq(&q)->kicks, 2);
	CHECK_EQ(virtq(&q)->events, 1);
}

/* Offloads are not announced: a header that asks for one loses its frame. */
static void a_frame_that_wants_an_offload_is_lost(void)
{
	struct virtio_net_hdr_v1 head = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM };
	struct queue q;

	start(&q, TX);
	memcpy(mem_at(&q, BUFS), &head, sizeof(head));
	desc(&q, 0, 100, 0, 0);
	offer(&q, 0);
	desc(&q, 2, VIRTQ_HEADER - 1, 0, 0);
	offer(&q, 2);
	CHECK_EQ(w_nframes, 0);
	CHECK_EQ(virtq(&q)->dropped, 2);
	CHECK_EQ(get16(&q, USED + 2), 2);
	CHECK_EQ(virtq(&q)->state, VIRTQ_RDY);
}

static void an_rx_queue_is_filled_in_turn(void)
{
	struct virtio_net_hdr_v1 head;
	uint8_t frame[200];
	struct cqe cqe;
	struct queue q;
	uint16_t i;

	start(&q, RX);
	memset(frame, 0x5a, sizeof(frame));
	virtq_receive((struct virtq *)virtq(&q), frame, sizeof(frame));
	CHECK_EQ(virtq(&q)->dropped, 1);
	/* longer than the buffer: the frame is lost, and the buffer is not */
	desc(&q, 5, VIRTQ_HEADER + sizeof(frame) - 1, VRING_DESC_F_WRITE, 0);
	offer(&q, 5);
	virtq_receive((struct virtq *)virtq(&q), frame, sizeof(frame));
	CHECK_EQ(virtq(&q)->dropped, 2);
	CHECK_EQ(get16(&q, USED + 2), 0);
	virtq_receive((struct virtq *)virtq(&q), frame, sizeof(frame) - 1);
	for (i = 0; i < 2 * SIZE; i++) {
		desc(&q, 0, BUF, VRING_DESC_F_WRITE, 0);
		offer(&q, 0);
		virtq_receive((struct virtq *)virtq(&q), frame, sizeof(frame));
		CHECK_EQ(used(&q, i + 1, 0), VIRTQ_HEADER + sizeof(frame));
	}
	CHECK_EQ(used(&q, 2 * SIZE, 0), VIRTQ_HEADER + sizeof(frame));
	CHECK_EQ(get16(&q, USED + 2), 2 * SIZE + 1);
	memcpy(&head, mem_at(&q, BUFS), sizeof(head));
	CHECK_EQ(le16toh(head.num_buffers), 1);
	CHECK(!memcmp(mem_at(&q, BUFS + VIRTQ_HEADER), frame, sizeof(frame)));
	CHECK(w_poll(&q.cq, &cqe));
}

/* One event more than the driver has posted receive requests for. */
static void start_with_event_due(struct queue *q)
{
	unsigned int i;

	start(q, TX);
	desc(q, 0, 100, 0, 0);
	for (i = 0; i <= 1u << LOG_RQ; i++)
		offer(q, 0);
}

static void an_event_waits_for_a_request(void)
{
	struct queue q;

	start_with_event_due(&q);
	CHECK_EQ(virtq(&q)->events, 1u << LOG_RQ);
	CHECK(virtq(&q)->event_due);
	put16(&q, AVAIL, VRING_AVAIL_F_NO_INTERRUPT);
	w_run(5);
	CHECK(!virtq(&q)->event_due);
	CHECK_EQ(virtq(&q)->events, 1u << LOG_RQ);
}

static void no_event_comes_after_a_fatal_error(void)
{
	struct queue q;

	start_with_event_due(&q);
	w_hca[0].fatal = true;
	put16(&q, AVAIL, VRING_AVAIL_F_NO_INTERRUPT);
	w_run(5);
	CHECK(virtq(&q)->event_due);
	w_hca[0].fatal = false;
}

/* The memory of a TX queue is checked for reading only. */
static void a_tx_queue_receives_nothing(void)
{
	const uint8_t frame[200] = { 0x5a };
	struct queue q;

	start(&q, TX);
	desc(&q, 0, 1000, 0, 0);
	put16(&q, AVAIL + 4, 0);
	put16(&q, AVAIL + 2, 1);
	virtq_receive((struct virtq *)virtq(&q), frame, sizeof(frame));
	CHECK_EQ(virtq(&q)->frames, 0);
	CHECK_EQ(get16(&q, USED + 2), 0);
}

/* How a ring breaks a rule: each one ends a queue. */
enum flaw {
	TOO_MANY, HEAD_BEYOND, NEXT_BEYOND, CIRCLE, WRONG_WAY, INDIRECT,
	NO_MEMORY, NO_AVAIL, NO_USED, FLAWS,
};

static void spoil(struct queue *q, enum flaw flaw)
{
	struct vring_desc d = { 0 };

	desc(q, 0, 100, 0, 0);
	switch (flaw) {
	case TOO_MANY:
		put16(q, AVAIL + 2, SIZE + 1);
		break;
	case NEXT_BEYOND:
		desc(q, 0, 100, VRING_DESC_F_NEXT, SIZE);
		break;
	case CIRCLE:
		desc(q, 0, 1, VRING_DESC_F_NEXT, 0);
		break;
	case WRONG_WAY:
		desc(q, 0, 100, VRING_DESC_F_WRITE, 0);
		break;
	case INDIRECT:
		desc(q, 0, 16, VRING_DESC_F_INDIRECT, 0);
		break;
	case NO_MEMORY:
		d.addr = htole64(IOVA + MEM - 50);
		d.len = htole32(100);
		memcpy(mem_at(q, DESC), &d, sizeof(d));
		break;
	case NO_AVAIL:
		ADDR(q, available_addr, IOVA + MEM);
		break;
	case NO_USED:
		ADDR(q, used_addr, IOVA + MEM - 4);
		break;
	default:
		break;
	}
}

static void a_broken_ring_ends_the_queue(void)
{
	struct queue q;
	unsigned int i;

	for (i = 0; i < FLAWS; i++) {
		prepare(&q, TX);
		spoil(&q, i);
		CHECK_EQ(make(&q), 0);
		CHECK_EQ(become(&q, VIRTQ_RDY), 0);
		offer(&q, i == HEAD_BEYOND ? SIZE : 0);
		CHECK_EQ(virtq(&q)->state, VIRTQ_ERR);
		CHECK_EQ(become(&q, VIRTQ_RDY), CMD_BAD_RES_STATE);
		CHECK_EQ(op(&q, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL), 0);
	}
	CHECK_EQ(w_nframes, 1);	/* of NO_USED */
	CHECK_EQ(w_hca[0].errors[SIM_ERR_BAD_WQE], FLAWS);
}

static void a_queue_holds_what_it_names(void)
{
	uint8_t in[IFC_SZ(destroy_qp_in)] = { 0 };
	struct queue q;

	start(&q, TX);
	IFC_SET(destroy_qp_in, in, qpn, q.qpn[0]);
	CHECK_EQ(w_cmd(0, qp_cmds, MLX5_CMD_OP_DESTROY_QP, 0, 0, in, sizeof(in),
		       NULL, 0), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_tis_in, in, tisn, q.tisn);
	CHECK_EQ(w_cmd(0, tis_cmds, MLX5_CMD_OP_DESTROY_TIS, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_umem_in, in, umem_id, q.umem);
	CHECK_EQ(w_cmd(0, umem_cmds, MLX5_CMD_OP_DESTROY_UMEM, 0, 0, in,
		       sizeof(in), NULL, 0), CMD_BAD_RES_STATE);
	CHECK_EQ(op(&q, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL), 0);
	CHECK_EQ(w_cmd(0, umem_cmds, MLX5_CMD_OP_DESTROY_UMEM, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
	CHECK_EQ(op(&q, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL), CMD_BAD_RES);
}

/* CREATE_RQT or MODIFY_RQT with this one queue. @rqtn: the table, set by CREATE_RQT */
static uint8_t table(uint16_t opcode, const struct queue *q, uint32_t *rqtn)
{
	uint8_t in[IFC_SZ(create_rqt_in) + IFC_SZ(rq_num)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_rqt_in, in, rqt_context);
	uint8_t out[IFC_SZ(create_rqt_out)] = { 0 }, status;

	IFC_SET(modify_rqt_in, in, rqtn, *rqtn);
	IFC_SET(rqtc, c, list_q_type, MLX5_RQTC_LIST_Q_TYPE_VIRTIO_NET_Q);
	IFC_SET(rqtc, c, rqt_actual_size, 1);
	IFC_SET(rq_num, in + IFC_SZ(create_rqt_in), rq_num, q->id);
	status = w_cmd(0, rx_cmds, opcode, 0, 0, in, sizeof(in), out,
		       sizeof(out));
	if (!status && opcode == MLX5_CMD_OP_CREATE_RQT)
		*rqtn = IFC_GET(create_rqt_out, out, rqtn);
	return status;
}

/* Frames would be written to memory that the guest gave the adapter to read. */
static void a_table_takes_no_queue_that_sends(void)
{
	struct queue rx, tx;
	uint32_t rqtn = 0;

	start(&tx, TX);
	CHECK_EQ(table(MLX5_CMD_OP_CREATE_RQT, &tx, &rqtn), CMD_BAD_RES);
	CHECK_EQ(op(&tx, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL), 0);
	start(&rx, RX);
	start(&tx, TX);
	CHECK_EQ(table(MLX5_CMD_OP_CREATE_RQT, &rx, &rqtn), 0);
	CHECK_EQ(table(MLX5_CMD_OP_MODIFY_RQT, &tx, &rqtn), CMD_BAD_RES);
	CHECK_EQ(op(&rx, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL),
		 CMD_BAD_RES_STATE);
	CHECK_EQ(op(&tx, MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, NULL), 0);
}

static void a_suspended_queue_tells_where_it_is(void)
{
	uint8_t out[IFC_SZ(query_virtio_net_q_out)] = { 0 };
	const uint8_t *obj = IFC_ADDR_OF(query_virtio_net_q_out, out,
					 obj_context);
	struct queue q;

	start(&q, TX);
	desc(&q, 0, 100, 0, 0);
	offer(&q, 0);
	CHECK_EQ(become(&q, VIRTQ_INIT), CMD_BAD_RES_STATE);
	CHECK_EQ(become(&q, VIRTQ_SUSPEND), 0);
	offer(&q, 0);
	CHECK_EQ(w_nframes, 1);
	CHECK_EQ(op(&q, MLX5_CMD_OP_QUERY_GENERAL_OBJECT, out), 0);
	CHECK_EQ(IFC_GET(virtio_net_q_object, obj, state), VIRTQ_SUSPEND);
	CHECK_EQ(IFC_GET(virtio_net_q_object, obj, hw_available_index), 1);
	CHECK_EQ(IFC_GET(virtio_net_q_object, obj, hw_used_index), 1);
	CHECK_EQ(become(&q, VIRTQ_RDY), 0);
	CHECK_EQ(w_nframes, 2);
}

static void queues_that_do_not_fit_are_refused(void)
{
	struct queue q;

	prepare(&q, TX);
	w_hca[0].function = FUNCTION_VF;
	CHECK_EQ(make(&q), CMD_BAD_PARAM);
	w_hca[0].function = FUNCTION_VDPA;
	CTX(&q, queue_size, SIZE + 1);
	CHECK_EQ(make(&q), CMD_BAD_PARAM);
	CTX(&q, queue_size, SIZE);
	CTX(&q, virtio_q_type, 1);	/* packed */
	CHECK_EQ(make(&q), CMD_BAD_PARAM);
	CTX(&q, virtio_q_type, 0);
	CTX(&q, event_mode, 2);		/* an interrupt */
	CHECK_EQ(make(&q), CMD_BAD_PARAM);
	CTX(&q, event_mode, VIRTQ_EVENT_QP);
	OBJ(&q, queue_feature_bit_mask_12_3, 1 << 7);	/* checksums */
	CHECK_EQ(make(&q), CMD_BAD_PARAM);
	OBJ(&q, queue_feature_bit_mask_12_3, 0);
	CTX(&q, umem_2_size, SIM_PAGE);
	CHECK_EQ(make(&q), CMD_BAD_RES);
	CTX(&q, umem_2_size, UMEM_PAGES * SIM_PAGE);
	CTX(&q, event_qpn_or_msix, q.qpn[1]);
	CHECK_EQ(make(&q), CMD_BAD_RES);
	CTX(&q, event_qpn_or_msix, q.qpn[0]);
	CTX(&q, virtio_version_1_0, 0);
	CHECK_EQ(make(&q), 0);
	CHECK_EQ(become(&q, VIRTQ_RDY), CMD_BAD_PARAM);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_tx_queue_sends_chains_and_tells),
	TEST(a_frame_that_wants_an_offload_is_lost),
	TEST(an_rx_queue_is_filled_in_turn),
	TEST(an_event_waits_for_a_request),
	TEST(no_event_comes_after_a_fatal_error),
	TEST(a_tx_queue_receives_nothing),
	TEST(a_broken_ring_ends_the_queue),
	TEST(a_queue_holds_what_it_names),
	TEST(a_table_takes_no_queue_that_sends),
	TEST(a_suspended_queue_tells_where_it_is),
	TEST(queues_that_do_not_fit_are_refused),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_eth_setup, w_eth_teardown);
}
