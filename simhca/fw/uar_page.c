// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages: their commands, counters, beginning and end.
 *
 * Invariants
 * - The counters of a freed page live until its number is given out again.
 * - A driver whose pages are larger than 4 KiB gets and frees all the UAR pages
 *   of one of its pages at once (PRM, HCA_CAP.uar_4k and log_uar_page_sz). They
 *   are neighbours, and the number of the first one is a multiple of their count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "bus/bus.h"
#include "fw/cmd.h"
#include "fw/uar.h"

/**
 * uars_init() - make the table
 *
 * Return: 0 or -ENOMEM
 */
int uars_init(struct hca *hca)
{
	uint32_t pages = uar_limit(hca) - UAR_FIRST;

	hca->uars = calloc(1, sizeof(*hca->uars));
	if (!hca->uars)
		return -ENOMEM;
	idtable_init(&hca->uars->taken, UAR_FIRST, pages);
	idtable_init(&hca->uars->all, UAR_FIRST, pages);
	return 0;
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

	uar_bf_end(uar);
	uar->alive = false;
	if (uar->holds)
		uars->held++;
	else
		idtable_remove(&uars->taken, uar->index);
}

/**
 * uars_reset() - forget all pages, number the next ones from the start
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
	hca->uars->next = 0;
	idtable_fini(&hca->uars->taken);
	idtable_fini(&hca->uars->all);
}

/**
 * uars_fini() - free the table
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
		uar_bf_count(uar);
		uar->cq_arms = 0;
		for (i = 0; i < UAR_SLOTS; i++)
			uar_slot_clear(&uar->slots[i]);
	}
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
		json_add_number(qpns, name, slot->ringers[i].rings);
	}
	json_add_number(o, "slot", index);
	json_add_number(o, "doorbells", slot->doorbells);
	json_add_number(o, "blueflame", slot->blueflame);
	json_add_number(o, "torn", slot->torn);
	json_object_object_add(o, "qpns", qpns);
	return o;
}

/* NULL for a freed page that was never written. */
static struct json_object *uar_dump(struct uar *uar)
{
	struct json_object *o, *slots;
	uint64_t used = uar->cq_arms;
	unsigned int i;

	uar_bf_count(uar);
	for (i = 0; i < UAR_SLOTS; i++)
		used += uar->slots[i].doorbells + uar->slots[i].blueflame +
			uar->slots[i].torn;
	if (!used && !uar->alive)
		return NULL;
	slots = json_object_new_array();
	for (i = 0; i < UAR_SLOTS; i++)
		json_object_array_add(slots, slot_dump(&uar->slots[i], i));
	o = json_object_new_object();
	json_add_number(o, "index", uar->index);
	json_object_object_add(o, "alive", json_object_new_boolean(uar->alive));
	json_add_number(o, "uid", uar->uid);
	json_object_object_add(o, "slots", slots);
	json_add_number(o, "cq_arms", uar->cq_arms);
	return o;
}

/**
 * uars_dump() - tell about all pages
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
	json_add_number(alive, "uar", hca->uars->taken.count - hca->uars->held);
	json_add_number(alive, "uar_held", hca->uars->held);
}

/* The first of the free pages that come next; 0: there are none. */
static uint32_t find_free(struct hca *hca)
{
	uint32_t together = hca->uars_together;
	uint32_t groups = (uar_end(hca) - UAR_FIRST) / together;
	struct uars *uars = hca->uars;
	uint32_t tries, index, i;

	for (tries = 0; tries < groups; tries++) {
		index = UAR_FIRST + uars->next % groups * together;
		uars->next = (uars->next + 1) % groups;
		for (i = 0; i < together; i++)
			if (idtable_get(&uars->taken, index + i))
				break;
		if (i == together)
			return index;
	}
	return 0;
}

static struct uar *uar_create(struct hca *hca, uint32_t index, uint16_t uid)
{
	struct uars *uars = hca->uars;
	struct uar *old = idtable_get(&uars->all, index);
	struct uar *uar = calloc(1, sizeof(*uar));

	if (!uar)
		return NULL;
	if (old)
		uar_forget(old);
	if (idtable_insert(&uars->taken, index, uar) ||
	    idtable_insert(&uars->all, index, uar)) {
		idtable_remove(&uars->taken, index);
		free(uar);
		return NULL;
	}
	uar->hca = hca;
	uar->index = index;
	uar->alive = true;
	uar->uid = uid;
	uar_bf_init(uar);
	return uar;
}

static uint8_t alloc_uar(struct cmd *cmd)
{
	struct hca *hca = cmd->hca;
	uint32_t index = find_free(hca), i;

	if (!index)
		return CMD_NO_RES;
	for (i = 0; i < hca->uars_together; i++) {
		if (uar_create(hca, index + i, cmd->uid))
			continue;
		while (i--)
			uar_kill(uar_get(hca, index + i));
		return CMD_NO_RES;
	}
	IFC_SET(alloc_uar_out, cmd->out, uar, index);
	return CMD_OK;
}

static uint8_t dealloc_uar(struct cmd *cmd)
{
	uint32_t index = IFC_GET(dealloc_uar_in, cmd->in, uar), i;
	struct hca *hca = cmd->hca;

	if (!uar_usable(hca, index, cmd->uid) || index % hca->uars_together)
		return CMD_BAD_RES;
	for (i = 0; i < hca->uars_together; i++)
		uar_kill(uar_get(hca, index + i));
	return CMD_OK;
}

const struct cmd_def uar_cmds[] = {
	{ MLX5_CMD_OP_ALLOC_UAR, "ALLOC_UAR", IFC_SZ(alloc_uar_in),
	  IFC_SZ(alloc_uar_out), alloc_uar },
	{ MLX5_CMD_OP_DEALLOC_UAR, "DEALLOC_UAR", IFC_SZ(dealloc_uar_in),
	  IFC_SZ(dealloc_uar_out), dealloc_uar },
	{ 0 },
};
