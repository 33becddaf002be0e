// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about the port: its context, tables and registers.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/fabric.h"
#include "fw/cmd.h"

static uint8_t query_vport_context(struct cmd *cmd)
{
	uint8_t *ctx = IFC_ADDR_OF(query_hca_vport_context_out, cmd->out,
				   hca_vport_context);
	struct port *port = cmd->hca->port;

	if (IFC_GET(query_hca_vport_context_in, cmd->in, other_vport))
		return CMD_BAD_PARAM;
	IFC_SET(hca_vport_context, ctx, has_smi, 1);
	IFC_SET(hca_vport_context, ctx, port_physical_state,
		port->up ? PHYS_LINK_UP : PHYS_POLLING);
	IFC_SET(hca_vport_context, ctx, port_state,
		port->up ? PORT_ACTIVE : PORT_DOWN);
	IFC_SET(hca_vport_context, ctx, vport_state,
		port->up ? PORT_ACTIVE : PORT_DOWN);
	IFC_SET64(hca_vport_context, ctx, system_image_guid,
		  port->system_guid);
	IFC_SET64(hca_vport_context, ctx, port_guid, port->port_guid);
	IFC_SET64(hca_vport_context, ctx, node_guid, port->node_guid);
	IFC_SET(hca_vport_context, ctx, cap_mask1, port->cap_mask);
	IFC_SET(hca_vport_context, ctx, cap_mask1_field_select, UINT32_MAX);
	IFC_SET(hca_vport_context, ctx, lid, port->lid);
	IFC_SET(hca_vport_context, ctx, subnet_timeout, 18);
	IFC_SET(hca_vport_context, ctx, sm_lid, fabric_sm_lid());
	return CMD_OK;
}

static uint8_t modify_vport_context(struct cmd *cmd)
{
	const uint8_t *ctx = IFC_ADDR_OF(modify_hca_vport_context_in, cmd->in,
					 hca_vport_context);
	uint32_t which = IFC_GET(hca_vport_context, ctx,
				 cap_mask1_field_select);
	struct port *port = cmd->hca->port;

	if (IFC_GET(modify_hca_vport_context_in, cmd->in, other_vport) ||
	    IFC_GET(hca_vport_context, ctx, field_select))
		return CMD_BAD_PARAM;
	port->cap_mask = (port->cap_mask & ~which) |
			 (IFC_GET(hca_vport_context, ctx, cap_mask1) & which);
	return CMD_OK;
}

/* The driver asks for one entry, or for all with index 0xffff. */
static bool table_range(struct cmd *cmd, uint32_t index, uint32_t entries,
			size_t entry_sz, size_t head, uint32_t *first,
			uint32_t *n)
{
	bool all = index == 0xffff;

	*first = all ? 0 : index;
	*n = all ? entries : 1;
	return *first < entries && cmd->out_len - head >= *n * entry_sz;
}

static uint8_t query_vport_gid(struct cmd *cmd)
{
	uint32_t index = IFC_GET(query_hca_vport_gid_in, cmd->in, gid_index);
	const size_t head = IFC_SZ(query_hca_vport_gid_out);
	uint32_t first, n;

	if (!table_range(cmd, index, PORT_GIDS, 16, head, &first, &n))
		return CMD_BAD_PARAM;
	IFC_SET(query_hca_vport_gid_out, cmd->out, gids_num, n);
	if (!first)
		memcpy(cmd->out + head, cmd->hca->port->gid, 16);
	return CMD_OK;
}

static uint8_t query_vport_pkey(struct cmd *cmd)
{
	uint32_t index = IFC_GET(query_hca_vport_pkey_in, cmd->in, pkey_index);
	const size_t head = IFC_SZ(query_hca_vport_pkey_out), sz = IFC_SZ(pkey);
	uint32_t first, n, i;
	uint16_t pkey;

	if (!table_range(cmd, index, PORT_PKEYS, sz, head, &first, &n))
		return CMD_BAD_PARAM;
	for (i = 0; i < n; i++) {
		port_pkey(cmd->hca, first + i, &pkey);
		IFC_SET(pkey, cmd->out + head + i * sz, pkey, pkey);
	}
	return CMD_OK;
}

static uint8_t query_vport_state(struct cmd *cmd)
{
	IFC_SET(query_vport_state_out, cmd->out, admin_state, 1);
	IFC_SET(query_vport_state_out, cmd->out, state,
		port_link_up(cmd->hca));
	return CMD_OK;
}

/* Ethernet frames are counted; what an InfiniBand counter says is 0. */
static uint8_t query_vport_counter(struct cmd *cmd)
{
	struct port *port = cmd->hca->port;

#define COUNT(fld, direction, kind)                                         \
	do {                                                                \
		IFC_SET64(query_vport_counter_out, cmd->out, fld.packets,   \
			  port->count[direction][kind].packets);            \
		IFC_SET64(query_vport_counter_out, cmd->out, fld.octets,    \
			  port->count[direction][kind].octets);             \
	} while (0)
	COUNT(received_eth_unicast, PORT_RX, PORT_UNICAST);
	COUNT(received_eth_multicast, PORT_RX, PORT_MULTICAST);
	COUNT(received_eth_broadcast, PORT_RX, PORT_BROADCAST);
	COUNT(transmitted_eth_unicast, PORT_TX, PORT_UNICAST);
	COUNT(transmitted_eth_multicast, PORT_TX, PORT_MULTICAST);
	COUNT(transmitted_eth_broadcast, PORT_TX, PORT_BROADCAST);
#undef COUNT
	return CMD_OK;
}

static uint8_t access_reg(struct cmd *cmd)
{
	uint16_t id = IFC_GET(access_register_in, cmd->in, register_id);
	const size_t head = IFC_SZ(access_register_in);
	size_t len = cmd->in_len - head;
	bool up = port_link_up(cmd->hca);
	uint8_t status;

	if (len > cmd->out_len - IFC_SZ(access_register_out))
		len = cmd->out_len - IFC_SZ(access_register_out);
	json_add_number(cmd->key, "register", id);
	status = reg_access(cmd->hca, id, !cmd->op_mod, cmd->in + head,
			    cmd->out + IFC_SZ(access_register_out), len);
	if (port_link_up(cmd->hca) != up)
		cable_changed(cmd->hca);
	return status;
}

#define CMD(op, type, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(type##_in), IFC_SZ(type##_out), fn }

const struct cmd_def port_cmds[] = {
	CMD(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context,
	    query_vport_context),
	CMD(MODIFY_HCA_VPORT_CONTEXT, modify_hca_vport_context,
	    modify_vport_context),
	CMD(QUERY_HCA_VPORT_GID, query_hca_vport_gid, query_vport_gid),
	CMD(QUERY_HCA_VPORT_PKEY, query_hca_vport_pkey, query_vport_pkey),
	CMD(QUERY_VPORT_STATE, query_vport_state, query_vport_state),
	CMD(QUERY_VPORT_COUNTER, query_vport_counter, query_vport_counter),
	CMD(ACCESS_REG, access_register, access_reg),
	{ 0 },
};
