// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state machine of queue pairs.
 *
 * Each transition takes the parts of the context that it requires, and those
 * optional ones that the mask names; everything else in the command is ignored.
 * All is checked before anything changes.
 */
#include <string.h>

#include "data/transport.h"
#include "fabric/port.h"
#include "fw/cmd.h"
#include "object/qp.h"

#define PATH_PORT 1
#define MTU_MAX 5
#define LAG_PORTS 2u
#define MCAST_LID 0xc000u

/* Parts of the context. The first ones are the bits of opt_param_mask
 * (linux/mlx5/qp.h, enum mlx5_qp_optpar); the others have no bit there.
 */
enum part {
	PART_ALT_PATH = 1 << 0,
	PART_RRE = 1 << 1,
	PART_RAE = 1 << 2,
	PART_RWE = 1 << 3,
	PART_PKEY = 1 << 4,
	PART_QKEY = 1 << 5,
	PART_RNR_TIMER = 1 << 6,
	PART_PATH = 1 << 7,
	PART_SRA = 1 << 8,
	PART_RRA = 1 << 9,
	PART_PM_STATE = 1 << 10,
	PART_DRAIN = 1 << 11,	/* at a bad signature */
	PART_RETRY = 1 << 12,
	PART_RNR_RETRY = 1 << 13,
	PART_TIMEOUT = 1 << 14,
	PART_LAG = 1 << 15,
	PART_PORT = 1 << 16,
	PART_PP_INDEX = 1 << 22,
	PART_COUNTER = 1 << 25,
	PART_OPTIONAL = PART_ALT_PATH | PART_RRE | PART_RAE | PART_RWE |
			PART_PKEY | PART_QKEY | PART_RNR_TIMER | PART_PATH |
			PART_SRA | PART_RRA | PART_PM_STATE | PART_DRAIN | PART_RETRY |
			PART_RNR_RETRY | PART_TIMEOUT | PART_LAG | PART_PORT |
			PART_PP_INDEX | PART_COUNTER,
	PART_MTU = 1 << 26,
	PART_REMOTE_QPN = 1 << 27,
	PART_SQ_PSN = 1 << 28,
	PART_RQ_PSN = 1 << 29,
	PART_ORDER = 1 << 30,
	PART_RIGHTS = PART_RRE | PART_RAE | PART_RWE,
};

/**
 * struct transition - one MODIFY_QP command
 * @from: states it starts in, a bit each
 * @to: the state it ends in
 * @required: PART_* that it always takes
 */
struct transition {
	uint16_t opcode;
	uint16_t from;
	enum qp_state to;
	uint32_t required;
};

#define ANY_STATE 0x7f

static const struct transition transitions[] = {
	{ MLX5_CMD_OP_RST2INIT_QP, 1 << QP_RST, QP_INIT,
	  PART_PORT | PART_PKEY | PART_QKEY | PART_RIGHTS |
		  PART_COUNTER | PART_LAG },
	{ MLX5_CMD_OP_INIT2INIT_QP, 1 << QP_INIT, QP_INIT, 0 },
	{ MLX5_CMD_OP_INIT2RTR_QP, 1 << QP_INIT, QP_RTR,
	  PART_PATH | PART_MTU | PART_REMOTE_QPN | PART_RQ_PSN |
		  PART_RNR_TIMER | PART_RRA | PART_ORDER },
	{ MLX5_CMD_OP_RTR2RTS_QP, 1 << QP_RTR, QP_RTS,
	  PART_TIMEOUT | PART_RETRY | PART_RNR_RETRY | PART_SQ_PSN |
		  PART_SRA },
	{ MLX5_CMD_OP_RTS2RTS_QP, 1 << QP_RTS, QP_RTS, 0 },
	{ MLX5_CMD_OP_SQERR2RTS_QP, 1 << QP_SQER, QP_RTS, 0 },
	{ MLX5_CMD_OP_SQD_RTS_QP, 1 << QP_SQD, QP_RTS, 0 },
	{ MLX5_CMD_OP_2ERR_QP, ANY_STATE, QP_ERR, 0 },
	{ MLX5_CMD_OP_2RST_QP, ANY_STATE, QP_RST, 0 },
};

