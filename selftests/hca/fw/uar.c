// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages: who has which, what was written to them.
 *
 * Invariants
 * - A page is usable by the driver (uid 0), by the DevX user that allocated it,
 *   and by shared resources.
 * - A page can be given back while objects still name it: drivers do that when
 *   a program closes its context before what it made in it. It is dead from
 *   then on for whoever writes to it or would name it, and its number is given
 *   out again once the last of those objects is gone.
 * - Nothing that is written to a page that nobody has, or by an object that has
 *   another page, has any effect but to be counted.
 * - The counters of a freed page live until its number is given out again.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/uar.h"

#define UAR_CQ_DOORBELL 0x20u
#define UAR_EQ_ARM 0x40u
#define UAR_EQ_NO_ARM 0x48u

struct uars {
	struct idtable taken; /* pages alive, and dead ones that are held */
	struct idtable all; /* with those that have only counters left */
	unsigned int held; /* dead ones of those taken */
};

/**
 * uars_init() - make the table
 * @hca: the adapter
 *
 * Return: 0 or -ENOMEM
 */
int uars_init(struct hca *hca)
{
	hca->uars = calloc(1, sizeof(*hca->uars));
	if (!hca->uars)
		return -ENOMEM;
	idtable_init(&hca->uars->taken, UAR_FIRST, UAR_LIMIT - UAR_FIRST);
	idtable_init(&hca->uars->all, UAR_FIRST, UAR_LIMIT - UAR_FIRST);
	return 0;
}

static struct uar *uar_get(struct hca *hca, uint32_t index)
{
	struct uar *uar = idtable_get(&hca->uars->taken, index);

	return uar && uar->alive ? uar : NULL;
}

static void uar_forget(struct uar *uar)
{
	unsigned int i;

	uar_bf_stop(uar);
	idtable_remove(&uar->hca->uars->all, uar->index);
	for (i = 0; i < UAR_SLOTS; i++)
		uar_slot_clear(&uar->slots[i]);
	free(uar);
}

static void uar_kill(struct uar *uar)
{
	struct uars *uars = uar->hca->uars;

	uar_bf_settle(uar);
	uar_bf_stop(uar);
	uar->alive = false;
	if (uar->holds)
		uars->held++;
	else
		idtable_remove(&uars->taken, uar->index);
}

/**
 * uars_reset() - forget all pages, number the next ones from the start
 * @hca: the adapter
 */
void uars_reset(struct hca *hca)
{
	struct uar *uar;
	uint32_t index;

	idtable_for_each(&hca->uars->all, index, uar) {
		idtable_remove(&hca->uars->taken, index);
		uar_forget(uar);
	}
	hca->uars->held = 0;
	idtable_fini(&hca->uars->taken);
	idtable_fini(&hca->uars->all);
}

/**
 * uars_fini() - free the table
 * @hca: the adapter
 */
void uars_fini(struct hca *hca)
{
	if (!hca->uars)
		return;
	uars_reset(hca);
	free(hca->uars);
	hca->uars = NULL;
}

/**
 * uars_clear_counters() - set all counters to 0, forget pages that have no more
 * @hca: the adapter
 */
void uars_clear_counters(struct hca *hca)
{
	struct uar *uar;
	uint32_t index;
	unsigned int i;

	idtable_for_each(&hca->uars->all, index, uar) {
		if (!uar->alive && !uar->holds) {
			uar_forget(uar);
			continue;
		}
		uar_bf_settle(uar);
		uar->cq_arms = 0;
		for (i = 0; i < UAR_SLOTS; i++)
			uar_slot_clear(&uar->slots[i]);
	}
}

bool uar_usable(struct hca *hca, uint32_t index, uint16_t uid)
{
	struct uar *uar = uar_get(hca, index);

	return uar && (!uid || uid == SIM_SHARED_UID || uid == uar->uid);
}

void uar_hold(struct hca *hca, uint32_t index)
{
	struct uar *uar = uar_get(hca, index);

	if (uar)
		uar->holds++;
}

void uar_release(struct hca *hca, uint32_t index)
{
	struct uars *uars = hca->uars;
	struct uar *uar = idtable_get(&uars->taken, index);

	if (!uar || !uar->holds || --uar->holds || uar->alive)
		return;
	uars->held--;
	idtable_remove(&uars->taken, index);
}

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

static void uar_cq(struct uar *uar, uint32_t sn_cmd_ci, uint32_t cqn)
{
	enum ring_result ret;

	ret = cq_ring(uar->hca, uar->index, sn_cmd_ci, cqn);
	if (ret == RING_OK)
		uar->cq_arms++;
	else
		uar_refused(uar, ret, "CQ", cqn);
}

