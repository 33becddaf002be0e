// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registers, reached with ACCESS_REG: module, link, MTU, pause frames, virtual lanes,
 * counters, node description, host endianness. Each function of a card calls its own
 * port number 1, whether a bond joins the ports or not.
 */
#include <string.h>

#include "fabric/port.h"

/* enum of linux/mlx5/driver.h */
enum {
	REG_PMLP = 0x5002,
	REG_PMTU = 0x5003,
	REG_PTYS = 0x5004,
	REG_PAOS = 0x5006,
	REG_PFCC = 0x5007,
	REG_PPCNT = 0x5008,
	REG_PVLC = 0x500f,
	REG_NODE_DESC = 0x6001,
	REG_HOST_ENDIANNESS = 0x7004,
	REG_MCIA = 0x9014,
	REG_DTOR = 0xc00e,
};

/* PTYS: linux/mlx5/port.h */
#define PTYS_IB 0x1u
#define PTYS_ETH 0x4u
#define PTYS_100GBASE_CR4 (1u << 20) /* enum mlx5e_link_mode */
#define PTYS_WIDTH_1X 0x1u
#define PTYS_WIDTH_4X 0x4u
#define PTYS_PROTO_UP_TO_EDR 0x3fu
#define PTYS_PROTO_EDR 0x20u
/* PVLC.vl_hw_cap: number of lanes (mlx5_ib translate_max_vl_num()) */
#define VLS 8u
/* PAOS */
#define PAOS_UP 1u
#define PAOS_DOWN 2u

#define LANES 4u
/* MCIA: the part before the data, whose length is not the same in all drivers */
#define MCIA_HEAD 16u
#define MCIA_NO_EEPROM 1u

/* The module that the cable is in, by lane: each port of a card has one. */
static void pmlp(struct hca *hca, uint8_t *out)
{
	uint8_t *lane = IFC_ADDR_OF(pmlp_reg, out, lane0_module_mapping);
	unsigned int i;

	IFC_SET(pmlp_reg, out, width, LANES);
	for (i = 0; i < LANES; i++) {
		IFC_SET(lane_2_module_mapping, lane, module,
			hca->native_port == 2);
		IFC_SET(lane_2_module_mapping, lane, tx_lane, i);
		IFC_SET(lane_2_module_mapping, lane, rx_lane, i);
		lane += IFC_SZ(lane_2_module_mapping);
	}
}

/* The cable has no memory that tells about it. */
static void mcia(struct hca *hca, uint8_t *out)
{
	(void)hca;
	IFC_SET(mcia_reg, out, status, MCIA_NO_EEPROM);
}

static void ptys_eth(uint8_t *out)
{
	IFC_SET(ptys_reg, out, proto_mask, PTYS_ETH);
	IFC_SET(ptys_reg, out, eth_proto_capability, PTYS_100GBASE_CR4);
	IFC_SET(ptys_reg, out, eth_proto_admin, PTYS_100GBASE_CR4);
	IFC_SET(ptys_reg, out, eth_proto_oper, PTYS_100GBASE_CR4);
}

static void ptys(struct hca *hca, uint8_t *out)
{
	if (hca->link == LINK_ETH) {
		ptys_eth(out);
		return;
	}
	IFC_SET(ptys_reg, out, proto_mask, PTYS_IB);
	IFC_SET(ptys_reg, out, ib_link_width_capability,
		PTYS_WIDTH_1X | PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_capability, PTYS_PROTO_UP_TO_EDR);
	IFC_SET(ptys_reg, out, ib_link_width_admin,
		PTYS_WIDTH_1X | PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_admin, PTYS_PROTO_UP_TO_EDR);
	/* a port that is down keeps the last speed: drivers want a known one */
	IFC_SET(ptys_reg, out, ib_link_width_oper, PTYS_WIDTH_4X);
	IFC_SET(ptys_reg, out, ib_proto_oper, PTYS_PROTO_EDR);
}

static void pmtu(struct hca *hca, uint8_t *out)
{
	bool eth = hca->link == LINK_ETH;
	uint32_t now = eth ? hca->port->mtu_bytes : PORT_MTU_BYTES;

	IFC_SET(pmtu_reg, out, max_mtu,
		eth ? PORT_ETH_MTU_BYTES : PORT_MTU_BYTES);
	IFC_SET(pmtu_reg, out, admin_mtu, now);
	IFC_SET(pmtu_reg, out, oper_mtu, now);
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
	IFC_SET(paos_reg, out, admin_status,
		hca->port->enabled ? PAOS_UP : PAOS_DOWN);
	IFC_SET(paos_reg, out, oper_status,
		port_link_up(hca) ? PAOS_UP : PAOS_DOWN);
}

static void pfcc(struct hca *hca, uint8_t *out)
{
	const struct port_pause *pause = hca->port->pause;

	IFC_SET(pfcc_reg, out, pptx, pause[PORT_TX].all);
	IFC_SET(pfcc_reg, out, pfctx, pause[PORT_TX].priorities);
	IFC_SET(pfcc_reg, out, pprx, pause[PORT_RX].all);
	IFC_SET(pfcc_reg, out, pfcrx, pause[PORT_RX].priorities);
}

/*
 * Nothing is ever paused: the cable takes a frame at once, so no buffer of a port
 * fills up. A receive queue without buffers drops frames, as it does on an adapter.
 */
