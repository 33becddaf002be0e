// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of virtqueues, which are general objects. See virtq.h for the model.
 */
#include <stdlib.h>

#include "base/json.h"
#include "fw/cmd.h"
#include "object/tis.h"
#include "object/umem.h"
#include "object/virtq.h"

#define VQ(c, fld) IFC_GET(virtio_q, c, fld)
#define SPLIT MLX5_VIRTIO_EMULATION_VIRTIO_QUEUE_TYPE_SPLIT

/* Fields that MODIFY_GENERAL_OBJECT can change */
#define MODIFY_STATE MLX5_VIRTQ_MODIFY_MASK_STATE
#define MODIFY_ADDRS MLX5_VIRTQ_MODIFY_MASK_VIRTIO_Q_ADDRS
#define MODIFY_AVAIL MLX5_VIRTQ_MODIFY_MASK_VIRTIO_Q_AVAIL_IDX
#define MODIFY_USED MLX5_VIRTQ_MODIFY_MASK_VIRTIO_Q_USED_IDX
#define MODIFY_VERSION MLX5_VIRTQ_MODIFY_MASK_QUEUE_VIRTIO_VERSION
#define MODIFY_MKEY MLX5_VIRTQ_MODIFY_MASK_VIRTIO_Q_MKEY
#define MODIFY_FEATURES MLX5_VIRTQ_MODIFY_MASK_QUEUE_FEATURES
#define MODIFY_ALL \
	(MODIFY_STATE | MODIFY_ADDRS | MODIFY_AVAIL | MODIFY_USED | \
	 MODIFY_VERSION | MODIFY_MKEY | MODIFY_FEATURES)

static const char *const state_names[] = {
	[VIRTQ_INIT] = "init", [VIRTQ_RDY] = "ready",
	[VIRTQ_SUSPEND] = "suspended", [VIRTQ_ERR] = "error",
};

/**
 * virtq_free() - free a queue that is in no table any more
 */
void virtq_free(struct virtq *vq)
{
	timer_cancel(&vq->timer);
	free(vq);
}

static struct virtq *find(const struct cmd *cmd)
{
	return obj_own(&cmd->hca->objs->virtqs,
		       IFC_GET(general_obj_in_cmd_hdr, cmd->in, obj_id),
		       cmd->uid);
}

/* Nothing of the features has an effect, so a queue may have none of them. */
static bool features_fit(const uint8_t *obj)
{
	return !IFC_GET(virtio_net_q_object, obj, queue_feature_bit_mask_12_3) &&
	       !IFC_GET(virtio_net_q_object, obj, queue_feature_bit_mask_2_0);
}

static void take_addrs(struct virtq *vq, const uint8_t *c)
{
	vq->desc = IFC_GET64(virtio_q, c, desc_addr);
	vq->avail = IFC_GET64(virtio_q, c, available_addr);
	vq->used = IFC_GET64(virtio_q, c, used_addr);
}

/* One of the three UMEMs. The model keeps what it needs elsewhere. */
static bool take_umem(struct cmd *cmd, struct virtq *vq, unsigned int n,
		      uint32_t id, uint64_t offset, uint64_t size)
{
	const struct umem *umem = obj_find(&cmd->hca->objs->umems, id, cmd->uid);

	if (!umem || size < VIRTQ_UMEM_A * vq->size + VIRTQ_UMEM_B ||
	    offset > umem->buf.size || size > umem->buf.size - offset)
		return false;
	vq->umems[n] = (struct obj *)&umem->obj;
	return true;
}

static bool take_umems(struct cmd *cmd, struct virtq *vq, const uint8_t *c)
{
	return take_umem(cmd, vq, 0, VQ(c, umem_1_id),
			 IFC_GET64(virtio_q, c, umem_1_offset),
			 VQ(c, umem_1_size)) &&
	       take_umem(cmd, vq, 1, VQ(c, umem_2_id),
			 IFC_GET64(virtio_q, c, umem_2_offset),
			 VQ(c, umem_2_size)) &&
	       take_umem(cmd, vq, 2, VQ(c, umem_3_id),
			 IFC_GET64(virtio_q, c, umem_3_offset),
			 VQ(c, umem_3_size));
}

