// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management agent: attributes of node and port (IBTA 14.2.5).
 *
 * The model is the subnet manager, so a Set of what a manager would set is
 * answered with what there is and changes nothing.
 */
#include "fabric/fabric.h"
#include "fabric/mad.h"

#define SMI_STATUS_D 0x8000u	/* directed route: on the way back */

#define NODE_CA 1
#define SM_MASTER 3
#define VLS_8 4 /* PortInfo.VLCap: VL0 to VL7 */
#define WIDTH_1X_4X 3
#define WIDTH_4X 2
#define SPEED_SDR_TO_QDR 7
#define SPEED_QDR 4
#define SPEED_EXT_EDR 2
#define SPEED_EXT_FDR_EDR 3
#define PKEYS_PER_BLOCK 32u
#define VL_ARB_LOW 1	/* the first block of the table of low priority */
#define VL_ARB_HIGH 3

static uint16_t node_desc(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	(void)modifier;
	memcpy(data, hca->port->node_desc, NODE_DESC_BYTES);
	return 0;
}

static uint16_t node_info(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	struct port *port = hca->port;

	(void)modifier;
	data[0] = 1; /* base version */
	data[1] = 1; /* class version */
	data[2] = NODE_CA;
	data[3] = 1; /* ports */
	mad_put64(data, 4, port->node_guid + 3);
	mad_put64(data, 12, port->node_guid);
	mad_put64(data, 20, port->port_guid);
	mad_put16(data, 28, PORT_PKEYS);
	mad_put16(data, 30, MAD_DEVICE_HCA);
	mad_put32(data, 32, 0);	     /* revision */
	mad_put32(data, 36, 1u << 24 | 0x0002c9); /* port, vendor */
	return 0;
}

/* Who asks counts how often the manager has answered. */
static uint16_t sm_info(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	static uint32_t answers;

	(void)modifier;
	if (hca != fabric_hca(SM_HCA))
		return MAD_STATUS_BAD_ATTR;
	mad_put64(data, 0, hca->port->port_guid);
	mad_put32(data, 16, ++answers);
	data[20] = SM_MASTER;
	return 0;
}

static uint16_t guid_info(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	if (modifier)
		return MAD_STATUS_BAD_FIELD;
	mad_put64(data, 0, hca->port->port_guid);
	return 0;
}

/**
 * smi_port_link() - what PortInfo says about a link of either end
 */
void smi_port_link(uint8_t *data, bool up)
{
	data[29] = WIDTH_1X_4X;
	data[30] = WIDTH_1X_4X;
	data[31] = WIDTH_4X;
	data[32] = SPEED_SDR_TO_QDR << 4 | (up ? PORT_ACTIVE : PORT_DOWN);
	data[33] = (up ? PHYS_LINK_UP : PHYS_POLLING) << 4 | 2;
	data[35] = SPEED_QDR << 4 | SPEED_SDR_TO_QDR;
	data[36] = SA_MTU_4096 << 4;
	data[37] = VLS_8 << 4;
	data[39] = 8; /* VL arbitration entries, high */
	data[40] = 8; /* and low */
	data[41] = SA_MTU_4096;
	data[43] = VLS_8 << 4;
	data[51] = 18; /* subnet timeout */
	data[52] = 16; /* response time */
	data[62] = SPEED_EXT_EDR << 4 | SPEED_EXT_FDR_EDR;
	data[63] = SPEED_EXT_FDR_EDR;
}

static uint16_t port_info(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	struct port *port = hca->port;

	if ((modifier & SMI_PORT_MASK) > 1)
		return MAD_STATUS_BAD_FIELD;
	memcpy(data + 8, port->gid, 8); /* subnet prefix */
	mad_put16(data, 16, port->lid);
	mad_put16(data, 18, fabric_sm_lid());
	mad_put32(data, 20, port->cap_mask |
			    (hca == fabric_hca(SM_HCA) ? PORT_CAP_SM : 0));
	data[28] = 1; /* local port */
	smi_port_link(data, port->up);
	data[50] = PORT_GIDS;
	return 0;
}

