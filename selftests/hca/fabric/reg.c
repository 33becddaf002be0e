// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registers, reached with ACCESS_REG: link, MTU, virtual lanes, counters, node
 * description, host endianness.
 */
#include <string.h>

#include "fabric/port.h"

/* enum of linux/mlx5/driver.h */
enum {
	REG_PMTU = 0x5003,
	REG_PTYS = 0x5004,
	REG_PAOS = 0x5006,
	REG_PPCNT = 0x5008,
	REG_PVLC = 0x500f,
	REG_NODE_DESC = 0x6001,
	REG_HOST_ENDIANNESS = 0x7004,
	REG_DTOR = 0xc00e,
};

/* PTYS: linux/mlx5/port.h */
#define PTYS_IB 0x1u
#define PTYS_WIDTH_1X 0x1u
#define PTYS_WIDTH_4X 0x4u
#define PTYS_PROTO_UP_TO_EDR 0x3fu
#define PTYS_PROTO_EDR 0x20u
/* PVLC.vl_hw_cap: number of lanes (mlx5_ib translate_max_vl_num()) */
#define VLS 8u
/* PAOS */
#define PAOS_UP 1u
#define PAOS_DOWN 2u

static void ptys(struct hca *hca, uint8_t *out)
{
	IFC_SET(ptys_reg, out, proto_mask, PTYS_IB);
	IFC_SET(ptys_reg, out, ib_link_width_capability,
		PTYS_WIDTH_1X | PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_capability, PTYS_PROTO_UP_TO_EDR);
	IFC_SET(ptys_reg, out, ib_link_width_admin,
		PTYS_WIDTH_1X | PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_admin, PTYS_PROTO_UP_TO_EDR);
	/* a port that is down keeps the last speed: drivers want a known one */
	(void)hca;
	IFC_SET(ptys_reg, out, ib_link_width_oper, PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_oper, PTYS_PROTO_EDR);
}

static void pmtu(struct hca *hca, uint8_t *out)
{
	(void)hca;
	IFC_SET(pmtu_reg, out, max_mtu, PORT_MTU_BYTES);
	IFC_SET(pmtu_reg, out, admin_mtu, PORT_MTU_BYTES);
	IFC_SET(pmtu_reg, out, oper_mtu, PORT_MTU_BYTES);
}

static void pvlc(struct hca *hca, uint8_t *out)
{
	(void)hca;
	IFC_SET(pvlc_reg, out, vl_hw_cap, VLS);
	IFC_SET(pvlc_reg, out, vl_admin, VLS);
	IFC_SET(pvlc_reg, out, vl_operational, VLS);
}

static void paos(struct hca *hca, uint8_t *out)
{
	IFC_SET(paos_reg, out, admin_status, PAOS_UP);
	IFC_SET(paos_reg, out, oper_status,
		hca->port->up ? PAOS_UP : PAOS_DOWN);
}

/* Errors do not happen on this cable: all counters of the group stay 0. */
static void ppcnt(struct hca *hca, uint8_t *out)
{
	(void)hca;
	(void)out;
}

/* Default timeouts: 0 leaves each of them to the driver. */
static void dtor(struct hca *hca, uint8_t *out)
{
	(void)hca;
	memset(out, 0, IFC_SZ(dtor_reg));
}

struct reg {
	uint16_t id;
	size_t size;
	void (*read)(struct hca *hca, uint8_t *out);
};

static const struct reg regs[] = {
	{ REG_PTYS, IFC_SZ(ptys_reg), ptys },
	{ REG_PMTU, IFC_SZ(pmtu_reg), pmtu },
	{ REG_PVLC, IFC_SZ(pvlc_reg), pvlc },
	{ REG_PAOS, IFC_SZ(paos_reg), paos },
	{ REG_PPCNT, IFC_SZ(ppcnt_reg), ppcnt },
	{ REG_DTOR, IFC_SZ(dtor_reg), dtor },
};

static uint8_t node_desc(struct hca *hca, bool write, const uint8_t *in,
			 uint8_t *out, size_t len)
{
	if (len < NODE_DESC_BYTES)
		return CMD_BAD_PARAM;
	if (write)
		memcpy(hca->port->node_desc, in, NODE_DESC_BYTES);
	memcpy(out, hca->port->node_desc, NODE_DESC_BYTES);
	return CMD_OK;
}

/**
 * reg_access() - read or write a register
 * @write: write it
 * @in: its layout as the driver filled it, which names the port
 * @out: set to its value
 * @len: bytes of both
 *
 * Return: CMD_OK, CMD_BAD_PARAM for a register that there is not or that cannot
 * be written
 */
uint8_t reg_access(struct hca *hca, uint16_t id, bool write, const uint8_t *in,
		   uint8_t *out, size_t len)
{
	const struct reg *reg;
	size_t i;

	if (id == REG_NODE_DESC)
		return node_desc(hca, write, in, out, len);
	if (id == REG_HOST_ENDIANNESS)
		return CMD_OK; /* all that drivers ask for is big endian */
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		reg = &regs[i];
		if (reg->id != id)
			continue;
		if (write || len < reg->size)
			return CMD_BAD_PARAM;
		/* the port's number is at the same place in all of them */
		memcpy(out, in, sizeof(uint32_t));
		reg->read(hca, out);
		return CMD_OK;
	}
	return CMD_BAD_PARAM;
}
