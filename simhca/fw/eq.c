// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event queues: their entries in guest memory, their interrupt, and the event
 * types that each of them receives.
 *
 * Invariants
 * - An entry's owner bit is (producer index >> log size) & 1 and is written
 *   last.
 * - An armed queue interrupts once: by the next entry, or at once where one is
 *   waiting when it is armed.
 * - An entry that has not been consumed is never written over: the new one is
 *   lost and counted.
 * - Each event type goes to one queue at most.
 * - A queue that a CQ names cannot be destroyed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bus/bus.h"
#include "bus/dma.h"
#include "fw/cmd.h"
#include "fw/eq.h"

#define EQE_SZ IFC_SZ(eqe)
#define EQ_FIRST 1u
#define EQ_LIMIT 127u
#define EQ_INDEX_MASK 0xffffffu
#define EQ_LOG_SIZE_MAX 22u

/* eqc.status and eqc.st: MLX5_EQC_* of mlx5_ifc.h has both */
struct eq {
	struct hca *hca;
	uint32_t eqn;
	uint32_t uar;
	uint32_t vector;
	unsigned int log_size;
	unsigned int page_shift;
	uint64_t *pas;
	uint32_t pages;	/* of them that the guard knows */
	uint64_t mask[4];
	uint32_t pi; /* counts on; 24 bits are told */
	uint32_t ci;
	bool armed;
	bool failed;
	uint32_t holds;
	uint8_t ctx[IFC_SZ(eqc)];
};

struct eqs {
	struct idtable table;
};

/**
 * eqs_init() - make the table
 *
 * Return: 0 or -ENOMEM
 */
int eqs_init(struct hca *hca)
{
	hca->eqs = calloc(1, sizeof(*hca->eqs));
	if (!hca->eqs)
		return -ENOMEM;
	idtable_init(&hca->eqs->table, EQ_FIRST, EQ_LIMIT);
	return 0;
}

/* What the queue needs of its page @i, which may be larger than all of it. */
static uint64_t eq_part(const struct eq *eq, uint32_t i)
{
	uint64_t page = 1ull << eq->page_shift;
	uint64_t left = ((uint64_t)EQE_SZ << eq->log_size) - i * page;

	return left < page ? left : page;
}

static void eq_free(struct eq *eq)
{
	uint32_t i;

	idtable_remove(&eq->hca->eqs->table, eq->eqn);
	for (i = 0; i < eq->pages; i++)
		dma_queue_remove(eq->hca, eq->pas[i], eq_part(eq, i));
	free(eq->pas);
	free(eq);
}

/**
 * eqs_reset() - forget all queues, their memory is not touched
 */
void eqs_reset(struct hca *hca)
{
	struct eq *eq;
	uint32_t eqn;

	idtable_for_each(&hca->eqs->table, eqn, eq) {
		uar_release(hca, eq->uar);
		eq_free(eq);
	}
}

/**
 * eqs_fini() - free the table
 */
void eqs_fini(struct hca *hca)
{
	if (!hca->eqs)
		return;
	eqs_reset(hca);
	idtable_fini(&hca->eqs->table);
	free(hca->eqs);
	hca->eqs = NULL;
}

/**
 * eqs_alive() - how many queues there are
 *
 * Return: their number
 */
unsigned int eqs_alive(struct hca *hca)
{
	return hca->eqs->table.count;
}

/**
 * eqs_left() - tell which queues there are
 * @left: gets them
 */
void eqs_left(struct hca *hca, struct left *left)
{
	left_add(left, "EQs", &hca->eqs->table);
}

bool eq_exists(struct hca *hca, uint32_t eqn)
{
	return idtable_get(&hca->eqs->table, eqn) != NULL;
}

/**
 * eq_hold() - count a new CQ that names the queue
 * @eqn: number of the queue
 */
void eq_hold(struct hca *hca, uint32_t eqn)
{
	struct eq *eq = idtable_get(&hca->eqs->table, eqn);

	if (eq)
		eq->holds++;
}

/**
 * eq_release() - undo one eq_hold()
 * @eqn: number of the queue
 */
void eq_release(struct hca *hca, uint32_t eqn)
{
	struct eq *eq = idtable_get(&hca->eqs->table, eqn);

	if (eq && eq->holds)
		eq->holds--;
}

/**
 * eq_for_event() - find the event queue that receives an event type
 * @type: MLX5_EVENT_TYPE_CODING_*
 * @eqn: set to the queue
 *
 * Return: false when nobody does
 */
