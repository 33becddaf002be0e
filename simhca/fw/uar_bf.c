// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells and BlueFlame writes.
 *
 * A doorbell is a store of the first 8 bytes of a control segment to the start
 * of a buffer. A BlueFlame write is that, followed by the rest of the WQE at
 * ascending offsets, up to a whole number of 64-byte blocks. The two begin
 * alike: a first store is held until the second one, or HOLD_NS, tells. A copy
 * that has begun is waited for COPY_NS long.
 *
 * Invariants
 * - Every first store rings its QP exactly once: with the whole copy if the
 *   copy came in time, else as a doorbell.
 * - A command doorbell does not overtake the stores that came before it: the QPs
 *   of all buffers are rung before the command is run.
 * - Every first store is counted once, as a doorbell or as a BlueFlame write. A
 *   store that rang as a doorbell is counted as BlueFlame if the copy comes
 *   late. If a dump is asked for before the copy comes, it stays counted as a
 *   doorbell.
 * - A store that does not continue where the last one ended is a torn write. So
 *   is a first store in the middle of a copy. Torn writes are counted once
 *   until the next first store. A BlueFlame copy that differs from the work
 *   request in memory is a torn write too. Stores after a refused first store
 *   are not torn.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fw/uar.h"
#include "object/qp.h"

#define HOLD_NS (30 * NSEC_PER_USEC)
#define COPY_NS (100 * NSEC_PER_MSEC)
#define CTRL_START 8u		/* bytes that ring */
#define DS_BYTES 16u
#define DS_MASK 0x3fu
#define BLOCK 64u

static struct uar_slot *buf_slot(struct uar_buf *buf)
{
	return &buf->uar->slots[(buf - buf->uar->bufs) / 2];
}

static uint32_t buf_dword(const struct uar_buf *buf, unsigned int i)
{
	uint32_t dw;

	memcpy(&dw, buf->data + 4 * i, sizeof(dw));
	return be32toh(dw);
}

static uint32_t buf_qpn(const struct uar_buf *buf)
{
	return buf_dword(buf, 1) >> 8;
}

static uint16_t buf_index(const struct uar_buf *buf)
{
	return buf_dword(buf, 0) >> 8;
}

static void slot_count(struct uar_slot *slot, uint32_t qpn)
{
	size_t lo = 0, hi = slot->nringers, mid;
	struct uar_ringer *r;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (slot->ringers[mid].qpn < qpn)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == slot->nringers || slot->ringers[lo].qpn != qpn) {
		r = realloc(slot->ringers,
			    (slot->nringers + 1) * sizeof(*slot->ringers));
		if (!r)
			return;
		slot->ringers = r;
		memmove(r + lo + 1, r + lo,
			(slot->nringers - lo) * sizeof(*r));
		r[lo] = (struct uar_ringer){ .qpn = qpn };
		slot->nringers++;
	}
	slot->ringers[lo].rings++;
}

/**
 * uar_slot_clear() - set a slot's counters to 0
 */
void uar_slot_clear(struct uar_slot *slot)
{
	free(slot->ringers);
	*slot = (struct uar_slot){ 0 };
}

static void buf_torn(struct uar_buf *buf, const char *why)
{
	if (buf->torn)
		return;
	buf->torn = true;
	buf_slot(buf)->torn++;
	hca_error(buf->uar->hca, SIM_ERR_TORN, "UAR 0x%x slot %u: %s",
		  buf->uar->index, (unsigned int)(buf - buf->uar->bufs) / 2,
		  why);
}

/* No longer wait for further stores. */
static void buf_let_go(struct uar_buf *buf)
{
	struct uars *uars = buf->uar->hca->uars;

	timer_cancel(&buf->hold);
	if (buf->held.prev)
		buf->held.prev->held.next = buf->held.next;
	else if (uars->holding == buf)
		uars->holding = buf->held.next;
	if (buf->held.next)
		buf->held.next->held.prev = buf->held.prev;
	buf->held.next = NULL;
	buf->held.prev = NULL;
}

/* Ring the QP after @ns, if it was not rung before. */
static void buf_hold(struct uar_buf *buf, uint64_t ns)
{
	struct uars *uars = buf->uar->hca->uars;

	buf_let_go(buf);
	buf->held.next = uars->holding;
	if (buf->held.next)
		buf->held.next->held.prev = buf;
	uars->holding = buf;
	timer_arm(&buf->hold, ns);
}

/* Tell the QP, once. */
static void buf_ring(struct uar_buf *buf, bool bf)
{
	struct uar *uar = buf->uar;
	uint32_t qpn = buf_qpn(buf);
	enum ring_result ret;

	buf_let_go(buf);
	if (buf->rung)
		return;
	buf->rung = true;
	ret = qp_ring(uar->hca, uar->index, qpn, buf_index(buf),
		      bf ? buf->data : NULL, bf ? buf->fill : 0);
	if (ret == RING_TORN)
		buf_torn(buf, "the copy is not the work request");
	if (ret == RING_OK || ret == RING_TORN)
		return;
	uar_refused(uar, ret, "QP", qpn);
	if (ret == RING_WRONG_UAR)
		qp_count_ring(uar->hca, qpn, bf, true);
	/* A refused store is not counted, nor is the rest of its copy. */
	buf->fill = 0;
	buf->torn = true;
}

