// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection signature variables (PSV). A signature key names two of them, and its user
 * sets them by work requests. The adapter checks that; the value itself is also in the
 * format of the key, from which each transfer begins. The file also tells the control
 * socket how many signatures were checked.
 */
#include <stdlib.h>

#include "base/json.h"
#include "fw/cmd.h"
#include "object/objects.h"
#include "object/sig.h"
#include "object/wqe.h"

#define PSV_MAX 4u
#define PSV_STEP 32u	/* bits from one number to the next */

/**
 * struct psv - a variable
 * @pd: its protection domain, held
 * @value: that was set
 */
struct psv {
	struct obj obj;
	struct domain *pd;
	uint64_t value;
};

/**
 * psv_set() - execute the segment of a work request that sets a variable
 * @pd: protection domain of the QP
 * @seg: what is behind the control segment
 * @len: bytes of it
 *
 * Return: SYND_OK; SYND_LOCAL_QP_OP: not such a segment; SYND_LOCAL_PROT: the domain has
 * no such variable
 */
uint8_t psv_set(struct hca *hca, const struct domain *pd, const uint8_t *seg,
		size_t len)
{
	struct wqe_psv s;
	struct psv *psv;

	if (len != sizeof(s))
		return SYND_LOCAL_QP_OP;
	memcpy(&s, seg, sizeof(s));
	psv = idtable_get(&hca->objs->psvs, be32toh(s.index));
	if (!psv || psv->pd != pd)
		return SYND_LOCAL_PROT;
	psv->value = be64toh(s.value);
	return SYND_OK;
}

/**
 * sig_dump() - tell the control socket how many signatures were checked
 * @o: gets "signatures"
 */
void sig_dump(const struct hca *hca, struct json_object *o)
{
	const struct sig_counts *n = &hca->objs->sig_counts;
	struct json_object *counts = json_object_new_object();

	json_add_number(counts, "checked", n->checked);
	json_add_number(counts, "bad", n->bad);
	json_object_object_add(o, "signatures", counts);
}

static void psv_drop(struct objects *objs, struct psv *psv)
{
	idtable_remove(&objs->psvs, psv->obj.id);
	obj_release(&psv->pd->obj);
	free(psv);
}

/* One command makes up to four, whose numbers are in four words of its answer. */
static uint8_t create_psv(struct cmd *cmd)
{
	struct domain *pd = pd_find(cmd->hca, IFC_GET(create_psv_in, cmd->in, pd),
				    cmd->uid);
	uint32_t n = IFC_GET(create_psv_in, cmd->in, num_psv), i;
	struct psv *made[PSV_MAX];

	if (!n || n > PSV_MAX)
		return CMD_BAD_PARAM;
	if (!pd)
		return CMD_BAD_RES;
	for (i = 0; i < n; i++) {
		made[i] = calloc(1, sizeof(*made[i]));
		if (!made[i] || obj_add(&cmd->hca->objs->psvs, &made[i]->obj,
					cmd->uid)) {
			free(made[i]);
			while (i--)
				psv_drop(cmd->hca->objs, made[i]);
			return CMD_LIM;
		}
		made[i]->pd = pd;
		obj_hold(&pd->obj);
	}
	for (i = 0; i < n; i++)
		ifc_set32(cmd->out, IFC_BIT_OFF(create_psv_out, psv0_index) +
			  i * PSV_STEP, 24, made[i]->obj.id);
	return CMD_OK;
}

static uint8_t destroy_psv(struct cmd *cmd)
{
	uint32_t index = IFC_GET(destroy_psv_in, cmd->in, psvn);
	struct psv *psv = obj_own(&cmd->hca->objs->psvs, index, cmd->uid);

	if (!psv)
		return CMD_BAD_RES;
	psv_drop(cmd->hca->objs, psv);
	return CMD_OK;
}

const struct cmd_def psv_cmds[] = {
	{ MLX5_CMD_OP_CREATE_PSV, "CREATE_PSV", IFC_SZ(create_psv_in),
	  IFC_SZ(create_psv_out), create_psv },
	{ MLX5_CMD_OP_DESTROY_PSV, "DESTROY_PSV", IFC_SZ(destroy_psv_in),
	  IFC_SZ(destroy_psv_out), destroy_psv },
	{ 0 },
};
