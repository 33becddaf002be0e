// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory: pieces, and access to them. See memic.h for the model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "fw/cmd.h"
#include "object/memic.h"

#define UNIT (1u << MEMIC_LOG_UNIT)
#define UNITS (MEMIC_BYTES / UNIT)

/* memic_operation_type of MODIFY_MEMIC */
enum memic_op { MEMIC_INCREMENT, MEMIC_TEST_AND_SET, MEMIC_OPS };

/**
 * struct memic - the device memory of an adapter
 * @owner: number of the piece that has the unit, 0 for none
 * @ops: of a piece's first unit: the operations that have an address, a bit each
 * @last: number of the newest piece
 * @pieces: that there are
 */
struct memic {
	uint32_t owner[UNITS];
	uint8_t ops[UNITS];
	uint32_t last;
	unsigned int pieces;
	uint8_t bytes[MEMIC_BYTES];
};

/**
 * memic_init() - make the device memory, of which nothing is allocated
 *
 * Return: 0 or -ENOMEM
 */
int memic_init(struct hca *hca)
{
	hca->memic = calloc(1, sizeof(*hca->memic));
	return hca->memic ? 0 : -ENOMEM;
}

/**
 * memic_fini() - free the device memory
 */
void memic_fini(struct hca *hca)
{
	free(hca->memic);
	hca->memic = NULL;
}

/**
 * memic_reset() - forget all pieces
 */
void memic_reset(struct hca *hca)
{
	memset(hca->memic, 0, sizeof(*hca->memic));
}

/**
 * memic_pieces() - how many pieces are allocated
 */
unsigned int memic_pieces(const struct hca *hca)
{
	return hca->memic->pieces;
}

/**
 * memic_op_addresses() - how many operations of pieces have an address
 */
unsigned int memic_op_addresses(const struct hca *hca)
{
	unsigned int i, n = 0;

	for (i = 0; i < UNITS; i++)
		n += (unsigned int)__builtin_popcount(hca->memic->ops[i]);
	return n;
}

/* Is [at, at + len) in the device memory of the BAR? Sets @off to where it is there. */
static bool inside(const struct hca *hca, uint64_t at, uint64_t len,
		   uint64_t *off)
{
	uint64_t first = pci_memic_at(hca);

	if (!first || at < first || at - first > MEMIC_BYTES ||
	    len > MEMIC_BYTES - (at - first))
		return false;
	*off = at - first;
	return true;
}

/* Is the byte one of piece @owner? */
static bool is_of(const struct memic *m, uint64_t off, uint32_t owner)
{
	return off < MEMIC_BYTES && m->owner[off / UNIT] == owner;
}

/* Do all units of [off, off + len) belong to piece @owner? */
static bool all_of(const struct memic *m, uint64_t off, uint64_t len,
		   uint32_t owner)
{
	uint64_t i;

	for (i = off / UNIT; i * UNIT < off + len; i++)
		if (m->owner[i] != owner)
			return false;
	return true;
}

/**
 * memic_ptr() - device memory, for one access
 * @at: where in the BAR
 * @len: bytes, at least 1
 *
 * Return: the bytes, NULL where they are not all of one piece
 */
void *memic_ptr(struct hca *hca, uint64_t at, uint64_t len)
{
	struct memic *m = hca->memic;
	uint64_t off;
	uint32_t owner;

	if (!len || !inside(hca, at, len, &off))
		return NULL;
	owner = m->owner[off / UNIT];
	return owner && all_of(m, off, len, owner) ? m->bytes + off : NULL;
}

/*
 * The byte that an operation's address means, if the piece has this operation. The
 * addresses are a picture of the device memory for each operation, behind it.
 */
static uint8_t *op_byte(struct hca *hca, enum memic_op op, uint64_t at,
			size_t len)
{
	uint64_t behind = pci_memic_at(hca) + (op + 1ull) * MEMIC_BYTES;
	struct memic *m = hca->memic;
	uint64_t off, first;

	if (at < behind || at - behind >= MEMIC_BYTES || len != 1)
		return NULL;
	off = at - behind;
	first = off / UNIT;
	if (!m->owner[first])
		return NULL;
	while (first && m->owner[first - 1] == m->owner[first])
		first--;
	return m->ops[first] & 1 << op ? m->bytes + off : NULL;
}

/**
 * memic_read() - the guest reads device memory, or tests and sets a byte of it
 * @at: where in the BAR
 *
 * Return: 0, or -EFAULT where nothing is allocated
 */
int memic_read(struct hca *hca, uint64_t at, void *buf, size_t len)
{
	const void *from = memic_ptr(hca, at, len);
	uint8_t *set = op_byte(hca, MEMIC_TEST_AND_SET, at, len);

	if (set) {
		memcpy(buf, set, 1);
		*set = 1;
		return 0;
	}
	if (!from)
		return -EFAULT;
	memcpy(buf, from, len);
	return 0;
}

/**
 * memic_write() - the guest writes device memory, or increments a byte of it
 * @at: where in the BAR
 * @buf: the bytes, or by how much
 *
 * Return: 0, or -EFAULT where nothing is allocated
 */
