// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The NIC's own context: its address, MTU, lists of addresses, promiscuous
 * modes; counters of queues, of which the model counts frames that found no
 * room; the table of RoCE addresses (GIDs).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eth/eth.h"
#include "fabric/port.h"
#include "fw/cmd.h"

#define LIST_ENTRY 8u	/* bytes of current_uc_mac_address[] */
#define LIST_PAD 2u	/* of them before the address */
#define LIST_ENTRIES 128u	/* 1 << log_max_current_uc_list */
#define CTX_HEAD IFC_OFF(nic_vport_context, current_uc_mac_address)
#define MTU_DEFAULT 1500u
#define Q_COUNTERS 128u

/* allowed_list_type */
enum { LIST_UC, LIST_MC, LIST_VLAN, LISTS };

struct nic {
	uint8_t ctx[CTX_HEAD];
	uint8_t list[LISTS][LIST_ENTRIES * LIST_ENTRY];
	uint16_t list_len[LISTS];
	uint8_t roce[PORT_ROCE_GIDS][IFC_SZ(roce_addr_layout)];
	bool q_counter[Q_COUNTERS];
	uint32_t counted[Q_COUNTERS][NIC_COUNTERS];
};

#define NIC(fld, v) IFC_SET(nic_vport_context, c, fld, v)

/**
 * nic_reset() - restore the context that the adapter has at power-on
 */
void nic_reset(struct hca *hca)
{
	uint8_t *c = hca->nic->ctx, *mac;

	memset(hca->nic, 0, sizeof(*hca->nic));
	NIC(mtu, MTU_DEFAULT);
	IFC_SET64(nic_vport_context, c, system_image_guid,
		  hca->port->system_guid);
	IFC_SET64(nic_vport_context, c, port_guid, hca->port->port_guid);
	IFC_SET64(nic_vport_context, c, node_guid, hca->port->node_guid);
	mac = IFC_ADDR_OF(nic_vport_context, c, permanent_address);
	IFC_SET(mac_address_layout, mac, mac_addr_47_32, 0x0002);
	IFC_SET(mac_address_layout, mac, mac_addr_31_0,
		0xc9510000 + hca->index * 0x10);
}

/**
 * nic_init() - make the context
 *
 * Return: 0 or -ENOMEM
 */
int nic_init(struct hca *hca)
{
	hca->nic = calloc(1, sizeof(*hca->nic));
	if (!hca->nic)
		return -ENOMEM;
	nic_reset(hca);
	return 0;
}

/**
 * nic_fini() - free the context
 */
void nic_fini(struct hca *hca)
{
	free(hca->nic);
	hca->nic = NULL;
}

/**
 * nic_roce_address() - an entry of the table of RoCE addresses
 * @index: from the address path of a QP
 *
 * Return: a struct mlx5_ifc_roce_addr_layout_bits, NULL where there is none
 */
const void *nic_roce_address(const struct hca *hca, unsigned int index)
{
	return index < PORT_ROCE_GIDS ? hca->nic->roce[index] : NULL;
}

#define ROCE(entry, fld) IFC_GET(roce_addr_layout, entry, fld)

/**
 * nic_answers() - is a packet for this adapter?
 * @from: the sender's RoCE address, which has VLAN and version
 * @mac: the destination's, in the low 48 bits
 *
 * Return: true where an entry has the GID, MAC, VLAN and version
 */
bool nic_answers(const struct hca *hca, const void *from,
		 const uint8_t gid[16], uint64_t mac)
{
	const uint8_t *entry;
	unsigned int i;

	for (i = 0; i < PORT_ROCE_GIDS; i++) {
		entry = hca->nic->roce[i];
		if (!memcmp(IFC_ADDR_OF(roce_addr_layout, entry,
					source_l3_address), gid, 16) &&
		    ((uint64_t)ROCE(entry, source_mac_47_32) << 32 |
		     ROCE(entry, source_mac_31_0)) == mac &&
		    ROCE(entry, vlan_valid) == ROCE(from, vlan_valid) &&
		    ROCE(entry, vlan_id) == ROCE(from, vlan_id) &&
		    ROCE(entry, roce_version) == ROCE(from, roce_version))
			return true;
	}
	return false;
}

/**
 * nic_owns() - is this entry of a GID table the adapter's own?
 */
bool nic_owns(const struct hca *hca, const void *entry)
{
	unsigned int i;

	for (i = 0; i < PORT_ROCE_GIDS; i++)
		if (entry == hca->nic->roce[i])
			return true;
	return false;
}

