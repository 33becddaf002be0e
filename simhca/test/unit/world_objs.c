// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The test's driver: create objects with commands. See world.h.
 */
#include <stdlib.h>
#include <string.h>

#include "test/unit/world.h"

#define CMD_MAX 8192

/* Where contexts and commands have what mlx5_ifc.h lacks (offsets in bits) */
enum {
	QPC_SEND_DBR_MODE = 0x80,
	MODIFY_EXT = 0x40,
	MODIFY_MASK = 0x840,
	MODIFY_MMO = 0x882,
	MODIFY_LEN = 0x8a0,
	MASK_MMO = 1 << 3,
};

const struct w_qp_attr w_rc_attr = {
	.type = QP_RC,
	.retry_count = 1,
	.rnr_retry = 7,
	.timeout = 8,		/* 1 ms */
	.min_rnr_nak = 1,	/* 10 us */
	.sq_psn = 0xfffffe,	/* wraps soon */
	.rq_psn = 0xfffffe,
	.mtu = 3,
};

/**
 * w_must() - check a command that must succeed
 * @status: of the command; anything but success ends the test program
 */
void w_must(uint8_t status)
{
	if (!status)
		return;
	printf("# a command failed, status 0x%x\n", status);
	abort();
}

/**
 * w_put_pas() - write the page list of a command
 * @addr: guest address of the first page
 * @len: bytes that it covers
 *
 * Return: bytes of the list
 */
size_t w_put_pas(uint8_t *to, uint64_t addr, size_t len)
{
	size_t n = (len + SIM_PAGE - 1) / SIM_PAGE, i;
	uint64_t be;

	for (i = 0; i < n; i++) {
		be = htobe64(addr + i * SIM_PAGE);
		memcpy(to + i * sizeof(be), &be, sizeof(be));
	}
	return n * sizeof(be);
}

/**
 * w_pd() - make a protection domain
 * @hca: index of the adapter
 */
uint32_t w_pd(unsigned int hca)
{
	uint8_t in[IFC_SZ(alloc_pd_in)] = { 0 };
	uint8_t out[IFC_SZ(alloc_pd_out)] = { 0 };

	w_must(w_cmd(hca, pd_cmds, MLX5_CMD_OP_ALLOC_PD, 0, 0, in, sizeof(in),
		   out, sizeof(out)));
	return IFC_GET(alloc_pd_out, out, pd);
}

/**
 * w_xrcd() - make an XRC domain
 * @hca: index of the adapter
 */
uint32_t w_xrcd(unsigned int hca)
{
	uint8_t in[IFC_SZ(alloc_xrcd_in)] = { 0 };
	uint8_t out[IFC_SZ(alloc_xrcd_out)] = { 0 };

	w_must(w_cmd(hca, pd_cmds, MLX5_CMD_OP_ALLOC_XRCD, 0, 0, in, sizeof(in),
		   out, sizeof(out)));
	return IFC_GET(alloc_xrcd_out, out, xrcd);
}

/**
 * w_cq() - make a CQ
 * @cq: set
 * @hca: index of the adapter
 */
void w_cq(struct w_cq *cq, unsigned int hca, unsigned int log_size)
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_cq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_cq_in, in, cq_context);
	size_t len = (size_t)CQE_SIZE << log_size;
	uint8_t *buf;
	size_t i;

	*cq = (struct w_cq){ .hca = hca, .log_size = log_size };
	cq->buf = w_alloc(hca, len);
	cq->dbr = w_alloc(hca, DB_RECORD);
	buf = w_at(hca, cq->buf);
	for (i = CQE_SIZE - 1; i < len; i += CQE_SIZE)
		buf[i] = 0xf0;
	IFC_SET(cqc, c, log_cq_size, log_size);
	IFC_SET(cqc, c, uar_page, W_UAR);
	IFC_SET(cqc, c, c_eqn_or_apu_element, W_EQN);
	IFC_SET64(cqc, c, dbr_addr, cq->dbr);
	len = w_put_pas(IFC_ADDR_OF(create_cq_in, in, pas), cq->buf, len);
	w_must(w_cmd(hca, cq_cmds, MLX5_CMD_OP_CREATE_CQ, 0, 0, in,
		   IFC_OFF(create_cq_in, pas) + len, out, sizeof(out)));
	cq->cqn = IFC_GET(create_cq_out, out, cqn);
}

/**
 * w_opcode() - the opcode of a CQE
 */
uint8_t w_opcode(const struct cqe *cqe)
{
	return cqe->op_own >> 4;
}

/**
 * w_poll() - take the next CQE
 * @cqe: set where there is one
 *
 * Return: was there one?
 */