int memic_write(struct hca *hca, uint64_t at, const void *buf, size_t len)
{
	void *to = memic_ptr(hca, at, len);
	uint8_t *sum = op_byte(hca, MEMIC_INCREMENT, at, len);

	if (sum) {
		*sum += *(const uint8_t *)buf;
		return 0;
	}
	if (!to)
		return -EFAULT;
	memcpy(to, buf, len);
	return 0;
}

/* Make the units of [off, off + len) those of @owner. */
static void give(struct memic *m, uint64_t off, uint64_t len, uint32_t owner)
{
	uint64_t i;

	for (i = off / UNIT; i < (off + len) / UNIT; i++)
		m->owner[i] = owner;
}

/* The driver says in which range a piece may be: no other one is in its pages. */
static uint8_t alloc_memic(struct cmd *cmd)
{
	uint64_t at = IFC_GET64(alloc_memic_in, cmd->in, range_start_addr);
	uint64_t range = IFC_GET(alloc_memic_in, cmd->in, range_size);
	uint64_t size = IFC_GET(alloc_memic_in, cmd->in, memic_size);
	uint32_t log = IFC_GET(alloc_memic_in, cmd->in,
			       log_memic_addr_alignment);
	struct memic *m = cmd->hca->memic;
	uint64_t off, skip;

	if (!size || size % UNIT || log > MEMIC_LOG_ALIGN_MAX ||
	    !inside(cmd->hca, at, range, &off))
		return CMD_BAD_PARAM;
	if (log < MEMIC_LOG_UNIT)
		log = MEMIC_LOG_UNIT;
	skip = -off & ((1u << log) - 1);
	if (skip > range || size > range - skip ||
	    !all_of(m, off + skip, size, 0))
		return CMD_NO_RES;
	if (!++m->last)
		m->last = 1;
	give(m, off + skip, size, m->last);
	memset(m->bytes + off + skip, 0, size);
	m->pieces++;
	IFC_SET64(alloc_memic_out, cmd->out, memic_start_addr, at + skip);
	return CMD_OK;
}

static uint8_t dealloc_memic(struct cmd *cmd)
{
	uint64_t at = IFC_GET64(dealloc_memic_in, cmd->in, memic_start_addr);
	uint64_t size = IFC_GET(dealloc_memic_in, cmd->in, memic_size);
	struct memic *m = cmd->hca->memic;
	uint64_t off;
	uint32_t owner;

	if (!size || size % UNIT || !inside(cmd->hca, at, size, &off) ||
	    off % UNIT)
		return CMD_BAD_PARAM;
	owner = m->owner[off / UNIT];
	if (!owner || !all_of(m, off, size, owner) ||
	    is_of(m, off - 1, owner) || is_of(m, off + size, owner))
		return CMD_BAD_RES;
	if (m->ops[off / UNIT])
		return CMD_BAD_RES_STATE;
	give(m, off, size, 0);
	m->pieces--;
	return CMD_OK;
}

/* An address for one operation of a piece, and the end of it. */
static uint8_t modify_memic(struct cmd *cmd)
{
	uint64_t at = IFC_GET64(modify_memic_in, cmd->in, memic_start_addr);
	uint32_t op = IFC_GET(modify_memic_in, cmd->in, memic_operation_type);
	struct memic *m = cmd->hca->memic;
	uint64_t off;
	uint8_t *ops;

	if (op >= MEMIC_OPS || !inside(cmd->hca, at, UNIT, &off) || off % UNIT ||
	    cmd->op_mod > MLX5_MODIFY_MEMIC_OP_MOD_DEALLOC)
		return CMD_BAD_PARAM;
	if (!m->owner[off / UNIT] || is_of(m, off - 1, m->owner[off / UNIT]))
		return CMD_BAD_RES;
	ops = &m->ops[off / UNIT];
	if (cmd->op_mod == MLX5_MODIFY_MEMIC_OP_MOD_DEALLOC) {
		if (!(*ops & 1 << op))
			return CMD_BAD_RES_STATE;
		*ops &= ~(1 << op);
		return CMD_OK;
	}
	if (*ops & 1 << op)
		return CMD_BAD_RES_STATE;
	*ops |= 1 << op;
	IFC_SET64(modify_memic_out, cmd->out, memic_operation_addr,
		  at + (op + 1ull) * MEMIC_BYTES);
	return CMD_OK;
}

const struct cmd_def memic_cmds[] = {
	{ MLX5_CMD_OP_MODIFY_MEMIC, "MODIFY_MEMIC", IFC_SZ(modify_memic_in),
	  IFC_SZ(modify_memic_out), modify_memic },
	{ MLX5_CMD_OP_ALLOC_MEMIC, "ALLOC_MEMIC", IFC_SZ(alloc_memic_in),
	  IFC_SZ(alloc_memic_out), alloc_memic },
	{ MLX5_CMD_OP_DEALLOC_MEMIC, "DEALLOC_MEMIC",
	  IFC_SZ(dealloc_memic_in), IFC_SZ(dealloc_memic_out),
	  dealloc_memic },
	{ 0 },
};