static bool listed(const struct nic *nic, unsigned int type, const uint8_t *mac)
{
	unsigned int i;

	for (i = 0; i < nic->list_len[type]; i++)
		if (!memcmp(nic->list[type] + i * LIST_ENTRY + LIST_PAD, mac,
			    LIST_ENTRY - LIST_PAD))
			return true;
	return false;
}

/**
 * nic_admits() - does the driver want frames to this address?
 * @mac: destination of the frame
 *
 * Flow tables decide later where the frame goes.
 */
bool nic_admits(const struct hca *hca, const uint8_t *mac)
{
	const uint8_t *c = hca->nic->ctx;
	bool multicast = mac[0] & 1;

	if (IFC_GET(nic_vport_context, c, promisc_all) ||
	    (multicast ? IFC_GET(nic_vport_context, c, promisc_mc) :
			 IFC_GET(nic_vport_context, c, promisc_uc)))
		return true;
	return listed(hca->nic, multicast ? LIST_MC : LIST_UC, mac);
}

/**
 * nic_loops() - does the adapter receive what it sends itself to this address?
 * @mac: destination of the frame
 */
bool nic_loops(const struct hca *hca, const uint8_t *mac)
{
	const uint8_t *c = hca->nic->ctx;

	return mac[0] & 1 ? !IFC_GET(nic_vport_context, c, disable_mc_local_lb) :
			    !IFC_GET(nic_vport_context, c, disable_uc_local_lb);
}

/**
 * nic_count() - count for a counter set
 * @set: number of the set; nothing is counted where there is none
 */
void nic_count(struct hca *hca, uint32_t set, enum nic_counter which)
{
	if (set < Q_COUNTERS && hca->nic->q_counter[set])
		hca->nic->counted[set][which]++;
}

static uint8_t query_nic_vport_context(struct cmd *cmd)
{
	uint32_t type = IFC_GET(query_nic_vport_context_in, cmd->in,
				allowed_list_type);
	uint8_t *c = IFC_ADDR_OF(query_nic_vport_context_out, cmd->out,
				 nic_vport_context);
	const size_t head = c - cmd->out + CTX_HEAD;
	struct nic *nic = cmd->hca->nic;
	size_t room = (cmd->out_len - head) / LIST_ENTRY, n;

	if (cmd->hca->link != LINK_ETH || type >= LISTS ||
	    IFC_GET(query_nic_vport_context_in, cmd->in, other_vport))
		return CMD_BAD_PARAM;
	memcpy(c, nic->ctx, CTX_HEAD);
	n = nic->list_len[type] < room ? nic->list_len[type] : room;
	memcpy(c + CTX_HEAD, nic->list[type], n * LIST_ENTRY);
	NIC(allowed_list_type, type);
	NIC(allowed_list_size, n);
	return CMD_OK;
}

static uint8_t set_list(struct cmd *cmd, const uint8_t *from)
{
	uint32_t type = IFC_GET(nic_vport_context, from, allowed_list_type);
	uint32_t n = IFC_GET(nic_vport_context, from, allowed_list_size);
	const uint8_t *list = from + CTX_HEAD;

	if (type >= LISTS || n > LIST_ENTRIES)
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - list) < n * LIST_ENTRY)
		return CMD_BAD_INP_LEN;
	memcpy(cmd->hca->nic->list[type], list, n * LIST_ENTRY);
	cmd->hca->nic->list_len[type] = n;
	return CMD_OK;
}

#define SELECTED(fld) \
	IFC_GET(modify_nic_vport_context_in, cmd->in, field_select.fld)
#define COPY(fld) NIC(fld, IFC_GET(nic_vport_context, from, fld))

static uint8_t modify_nic_vport_context(struct cmd *cmd)
{
	const uint8_t *from = IFC_ADDR_OF(modify_nic_vport_context_in, cmd->in,
					  nic_vport_context);
	uint8_t *c = cmd->hca->nic->ctx, status;

	if (cmd->hca->link != LINK_ETH ||
	    IFC_GET(modify_nic_vport_context_in, cmd->in, other_vport))
		return CMD_BAD_PARAM;
	if (SELECTED(addresses_list)) {
		status = set_list(cmd, from);
		if (status)
			return status;
	}
	if (SELECTED(permanent_address))
		memcpy(IFC_ADDR_OF(nic_vport_context, c, permanent_address),
		       IFC_ADDR_OF(nic_vport_context, from, permanent_address),
		       IFC_SZ(mac_address_layout));
	if (SELECTED(promisc)) {
		COPY(promisc_uc);
		COPY(promisc_mc);
		COPY(promisc_all);
	}
	if (SELECTED(mtu))
		COPY(mtu);
	if (SELECTED(roce_en))
		COPY(roce_en);
	if (SELECTED(disable_uc_local_lb))
		COPY(disable_uc_local_lb);
	if (SELECTED(disable_mc_local_lb))
		COPY(disable_mc_local_lb);
	return CMD_OK;
}

