// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asynchronous events of QPs and shared receive queues.
 */
#include <endian.h>

#include "fw/eq.h"
#include "object/objects.h"
#include "object/wqe.h"

/**
 * event_post() - post an asynchronous event of a QP or an SRQ
 * @type: EVENT_*
 * @id: number of the QP or SRQ
 */
void event_post(struct hca *hca, uint8_t type, uint32_t id)
{
	struct event_qp_srq ev = { .qp_srq_n = htobe32(id) };

	eq_post_async(hca, type, 0, &ev);
}
