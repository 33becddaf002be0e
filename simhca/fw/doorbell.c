// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Stores of a guest into UAR pages. Doorbells of CQs and EQs are handled here,
 * those of send queues in uar_bf.c.
 *
 * Invariants
 * - A store to a page that is not allocated is counted and has no other effect.
 *   The same holds for the ring of a queue that belongs to another page.
 */
#include <endian.h>
#include <string.h>

#include "fw/eq.h"
#include "fw/uar.h"
#include "object/qp.h"

#define UAR_CQ_DOORBELL 0x20u
#define UAR_EQ_ARM 0x40u
#define UAR_EQ_NO_ARM 0x48u
#define UAR_SQ_DOORBELL 0x600u	/* of queues without a doorbell record */

#define DS_MASK 0x3fu
#define DS_PER_BLOCK (WQE_BB / WQE_DS)

static void uar_cq(struct uar *uar, uint32_t sn_cmd_ci, uint32_t cqn)
{
	enum ring_result ret;

	ret = cq_ring(uar->hca, uar->index, sn_cmd_ci, cqn);
	if (ret == RING_OK)
		uar->cq_arms++;
	else
		uar_refused(uar, ret, "CQ", cqn);
}

/* The start of the last request's control segment: it ends what is posted. */
static void uar_sq(struct uar *uar, uint32_t opmod_idx_opcode, uint32_t qpn_ds)
{
	uint32_t blocks = ((qpn_ds & DS_MASK) + DS_PER_BLOCK - 1) / DS_PER_BLOCK;
	enum ring_result ret;

	ret = qp_ring_to(uar->hca, uar->index, qpn_ds >> 8,
			 (opmod_idx_opcode >> 8) + blocks);
	if (ret != RING_OK)
		uar_refused(uar, ret, "QP", qpn_ds >> 8);
	else
		qp_count_ring(uar->hca, qpn_ds >> 8, false, false);
}

/* A doorbell of 8 bytes at @at, stored at once, or in halves: then @first has one. */
static bool uar_pair(uint32_t at, uint32_t off, const uint32_t *dw, size_t len,
		     uint32_t *first, struct uar *uar,
		     void (*ring)(struct uar *uar, uint32_t a, uint32_t b))
{
	if (off == at && len == 8)
		ring(uar, be32toh(dw[0]), be32toh(dw[1]));
	else if (off == at)
		*first = be32toh(dw[0]);
	else if (off == at + 4 && len == 4)
		ring(uar, *first, be32toh(dw[0]));
	else
		return false;
	return true;
}

static bool uar_doorbell(struct uar *uar, uint32_t off, const uint8_t *buf,
			 size_t len)
{
	enum ring_result ret;
	uint32_t dw[2];

	if (len != 4 && len != 8)
		return false;
	memcpy(dw, buf, len);
	if (uar_pair(UAR_CQ_DOORBELL, off, dw, len, &uar->cq_first, uar, uar_cq) ||
	    uar_pair(UAR_SQ_DOORBELL, off, dw, len, &uar->sq_first, uar, uar_sq))
		return true;
	if ((off == UAR_EQ_ARM || off == UAR_EQ_NO_ARM) && len == 4) {
		ret = eq_ring(uar->hca, uar->index, be32toh(dw[0]),
			      off == UAR_EQ_ARM);
		if (ret != RING_OK)
			uar_refused(uar, ret, "EQ", be32toh(dw[0]) >> 24);
	} else {
		return false;
	}
	return true;
}

/**
 * uar_write() - a guest stored into a UAR page
 * @index: which 4 KiB of the BAR, from UAR_FIRST on
 * @off: where in the page
 * @len: bytes, within the page
 */
void uar_write(struct hca *hca, uint32_t index, uint32_t off,
	       const uint8_t *buf, size_t len)
{
	bool beyond = index & ((1u << hca->uar_log) - 1);
	struct uar *uar = beyond ? NULL : uar_get(hca, index >> hca->uar_log);

	if (hca->fatal)
		return;
	index >>= hca->uar_log;
	if (!uar) {
		/* once for a BlueFlame write, not for each of its stores */
		if (off < UAR_SLOTS_AT || !(off % UAR_BUF_BYTES))
			hca_error(hca, SIM_ERR_DEAD_UAR,
				  "UAR 0x%x is not allocated, offset 0x%x",
				  index, off);
		return;
	}
	if (off >= UAR_SLOTS_AT)
		uar_bf_write(uar, off, buf, len);
	else if (!uar_doorbell(uar, off, buf, len))
		hca_error(hca, SIM_ERR_BAD_MMIO,
			  "UAR 0x%x: write of %zu bytes at 0x%x", index, len,
			  off);
}
