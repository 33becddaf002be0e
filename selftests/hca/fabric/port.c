// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port, and the fabric that all adapters of the process are on: one subnet,
 * whose manager is the model itself. Adapter n has LID n + 1.
 *
 * Invariants
 * - A port that is up is ACTIVE; down is the only other state.
 * - P_Key table: the default key at 0, nothing else. GID table: one link-local
 *   GID at 0.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/port.h"

#define GUID_BASE 0x0002c90300510000ull
#define GID_PREFIX 0xfe80000000000000ull
#define DEFAULT_PKEY 0xffffu
#define IB_MTU_4096 5

/* PortInfo.CapabilityMask, IBTA 14.2.5.6 */
#define CAP_AUTO_MIGRATION 0x00000020u
#define CAP_SL_MAP 0x00000040u
#define CAP_SYS_IMAGE_GUID 0x00000800u
#define CAP_EXT_SPEEDS 0x00004000u
#define CAP_CM 0x00010000u

/* EQE sub types of a port change: linux/mlx5/device.h */
enum { CHANGE_DOWN = 1, CHANGE_ACTIVE = 4 };

/**
 * port_init() - make the port, up
 * @hca: the adapter
 *
 * Return: 0 or -ENOMEM
 */
int port_init(struct hca *hca)
{
	struct port *port = calloc(1, sizeof(*port));
	uint64_t half;

	if (!port)
		return -ENOMEM;
	hca->port = port;
	port->up = true;
	port->lid = (uint16_t)(hca->index + 1);
	port->node_guid = GUID_BASE + (uint64_t)hca->index * 0x10;
	port->port_guid = port->node_guid + 1;
	half = htobe64(GID_PREFIX);
	memcpy(port->gid, &half, sizeof(half));
	half = htobe64(port->port_guid);
	memcpy(port->gid + 8, &half, sizeof(half));
	port_reset(hca);
	return 0;
}

/**
 * port_fini() - free the port
 * @hca: the adapter
 */
void port_fini(struct hca *hca)
{
	free(hca->port);
	hca->port = NULL;
}

/**
 * port_reset() - forget what a driver set; the cable stays as it is
 * @hca: the adapter
 */
void port_reset(struct hca *hca)
{
	struct port *port = hca->port;

	port->cap_mask = CAP_AUTO_MIGRATION | CAP_SL_MAP | CAP_SYS_IMAGE_GUID |
			 CAP_EXT_SPEEDS | CAP_CM;
	memset(port->node_desc, 0, sizeof(port->node_desc));
	snprintf(port->node_desc, sizeof(port->node_desc), "simhca%u",
		 hca->index);
}

/**
 * port_set() - plug or unplug the cable
 * @hca: the adapter
 * @up: what it shall be
 *
 * Return: 0
 */
int port_set(struct hca *hca, bool up)
{
	uint8_t data[IFC_FLD_SZ(eqe, event_data)] = { 0 };

	if (hca->port->up == up)
		return 0;
	hca->port->up = up;
	log_line("hca%u: port %s", hca->index, up ? "up" : "down");
	IFC_SET(port_state_change_event, data, port_num, 1);
	eq_post_async(hca, MLX5_EVENT_TYPE_CODING_PORT_STATE_CHANGE,
		      up ? CHANGE_ACTIVE : CHANGE_DOWN, data);
	if (port_active(hca))
		objects_kick(hca);
	return 0;
}

/**
 * port_dump() - tell about the port
 * @hca: the adapter
 * @o: gets "port"
 */
void port_dump(struct hca *hca, struct json_object *o)
{
	struct json_object *p = json_object_new_object();

	json_object_object_add(p, "state",
			       json_object_new_string(
				       hca->port->up ? "active" : "down"));
	json_object_object_add(p, "lid", json_object_new_int(hca->port->lid));
	json_object_object_add(o, "port", p);
}

uint16_t port_lid(struct hca *hca)
{
	return hca->port->lid;
}

const uint8_t *port_gid(struct hca *hca)
{
	return hca->port->gid;
}

bool port_active(struct hca *hca)
{
	return hca->port->up && !iseg_is_fatal(hca);
}

uint8_t port_mtu(struct hca *hca)
{
	(void)hca;
	return IB_MTU_4096;
}

bool port_pkey(struct hca *hca, unsigned int index, uint16_t *pkey)
{
	(void)hca;
	*pkey = index ? 0 : DEFAULT_PKEY;
	return index < PORT_PKEYS;
}

struct port_traffic *port_traffic(struct hca *hca)
{
	return &hca->port->traffic;
}

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
		  port->node_guid + 3);
	IFC_SET64(hca_vport_context, ctx, port_guid, port->port_guid);
	IFC_SET64(hca_vport_context, ctx, node_guid, port->node_guid);
	IFC_SET(hca_vport_context, ctx, cap_mask1, port->cap_mask);
	IFC_SET(hca_vport_context, ctx, cap_mask1_field_select, UINT32_MAX);
	IFC_SET(hca_vport_context, ctx, lid, port->lid);
	IFC_SET(hca_vport_context, ctx, subnet_timeout, 18);
	IFC_SET(hca_vport_context, ctx, sm_lid, sm_lid());
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
	IFC_SET(query_vport_state_out, cmd->out, state, cmd->hca->port->up);
	return CMD_OK;
}

#define TRAFFIC(out, fld, n_packets, n_bytes)                               \
	do {                                                                \
		IFC_SET64(query_vport_counter_out, out, fld.packets,        \
			  n_packets);                                       \
		IFC_SET64(query_vport_counter_out, out, fld.octets,         \
			  n_bytes);                                         \
	} while (0)

static uint8_t query_vport_counter(struct cmd *cmd)
{
	struct port_traffic *t = &cmd->hca->port->traffic;
	uint8_t *out = cmd->out;

	TRAFFIC(out, received_ib_unicast, t->rx_packets, t->rx_bytes);
	TRAFFIC(out, transmitted_ib_unicast, t->tx_packets, t->tx_bytes);
	TRAFFIC(out, received_ib_multicast, t->mc_rx_packets, t->mc_rx_bytes);
	TRAFFIC(out, transmitted_ib_multicast, t->mc_tx_packets,
		t->mc_tx_bytes);
	return CMD_OK;
}

static uint8_t access_reg(struct cmd *cmd)
{
	uint16_t id = IFC_GET(access_register_in, cmd->in, register_id);
	const size_t head = IFC_SZ(access_register_in);
	size_t len = cmd->in_len - head;

	if (len > cmd->out_len - IFC_SZ(access_register_out))
		len = cmd->out_len - IFC_SZ(access_register_out);
	json_object_object_add(cmd->key, "register", json_object_new_int(id));
	return reg_access(cmd->hca, id, !cmd->op_mod, cmd->in + head,
			  cmd->out + IFC_SZ(access_register_out), len);
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
