// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command queue: entries in guest memory, mailboxes, completion.
 *
 * Invariants
 * - An entry is the adapter's from its doorbell until status_own is written,
 *   which is the last thing that is written.
 * - A command's output goes where the entry said when the doorbell was rung,
 *   and only while the queue that it came from is still set.
 * - The completion event goes to the EQ that took command events before the
 *   command ran: the CREATE_EQ that makes it is polled for.
 * - Signatures are not checked: cmdif_checksum is 0, as drivers ask for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "bus/dma.h"
#include "control/control.h"
#include "fw/cmd.h"
#include "fw/eq.h"

#define ENTRY_SZ IFC_SZ(cmd_queue_entry)
#define BOX_SZ IFC_SZ(cmd_if_box)
#define BOX_DATA IFC_FLD_SZ(cmd_if_box, mailbox_data)
#define INLINE_SZ IFC_FLD_SZ(cmd_queue_entry, command_input_inline_data)
#define CMD_TYPE_PCI 7
#define CMDQ_BYTES ((uint64_t)CMDQ_ENTRIES << CMDQ_LOG_STRIDE)
#define CMD_MAX_SZ (4u << 20)

/* cmd_queue_entry.status: MLX5_CMD_DELIVERY_STAT_* of the driver */
enum {
	DELIVERY_OK = 0x0,
	DELIVERY_TOKEN = 0x2,
	DELIVERY_BLOCK_NUM = 0x3,
	DELIVERY_OUT_PTR = 0x4,
	DELIVERY_IN_PTR = 0x5,
	DELIVERY_FW = 0x6,
	DELIVERY_IN_LEN = 0x7,
	DELIVERY_OUT_LEN = 0x8,
	DELIVERY_DESCRIPTOR = 0x10,
};

struct cmdq_entry {
	struct hca *hca;
	unsigned int index;
	bool busy;
	bool event; /* completion sends an event to EQ @eqn */
	uint32_t eqn;
	uint64_t since; /* when it was given to the adapter */
	struct sim_timer delay;
	uint8_t layout[IFC_SZ(cmd_queue_entry)];
	struct fault_verdict fault;
};

struct cmdq {
	uint64_t addr; /* 0: none */
	struct cmdq_entry entries[CMDQ_ENTRIES];
};

/* The address of a mailbox; bits below its alignment must be clear. */
static uint64_t box_next(const uint8_t *box)
{
	return (uint64_t)IFC_GET(cmd_if_box, box, next_pointer_63_32) << 32 |
	       IFC_GET(cmd_if_box, box, next_pointer_31_10) << 10;
}

/* Copy all but the inline part of a message from or to its mailboxes. */
static uint8_t cmd_boxes(struct hca *hca, uint64_t addr, uint8_t token,
			 uint8_t *data, size_t len, bool write)
{
	uint32_t block;
	uint8_t *box;
	size_t n;

	for (block = 0; len; block++, data += n, len -= n) {
		n = len < BOX_DATA ? len : BOX_DATA;
		box = dma_ptr(hca, addr, BOX_SZ, write);
		if (!box)
			return write ? DELIVERY_OUT_PTR : DELIVERY_IN_PTR;
		if (IFC_GET(cmd_if_box, box, block_number) != block)
			return DELIVERY_BLOCK_NUM;
		if (!write && IFC_GET(cmd_if_box, box, token) != token)
			return DELIVERY_TOKEN;
		if (write) {
			memcpy(box, data, n);
			IFC_SET(cmd_if_box, box, token, token);
		} else {
			memcpy(data, box, n);
		}
		addr = box_next(box);
	}
	return DELIVERY_OK;
}

static uint8_t cmd_take(struct hca *hca, const uint8_t *entry, uint8_t *in,
			size_t len)
{
	size_t head = len < INLINE_SZ ? len : INLINE_SZ;
	uint64_t addr;

	memcpy(in,
	       IFC_ADDR_OF(cmd_queue_entry, entry, command_input_inline_data),
	       head);
	addr = (uint64_t)IFC_GET(cmd_queue_entry, entry,
				 input_mailbox_pointer_63_32) << 32 |
	       IFC_GET(cmd_queue_entry, entry, input_mailbox_pointer_31_9) << 9;
	return cmd_boxes(hca, addr, IFC_GET(cmd_queue_entry, entry, token),
			 in + head, len - head, false);
}

static uint8_t cmd_give(struct hca *hca, const uint8_t *entry, uint8_t *at,
			uint8_t *out, size_t len)
{
	size_t head = len < INLINE_SZ ? len : INLINE_SZ;
	uint64_t addr;

	memcpy(IFC_ADDR_OF(cmd_queue_entry, at, command_output_inline_data),
	       out, head);
	addr = (uint64_t)IFC_GET(cmd_queue_entry, entry,
				 output_mailbox_pointer_63_32) << 32 |
	       IFC_GET(cmd_queue_entry, entry, output_mailbox_pointer_31_9)
		       << 9;
	return cmd_boxes(hca, addr, IFC_GET(cmd_queue_entry, entry, token),
			 out + head, len - head, true);
}

