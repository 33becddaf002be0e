// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CREATE_UMEM, DESTROY_UMEM, and queues in user memory. See umem.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "object/umem.h"
#include "object/wqe.h"

#define LOG_ADAPTER_PAGE 12

/**
 * umem_free() - free a UMEM that is in no table any more
 */
void umem_free(struct umem *umem)
{
	qbuf_fini(&umem->buf);
	free(umem);
}

static struct umem *umem_find(struct hca *hca, uint32_t id, uint16_t uid)
{
	return obj_find(&hca->objs->umems, id, uid);
}

/**
 * umem_queue() - make a queue out of user memory
 * @q: set on success; an earlier umem_dbr() is kept
 * @id: of the UMEM
 * @uid: DevX uid of the command
 * @offset: of the queue in it
 * @size: bytes of the queue
 * @rights: MTT_*, what the adapter does there
 *
 * Return: 0, -ENOENT, -EINVAL where the queue does not lie within, -EACCES where
 * the user has no such right, -ENOMEM
 */
int umem_queue(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	       uint64_t offset, uint64_t size, unsigned int rights)
{
	struct umem *umem = umem_find(hca, id, uid);
	size_t bytes;

	if (!umem)
		return -ENOENT;
	if (!size || offset > umem->buf.size ||
	    size > umem->buf.size - offset ||
	    (umem->buf.offset + offset) % 64)
		return -EINVAL;
	if (rights & ~umem->rights)
		return -EACCES;
	bytes = umem->buf.npages * sizeof(*q->pas);
	q->pas = malloc(bytes);
	if (!q->pas)
		return -ENOMEM;
	memcpy(q->pas, umem->buf.pas, bytes);
	q->npages = umem->buf.npages;
	q->log_page = umem->buf.log_page;
	q->offset = umem->buf.offset + offset;
	q->size = size;
	q->umem = &umem->obj;
	obj_hold(q->umem);
	return qbuf_attach(hca, q);
}

/**
 * umem_dbr() - find the doorbell record of a queue in user memory
 * @q: the queue, which will hold the UMEM
 * @id: of the UMEM
 * @uid: DevX uid of the command
 * @dbr: offset in the UMEM; replaced by the address
 *
 * Return: 0, -ENOENT, -EINVAL where it does not lie within
 */
int umem_dbr(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	     uint64_t *dbr)
{
	struct umem *umem = umem_find(hca, id, uid);
	uint64_t at;

	if (!umem)
		return -ENOENT;
	at = umem->buf.offset + *dbr;
	if (*dbr > umem->buf.size || DB_RECORD > umem->buf.size - *dbr ||
	    at % DB_RECORD)
		return -EINVAL;
	*dbr = umem->buf.pas[at >> umem->buf.log_page] +
	       (at & ((1ull << umem->buf.log_page) - 1));
	q->dbr_umem = &umem->obj;
	obj_hold(q->dbr_umem);
	return 0;
}

/**
 * umem_wq() - the memory of a work queue: of the driver's, or in that of a DevX user
 * @q: empty; set on success
 * @wq: the work queue in the context of the command
 * @size: bytes of the queue
 * @dbr: of the context; replaced by its address
 *
 * Return: 0, -ENOENT, -EINVAL, -ENOMEM
 */
int umem_wq(struct cmd *cmd, struct qbuf *q, const uint8_t *wq, uint64_t size,
	    uint64_t *dbr)
{
	const uint8_t *pas = IFC_ADDR_OF(wq, wq, pas);
	int ret = 0;

	if (IFC_GET(wq, wq, dbr_umem_valid))
		ret = umem_dbr(cmd->hca, q, IFC_GET(wq, wq, dbr_umem_id),
			       cmd->uid, dbr);
	if (ret)
		return ret;
	if (IFC_GET(wq, wq, wq_umem_valid))
		ret = umem_queue(cmd->hca, q, IFC_GET(wq, wq, wq_umem_id),
				 cmd->uid, IFC_GET64(wq, wq, wq_umem_offset),
				 size, MTT_READ);
	else
		ret = qbuf_init(cmd->hca, q, IFC_GET(wq, wq, log_wq_pg_sz),
				IFC_GET(wq, wq, page_offset), size, pas,
				cmd->in + cmd->in_len - pas);
	return ret ? ret : qbuf_dbr(cmd->hca, q, *dbr);
}

/* What all entries of a page list allow. */
static unsigned int umem_rights(const uint8_t *mtt, uint64_t n)
{
	uint64_t rights = MTT_READ | MTT_WRITE, e, i;

	for (i = 0; i < n; i++) {
		memcpy(&e, mtt + i * sizeof(e), sizeof(e));
		rights &= be64toh(e);
	}
	return rights;
}

/* Offsets in bytes here, where the other commands count 64ths of a page. */
static uint8_t umem_take(struct cmd *cmd, struct umem *umem)
{
	const uint8_t *c = IFC_ADDR_OF(create_umem_in, cmd->in, umem);
	size_t head = IFC_OFF(create_umem_in, umem) + IFC_OFF(umem, mtt);
	uint8_t log_page = IFC_GET(umem, c, log_page_size);
	uint64_t page = 1ull << (log_page + LOG_ADAPTER_PAGE);
	uint64_t offset = IFC_GET(umem, c, page_offset);
	uint64_t n = IFC_GET64(umem, c, num_of_mtt);

	if (!n || offset >= page || cmd->in_len < head ||
	    n > (cmd->in_len - head) / sizeof(uint64_t))
		return CMD_BAD_PARAM;
	if (qbuf_init(NULL, &umem->buf, log_page, 0, n * page, cmd->in + head,
		      cmd->in_len - head))
		return CMD_BAD_PARAM;
	umem->rights = umem_rights(cmd->in + head, n);
	umem->buf.offset = offset;
	umem->buf.size -= offset;
	return CMD_OK;
}

static uint8_t create_umem(struct cmd *cmd)
{
	struct umem *umem = calloc(1, sizeof(*umem));
	uint8_t status;

	if (!umem)
		return CMD_NO_RES;
	status = umem_take(cmd, umem);
	if (!status && obj_add(&cmd->hca->objs->umems, &umem->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		umem_free(umem);
		return status;
	}
	IFC_SET(create_umem_out, cmd->out, umem_id, umem->obj.id);
	return CMD_OK;
}

static uint8_t destroy_umem(struct cmd *cmd)
{
	uint32_t id = IFC_GET(destroy_umem_in, cmd->in, umem_id);
	struct umem *umem = obj_own(&cmd->hca->objs->umems, id, cmd->uid);

	if (!umem)
		return CMD_BAD_RES;
	if (umem->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->objs->umems, id);
	umem_free(umem);
	return CMD_OK;
}

const struct cmd_def umem_cmds[] = {
	{ MLX5_CMD_OP_CREATE_UMEM, "CREATE_UMEM", IFC_SZ(create_umem_in),
	  IFC_SZ(create_umem_out), create_umem },
	{ MLX5_CMD_OP_DESTROY_UMEM, "DESTROY_UMEM", IFC_SZ(destroy_umem_in),
	  IFC_SZ(destroy_umem_out), destroy_umem },
	{ 0 },
};