bool w_poll(struct w_cq *cq, struct cqe *cqe)
{
	uint32_t slot = cq->ci & ((1u << cq->log_size) - 1), be;
	uint8_t *at = w_at(cq->hca, cq->buf + (uint64_t)slot * CQE_SIZE);

	memcpy(cqe, at, sizeof(*cqe));
	if (w_opcode(cqe) == 0xf ||
	    (cqe->op_own & 1) != (cq->ci >> cq->log_size & 1))
		return false;
	cq->ci++;
	be = htobe32(cq->ci & 0xffffff);
	memcpy(w_at(cq->hca, cq->dbr), &be, sizeof(be));
	return true;
}

/**
 * w_wait() - take the next CQE, letting time pass
 * @cqe: set where one came
 * @ms: how long to wait
 *
 * Return: did one come?
 */
bool w_wait(struct w_cq *cq, struct cqe *cqe, unsigned int ms)
{
	for (; !w_poll(cq, cqe); ms--) {
		if (!ms)
			return false;
		w_run(1);
	}
	return true;
}

/**
 * w_arm() - ask for an event
 * @solicited: for solicited completions only
 */
void w_arm(struct w_cq *cq, bool solicited)
{
	uint32_t word = (cq->arm_sn & 3) << 28 | (uint32_t)solicited << 24 |
			(cq->ci & 0xffffff);

	cq_ring(&w_hca[cq->hca], W_UAR, word, cq->cqn);
}

/**
 * w_mkey() - register memory
 * @hca: index of the adapter
 * @pd: protection domain
 * @addr: guest address, which is also the address under the key
 * @len: bytes
 * @rights: ACCESS_*
 *
 * Return: the key
 */
uint32_t w_mkey(unsigned int hca, uint32_t pd, uint64_t addr, uint64_t len,
		unsigned int rights)
{
	static uint8_t variant;
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	size_t pas = w_put_pas(IFC_ADDR_OF(create_mkey_in, in, klm_pas_mtt),
			     addr & ~(uint64_t)(SIM_PAGE - 1),
			     len + addr % SIM_PAGE);

	variant++;
	pas = (pas + 15) / 16 * 16;
	IFC_SET(mkc, c, access_mode_1_0, MKEY_MTT);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, lw, !!(rights & ACCESS_LOCAL_WRITE));
	IFC_SET(mkc, c, rr, !!(rights & ACCESS_REMOTE_READ));
	IFC_SET(mkc, c, rw, !!(rights & ACCESS_REMOTE_WRITE));
	IFC_SET(mkc, c, a, !!(rights & ACCESS_ATOMIC));
	IFC_SET(mkc, c, umr_en, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, mkey_7_0, variant);
	IFC_SET(mkc, c, pd, pd);
	IFC_SET64(mkc, c, start_addr, addr);
	IFC_SET64(mkc, c, len, len);
	IFC_SET(mkc, c, log_page_size, 12);
	IFC_SET(mkc, c, translations_octword_size, pas / 16);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size,
		pas / 16);
	w_must(w_cmd(hca, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in,
		   IFC_OFF(create_mkey_in, klm_pas_mtt) + pas, out,
		   sizeof(out)));
	return IFC_GET(create_mkey_out, out, mkey_index) << 8 | variant;
}

static void fill_qpc(uint8_t *c, const struct w_qp *qp,
		     const struct w_qp_attr *attr, const struct w_cq *scq,
		     const struct w_cq *rcq)
{
	IFC_SET(qpc, c, st, attr->type);
	IFC_SET(qpc, c, pm_state, PM_MIGRATED);
	IFC_SET(qpc, c, pd, qp->pd);
	IFC_SET(qpc, c, uar_page, W_UAR);
	IFC_SET(qpc, c, user_index, NO_USER_INDEX);
	IFC_SET(qpc, c, no_sq, attr->no_sq);
	IFC_SET(qpc, c, fre, attr->fre);
	IFC_SET(qpc, c, offload_type, attr->offload);
	IFC_SET(qpc, c, block_lb_mc, attr->block_lb);
	ifc_set32(c, QPC_SEND_DBR_MODE, 2, attr->no_record);
	IFC_SET(qpc, c, log_num_dci_stream_channels, attr->streams * 2);
	IFC_SET(qpc, c, log_num_dci_errored_streams, attr->streams);
	IFC_SET(qpc, c, log_sq_size, qp->log_sq);
	IFC_SET(qpc, c, log_rq_size, qp->log_rq);
	IFC_SET(qpc, c, log_rq_stride, W_LOG_RQ_STRIDE - 4);
	IFC_SET(qpc, c, rq_type, attr->srqn || attr->type == QP_XRC);
	IFC_SET(qpc, c, srqn_rmpn_xrqn, attr->srqn);
	IFC_SET(qpc, c, xrcd, attr->xrcd);
	IFC_SET(qpc, c, cqn_snd, scq->cqn);
	IFC_SET(qpc, c, cqn_rcv, rcq->cqn);
	IFC_SET64(qpc, c, dbr_addr, qp->dbr);
}

/**
 * w_qp() - make a QP, in reset; 16 blocks to send, 16 receives
 * @qp: set
 * @hca: index of the adapter
 * @attr: what kind
 * @scq: send CQ
 * @rcq: receive CQ
 *
 * Return: the command's status
 */