static uint8_t cmd_execute(struct cmd *cmd, const struct cmd_def *def,
			   const struct fault_verdict *fault)
{
	uint8_t ret;

	if (fault->fail && !fault->run)
		return fault->status;
	if (!def)
		return CMD_BAD_OP;
	if (cmd->in_len < def->in_min)
		return CMD_BAD_INP_LEN;
	if (cmd->out_len < def->out_min)
		return CMD_BAD_OUTP_LEN;
	ret = def->handler(cmd);
	return ret || !fault->fail ? ret : fault->status;
}

static void cmd_trace(const struct cmd *cmd, const struct cmd_def *def,
		      uint64_t since, uint8_t status)
{
	struct trace_event e = {
		.kind = TRACE_COMMAND,
		.op = def ? def->name : NULL,
		.hca = cmd->hca->index,
		.begun = since,
		.done = loop_now(),
		.failed = status,
	};

	trace_add(&e);
}

/* Run the command in @in, fill @out. */
static void cmd_run(struct cmdq_entry *ent, const uint8_t *in, size_t in_len,
		    uint8_t *out, size_t out_len)
{
	struct cmd cmd = {
		.hca = ent->hca,
		.opcode = IFC_GET(cmd_in, in, opcode),
		.op_mod = IFC_GET(cmd_in, in, op_mod),
		.uid = IFC_GET(create_qp_in, in, uid),
		.in = in,
		.in_len = in_len,
		.out = out,
		.out_len = out_len,
	};
	const struct cmd_def *def = cmd_find(cmd.opcode);
	uint8_t status;

	cmd.key = json_object_new_object();
	status = cmd_execute(&cmd, def, &ent->fault);
	if (status)
		memset(out, 0, out_len);
	IFC_SET(cmd_out, out, status, status);
	IFC_SET(cmd_out, out, syndrome, cmd.syndrome);
	cmdlog_add(&cmd, status);
	if (trace_on())
		cmd_trace(&cmd, def, ent->since, status);
	json_object_put(cmd.key);
}

static uint8_t cmd_deliver(struct cmdq_entry *ent, uint8_t *at)
{
	struct hca *hca = ent->hca;
	const uint8_t *entry = ent->layout;
	size_t in_len = IFC_GET(cmd_queue_entry, entry, input_length);
	size_t out_len = IFC_GET(cmd_queue_entry, entry, output_length);
	uint8_t *buf, *out, ret;

	if (IFC_GET(cmd_queue_entry, entry, type) != CMD_TYPE_PCI)
		return DELIVERY_DESCRIPTOR;
	if (in_len < IFC_SZ(cmd_in) || in_len > CMD_MAX_SZ)
		return DELIVERY_IN_LEN;
	if (out_len < IFC_OFF(cmd_out, command_output) || out_len > CMD_MAX_SZ)
		return DELIVERY_OUT_LEN;
	/* room for a header however short the message is */
	buf = calloc(1, in_len + INLINE_SZ + out_len + INLINE_SZ);
	if (!buf)
		return DELIVERY_FW;
	out = buf + in_len + INLINE_SZ;
	ret = cmd_take(hca, entry, buf, in_len);
	if (!ret) {
		cmd_run(ent, buf, in_len, out, out_len);
		ret = cmd_give(hca, entry, at, out, out_len);
	}
	free(buf);
	return ret;
}

static uint64_t entry_addr(const struct cmdq_entry *ent)
{
	return ent->hca->cmdq->addr + ((uint64_t)ent->index << CMDQ_LOG_STRIDE);
}

/* Give the entry at @at back to the driver, and tell who waits for it. */
static void entry_done(struct cmdq_entry *ent, uint8_t *at, uint8_t status)
{
	uint8_t data[IFC_FLD_SZ(eqe, event_data)] = { 0 };
	struct hca *hca = ent->hca;
	uint32_t vector;

	__atomic_store_n(at + ENTRY_SZ - 1, status << 1, __ATOMIC_RELEASE);
	if (!ent->event || !eq_exists(hca, ent->eqn))
		return;
	vector = htobe32(1u << ent->index);
	memcpy(data, &vector, sizeof(vector));
	eq_post(hca, ent->eqn,
		MLX5_EVENT_TYPE_CODING_COMMAND_INTERFACE_COMPLETION, 0, data);
}

