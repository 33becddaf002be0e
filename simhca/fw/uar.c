// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages: who may use which.
 *
 * Invariants
 * - A page is usable by the driver (uid 0), by the DevX user that allocated it,
 *   and by shared resources.
 * - A page can be given back while objects still name it: drivers do that when
 *   a program closes its context before what it made in it. The page is dead
 *   from then on: nobody may ring it or name it. Its number is given out again
 *   when the last of those objects is gone.
 */
#include "fw/uar.h"

/**
 * uar_get() - find an allocated page
 *
 * Return: the page, NULL where it is not allocated
 */
struct uar *uar_get(struct hca *hca, uint32_t index)
{
	struct uar *uar = idtable_get(&hca->uars->taken, index);

	return uar && uar->alive ? uar : NULL;
}

/**
 * uar_usable() - may a command name this page?
 * @index: number of the page
 * @uid: DevX uid of the command
 */
bool uar_usable(struct hca *hca, uint32_t index, uint16_t uid)
{
	struct uar *uar = uar_get(hca, index);

	return uar && (!uid || uid == SIM_SHARED_UID || uid == uar->uid);
}

/**
 * uar_hold() - count a new object that names the page
 * @index: number of the page
 */
void uar_hold(struct hca *hca, uint32_t index)
{
	struct uar *uar = uar_get(hca, index);

	if (uar)
		uar->holds++;
}

/**
 * uar_release() - undo one uar_hold()
 * @index: number of the page
 */
void uar_release(struct hca *hca, uint32_t index)
{
	struct uars *uars = hca->uars;
	struct uar *uar = idtable_get(&uars->taken, index);

	if (!uar || !uar->holds || --uar->holds || uar->alive)
		return;
	uars->held--;
	idtable_remove(&uars->taken, index);
}

/**
 * uar_refused() - count and log a ring that was refused
 * @uar: the page that was written
 * @what: kind of the queue that should have been rung
 * @number: of that queue
 */
void uar_refused(struct uar *uar, enum ring_result result, const char *what,
		 uint32_t number)
{
	struct hca *hca = uar->hca;

	switch (result) {
	case RING_WRONG_UAR:
		hca_error(hca, SIM_ERR_WRONG_UAR,
			  "%s 0x%x rung on UAR 0x%x, which it does not own",
			  what, number, uar->index);
		break;
	case RING_NO_QP:
		hca_error(hca, SIM_ERR_BAD_DOORBELL,
			  "UAR 0x%x: there is no %s 0x%x", uar->index, what,
			  number);
		break;
	default:
		hca_error(hca, SIM_ERR_BAD_DOORBELL,
			  "UAR 0x%x: %s 0x%x cannot be rung now", uar->index,
			  what, number);
		break;
	}
}