static bool pfcc_write(struct port_pause *pause, const uint8_t *in)
{
	struct port_pause tx = {
		.all = IFC_GET(pfcc_reg, in, pptx),
		.priorities = IFC_GET(pfcc_reg, in, pfctx),
	};
	struct port_pause rx = {
		.all = IFC_GET(pfcc_reg, in, pprx),
		.priorities = IFC_GET(pfcc_reg, in, pfcrx),
	};

	/* A link has pause frames of one kind. */
	if ((tx.all || rx.all) && (tx.priorities || rx.priorities))
		return false;
	pause[PORT_TX] = tx;
	pause[PORT_RX] = rx;
	return true;
}

/*
 * What a driver of an Ethernet port sets: up or down, the largest frame, pause
 * frames.
 */
static bool eth_write(struct hca *hca, uint16_t id, const uint8_t *in)
{
	uint32_t mtu = IFC_GET(pmtu_reg, in, admin_mtu);

	switch (id) {
	case REG_PAOS:
		hca->port->enabled = IFC_GET(paos_reg, in, admin_status) ==
				     PAOS_UP;
		return true;
	case REG_PMTU:
		if (mtu > PORT_ETH_MTU_BYTES)
			return false;
		hca->port->mtu_bytes = mtu;
		return true;
	case REG_PFCC:
		return pfcc_write(hca->port->pause, in);
	}
	return false;
}

enum { PPCNT_802_3 = 0, PPCNT_RFC_2863 = 1 };

static uint64_t packets(const struct port_count *c)
{
	return c[PORT_UNICAST].packets + c[PORT_MULTICAST].packets +
	       c[PORT_BROADCAST].packets;
}

static uint64_t octets(const struct port_count *c)
{
	return c[PORT_UNICAST].octets + c[PORT_MULTICAST].octets +
	       c[PORT_BROADCAST].octets;
}

static void ppcnt_802_3(uint8_t *c, const struct port_count *rx,
			const struct port_count *tx)
{
#define SET(fld, v) IFC_SET64(eth_802_3_cntrs_grp_data_layout, c, fld##_high, v)
	SET(a_frames_received_ok, packets(rx));
	SET(a_frames_transmitted_ok, packets(tx));
	SET(a_octets_received_ok, octets(rx));
	SET(a_octets_transmitted_ok, octets(tx));
	SET(a_multicast_frames_received_ok, rx[PORT_MULTICAST].packets);
	SET(a_multicast_frames_xmitted_ok, tx[PORT_MULTICAST].packets);
	SET(a_broadcast_frames_received_ok, rx[PORT_BROADCAST].packets);
	SET(a_broadcast_frames_xmitted_ok, tx[PORT_BROADCAST].packets);
#undef SET
}

static void ppcnt_2863(uint8_t *c, const struct port_count *rx,
		       const struct port_count *tx)
{
#define SET(fld, v) IFC_SET64(eth_2863_cntrs_grp_data_layout, c, fld##_high, v)
	SET(if_in_octets, octets(rx));
	SET(if_out_octets, octets(tx));
	SET(if_in_ucast_pkts, rx[PORT_UNICAST].packets);
	SET(if_out_ucast_pkts, tx[PORT_UNICAST].packets);
	SET(if_in_multicast_pkts, rx[PORT_MULTICAST].packets);
	SET(if_out_multicast_pkts, tx[PORT_MULTICAST].packets);
	SET(if_in_broadcast_pkts, rx[PORT_BROADCAST].packets);
	SET(if_out_broadcast_pkts, tx[PORT_BROADCAST].packets);
#undef SET
}

/* Two groups count frames. Errors do not happen: all other groups stay 0. */
static void ppcnt(struct hca *hca, uint8_t *out)
{
	const struct port_count *rx = hca->port->count[PORT_RX];
	const struct port_count *tx = hca->port->count[PORT_TX];
	uint8_t *c = IFC_ADDR_OF(ppcnt_reg, out, counter_set);

	switch (IFC_GET(ppcnt_reg, out, grp)) {
	case PPCNT_802_3:
		ppcnt_802_3(c, rx, tx);
		break;
	case PPCNT_RFC_2863:
		ppcnt_2863(c, rx, tx);
		break;
	}
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
	{ REG_PMLP, IFC_SZ(pmlp_reg), pmlp },
	{ REG_PTYS, IFC_SZ(ptys_reg), ptys },
	{ REG_PMTU, IFC_SZ(pmtu_reg), pmtu },
	{ REG_PVLC, IFC_SZ(pvlc_reg), pvlc },
	{ REG_PAOS, IFC_SZ(paos_reg), paos },
	{ REG_PFCC, IFC_SZ(pfcc_reg), pfcc },
	{ REG_PPCNT, IFC_SZ(ppcnt_reg), ppcnt },
	{ REG_MCIA, MCIA_HEAD, mcia },
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
		if (len < reg->size ||
		    (write && (hca->link != LINK_ETH ||
			       !eth_write(hca, id, in))))
			return CMD_BAD_PARAM;
		/* the port's number is at the same place in all of them */
		memcpy(out, in, sizeof(uint32_t));
		reg->read(hca, out);
		return CMD_OK;
	}
	return CMD_BAD_PARAM;
}
