// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities of which mlx5_ifc.h of the kernel knows no fields, because only
 * user-space libraries read them. See caps.c.
 */
#include "fw/fw.h"
#include "object/general.h"
#include "qos/sched.h"

/* Of the general capabilities: offsets in bits, and numbers of bits */
#define LOG_DMA_MMO_MAX_SIZE 0x6b, 5
#define RTS2RTS_QP_UDP_SPORT 0x151, 1
#define RTS2RTS_LAG_TX_PORT_AFFINITY 0x152, 1
#define SIGERR_DOMAIN_AND_SIG_TYPE 0x480, 1
#define DMA_MMO_QP 0x748, 1

/* Of the capabilities of QoS */
#define NIC_QP_SCHEDULING 0x21, 1
#define NIC_ELEMENT_TYPE 0x100, 16
#define NIC_NODE_TYPE 0x110, 16
#define NODES_AND_GROUPS 0x11
#define NODES_DWRR 0x1

/* Of the second part of them */
#define LOG_RESERVED_QPN_GRANULARITY 0x93, 5
#define NO_RECORD 0x2e1, 1	/* send_dbr_mode_no_dbr_ext */
#define LOG_MAX_NO_RECORD_SQ 0x2e3, 5

/**
 * caps_user_general() - add to the general capabilities
 * @c: the capabilities, with those that the kernel knows
 */
void caps_user_general(const struct hca *hca, uint8_t *c)
{
	IFC_SET64(cmd_hca_cap, c, general_obj_types,
		  IFC_GET64(cmd_hca_cap, c, general_obj_types) |
			  GENERAL_KINDS);
	ifc_set32(c, SIGERR_DOMAIN_AND_SIG_TYPE, 1);
	ifc_set32(c, DMA_MMO_QP, 1);
	ifc_set32(c, LOG_DMA_MMO_MAX_SIZE, LOG_MAX_MMO);
	if (hca->link == LINK_IB)
		IFC_SET64(cmd_hca_cap, c, general_obj_types,
			  IFC_GET64(cmd_hca_cap, c, general_obj_types) |
				  1ull << GENERAL_SCHED);
	if (hca->link == LINK_ETH)
		ifc_set32(c, RTS2RTS_QP_UDP_SPORT, 1);
	if (hca->native_port)
		ifc_set32(c, RTS2RTS_LAG_TX_PORT_AFFINITY, 1);
}

/**
 * caps_user_qos() - add to the capabilities of QoS
 *
 * Scheduling elements, on InfiniBand: see caps_qos() in caps.c.
 */
void caps_user_qos(uint8_t *c)
{
	ifc_set32(c, NIC_QP_SCHEDULING, 1);
	ifc_set32(c, NIC_ELEMENT_TYPE, NODES_AND_GROUPS);
	ifc_set32(c, NIC_NODE_TYPE, NODES_DWRR);
}

/**
 * caps_user_2() - add to the second part of the general capabilities
 */
void caps_user_2(uint8_t *c)
{
	ifc_set32(c, LOG_RESERVED_QPN_GRANULARITY, GENERAL_LOG_QPNS);
	ifc_set32(c, NO_RECORD, 1);
	ifc_set32(c, LOG_MAX_NO_RECORD_SQ, LOG_MAX_QP_SZ);
}