/**
 * smi_pkey_table() - a block of the table of P_Keys, the same at each port
 */
uint16_t smi_pkey_table(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	uint32_t first = (modifier & 0xffff) * PKEYS_PER_BLOCK, i;
	uint16_t pkey;

	if (first >= PORT_PKEYS)
		return MAD_STATUS_BAD_FIELD;
	for (i = 0; i < PKEYS_PER_BLOCK; i++) {
		port_pkey(hca, first + i, &pkey);
		mad_put16(data, 2 * i, pkey);
	}
	return 0;
}

/**
 * smi_sl2vl() - the virtual lanes of the service levels
 */
uint16_t smi_sl2vl(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	unsigned int i;

	(void)hca;
	(void)modifier;
	for (i = 0; i < 8; i++)
		data[i] = (2 * i % 8) << 4 | (2 * i + 1) % 8;
	return 0;
}

/**
 * smi_vl_arb() - whose turn it is of the virtual lanes; each table fits its first block
 */
uint16_t smi_vl_arb(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	unsigned int i, block = modifier >> 16;

	(void)hca;
	if (block != VL_ARB_LOW && block != VL_ARB_HIGH)
		return MAD_STATUS_BAD_FIELD;
	for (i = 0; i < 8; i++) {
		data[2 * i] = i;
		data[2 * i + 1] = 1;
	}
	return 0;
}

/**
 * smi_ext_port_info() - NVIDIA's own part of PortInfo: FDR10 is not supported
 */
uint16_t smi_ext_port_info(struct hca *hca, uint8_t *data, uint32_t modifier)
{
	(void)hca;
	(void)data;
	(void)modifier;
	return 0;
}

static const struct smi_attr attrs[] = {
	{ SMI_ATTR_NODE_DESC, node_desc },
	{ SMI_ATTR_NODE_INFO, node_info },
	{ SMI_ATTR_GUID_INFO, guid_info },
	{ SMI_ATTR_PORT_INFO, port_info },
	{ SMI_ATTR_PKEY_TABLE, smi_pkey_table },
	{ SMI_ATTR_SL2VL, smi_sl2vl },
	{ SMI_ATTR_VL_ARB, smi_vl_arb },
	{ SMI_ATTR_SM_INFO, sm_info },
	{ SMI_ATTR_EXT_PORT_INFO, smi_ext_port_info },
	{ 0 },
};

/**
 * smi_attribute() - an attribute of a node
 * @attr: those that it has; the last has number 0. NULL: those of an adapter
 * @hca: passed to them
 * @id: number of the attribute
 * @modifier: which port or block
 * @data: SMI_DATA_BYTES; unchanged if there is no such attribute
 *
 * Return: status
 */
uint16_t smi_attribute(const struct smi_attr *attr, struct hca *hca, uint16_t id,
		       uint32_t modifier, uint8_t *data)
{
	if (!attr)
		attr = attrs;
	while (attr->id && attr->id != id)
		attr++;
	if (!attr->id)
		return MAD_STATUS_BAD_ATTR;
	memset(data, 0, SMI_DATA_BYTES);
	return attr->fill(hca, data, modifier);
}

/**
 * smi_answer() - answer a subnet management packet
 * @attr: as for smi_attribute()
 * @hca: passed to them
 * @mad: the request; becomes the answer
 */
void smi_answer(const struct smi_attr *attr, struct hca *hca, uint8_t *mad)
{
	uint16_t status = MAD_STATUS_BAD_METHOD;

	if (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET ||
	    mad[MAD_METHOD] == MAD_TRAP_REPRESS)
		status = smi_attribute(attr, hca, mad_get16(mad, MAD_ATTR),
				       mad_get32(mad, MAD_MODIFIER),
				       mad + SMI_DATA);
	if (mad[MAD_CLASS] == MAD_CLASS_SMI_DR)
		status |= SMI_STATUS_D;
	mad_put16(mad, MAD_STATUS, status);
	mad[MAD_METHOD] = MAD_GET | MAD_RESPONSE;
}