bool eq_for_event(struct hca *hca, uint8_t type, uint32_t *eqn)
{
	struct eq *eq;

	idtable_for_each(&hca->eqs->table, *eqn, eq)
		if (eq->mask[type / 64] & 1ull << type % 64)
			return true;
	return false;
}

static uint8_t *eqe_at(struct eq *eq, uint32_t index)
{
	uint64_t off = (uint64_t)(index & ((1u << eq->log_size) - 1)) * EQE_SZ;
	uint64_t page = eq->pas[off >> eq->page_shift];

	return dma_queue_ptr(eq->hca, page + (off & ((1ull << eq->page_shift) - 1)),
		       EQE_SZ, true);
}

static void eq_interrupt(struct eq *eq)
{
	eq->armed = false;
	vfio_irq_raise(eq->hca, eq->vector);
}

static bool eq_full(const struct eq *eq)
{
	return eq->pi - eq->ci >= 1u << eq->log_size;
}

/**
 * eq_has_room() - can a queue take one more entry?
 */
bool eq_has_room(struct hca *hca, uint32_t eqn)
{
	struct eq *eq = idtable_get(&hca->eqs->table, eqn);

	return eq && !eq_full(eq);
}

void eq_post(struct hca *hca, uint32_t eqn, uint8_t type, uint8_t sub_type,
	     const void *data)
{
	struct eq *eq = idtable_get(&hca->eqs->table, eqn);
	uint8_t *eqe;

	if (!eq || hca->fatal)
		return;
	if (eq_full(eq)) {
		eq->failed = true;
		hca_error(hca, SIM_ERR_EQ_OVERRUN, "EQ %u of %u entries", eqn,
			  1u << eq->log_size);
		return;
	}
	eqe = eqe_at(eq, eq->pi);
	if (!eqe)
		return;
	memset(eqe, 0, EQE_SZ - 1);
	IFC_SET(eqe, eqe, event_type, type);
	IFC_SET(eqe, eqe, event_sub_type, sub_type);
	if (data)
		memcpy(IFC_ADDR_OF(eqe, eqe, event_data), data,
		       IFC_FLD_SZ(eqe, event_data));
	__atomic_store_n(eqe + EQE_SZ - 1, eq->pi >> eq->log_size & 1,
			 __ATOMIC_RELEASE);
	eq->pi++;
	if (eq->armed)
		eq_interrupt(eq);
}

void eq_post_async(struct hca *hca, uint8_t type, uint8_t sub_type,
		   const void *data)
{
	uint32_t eqn;

	if (eq_for_event(hca, type, &eqn))
		eq_post(hca, eqn, type, sub_type, data);
}

/**
 * eq_ring() - an EQ doorbell was written
 * @uar: page that was written
 * @val: eqn << 24 | consumer index
 * @arm: interrupt on the next entry
 *
 * Return: RING_OK, RING_NO_QP, RING_WRONG_UAR, RING_BAD_STATE
 */
enum ring_result eq_ring(struct hca *hca, uint32_t uar, uint32_t val, bool arm)
{
	struct eq *eq = idtable_get(&hca->eqs->table, val >> 24);
	uint32_t ahead;

	if (!eq)
		return RING_NO_QP;
	if (eq->uar != uar)
		return RING_WRONG_UAR;
	ahead = (eq->pi - val) & EQ_INDEX_MASK;
	if (ahead > 1u << eq->log_size)
		return RING_BAD_STATE;
	eq->ci = eq->pi - ahead;
	eq->armed = arm;
	if (arm && ahead)
		eq_interrupt(eq);
	return RING_OK;
}

/* Check what CREATE_EQ asks for. */
static uint8_t eq_check(struct cmd *cmd, const uint8_t *ctx, uint32_t pages)
{
	uint32_t eqn, uar = IFC_GET(eqc, ctx, uar_page);
	uint64_t mask, bit;
	unsigned int i;

	if (IFC_GET(eqc, ctx, intr) >= PCI_MSIX_VECTORS ||
	    IFC_GET(eqc, ctx, log_eq_size) > EQ_LOG_SIZE_MAX ||
	    IFC_GET(eqc, ctx, page_offset))
		return CMD_BAD_PARAM;
	if (cmd->in_len - IFC_SZ(create_eq_in) < pages * sizeof(uint64_t))
		return CMD_BAD_INP_LEN;
	if (!uar_usable(cmd->hca, uar, cmd->uid))
		return CMD_BAD_RES;
	for (i = 0; i < 4; i++) {
		mask = IFC_GET64(create_eq_in, cmd->in, event_bitmask[i]);
		for (bit = 0; bit < 64; bit++)
			if (mask & 1ull << bit &&
			    eq_for_event(cmd->hca, i * 64 + bit, &eqn))
				return CMD_BAD_PARAM;
	}
	return CMD_OK;
}

