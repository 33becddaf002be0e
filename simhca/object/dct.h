/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Targets of dynamically connected transport (DC). A target has no peer: a
 * message of any initiator (a QP of type DCI) is for it if the message has the
 * target's number and access key. What it receives goes to its shared queue.
 *
 * Invariants
 * - A target is a QP without queues of its own. Its state is RTR, or error once
 *   it is drained.
 * - No message moves it to another state: an initiator's error is its own.
 */
#ifndef SIMHCA_DCT_H
#define SIMHCA_DCT_H

#include "object/qp.h"

#define DCTC_SIZE IFC_SZ(dctc)

/**
 * struct dct - a target
 * @qp: its number, references and rights
 * @dctc: the context as it was created
 * @key: access key
 * @addr_index: RoCE: the entry of its adapter's table that answers come from
 * @violations: messages with another key
 * @armed: the next one of them posts an event
 */
struct dct {
	struct qp qp;
	uint8_t dctc[DCTC_SIZE];
	uint64_t key;
	uint8_t addr_index;
	uint32_t violations;
	bool armed;
};

#endif
