// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control of RoCE (DCQCN): the parameters that a driver reads and sets by
 * parts. The cable is never congested, so no packet is marked and nothing acts on them:
 * the statistics stay 0.
 *
 * Invariants
 * - A command that names a value outside of its range, or a part that the protocol does
 *   not have, changes nothing.
 * - Values and ranges are those of NVIDIA's page "DCQCN CC Parameters". Where the page has
 *   the rate of the line as the limit, any rate is taken.
 */
#include <stdbool.h>

#include "fw/cmd.h"
#include "object/objects.h"
#include "qos/cong.h"

#define ANY UINT32_MAX

/* Of the byte that the commands of the status have */
#define ENABLE 0x80
#define TAG_ENABLE 0x40

/**
 * struct field - a parameter
 * @part: bit of field_select that names it
 * @at: where it begins, in bits from the start of the protocol's parameters
 * @bits: at most 32, in one dword
 * @start: value until a driver sets another one
 * @min: least value that a driver may set; @max: greatest one
 */
struct field {
	enum cong_protocol protocol;
	unsigned int part;
	unsigned int at;
	unsigned int bits;
	uint32_t start;
	uint32_t min;
	uint32_t max;
};

#define RP(part, fld, start, min, max)                                      \
	{ CONG_RP, part, IFC_BIT_OFF(cong_control_r_roce_ecn_rp, fld),      \
	  IFC_BITS_OF(cong_control_r_roce_ecn_rp, fld), start, min, max }
#define NP(part, fld, start, min, max)                                      \
	{ CONG_NP, part, IFC_BIT_OFF(cong_control_r_roce_ecn_np, fld),      \
	  IFC_BITS_OF(cong_control_r_roce_ecn_np, fld), start, min, max }
#define RTT(part, fld, start, min, max)                                     \
	{ CONG_GENERAL, part, IFC_BIT_OFF(cong_control_r_roce_general, fld), \
	  IFC_BITS_OF(cong_control_r_roce_general, fld), start, min, max }

/* The parts have the numbers that mlx5_ib gives them. */
static const struct field fields[] = {
	RP(1, clamp_tgt_rate, 0, 0, 1),
	RP(2, clamp_tgt_rate_after_time_inc, 1, 0, 1),
	RP(3, rpg_time_reset, 300, 1, 131071),
	RP(4, rpg_byte_reset, 32767, 0, 32767),
	RP(5, rpg_threshold, 1, 1, 31),
	RP(6, rpg_max_rate, 0, 0, ANY),
	RP(7, rpg_ai_rate, 5, 1, ANY),
	RP(8, rpg_hai_rate, 50, 1, ANY),
	RP(9, rpg_min_dec_fac, 50, 0, 100),
	RP(10, rpg_min_rate, 1, 1, ANY),
	RP(11, rate_to_set_on_first_cnp, 0, 0, ANY),
	RP(12, dce_tcp_g, 1019, 0, 1023),
	RP(13, dce_tcp_rtt, 1, 1, 131071),
	RP(14, rate_reduce_monitor_period, 4, 1, ANY),
	RP(15, initial_alpha_value, 1023, 1, 1023),
	RP(16, rpg_gd, 11, 10, 11),
	NP(2, min_time_between_cnps, 4, 0, 4095),
	NP(3, cnp_dscp, 48, 0, 63),
	NP(4, cnp_prio_mode, 0, 0, 1),
	NP(4, cnp_802p_prio, 6, 0, 7),
	RTT(0, rtt_resp_dscp_valid, 0, 0, 1),
	RTT(0, rtt_resp_dscp, 0, 0, 63),
};

/**
 * cong_reset() - forget what a driver set
 * @cong: was 0 before the first reset
 */
void cong_reset(struct cong *cong)
{
	const struct field *f;

	for (f = fields; f < fields + ARRAY_SIZE(fields); f++)
		ifc_set32(cong->params[f->protocol], f->at, f->bits, f->start);
	memset(cong->enable, ENABLE, sizeof(cong->enable));
}

/* A function with an Ethernet port that manages the port has these commands. */
static bool allowed(const struct cmd *cmd)
{
	return cmd->hca->link == LINK_ETH && !hca_is_vf(cmd->hca);
}

static bool known(uint32_t protocol)
{
	return protocol >= CONG_RP && protocol < CONG_PROTOCOLS;
}

