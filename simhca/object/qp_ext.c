// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The parts of a QP that INIT2INIT_QP and RTS2RTS_QP change by the second mask,
 * opt_param_mask_95_32. User-space libraries change them one by one, by DevX. Most of
 * them are not in the context of the QP but in an extension behind it.
 *
 * Invariants
 * - A command changes one such part, and nothing else.
 */
#include "data/transport.h"
#include "fw/cmd.h"
#include "object/qp.h"
#include "qos/sched.h"

/* Where the commands have what mlx5_ifc.h calls reserved or lacks (offsets in bits). */
enum {
	QPC_EXT = 0x40,		/* is the extension there? */
	MASK = 0x840,
	EXT = 0x880,
	EXT_MMO = EXT + 0x2,
	EXT_STREAM = EXT + 0x10,
	EXT_LEN = EXT + 0x20,
	EXT_GROUP = EXT + 0x20,
	EXT_READ_GROUP = EXT + 0x40,
	EXT_GROUPS_LEN = EXT + 0x60,
};

/* Bits of the mask */
enum {
	MASK_STREAM = 1 << 0,
	MASK_GROUPS = 1 << 1,
	MASK_UDP_SPORT = 1 << 2,
	MASK_MMO = 1 << 3,
};

/* Source ports of RoCE v2, which the capabilities announce */
#define UDP_SPORT_MIN 0xc000u

/**
 * qp_ext_present() - does the command change a part by the second mask?
 */
bool qp_ext_present(const struct cmd *cmd)
{
	if (cmd->in_len < EXT / 8)
		return false;
	return ifc_get32(cmd->in, QPC_EXT, 1) || ifc_get64(cmd->in, MASK);
}

/* A stream of a DC initiator leaves the error state. */
static uint8_t take_stream(struct cmd *cmd, struct qp *qp)
{
	if (!qp->streams.on || cmd->opcode != MLX5_CMD_OP_RTS2RTS_QP)
		return CMD_BAD_PARAM;
	return dc_stream_reset(qp, ifc_get32(cmd->in, EXT_STREAM, 16)) ?
		       CMD_OK : CMD_BAD_RES_STATE;
}

/* The source port of RoCE v2, by which a network spreads flows over its paths. */
static uint8_t take_udp_sport(struct cmd *cmd, struct qp *qp)
{
	const uint8_t *from = IFC_ADDR_OF(rst2init_qp_in, cmd->in, qpc);
	uint32_t port = IFC_GET(qpc, from, primary_address_path.udp_sport);

	if (qp->hca->link != LINK_ETH || port < UDP_SPORT_MIN ||
	    (qp->type != QP_RC && qp->type != QP_UC) ||
	    cmd->opcode != MLX5_CMD_OP_RTS2RTS_QP)
		return CMD_BAD_PARAM;
	IFC_SET(qpc, qp->qpc, primary_address_path.udp_sport, port);
	return CMD_OK;
}

static uint8_t take_mmo(struct cmd *cmd, struct qp *qp)
{
	if ((qp->type != QP_RC && qp->type != QP_DCI) ||
	    cmd->opcode != MLX5_CMD_OP_INIT2INIT_QP)
		return CMD_BAD_PARAM;
	qp->mmo = ifc_get32(cmd->in, EXT_MMO, 1);
	return CMD_OK;
}

/*
 * The groups that schedule what the QP sends, 0 for none. Of these types only RC
 * answers reads.
 */
static uint8_t take_groups(struct cmd *cmd, struct qp *qp)
{
	uint32_t id, read_id;
	struct sched *group, *read_group;

	if (cmd->in_len < EXT_GROUPS_LEN / 8)
		return CMD_BAD_PARAM;
	id = ifc_get32(cmd->in, EXT_GROUP, 32);
	read_id = ifc_get32(cmd->in, EXT_READ_GROUP, 32);
	if (qp->type != QP_RC && ((qp->type != QP_UC && qp->type != QP_UD) || read_id))
		return CMD_BAD_PARAM;
	group = sched_group(qp->hca, id, cmd->uid);
	read_group = sched_group(qp->hca, read_id, cmd->uid);
	if ((id && !group) || (read_id && !read_group))
		return CMD_BAD_RES;
	sched_move(&qp->group, group);
	sched_move(&qp->read_group, read_group);
	return CMD_OK;
}

/**
 * qp_ext_modify() - change a part by the second mask
 * @cmd: INIT2INIT_QP or RTS2RTS_QP, with such a mask
 * @qp: the QP, in the state that the command starts in
 *
 * Return: CMD_OK, CMD_BAD_PARAM: not such a part, or not one of this QP;
 * CMD_BAD_RES: no such group; CMD_BAD_RES_STATE: the stream is not in error
 */
uint8_t qp_ext_modify(struct cmd *cmd, struct qp *qp)
{
	bool ext = ifc_get32(cmd->in, QPC_EXT, 1);
	uint64_t mask = ifc_get64(cmd->in, MASK);

	if (mask == MASK_UDP_SPORT && !ext)
		return take_udp_sport(cmd, qp);
	if (!ext || cmd->in_len < EXT_LEN / 8)
		return CMD_BAD_PARAM;
	switch (mask) {
	case MASK_STREAM:
		return take_stream(cmd, qp);
	case MASK_GROUPS:
		return take_groups(cmd, qp);
	case MASK_MMO:
		return take_mmo(cmd, qp);
	}
	return CMD_BAD_PARAM;
}