static bool uar_doorbell(struct uar *uar, uint32_t off, const uint8_t *buf,
			 size_t len)
{
	enum ring_result ret;
	uint32_t dw[2];

	if (len != 4 && len != 8)
		return false;
	memcpy(dw, buf, len);
	if (off == UAR_CQ_DOORBELL && len == 8) {
		uar_cq(uar, be32toh(dw[0]), be32toh(dw[1]));
	} else if (off == UAR_CQ_DOORBELL) {
		uar->cq_first = be32toh(dw[0]);
	} else if (off == UAR_CQ_DOORBELL + 4 && len == 4) {
		uar_cq(uar, uar->cq_first, be32toh(dw[0]));
	} else if ((off == UAR_EQ_ARM || off == UAR_EQ_NO_ARM) && len == 4) {
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
 * @hca: the adapter
 * @index: the page, from UAR_FIRST on
 * @off: where in the page
 * @buf: what
 * @len: bytes, within the page
 */
void uar_write(struct hca *hca, uint32_t index, uint32_t off,
	       const uint8_t *buf, size_t len)
{
	struct uar *uar = uar_get(hca, index);

	if (iseg_is_fatal(hca))
		return;
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

static struct json_object *slot_dump(const struct uar_slot *slot,
				     unsigned int index)
{
	struct json_object *o = json_object_new_object();
	struct json_object *qpns = json_object_new_object();
	char name[16];
	size_t i;

	for (i = 0; i < slot->nringers; i++) {
		snprintf(name, sizeof(name), "0x%x", slot->ringers[i].qpn);
		json_object_object_add(
			qpns, name,
			json_object_new_int64(slot->ringers[i].rings));
	}
	json_object_object_add(o, "slot", json_object_new_int(index));
	json_object_object_add(o, "doorbells",
			       json_object_new_int64(slot->doorbells));
	json_object_object_add(o, "blueflame",
			       json_object_new_int64(slot->blueflame));
	json_object_object_add(o, "torn", json_object_new_int64(slot->torn));
	json_object_object_add(o, "qpns", qpns);
	return o;
}

/* NULL for a freed page that was never written. */
static struct json_object *uar_dump(struct uar *uar)
{
	struct json_object *o, *slots;
	uint64_t used = uar->cq_arms;
	unsigned int i;

	uar_bf_settle(uar);
	for (i = 0; i < UAR_SLOTS; i++)
		used += uar->slots[i].doorbells + uar->slots[i].blueflame +
			uar->slots[i].torn;
	if (!used && !uar->alive)
		return NULL;
	slots = json_object_new_array();
	for (i = 0; i < UAR_SLOTS; i++)
		json_object_array_add(slots, slot_dump(&uar->slots[i], i));
	o = json_object_new_object();
	json_object_object_add(o, "index", json_object_new_int(uar->index));
	json_object_object_add(o, "alive", json_object_new_boolean(uar->alive));
	json_object_object_add(o, "uid", json_object_new_int(uar->uid));
	json_object_object_add(o, "slots", slots);
	json_object_object_add(o, "cq_arms",
			       json_object_new_int64(uar->cq_arms));
	return o;
}

/**
 * uars_dump() - tell about all pages
 * @hca: the adapter
 * @o: gets "uars"
 * @alive: gets "uar"
 */
void uars_dump(struct hca *hca, struct json_object *o,
	       struct json_object *alive)
{
	struct json_object *array = json_object_new_array(), *one;
	struct uar *uar;
	uint32_t index;

	idtable_for_each(&hca->uars->all, index, uar) {
		one = uar_dump(uar);
		if (one)
			json_object_array_add(array, one);
	}
	json_object_object_add(o, "uars", array);
	json_object_object_add(alive, "uar",
			       json_object_new_int(hca->uars->taken.count -
						   hca->uars->held));
	json_object_object_add(alive, "uar_held",
			       json_object_new_int(hca->uars->held));
}

static uint8_t alloc_uar(struct cmd *cmd)
{
	struct uars *uars = cmd->hca->uars;
	struct uar *uar = calloc(1, sizeof(*uar)), *old;

	if (!uar || idtable_alloc(&uars->taken, uar, &uar->index)) {
		free(uar);
		return CMD_NO_RES;
	}
	old = idtable_get(&uars->all, uar->index);
	if (old)
		uar_forget(old);
	if (idtable_insert(&uars->all, uar->index, uar)) {
		idtable_remove(&uars->taken, uar->index);
		free(uar);
		return CMD_NO_RES;
	}
	uar->hca = cmd->hca;
	uar->alive = true;
	uar->uid = cmd->uid;
	uar_bf_init(uar);
	IFC_SET(alloc_uar_out, cmd->out, uar, uar->index);
	return CMD_OK;
}

static uint8_t dealloc_uar(struct cmd *cmd)
{
	uint32_t index = IFC_GET(dealloc_uar_in, cmd->in, uar);
	struct uar *uar = uar_get(cmd->hca, index);

	if (!uar_usable(cmd->hca, index, cmd->uid))
		return CMD_BAD_RES;
	uar_kill(uar);
	return CMD_OK;
}

const struct cmd_def uar_cmds[] = {
	{ MLX5_CMD_OP_ALLOC_UAR, "ALLOC_UAR", IFC_SZ(alloc_uar_in),
	  IFC_SZ(alloc_uar_out), alloc_uar },
	{ MLX5_CMD_OP_DEALLOC_UAR, "DEALLOC_UAR", IFC_SZ(dealloc_uar_in),
	  IFC_SZ(dealloc_uar_out), dealloc_uar },
	{ 0 },
};
