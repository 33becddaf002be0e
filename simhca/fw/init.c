// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that bring the adapter up and down.
 *
 * The order is the driver's: ENABLE_HCA, QUERY_ISSI, SET_ISSI, boot pages, caps,
 * init pages, INIT_HCA; then all others; TEARDOWN_HCA, pages back, DISABLE_HCA.
 * ENABLE_HCA and DISABLE_HCA forget all objects: a driver that gives up after a
 * fatal error destroys nothing by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/eth.h"
#include "fabric/lag.h"
#include "fabric/port.h"
#include "fw/cmd.h"
#include "fw/eq.h"
#include "fw/fw.h"
#include "fw/iseg.h"
#include "object/objects.h"

#define ISSI_MAX 1u
#define VENDOR_OUI 0x0002c9 /* IEEE's for Mellanox */
#define VENDOR_ID 0x15b3

/**
 * hca_drop_state() - forget all that a driver made
 *
 * Guest memory is not touched: it may be in other use by now. The command queue
 * stays, as it may be a command that asks for this.
 */
void hca_drop_state(struct hca *hca)
{
	eth_reset(hca);
	objects_reset(hca);
	eqs_reset(hca);
	uars_reset(hca);
	uctxs_reset(hca);
	pages_reset(hca);
	caps_reset(hca);
	port_reset(hca);
	lag_reset(hca);
}

static void tell_left(struct hca *hca, const char *command,
		      const struct left *left)
{
	if (left->len)
		hca_error(hca, SIM_ERR_LEAKED, "%s while there are %s", command,
			  left->text);
}

static uint8_t enable_hca(struct cmd *cmd)
{
	if (IFC_GET(enable_hca_in, cmd->in, function_id))
		return CMD_BAD_PARAM;
	hca_drop_state(cmd->hca);
	return CMD_OK;
}

static uint8_t disable_hca(struct cmd *cmd)
{
	size_t held = pages_held(cmd->hca);
	struct left left = { 0 };

	if (held)
		hca_error(cmd->hca, SIM_ERR_PAGES,
			  "DISABLE_HCA while the driver has not got back %zu pages", held);
	left_add(&left, "UAR pages", &cmd->hca->uars->taken);
	uctxs_left(cmd->hca, &left);
	tell_left(cmd->hca, "DISABLE_HCA", &left);
	hca_drop_state(cmd->hca);
	return CMD_OK;
}

static uint8_t query_issi(struct cmd *cmd)
{
	IFC_SET(query_issi_out, cmd->out, supported_issi_dw0,
		(1u << (ISSI_MAX + 1)) - 1);
	return CMD_OK;
}

static uint8_t set_issi(struct cmd *cmd)
{
	uint32_t issi = IFC_GET(set_issi_in, cmd->in, current_issi);

	/* the layouts of ISSI 0 are other ones, which nothing here speaks */
	return issi == ISSI_MAX ? CMD_OK : CMD_BAD_PARAM;
}

static uint8_t init_hca(struct cmd *cmd)
{
	(void)cmd;
	return CMD_OK;
}

/* A driver that is in a hurry says so, and destroys nothing by itself. */
static uint8_t teardown_hca(struct cmd *cmd)
{
	bool graceful = IFC_GET(teardown_hca_in, cmd->in, profile) ==
			MLX5_TEARDOWN_HCA_IN_PROFILE_GRACEFUL_CLOSE;
	struct left left = { 0 };

	if (graceful) {
		eth_left(cmd->hca, &left);
		objects_left(cmd->hca, &left);
		eqs_left(cmd->hca, &left);
		tell_left(cmd->hca, "TEARDOWN_HCA", &left);
	}
	eth_reset(cmd->hca);
	objects_reset(cmd->hca);
	eqs_reset(cmd->hca);
	return CMD_OK;
}

static uint8_t query_adapter(struct cmd *cmd)
{
	static const char psid[] = "SIM0000000001";
	uint8_t *block = IFC_ADDR_OF(query_adapter_out, cmd->out,
				     query_adapter_struct);

	IFC_SET(query_adapter_param_block, block, ieee_vendor_id, VENDOR_OUI);
	IFC_SET(query_adapter_param_block, block, vsd_vendor_id, VENDOR_ID);
	memcpy(IFC_ADDR_OF(query_adapter_param_block, block, vsd_contd_psid),
	       psid, sizeof(psid));
	return CMD_OK;
}

static uint8_t set_driver_version(struct cmd *cmd)
{
	const uint8_t *version = IFC_ADDR_OF(set_driver_version_in, cmd->in,
					     driver_version);

	log_line("hca%u: driver: %.64s", cmd->hca->index,
		 (const char *)version);
	return CMD_OK;
}

/* A command that takes no more than a header, or as much as its layout. */
#define CMD(op, type, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(type##_in), IFC_SZ(type##_out), fn }

const struct cmd_def init_cmds[] = {
	CMD(ENABLE_HCA, enable_hca, enable_hca),
	CMD(DISABLE_HCA, disable_hca, disable_hca),
	CMD(QUERY_ISSI, query_issi, query_issi),
	CMD(SET_ISSI, set_issi, set_issi),
	CMD(INIT_HCA, init_hca, init_hca),
	CMD(TEARDOWN_HCA, teardown_hca, teardown_hca),
	CMD(QUERY_ADAPTER, query_adapter, query_adapter),
	CMD(SET_DRIVER_VERSION, set_driver_version, set_driver_version),
	{ 0 },
};
