/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UAR pages: uar.c has the pages and their books, uar_bf.c makes doorbells and
 * BlueFlame writes out of the stores that a guest does to one.
 */
#ifndef SIMHCA_UAR_H
#define SIMHCA_UAR_H

#include "device.h"

#define UAR_SLOTS 4u		/* bfregs of a page, two of them for users */
#define UAR_SLOTS_AT 0x800u
#define UAR_SLOT_BYTES 0x200u	/* 1 << log_bf_reg_size */
#define UAR_BUF_BYTES 0x100u	/* two buffers, used in turn */
#define UAR_BUFS (2 * UAR_SLOTS)

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
 * @data: what was stored so far
 * @fill: bytes of it, from the start; 0: nothing is going on
 * @want: bytes when it is a whole BlueFlame write
 * @rung: the QP was told already
 * @counted: as a doorbell, for who asked in the middle of it
 * @torn: the current mess has been counted
 * @hold: rings a doorbell that nothing follows
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
};

struct uar {
	struct hca *hca;
	uint32_t index;
	bool alive;
	uint16_t uid;
	unsigned int holds;
	uint64_t cq_arms;
	uint32_t cq_first;	/* a CQ doorbell in two halves: the first */
	struct uar_slot slots[UAR_SLOTS];
	struct uar_buf bufs[UAR_BUFS];
};

void uar_bf_init(struct uar *uar);
void uar_bf_stop(struct uar *uar);
void uar_bf_settle(struct uar *uar);
void uar_bf_write(struct uar *uar, uint32_t off, const uint8_t *buf,
		  size_t len);
void uar_slot_clear(struct uar_slot *slot);

/* Count and log a ring that was refused. */
void uar_refused(struct uar *uar, enum ring_result result, const char *what,
		 uint32_t number);

#endif