/* The QP that brings events is one without queues: the adapter sends on it. */
static bool take_event_qp(struct cmd *cmd, struct virtq *vq, const uint8_t *c)
{
	if (VQ(c, event_mode) == VIRTQ_NO_EVENT)
		return true;
	vq->event_qp = qp_find(cmd->hca, VQ(c, event_qpn_or_msix), cmd->uid);
	return vq->event_qp && vq->event_qp->type == QP_RC &&
	       !vq->event_qp->has_sq && !vq->event_qp->has_rq;
}

/* The objects that the context names. */
static bool take_refs(struct cmd *cmd, struct virtq *vq, const uint8_t *obj,
		      const uint8_t *c)
{
	uint32_t tisn = IFC_GET(virtio_net_q_object, obj, tisn_or_qpn);

	vq->pd = pd_find(cmd->hca, VQ(c, pd), cmd->uid);
	if (virtq_is_tx(vq)) {
		vq->tis = obj_find(&cmd->hca->objs->tiss, tisn, cmd->uid);
		if (!vq->tis)
			return false;
		vq->td = tis_domain(cmd->hca, tisn, cmd->uid);
	}
	return vq->pd && take_event_qp(cmd, vq, c) && take_umems(cmd, vq, c);
}

static uint8_t virtq_fill(struct cmd *cmd, struct virtq *vq)
{
	const uint8_t *obj = IFC_ADDR_OF(create_virtio_net_q_in, cmd->in,
					 obj_context);
	const uint8_t *c = IFC_ADDR_OF(virtio_net_q_object, obj,
				       virtio_q_context);

	vq->hca = cmd->hca;
	vq->timer.fire = virtq_timer;
	memcpy(vq->ctx, obj, sizeof(vq->ctx));
	vq->index = VQ(c, queue_index);
	vq->size = VQ(c, queue_size);
	vq->mkey = VQ(c, virtio_q_mkey);
	vq->version_1 = VQ(c, virtio_version_1_0);
	vq->avail_next = IFC_GET(virtio_net_q_object, obj, hw_available_index);
	vq->used_next = IFC_GET(virtio_net_q_object, obj, hw_used_index);
	take_addrs(vq, c);
	if (VQ(c, virtio_q_type) != SPLIT || VQ(c, full_emulation) ||
	    VQ(c, offload_type) || VQ(c, doorbell_stride_index) ||
	    VQ(c, event_mode) > VIRTQ_EVENT_QP || !features_fit(obj) ||
	    IFC_GET(virtio_net_q_object, obj, dirty_bitmap_dump_enable) ||
	    !vq->size || vq->size > 1u << LOG_MAX_VIRTQ_SZ ||
	    vq->size & (vq->size - 1))
		return CMD_BAD_PARAM;
	return take_refs(cmd, vq, obj, c) ? CMD_OK : CMD_BAD_RES;
}

/* All that a queue names, so that @change holds it or lets it go. */
static void each_held(struct virtq *vq, void (*change)(struct obj *o))
{
	unsigned int i;

	change(&vq->pd->obj);
	if (vq->tis)
		change(vq->tis);
	if (vq->event_qp)
		change(&vq->event_qp->obj);
	for (i = 0; i < VIRTQ_UMEMS; i++)
		change(vq->umems[i]);
}

/**
 * virtq_create() - CREATE_GENERAL_OBJECT of a virtqueue
 *
 * Return: CMD_OK; CMD_BAD_PARAM: not such a queue; CMD_BAD_RES: an object that it names
 * is not there, or a UMEM is too small; CMD_LIM: there are too many; CMD_NO_RES
 */