static uint8_t set_roce_address(struct cmd *cmd)
{
	uint32_t index = IFC_GET(set_roce_address_in, cmd->in,
				 roce_address_index);

	if (cmd->hca->link != LINK_ETH || index >= PORT_ROCE_GIDS)
		return CMD_BAD_PARAM;
	memcpy(cmd->hca->nic->roce[index],
	       IFC_ADDR_OF(set_roce_address_in, cmd->in, roce_address),
	       IFC_SZ(roce_addr_layout));
	return CMD_OK;
}

static uint8_t query_roce_address(struct cmd *cmd)
{
	uint32_t index = IFC_GET(query_roce_address_in, cmd->in,
				 roce_address_index);

	if (cmd->hca->link != LINK_ETH || index >= PORT_ROCE_GIDS)
		return CMD_BAD_PARAM;
	memcpy(IFC_ADDR_OF(query_roce_address_out, cmd->out, roce_address),
	       cmd->hca->nic->roce[index], IFC_SZ(roce_addr_layout));
	return CMD_OK;
}

static uint8_t alloc_q_counter(struct cmd *cmd)
{
	struct nic *nic = cmd->hca->nic;
	uint32_t i;

	/* 0 stands for no counter set */
	for (i = 1; i < Q_COUNTERS && nic->q_counter[i]; i++)
		;
	if (cmd->hca->link != LINK_ETH || i == Q_COUNTERS)
		return CMD_NO_RES;
	nic->q_counter[i] = true;
	memset(nic->counted[i], 0, sizeof(nic->counted[i]));
	IFC_SET(alloc_q_counter_out, cmd->out, counter_set_id, i);
	return CMD_OK;
}

static uint8_t dealloc_q_counter(struct cmd *cmd)
{
	uint32_t i = IFC_GET(dealloc_q_counter_in, cmd->in, counter_set_id);

	if (i >= Q_COUNTERS || !cmd->hca->nic->q_counter[i])
		return CMD_BAD_RES;
	cmd->hca->nic->q_counter[i] = false;
	return CMD_OK;
}

static uint8_t query_q_counter(struct cmd *cmd)
{
	uint32_t i = IFC_GET(query_q_counter_in, cmd->in, counter_set_id);
	uint8_t *out = cmd->out;
	const uint32_t *n;

	if (i >= Q_COUNTERS || !cmd->hca->nic->q_counter[i])
		return CMD_BAD_RES;
	n = cmd->hca->nic->counted[i];
	IFC_SET(query_q_counter_out, out, rx_write_requests, n[NIC_WRITES]);
	IFC_SET(query_q_counter_out, out, rx_read_requests, n[NIC_READS]);
	IFC_SET(query_q_counter_out, out, rx_atomic_requests, n[NIC_ATOMICS]);
	IFC_SET(query_q_counter_out, out, rx_dct_connect,
		n[NIC_DCT_CONNECTS]);
	IFC_SET(query_q_counter_out, out, out_of_buffer, n[NIC_NO_BUFFER]);
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def nic_cmds[] = {
	{ MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, "QUERY_NIC_VPORT_CONTEXT",
	  IFC_SZ(query_nic_vport_context_in),
	  IFC_OFF(query_nic_vport_context_out, nic_vport_context) + CTX_HEAD,
	  query_nic_vport_context },
	{ MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, "MODIFY_NIC_VPORT_CONTEXT",
	  IFC_OFF(modify_nic_vport_context_in, nic_vport_context) + CTX_HEAD,
	  IFC_SZ(modify_nic_vport_context_out), modify_nic_vport_context },
	CMD(SET_ROCE_ADDRESS, set_roce_address),
	CMD(QUERY_ROCE_ADDRESS, query_roce_address),
	CMD(ALLOC_Q_COUNTER, alloc_q_counter),
	CMD(DEALLOC_Q_COUNTER, dealloc_q_counter),
	CMD(QUERY_Q_COUNTER, query_q_counter),
	{ 0 },
};
