// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management datagrams: which agent answers which.
 *
 * MAD_IFC asks this adapter's own subnet management agent. What is sent to QP0, and
 * what asks QP1 for counters, is answered by the agent of the adapter that it is
 * addressed to, as firmware does it on hardware: the stock driver's own answer to a
 * request for counters has no header. What is sent to QP1 of the subnet manager's LID
 * and is a request to the subnet administrator is answered by sa.c. All else is for the
 * consumers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fw/cmd.h"

#define QP0 0u
#define QP1 1u
#define QP1_QKEY 0x80010000u

static uint8_t mad_ifc(struct cmd *cmd)
{
	uint8_t *mad = IFC_ADDR_OF(mad_ifc_out, cmd->out, response_mad_packet);

	memcpy(mad, IFC_ADDR_OF(mad_ifc_in, cmd->in, mad), MAD_BYTES);
	if (mad[MAD_CLASS] != MAD_CLASS_SMI_LID &&
	    mad[MAD_CLASS] != MAD_CLASS_SMI_DR)
		return CMD_BAD_PARAM;
	json_add_number(cmd->key, "attr", mad_get16(mad, MAD_ATTR));
	smi_answer(NULL, cmd->hca, mad);
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
	struct hca *to = fabric_by_lid(pkt->dlid);
	bool more = false;

	if (pkt->len != MAD_BYTES || pkt->dst_qpn > QP1)
		return MAD_FORWARD;
	memcpy(mad, pkt->data, MAD_BYTES);
	if (mad[MAD_METHOD] & MAD_RESPONSE)
		return MAD_FORWARD;
	if (pkt->dst_qpn == QP1 && mad[MAD_CLASS] == MAD_CLASS_PERF) {
		if (pkt->dlid == SMI_SWITCH_LID)
			pma_answer(mad, fabric_hcas());
		else if (to && port_active(to))
			pma_answer(mad, 1);
		else
			return MAD_DROPPED;
	} else if (pkt->dst_qpn == QP1) {
		if (mad[MAD_CLASS] != MAD_CLASS_SA ||
		    pkt->dlid != fabric_sm_lid())
			return MAD_FORWARD;
		if (!sa_asked(mad))
			return MAD_DROPPED;
		more = sa_answer(from, mad, segment);
	} else if (mad[MAD_CLASS] == MAD_CLASS_SMI_DR) {
		if (!smi_switch_route(from, pkt->dlid, mad))
			return MAD_DROPPED;
	} else if (mad[MAD_CLASS] == MAD_CLASS_SMI_LID &&
		   pkt->dlid == SMI_SWITCH_LID) {
		smi_answer(smi_switch_attrs, from, mad);
	} else {
		if (mad[MAD_CLASS] != MAD_CLASS_SMI_LID || !to ||
		    !port_active(to))
			return MAD_DROPPED;
		smi_answer(NULL, to, mad);
	}
	mad_answer(pkt, mad, answer);
	return more ? MAD_CONTINUED : MAD_ANSWERED;
}