static uint8_t query_params(struct cmd *cmd)
{
	uint32_t protocol = IFC_GET(query_cong_params_in, cmd->in, cong_protocol);

	if (!allowed(cmd))
		return CMD_BAD_OP;
	if (!known(protocol))
		return CMD_BAD_PARAM;
	memcpy(IFC_ADDR_OF(query_cong_params_out, cmd->out, congestion_parameters),
	       cmd->hca->objs->cong.params[protocol], CONG_BYTES);
	return CMD_OK;
}

/* Is the parameter of one of these parts of the protocol? */
static bool named(const struct field *f, uint32_t protocol, uint32_t parts)
{
	return f->protocol == protocol && parts & 1u << f->part;
}

/* May these parts have these values? */
static bool valid(uint32_t protocol, uint32_t parts, const uint8_t *params)
{
	const struct field *f;
	uint32_t unknown = parts, value;

	for (f = fields; f < fields + ARRAY_SIZE(fields); f++) {
		if (!named(f, protocol, parts))
			continue;
		unknown &= ~(1u << f->part);
		value = ifc_get32(params, f->at, f->bits);
		if (value < f->min || value > f->max)
			return false;
	}
	return !unknown;
}

static uint8_t modify_params(struct cmd *cmd)
{
	uint32_t protocol = IFC_GET(modify_cong_params_in, cmd->in, cong_protocol);
	uint32_t parts = IFC_GET(modify_cong_params_in, cmd->in, field_select);
	const uint8_t *params = IFC_ADDR_OF(modify_cong_params_in, cmd->in,
					    congestion_parameters);
	const struct field *f;

	if (!allowed(cmd))
		return CMD_BAD_OP;
	if (!known(protocol) || !valid(protocol, parts, params))
		return CMD_BAD_PARAM;
	for (f = fields; f < fields + ARRAY_SIZE(fields); f++)
		if (named(f, protocol, parts))
			ifc_set32(cmd->hca->objs->cong.params[protocol], f->at,
				  f->bits, ifc_get32(params, f->at, f->bits));
	return CMD_OK;
}

/**
 * status() - find what a command of the status names
 * @enable: set to where its protocol and priority are
 *
 * QUERY and MODIFY name both at the same place.
 */
static uint8_t status(const struct cmd *cmd, uint8_t **enable)
{
	uint32_t protocol = IFC_GET(query_cong_status_in, cmd->in, cong_protocol);
	uint32_t priority = IFC_GET(query_cong_status_in, cmd->in, priority);

	if (!allowed(cmd))
		return CMD_BAD_OP;
	if ((protocol != CONG_RP && protocol != CONG_NP) ||
	    priority >= CONG_PRIORITIES)
		return CMD_BAD_PARAM;
	*enable = &cmd->hca->objs->cong.enable[protocol][priority];
	return CMD_OK;
}

static uint8_t query_status(struct cmd *cmd)
{
	uint8_t *enable, ret = status(cmd, &enable);

	if (ret == CMD_OK)
		*IFC_ADDR_OF(query_cong_status_out, cmd->out, enable) = *enable;
	return ret;
}

static uint8_t modify_status(struct cmd *cmd)
{
	uint8_t *enable, ret = status(cmd, &enable);

	if (ret == CMD_OK)
		*enable = *IFC_ADDR_OF(modify_cong_status_in, cmd->in, enable) &
			  (ENABLE | TAG_ENABLE);
	return ret;
}

static uint8_t query_statistics(struct cmd *cmd)
{
	return allowed(cmd) ? CMD_OK : CMD_BAD_OP;
}

const struct cmd_def cong_cmds[] = {
	{ MLX5_CMD_OP_QUERY_CONG_STATUS, "QUERY_CONG_STATUS",
	  IFC_SZ(query_cong_status_in), IFC_SZ(query_cong_status_out), query_status },
	{ MLX5_CMD_OP_MODIFY_CONG_STATUS, "MODIFY_CONG_STATUS",
	  IFC_SZ(modify_cong_status_in), IFC_SZ(modify_cong_status_out),
	  modify_status },
	{ MLX5_CMD_OP_QUERY_CONG_PARAMS, "QUERY_CONG_PARAMS",
	  IFC_SZ(query_cong_params_in), IFC_SZ(query_cong_params_out), query_params },
	{ MLX5_CMD_OP_MODIFY_CONG_PARAMS, "MODIFY_CONG_PARAMS",
	  IFC_SZ(modify_cong_params_in), IFC_SZ(modify_cong_params_out),
	  modify_params },
	{ MLX5_CMD_OP_QUERY_CONG_STATISTICS, "QUERY_CONG_STATISTICS",
	  IFC_SZ(query_cong_statistics_in), IFC_SZ(query_cong_statistics_out),
	  query_statistics },
	{ 0 },
};