static const struct transition *find_transition(uint16_t opcode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

#define COPY(fld) IFC_SET(qpc, to, fld, IFC_GET(qpc, from, fld))
#define COPY_PATH(fld) COPY(primary_address_path.fld)

/* A new path keeps P_Key index, port and timeout, which have parts of their
 * own.
 */
static void take_path(uint8_t *to, const uint8_t *from)
{
	uint8_t *path = IFC_ADDR_OF(qpc, to, primary_address_path);
	uint32_t pkey = IFC_GET(ads, path, pkey_index);
	uint32_t port = IFC_GET(ads, path, vhca_port_num);
	uint32_t timeout = IFC_GET(ads, path, ack_timeout);

	memcpy(path, IFC_ADDR_OF(qpc, from, primary_address_path),
	       IFC_SZ(ads));
	IFC_SET(ads, path, pkey_index, pkey);
	IFC_SET(ads, path, vhca_port_num, port);
	IFC_SET(ads, path, ack_timeout, timeout);
}

static void take_paths(uint8_t *to, const uint8_t *from, uint32_t parts)
{
	if (parts & PART_PATH)
		take_path(to, from);
	if (parts & PART_PKEY)
		COPY_PATH(pkey_index);
	if (parts & PART_PORT)
		COPY_PATH(vhca_port_num);
	if (parts & PART_TIMEOUT)
		COPY_PATH(ack_timeout);
	if (parts & PART_ALT_PATH)
		memcpy(IFC_ADDR_OF(qpc, to, secondary_address_path),
		       IFC_ADDR_OF(qpc, from, secondary_address_path),
		       IFC_SZ(ads));
	if (parts & PART_PM_STATE)
		COPY(pm_state);
}

static void take_parts(uint8_t *to, const uint8_t *from, uint32_t parts)
{
	take_paths(to, from, parts);
	if (parts & PART_RRE)
		COPY(rre);
	if (parts & PART_RWE)
		COPY(rwe);
	if (parts & PART_RAE) {
		COPY(rae);
		COPY(atomic_mode);
	}
	if (parts & PART_QKEY)
		COPY(q_key);
	if (parts & PART_RNR_TIMER)
		COPY(min_rnr_nak);
	if (parts & PART_SRA)
		COPY(log_sra_max);
	if (parts & PART_RRA)
		COPY(log_rra_max);
	if (parts & PART_RETRY)
		COPY(retry_count);
	if (parts & PART_RNR_RETRY)
		COPY(rnr_retry);
	if (parts & PART_DRAIN)
		COPY(drain_sigerr);
	if (parts & PART_LAG)
		COPY(lag_tx_port_affinity);
	if (parts & PART_PP_INDEX)
		COPY(packet_pacing_rate_limit_index);
	if (parts & PART_COUNTER)
		COPY(counter_set_id);
	if (parts & PART_MTU) {
		COPY(mtu);
		COPY(log_msg_max);
	}
	if (parts & PART_ORDER) {
		COPY(dp_ordering_1);
		COPY(dp_ordering_force);
	}
	if (parts & PART_REMOTE_QPN)
		COPY(remote_qpn);
	if (parts & PART_SQ_PSN)
		COPY(next_send_psn);
	if (parts & PART_RQ_PSN)
		COPY(next_rcv_psn);
}

static bool is_connected(const struct qp *qp)
{
	return qp->type == QP_RC || qp->type == QP_UC || qp->type == QP_XRC ||
	       qp->type == QP_DCI;
}

/* May the packets of this QP arrive in any order, if its user forces that? */
static bool order_fits(const struct qp *qp, const uint8_t *c)
{
	return qp->type == QP_RC || qp->type == QP_XRC ||
	       !(IFC_GET(qpc, c, dp_ordering_1) ||
		 IFC_GET(qpc, c, dp_ordering_force));
}

/* Is the new context valid in the new state? */
static uint8_t check_parts(const struct qp *qp, const uint8_t *c,
			   uint32_t parts)
{
	const uint8_t *path = IFC_ADDR_OF(qpc, c, primary_address_path);
	uint32_t mtu = IFC_GET(qpc, c, mtu), lid = IFC_GET(ads, path, rlid);
	uint16_t pkey;

	if (parts & PART_PORT && IFC_GET(ads, path, vhca_port_num) != PATH_PORT)
		return CMD_BAD_PARAM;
	if (parts & PART_LAG && IFC_GET(qpc, c, lag_tx_port_affinity) >
					(qp->hca->native_port ? LAG_PORTS : 0))
		return CMD_BAD_PARAM;
	if (parts & PART_PKEY &&
	    !port_pkey(qp->hca, IFC_GET(ads, path, pkey_index), &pkey))
		return CMD_BAD_PARAM;
	if (parts & PART_PP_INDEX &&
	    !pace_usable(qp->hca, IFC_GET(qpc, c, packet_pacing_rate_limit_index),
			 qp->obj.uid))
		return CMD_BAD_PARAM;
	if (parts & PART_ORDER && !order_fits(qp, c))
		return CMD_BAD_PARAM;
	if (!is_connected(qp))
		return CMD_OK;
	if (parts & PART_MTU &&
	    (!mtu || mtu > MTU_MAX || mtu > port_mtu(qp->hca) ||
	     IFC_GET(qpc, c, log_msg_max) > LOG_MAX_MSG))
		return CMD_BAD_PARAM;
	if (parts & PART_PATH && lid >= MCAST_LID)
		return CMD_BAD_PARAM;
	return CMD_OK;
}

static void enter(struct qp *qp, const struct transition *t, uint32_t parts)
{
	enum qp_state old = qp->state;

	qp->state = t->to;
	if (parts & PART_RQ_PSN)
		qp->recv_psn = IFC_GET(qpc, qp->qpc, next_rcv_psn);
	if (parts & PART_SQ_PSN)
		qp->send_psn = IFC_GET(qpc, qp->qpc, next_send_psn);
	qp_load(qp);
	if (t->to != QP_RTS)
		return;
	if (old != QP_RTS)
		connected_rearm(qp);
	if (old == QP_SQD || old == QP_SQER || qp->rndv)
		qp_kick(qp);
}

/**
 * qp_modify() - any command that moves a QP to another state
 * @cmd: the command; all of them have one layout
 *
 * Return: CMD_OK; CMD_BAD_RES: no such QP; CMD_BAD_QP_STATE: not in the state
 * the command starts in; CMD_BAD_PARAM
 */
uint8_t qp_modify(struct cmd *cmd)
{
	const uint8_t *from = IFC_ADDR_OF(rst2init_qp_in, cmd->in, qpc);
	const struct transition *t = find_transition(cmd->opcode);
	struct qp *qp = qp_find(cmd->hca, IFC_GET(rst2init_qp_in, cmd->in, qpn),
				cmd->uid);
	uint8_t context[QPC_SIZE], status;
	uint32_t parts;

	if (!qp || !t)
		return CMD_BAD_RES;
	if (!(t->from & 1 << qp->state))
		return CMD_BAD_QP_STATE;
	if (t->to == QP_ERR) {
		qp_error(qp, 0);
		return CMD_OK;
	}
	if (t->to == QP_RST) {
		qp_reset(qp);
		return CMD_OK;
	}
	if (qp_ext_present(cmd))
		return qp_ext_modify(cmd, qp);
	parts = IFC_GET(rst2init_qp_in, cmd->in, opt_param_mask);
	if (parts & ~PART_OPTIONAL)
		return CMD_BAD_PARAM;
	parts |= t->required;
	memcpy(context, qp->qpc, QPC_SIZE);
	take_parts(context, from, parts);
	status = check_parts(qp, context, parts);
	if (status)
		return status;
	memcpy(qp->qpc, context, QPC_SIZE);
	enter(qp, t, parts);
	return CMD_OK;
}