/* Ring the QP if it was not rung yet. Count what a first store is, once. */
static void buf_count(struct uar_buf *buf, bool bf)
{
	struct uar_slot *slot = buf_slot(buf);

	buf_ring(buf, bf);
	if (!buf->fill || buf->counted)
		return;
	buf->counted = true;
	if (bf)
		slot->blueflame++;
	else
		slot->doorbells++;
	slot_count(slot, buf_qpn(buf));
	qp_count_ring(buf->uar->hca, buf_qpn(buf), bf, false);
}

/* Count the first store as a doorbell or BlueFlame. The buffer is then idle. */
static void buf_finish(struct uar_buf *buf, bool bf)
{
	buf_count(buf, bf);
	buf->fill = 0;
}

static void buf_hold_over(struct sim_timer *timer)
{
	buf_ring(container_of(timer, struct uar_buf, hold), false);
}

/* The control segment's start was stored: can a BlueFlame write follow? */
static void buf_started(struct uar_buf *buf)
{
	unsigned int ds = buf_dword(buf, 1) & DS_MASK;

	buf->want = (ds * DS_BYTES + BLOCK - 1) / BLOCK * BLOCK;
	if (!ds || buf->want > UAR_BUF_BYTES)
		buf_finish(buf, false);
	else
		buf_hold(buf, HOLD_NS);
}

/* A store to the start of the buffer. */
static void buf_begin(struct uar_buf *buf)
{
	struct uar_buf *other = &buf->uar->bufs[(buf - buf->uar->bufs) ^ 1];

	if (buf->fill > CTRL_START)
		buf_torn(buf, "a write began within another");
	if (buf->fill >= CTRL_START)
		buf_finish(buf, false);
	/* A writer that uses the next buffer has finished with the other. */
	if (other->fill == CTRL_START)
		buf_finish(other, false);
	buf->fill = 0;
	buf->rung = false;
	buf->counted = false;
	buf->torn = false;
}

static void buf_store(struct uar_buf *buf, uint32_t pos, const uint8_t *data,
		      size_t len)
{
	if (!pos)
		buf_begin(buf);
	else if (!buf->fill || pos != buf->fill) {
		buf_torn(buf, "a store that continues nothing");
		if (buf->fill >= CTRL_START)
			buf_finish(buf, false);
		buf->fill = 0;
		return;
	}
	memcpy(buf->data + pos, data, len);
	buf->fill += len;
	if (pos < CTRL_START && buf->fill >= CTRL_START)
		buf_started(buf);
	if (buf->fill <= CTRL_START)
		return;
	if (buf->fill >= buf->want)
		buf_finish(buf, true);
	else if (pos <= CTRL_START && !buf->rung)
		buf_hold(buf, COPY_NS);
}

/**
 * uar_bf_write() - a guest stored into the BlueFlame part of a page
 * @uar: an allocated page
 * @off: where, from UAR_SLOTS_AT on
 * @len: bytes, within the page
 */
void uar_bf_write(struct uar *uar, uint32_t off, const uint8_t *buf, size_t len)
{
	uint32_t pos;
	size_t n;

	if (off % 4 || len % 4) {
		hca_error(uar->hca, SIM_ERR_BAD_MMIO,
			  "UAR 0x%x: write of %zu bytes at 0x%x", uar->index,
			  len, off);
		return;
	}
	for (; len; off += n, buf += n, len -= n) {
		pos = off % UAR_BUF_BYTES;
		n = UAR_BUF_BYTES - pos;
		if (n > len)
			n = len;
		buf_store(&uar->bufs[(off - UAR_SLOTS_AT) / UAR_BUF_BYTES], pos,
			  buf, n);
	}
}

/**
 * uar_bf_count() - count what is still held
 *
 * More may come: a copy goes on where it was. One that is in time is not counted
 * yet.
 */
void uar_bf_count(struct uar *uar)
{
	struct uar_buf *buf;
	unsigned int i;

	for (i = 0; i < UAR_BUFS; i++) {
		buf = &uar->bufs[i];
		if (buf->fill == CTRL_START ||
		    (buf->fill > CTRL_START && buf->rung))
			buf_count(buf, false);
	}
}

/**
 * uar_bf_stop() - forget what is held
 * @uar: a page that is going away
 */
void uar_bf_stop(struct uar *uar)
{
	unsigned int i;

	for (i = 0; i < UAR_BUFS; i++) {
		buf_let_go(&uar->bufs[i]);
		uar->bufs[i].fill = 0;
	}
}

/**
 * uar_bf_end() - ring and count what is still held, no more will come
 * @uar: a page that is freed
 */
void uar_bf_end(struct uar *uar)
{
	unsigned int i;

	for (i = 0; i < UAR_BUFS; i++)
		if (uar->bufs[i].fill >= CTRL_START)
			buf_finish(&uar->bufs[i], false);
	uar_bf_stop(uar);
}

/**
 * uar_bf_ring_all() - ring the QPs of all buffers
 *
 * A copy that comes later is a BlueFlame write, as it is after HOLD_NS.
 */
void uar_bf_ring_all(struct hca *hca)
{
	while (hca->uars->holding)
		buf_ring(hca->uars->holding, false);
}

/**
 * uar_bf_init() - make a page's buffers
 * @uar: a zeroed page
 */
void uar_bf_init(struct uar *uar)
{
	unsigned int i;

	for (i = 0; i < UAR_BUFS; i++) {
		uar->bufs[i].uar = uar;
		uar->bufs[i].hold.fire = buf_hold_over;
	}
}