uint8_t w_qp(struct w_qp *qp, unsigned int hca, const struct w_qp_attr *attr,
	     const struct w_cq *scq, const struct w_cq *rcq)
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_qp_out)] = { 0 };
	uint8_t status;
	size_t len;

	*qp = (struct w_qp){ .hca = hca, .log_sq = 4, .log_rq = 4 };
	qp->pd = attr->pd ? attr->pd : w_pd(hca);
	if (!attr->srqn && attr->type != QP_XRC && attr->type != QP_REG_UMR &&
	    attr->type != QP_DCI)
		qp->sq_off = 1u << (qp->log_rq + W_LOG_RQ_STRIDE);
	len = qp->sq_off + (WQE_BB << qp->log_sq);
	qp->buf = w_alloc(hca, len);
	qp->dbr = w_alloc(hca, DB_RECORD);
	fill_qpc(IFC_ADDR_OF(create_qp_in, in, qpc), qp, attr, scq, rcq);
	len = w_put_pas(IFC_ADDR_OF(create_qp_in, in, pas), qp->buf, len);
	status = w_cmd(hca, qp_cmds, MLX5_CMD_OP_CREATE_QP, 0, 0, in,
		       IFC_OFF(create_qp_in, pas) + len, out, sizeof(out));
	qp->qpn = IFC_GET(create_qp_out, out, qpn);
	return status;
}

/**
 * w_qp_mmo() - let a QP copy memory
 * @qp: the QP, in INIT
 * @opcode: MLX5_CMD_OP_INIT2INIT_QP, or one that must fail
 */
uint8_t w_qp_mmo(const struct w_qp *qp, uint16_t opcode)
{
	uint8_t in[MODIFY_LEN / 8] = { 0 };

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	ifc_set32(in, MODIFY_EXT, 1, 1);
	ifc_set64(in, MODIFY_MASK, MASK_MMO);
	ifc_set32(in, MODIFY_MMO, 1, 1);
	return w_cmd(qp->hca, qp_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

/**
 * w_qp_simple() - a state change that needs nothing but the number
 * @opcode: of the command
 */
uint8_t w_qp_simple(const struct w_qp *qp, uint16_t opcode)
{
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 };

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	return w_cmd(qp->hca, qp_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

/**
 * w_qp_rts() - bring a QP to RTS
 * @qp: the QP, in reset
 * @peer: the QP at the other end
 *
 * Return: the status of the first command that failed
 */
uint8_t w_qp_rts(struct w_qp *qp, const struct w_qp_attr *attr,
		 const struct w_qp *peer)
{
	static const uint16_t steps[] = { MLX5_CMD_OP_RST2INIT_QP,
					  MLX5_CMD_OP_INIT2RTR_QP,
					  MLX5_CMD_OP_RTR2RTS_QP };
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 }, status = 0;
	uint8_t *c = IFC_ADDR_OF(rst2init_qp_in, in, qpc);
	size_t i;

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	IFC_SET(qpc, c, pm_state, PM_MIGRATED);
	IFC_SET(qpc, c, mtu, attr->mtu);
	IFC_SET(qpc, c, log_msg_max, LOG_MAX_MSG);
	IFC_SET(qpc, c, remote_qpn, peer->qpn);
	IFC_SET(qpc, c, primary_address_path.rlid, peer->hca + 1);
	IFC_SET(qpc, c, primary_address_path.vhca_port_num, 1);
	IFC_SET(qpc, c, primary_address_path.pkey_index, attr->pkey_index);
	IFC_SET(qpc, c, primary_address_path.ack_timeout, attr->timeout);
	IFC_SET(qpc, c, retry_count, attr->retry_count);
	IFC_SET(qpc, c, rnr_retry, attr->rnr_retry);
	IFC_SET(qpc, c, min_rnr_nak, attr->min_rnr_nak);
	IFC_SET(qpc, c, next_send_psn, attr->sq_psn);
	IFC_SET(qpc, c, next_rcv_psn, attr->rq_psn);
	IFC_SET(qpc, c, q_key, attr->qkey);
	IFC_SET(qpc, c, dp_ordering_1, attr->any_order);
	IFC_SET(qpc, c, dp_ordering_force, attr->any_order);
	IFC_SET(qpc, c, rre, 1);
	IFC_SET(qpc, c, rwe, 1);
	IFC_SET(qpc, c, rae, 1);
	for (i = 0; i < ARRAY_SIZE(steps) - attr->rtr_only && !status; i++) {
		status = w_cmd(qp->hca, qp_cmds, steps[i], 0, 0, in,
			       sizeof(in), NULL, 0);
		if (!status && !i && attr->in_init)
			status = attr->in_init(qp);
	}
	return status;
}

/**
 * w_qp_state() - the state of a QP
 */
enum qp_state w_qp_state(const struct w_qp *qp)
{
	return qp_find(&w_hca[qp->hca], qp->qpn, 0)->state;
}