static void entry_run(struct cmdq_entry *ent)
{
	struct hca *hca = ent->hca;
	uint8_t *at = dma_queue_ptr(hca, entry_addr(ent), ENTRY_SZ, true);
	uint8_t status;

	if (!at) {
		ent->busy = false;
		return;
	}
	status = cmd_deliver(ent, at);
	if (ent->fault.never)
		return;
	ent->busy = false;
	if (status)
		hca_error(hca, SIM_ERR_BAD_CMD,
			  "entry %u: delivery status 0x%x", ent->index, status);
	entry_done(ent, at, status);
}

static void entry_delayed(struct sim_timer *timer)
{
	struct cmdq_entry *ent = container_of(timer, struct cmdq_entry, delay);

	if (!ent->hca->fatal)
		entry_run(ent);
}

static void entry_start(struct cmdq_entry *ent)
{
	struct hca *hca = ent->hca;

	if (ent->busy) {
		hca_error(hca, SIM_ERR_BAD_CMD,
			  "doorbell for entry %u, which is not done",
			  ent->index);
		return;
	}
	if (dma_queue_read(hca, entry_addr(ent), ent->layout, ENTRY_SZ))
		return;
	if (!IFC_GET(cmd_queue_entry, ent->layout, ownership)) {
		hca_error(hca, SIM_ERR_BAD_CMD,
			  "doorbell for entry %u, which software owns",
			  ent->index);
		return;
	}
	ent->busy = true;
	ent->since = loop_now();
	ent->fault = faults_command(
		hca, IFC_GET(cmd_in,
			     IFC_ADDR_OF(cmd_queue_entry, ent->layout,
					 command_input_inline_data),
			     opcode));
	ent->event = eq_for_event(
		hca, MLX5_EVENT_TYPE_CODING_COMMAND_INTERFACE_COMPLETION,
		&ent->eqn);
	if (ent->fault.never && !ent->fault.run)
		return;
	if (ent->fault.delay_ns)
		timer_arm(&ent->delay, ent->fault.delay_ns);
	else
		entry_run(ent);
}

/**
 * cmdq_doorbell() - the driver rang the command doorbell
 * @entries: bit mask of new entries
 *
 * Doorbells that were stored before are first: PCI keeps the order of stores.
 */
void cmdq_doorbell(struct hca *hca, uint32_t entries)
{
	unsigned int i;

	uar_bf_ring_all(hca);
	for (i = 0; i < CMDQ_ENTRIES; i++) {
		if (!(entries & 1u << i))
			continue;
		/* An earlier command may have ended the command queue. */
		if (!hca->cmdq->addr) {
			hca_error(hca, SIM_ERR_BAD_DOORBELL,
				  "command doorbell without a queue");
			return;
		}
		if (!hca->fatal)
			entry_start(&hca->cmdq->entries[i]);
	}
}

/**
 * cmdq_answer() - end the commands that a fault left without an answer
 *
 * The commands are not run. No mailbox is touched, because the driver may have
 * given the command up and taken its mailboxes back. The entry belongs to the
 * adapter until it is answered here.
 */
void cmdq_answer(struct hca *hca)
{
	struct cmdq_entry *ent;
	unsigned int i;
	uint8_t *at;

	for (i = 0; i < CMDQ_ENTRIES; i++) {
		ent = &hca->cmdq->entries[i];
		if (!ent->busy || !ent->fault.never || hca->fatal)
			continue;
		ent->busy = false;
		at = dma_queue_ptr(hca, entry_addr(ent), ENTRY_SZ, true);
		if (at)
			entry_done(ent, at, DELIVERY_FW);
	}
}

/**
 * cmdq_set() - use another command queue; commands of the old one are dropped
 * @addr: guest address, 0: none
 */
void cmdq_set(struct hca *hca, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < CMDQ_ENTRIES; i++) {
		timer_cancel(&hca->cmdq->entries[i].delay);
		hca->cmdq->entries[i].busy = false;
	}
	if (hca->cmdq->addr)
		dma_queue_remove(hca, hca->cmdq->addr, CMDQ_BYTES);
	hca->cmdq->addr = addr && !dma_queue_add(hca, addr, CMDQ_BYTES) ? addr : 0;
}

/**
 * cmdq_init() - make the command interface
 *
 * Return: 0 or -ENOMEM
 */
int cmdq_init(struct hca *hca)
{
	unsigned int i;

	hca->cmdq = calloc(1, sizeof(*hca->cmdq));
	if (!hca->cmdq)
		return -ENOMEM;
	for (i = 0; i < CMDQ_ENTRIES; i++) {
		hca->cmdq->entries[i].hca = hca;
		hca->cmdq->entries[i].index = i;
		hca->cmdq->entries[i].delay.fire = entry_delayed;
	}
	return 0;
}

/**
 * cmdq_fini() - free the command interface
 */
void cmdq_fini(struct hca *hca)
{
	if (hca->cmdq)
		cmdq_set(hca, 0);
	free(hca->cmdq);
	hca->cmdq = NULL;
}