static uint8_t create_eq(struct cmd *cmd)
{
	const uint8_t *ctx =
		IFC_ADDR_OF(create_eq_in, cmd->in, eq_context_entry);
	unsigned int log_size = IFC_GET(eqc, ctx, log_eq_size);
	unsigned int shift = 12 + IFC_GET(eqc, ctx, log_page_size);
	uint64_t bytes = EQE_SZ << log_size;
	uint32_t pages = (uint32_t)((bytes + (1ull << shift) - 1) >> shift);
	uint8_t status = eq_check(cmd, ctx, pages);
	struct eq *eq;
	uint32_t i;

	if (status)
		return status;
	eq = calloc(1, sizeof(*eq));
	if (eq)
		eq->pas = calloc(pages, sizeof(*eq->pas));
	if (!eq || !eq->pas ||
	    idtable_alloc(&cmd->hca->eqs->table, eq, &eq->eqn)) {
		if (eq)
			free(eq->pas);
		free(eq);
		return CMD_NO_RES;
	}
	eq->hca = cmd->hca;
	eq->uar = IFC_GET(eqc, ctx, uar_page);
	eq->vector = IFC_GET(eqc, ctx, intr);
	eq->log_size = log_size;
	eq->page_shift = shift;
	for (i = 0; i < pages; i++)
		eq->pas[i] = IFC_GET64(create_eq_in, cmd->in, pas[i]);
	for (; eq->pages < pages; eq->pages++)
		if (dma_queue_add(eq->hca, eq->pas[eq->pages],
			     eq_part(eq, eq->pages))) {
			eq_free(eq);
			return CMD_NO_RES;
		}
	for (i = 0; i < 4; i++)
		eq->mask[i] =
			IFC_GET64(create_eq_in, cmd->in, event_bitmask[i]);
	memcpy(eq->ctx, ctx, sizeof(eq->ctx));
	uar_hold(cmd->hca, eq->uar);
	IFC_SET(create_eq_out, cmd->out, eq_number, eq->eqn);
	json_add_number(cmd->key, "log_eq_size", log_size);
	return CMD_OK;
}

static uint8_t destroy_eq(struct cmd *cmd)
{
	struct eq *eq = idtable_get(&cmd->hca->eqs->table,
				    IFC_GET(destroy_eq_in, cmd->in, eq_number));

	if (!eq)
		return CMD_BAD_RES;
	if (eq->holds)
		return CMD_BAD_RES_STATE;
	uar_release(cmd->hca, eq->uar);
	eq_free(eq);
	return CMD_OK;
}

static uint8_t query_eq(struct cmd *cmd)
{
	struct eq *eq = idtable_get(&cmd->hca->eqs->table,
				    IFC_GET(query_eq_in, cmd->in, eq_number));
	uint8_t *ctx = IFC_ADDR_OF(query_eq_out, cmd->out, eq_context_entry);

	if (!eq)
		return CMD_BAD_RES;
	memcpy(ctx, eq->ctx, sizeof(eq->ctx));
	IFC_SET(eqc, ctx, status,
		eq->failed ? MLX5_EQC_STATUS_EQ_WRITE_FAILURE :
			     MLX5_EQC_STATUS_OK);
	IFC_SET(eqc, ctx, st, eq->armed ? MLX5_EQC_ST_ARMED :
					  MLX5_EQC_ST_FIRED);
	IFC_SET(eqc, ctx, consumer_counter, eq->ci);
	IFC_SET(eqc, ctx, producer_counter, eq->pi);
	return CMD_OK;
}

const struct cmd_def eq_cmds[] = {
	{ MLX5_CMD_OP_CREATE_EQ, "CREATE_EQ", IFC_SZ(create_eq_in),
	  IFC_SZ(create_eq_out), create_eq },
	{ MLX5_CMD_OP_DESTROY_EQ, "DESTROY_EQ", IFC_SZ(destroy_eq_in),
	  IFC_SZ(destroy_eq_out), destroy_eq },
	{ MLX5_CMD_OP_QUERY_EQ, "QUERY_EQ", IFC_SZ(query_eq_in),
	  IFC_SZ(query_eq_out), query_eq },
	{ 0 },
};