uint8_t virtq_create(struct cmd *cmd)
{
	struct virtq *vq;
	uint8_t status;

	if (cmd->hca->function != FUNCTION_VDPA ||
	    cmd->hca->link != LINK_ETH ||
	    cmd->in_len < IFC_SZ(create_virtio_net_q_in))
		return CMD_BAD_PARAM;
	vq = calloc(1, sizeof(*vq));
	if (!vq)
		return CMD_NO_RES;
	status = virtq_fill(cmd, vq);
	if (!status && obj_add(&cmd->hca->objs->virtqs, &vq->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		virtq_free(vq);
		return status;
	}
	each_held(vq, obj_hold);
	IFC_SET(general_obj_out_cmd_hdr, cmd->out, obj_id, vq->obj.id);
	cmd_note(cmd, "queue_index", vq->index);
	cmd_note(cmd, "queue_size", vq->size);
	return CMD_OK;
}

/* A queue in error stays so. One that was suspended can go on (freeze_to_rdy). */
static bool may_become(enum virtq_state from, uint32_t to)
{
	switch (to) {
	case VIRTQ_RDY:
		return from == VIRTQ_INIT || from == VIRTQ_SUSPEND;
	case VIRTQ_SUSPEND:
		return from == VIRTQ_RDY;
	}
	return false;
}

/* Alignment as virtio 1.0 has it, and its layout of the header. */
static bool can_run(const struct virtq *vq)
{
	return vq->version_1 && !(vq->desc % 16) && !(vq->avail % 2) &&
	       !(vq->used % 4);
}

/* Take the fields that @mask names into @to, a copy of the queue. */
static bool take_fields(struct virtq *to, const uint8_t *obj, uint64_t mask)
{
	const uint8_t *c = IFC_ADDR_OF(virtio_net_q_object, obj,
				       virtio_q_context);

	if (mask & MODIFY_ADDRS)
		take_addrs(to, c);
	if (mask & MODIFY_AVAIL)
		to->avail_next = IFC_GET(virtio_net_q_object, obj,
					 hw_available_index);
	if (mask & MODIFY_USED)
		to->used_next = IFC_GET(virtio_net_q_object, obj,
					hw_used_index);
	if (mask & MODIFY_VERSION)
		to->version_1 = VQ(c, virtio_version_1_0);
	if (mask & MODIFY_MKEY)
		to->mkey = VQ(c, virtio_q_mkey);
	return !(mask & MODIFY_FEATURES) || features_fit(obj);
}

/**
 * virtq_modify() - MODIFY_GENERAL_OBJECT of a virtqueue
 *
 * While a queue runs, nothing but its state can change.
 *
 * Return: CMD_OK; CMD_BAD_RES: no such queue; CMD_BAD_RES_STATE: not in this state;
 * CMD_BAD_PARAM
 */
uint8_t virtq_modify(struct cmd *cmd)
{
	const uint8_t *obj = IFC_ADDR_OF(modify_virtio_net_q_in, cmd->in,
					 obj_context);
	struct virtq *vq = find(cmd), to;
	uint32_t state;
	uint64_t mask;

	if (cmd->in_len < IFC_SZ(modify_virtio_net_q_in))
		return CMD_BAD_PARAM;
	if (!vq)
		return CMD_BAD_RES;
	mask = IFC_GET64(virtio_net_q_object, obj, modify_field_select);
	state = IFC_GET(virtio_net_q_object, obj, state);
	if (mask & ~(uint64_t)MODIFY_ALL)
		return CMD_BAD_PARAM;
	if ((mask & ~(uint64_t)MODIFY_STATE && vq->state != VIRTQ_INIT &&
	     vq->state != VIRTQ_SUSPEND) ||
	    (mask & MODIFY_STATE && !may_become(vq->state, state)))
		return CMD_BAD_RES_STATE;
	to = *vq;
	if (!take_fields(&to, obj, mask) ||
	    (mask & MODIFY_STATE && state == VIRTQ_RDY && !can_run(&to)))
		return CMD_BAD_PARAM;
	take_fields(vq, obj, mask);
	if (mask & MODIFY_STATE)
		vq->state = state;
	virtq_run(vq);
	return CMD_OK;
}

/**
 * virtq_query() - QUERY_GENERAL_OBJECT of a virtqueue
 *
 * Return: CMD_OK; CMD_BAD_RES: no such queue; CMD_BAD_PARAM: a short output
 */
uint8_t virtq_query(struct cmd *cmd)
{
	uint8_t *obj = IFC_ADDR_OF(query_virtio_net_q_out, cmd->out,
				   obj_context);
	const struct virtq *vq = find(cmd);
	uint8_t *c = IFC_ADDR_OF(virtio_net_q_object, obj, virtio_q_context);

	if (cmd->out_len < IFC_SZ(query_virtio_net_q_out))
		return CMD_BAD_PARAM;
	if (!vq)
		return CMD_BAD_RES;
	memcpy(obj, vq->ctx, sizeof(vq->ctx));
	IFC_SET(virtio_net_q_object, obj, state, vq->state);
	IFC_SET(virtio_net_q_object, obj, hw_available_index, vq->avail_next);
	IFC_SET(virtio_net_q_object, obj, hw_used_index, vq->used_next);
	IFC_SET64(virtio_q, c, desc_addr, vq->desc);
	IFC_SET64(virtio_q, c, available_addr, vq->avail);
	IFC_SET64(virtio_q, c, used_addr, vq->used);
	IFC_SET(virtio_q, c, virtio_q_mkey, vq->mkey);
	IFC_SET(virtio_q, c, virtio_version_1_0, vq->version_1);
	return CMD_OK;
}

/**
 * virtq_destroy() - DESTROY_GENERAL_OBJECT of a virtqueue
 *
 * Return: CMD_OK; CMD_BAD_RES: no such queue; CMD_BAD_RES_STATE: a table of receive
 * queues names it
 */
uint8_t virtq_destroy(struct cmd *cmd)
{
	struct virtq *vq = find(cmd);

	if (!vq)
		return CMD_BAD_RES;
	if (vq->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->objs->virtqs, vq->obj.id);
	each_held(vq, obj_release);
	virtq_free(vq);
	return CMD_OK;
}

static struct json_object *virtq_dump(const struct virtq *vq)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "id", vq->obj.id);
	json_add_number(o, "index", vq->index);
	json_add_number(o, "size", vq->size);
	json_object_object_add(o, "state",
			       json_object_new_string(state_names[vq->state]));
	json_add_number(o, "event_qpn",
			vq->event_qp ? vq->event_qp->obj.id : 0);
	json_add_number(o, "kicks", vq->kicks);
	json_add_number(o, "frames", vq->frames);
	json_add_number(o, "dropped", vq->dropped);
	json_add_number(o, "events", vq->events);
	return o;
}

/**
 * virtqs_dump() - tell the control socket of the virtqueues, if there can be some
 * @o: gets "virtqs"
 * @alive: gets their number
 */
void virtqs_dump(struct hca *hca, struct json_object *o,
		 struct json_object *alive)
{
	struct json_object *array;
	const struct virtq *vq;
	uint32_t id;

	if (hca->function != FUNCTION_VDPA)
		return;
	array = json_object_new_array();
	idtable_for_each(&hca->objs->virtqs, id, vq)
		json_object_array_add(array, virtq_dump(vq));
	json_object_object_add(o, "virtqs", array);
	json_add_number(alive, "virtq", hca->objs->virtqs.count);
}

/**
 * virtqs_clear_counters() - set what is counted of virtqueues to 0
 */
void virtqs_clear_counters(struct hca *hca)
{
	struct virtq *vq;
	uint32_t id;

	idtable_for_each(&hca->objs->virtqs, id, vq) {
		vq->kicks = 0;
		vq->frames = 0;
		vq->dropped = 0;
		vq->events = 0;
	}
}
