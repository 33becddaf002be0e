// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management datagrams: which agent answers which.
 *
 * MAD_IFC asks this adapter's own agents, of subnet management and of NVIDIA's class. What
 * is sent to QP0, and what asks QP1 for counters, is answered by the agent of the node that
 * it is addressed to, as firmware does it on hardware: the stock driver's own answer to a
 * request for counters has no header. What is sent to QP1 of the subnet manager's LID
 * and is a request to the subnet administrator is answered by sa.c. All else is for the
 * consumers, and the switch has none. Packets that are routed by directions find their
 * node in smi_switch.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/sa.h"
#include "fw/cmd.h"

#define QP0 0u
#define QP1 1u
#define QP1_QKEY 0x80010000u

static uint8_t mad_ifc(struct cmd *cmd)
{
	uint8_t *mad = IFC_ADDR_OF(mad_ifc_out, cmd->out, response_mad_packet);

	memcpy(mad, IFC_ADDR_OF(mad_ifc_in, cmd->in, mad), MAD_BYTES);
	json_add_number(cmd->key, "attr", mad_get16(mad, MAD_ATTR));
	if (mad[MAD_CLASS] == MAD_CLASS_SMI_LID ||
	    mad[MAD_CLASS] == MAD_CLASS_SMI_DR)
		smi_answer(NULL, cmd->hca, mad);
	else if (mad[MAD_CLASS] == MAD_CLASS_VENDOR)
		vendor_answer(mad, MAD_DEVICE_HCA);
	else
		return CMD_BAD_PARAM;
	return CMD_OK;
}

const struct cmd_def mad_cmds[] = {
	{ MLX5_CMD_OP_MAD_IFC, "MAD_IFC", IFC_SZ(mad_ifc_in),
	  IFC_SZ(mad_ifc_out), mad_ifc },
	{ 0 },
};

static void mad_answer(const struct ud_packet *pkt, const uint8_t *mad,
		       struct ud_packet *answer)
{
	*answer = (struct ud_packet){
		.slid = pkt->dlid,
		.dlid = pkt->slid,
		.src_qpn = pkt->dst_qpn,
		.dst_qpn = pkt->src_qpn,
		.qkey = pkt->dst_qpn == QP0 ? 0 : QP1_QKEY,
		.pkey_index = pkt->pkey_index,
		.sl = pkt->sl,
		.data = mad,
		.len = MAD_BYTES,
	};
}

/* The switch answers all that it answers. */
static bool mad_switch(struct hca *from, uint32_t qpn, uint8_t *mad)
{
	if (qpn == QP0 && mad[MAD_CLASS] == MAD_CLASS_SMI_LID)
		smi_answer(smi_switch_attrs, from, mad);
	else if (qpn == QP1 && mad[MAD_CLASS] == MAD_CLASS_PERF)
		pma_answer(mad, fabric_hcas());
	else if (qpn == QP1 && mad[MAD_CLASS] == MAD_CLASS_VENDOR)
		vendor_answer(mad, MAD_DEVICE_SWITCH);
	else
		return false;
	return true;
}

/* The agent takes packets to QP0 that are routed by LID, and to QP1 what asks for counters. */
static bool mad_node(struct hca *to, uint32_t qpn, uint8_t *mad)
{
	if (!to || !port_active(to) ||
	    (qpn == QP0 && mad[MAD_CLASS] != MAD_CLASS_SMI_LID))
		return false;
	if (qpn == QP0)
		smi_answer(NULL, to, mad);
	else
		pma_answer(mad, 1);
	return true;
}

/**
 * mad_receive() - is a packet for an agent of the model?
 * @pkt: a packet to QP0 or QP1
 * @segment: which one of the answer is asked for, from 1 on
 * @answer: set where it is answered; its data are in @mad
 * @mad: room for the answer
 */
enum mad_verdict mad_receive(struct hca *from, const struct ud_packet *pkt,
			     unsigned int segment, struct ud_packet *answer,
			     uint8_t mad[MAD_BYTES])
{
	uint32_t qpn = pkt->dst_qpn;
	bool answered, more = false;

	if (pkt->len != MAD_BYTES || qpn > QP1)
		return MAD_FORWARD;
	memcpy(mad, pkt->data, MAD_BYTES);
	if (mad[MAD_METHOD] & MAD_RESPONSE)
		return MAD_FORWARD;
	if (qpn == QP0 && mad[MAD_CLASS] == MAD_CLASS_SMI_DR) {
		answered = smi_switch_route(from, pkt->dlid, mad);
	} else if (pkt->dlid == SMI_SWITCH_LID) {
		answered = mad_switch(from, qpn, mad);
	} else if (qpn == QP0 || mad[MAD_CLASS] == MAD_CLASS_PERF) {
		answered = mad_node(fabric_by_lid(pkt->dlid), qpn, mad);
	} else {
		if (mad[MAD_CLASS] != MAD_CLASS_SA ||
		    pkt->dlid != fabric_sm_lid())
			return MAD_FORWARD;
		answered = sa_table_asked(mad);
		more = answered && sa_answer(from, mad, segment);
	}
	if (!answered)
		return MAD_DROPPED;
	mad_answer(pkt, mad, answer);
	return more ? MAD_CONTINUED : MAD_ANSWERED;
}
