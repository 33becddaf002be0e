/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UAR pages. doorbell.c receives the stores of a guest. uar_bf.c recognises
 * doorbells and BlueFlame writes in them. uar.c decides who may use which page.
 * uar_page.c allocates, frees and dumps pages.
 */
#ifndef SIMHCA_UAR_H
#define SIMHCA_UAR_H

#include "bus/bus.h"
#include "hca.h"

#define UAR_SLOTS 4u		/* bfregs of a page, two of them for users */
#define UAR_SLOTS_AT 0x800u
#define UAR_BUF_BYTES 0x100u	/* two of them a slot, used in turn */
#define UAR_BUFS (2 * UAR_SLOTS)

/**
 * enum ring_result - result of a doorbell or BlueFlame write
 * @RING_OK: the queue was rung
 * @RING_NO_QP: there is no queue of that number, or it has no send queue
 * @RING_WRONG_UAR: the queue is not of this UAR page
 * @RING_BAD_STATE: the queue cannot be rung in its state
 * @RING_TORN: the queue was rung, but the BlueFlame copy differs from the work
 *	request in memory: two writers used the uUAR without a lock
 */
enum ring_result {
	RING_OK,
	RING_NO_QP,
	RING_WRONG_UAR,
	RING_BAD_STATE,
	RING_TORN,
};

/* How often a QP rang a uUAR. */
struct uar_ringer {
	uint32_t qpn;
	uint64_t rings;
};

struct uar_slot {
	uint64_t doorbells;
	uint64_t blueflame;
	uint64_t torn;
	struct uar_ringer *ringers; /* by QPN, ascending */
	size_t nringers;
};

/**
 * struct uar_buf - one BlueFlame buffer
 * @data: bytes that the guest stored since the last first store
 * @fill: number of bytes in @data; 0: no write is in progress
 * @want: length of the whole BlueFlame write
 * @rung: the QP has been rung for this write
 * @counted: the write is counted as a doorbell, because a dump was asked for
 *	before the write was complete
 * @torn: a torn write has been counted since the last first store
 * @hold: timer that rings the QP if the stores that should follow do not come
 * @held: of all buffers of the adapter whose @hold is armed
 */
struct uar_buf {
	struct uar *uar;
	uint8_t data[UAR_BUF_BYTES];
	uint16_t fill;
	uint16_t want;
	bool rung;
	bool counted;
	bool torn;
	struct sim_timer hold;
	struct {
		struct uar_buf *next, *prev;
	} held;
};

struct uar {
	struct hca *hca;
	uint32_t index;
	bool alive;
	uint16_t uid;
	unsigned int holds;
	uint64_t cq_arms;
	uint32_t cq_first;	/* first half of a CQ doorbell in two stores */
	uint32_t sq_first;	/* that of a doorbell without a record */
	struct uar_slot slots[UAR_SLOTS];
	struct uar_buf bufs[UAR_BUFS];
};

struct uars {
	struct idtable taken;	/* allocated pages, and freed ones in use */
	struct idtable all;	/* @taken, and freed pages with counters */
	unsigned int held;	/* freed pages in @taken */
	uint32_t next;		/* pages that are allocated together: which next */
	struct uar_buf *holding; /* the first buffer whose timer is armed */
};

/* The number behind that of the last UAR page. */
static inline uint32_t uar_end(const struct hca *hca)
{
	return uar_limit(hca) >> hca->uar_log;
}

/* ---- uar.c */
struct uar *uar_get(struct hca *hca, uint32_t index);
bool uar_usable(struct hca *hca, uint32_t index, uint16_t uid);
void uar_hold(struct hca *hca, uint32_t index);
void uar_release(struct hca *hca, uint32_t index);
void uar_refused(struct uar *uar, enum ring_result result, const char *what,
		 uint32_t number);

/* ---- uar_bf.c */
void uar_bf_init(struct uar *uar);
void uar_bf_stop(struct uar *uar);
void uar_bf_end(struct uar *uar);
void uar_bf_count(struct uar *uar);
void uar_bf_ring_all(struct hca *hca);
void uar_bf_write(struct uar *uar, uint32_t off, const uint8_t *buf,
		  size_t len);
void uar_slot_clear(struct uar_slot *slot);

/* ---- uar_page.c */
int uars_init(struct hca *hca);
void uars_fini(struct hca *hca);
void uars_reset(struct hca *hca);
void uars_clear_counters(struct hca *hca);
void uars_dump(struct hca *hca, struct json_object *o,
	       struct json_object *alive);

/* ---- doorbell.c */
void uar_write(struct hca *hca, uint32_t index, uint32_t off,
	       const uint8_t *buf, size_t len);

#endif
