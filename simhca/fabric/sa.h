/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of the subnet administrator share: where a datagram has what (IBTA
 * 15.2.1), the numbers of its records, and the table that an answer is made of.
 */
#ifndef SIMHCA_SA_H
#define SIMHCA_SA_H

#include "hca.h"

#define SA_COMP_MASK 48
#define SA_DATA 56u
#define SA_DATA_BYTES 200u

enum {
	SA_ATTR_INFORM_INFO = 0x03,
	SA_ATTR_NODE_RECORD = 0x11,
	SA_ATTR_PORT_INFO_RECORD = 0x12,
	SA_ATTR_SL2VL_RECORD = 0x13,
	SA_ATTR_SWITCH_INFO_RECORD = 0x14,
	SA_ATTR_LINEAR_FDB_RECORD = 0x15,
	SA_ATTR_MULTICAST_FDB_RECORD = 0x17,
	SA_ATTR_SM_INFO_RECORD = 0x18,
	SA_ATTR_LINK_RECORD = 0x20,
	SA_ATTR_GUID_INFO_RECORD = 0x30,
	SA_ATTR_SERVICE_RECORD = 0x31,
	SA_ATTR_PKEY_TABLE_RECORD = 0x33,
	SA_ATTR_PATH_RECORD = 0x35,
	SA_ATTR_VL_ARB_RECORD = 0x36,
	SA_ATTR_MCMEMBER = 0x38,
};

/* ---- sa_table.c */
void sa_table_clear(void);
void sa_table_add(const void *record, size_t len, size_t padded);
size_t sa_table_bytes(void);
void sa_table_get(uint8_t *data);
bool sa_table_asked(const uint8_t *mad);
bool sa_table_send(uint8_t *mad, size_t bytes, unsigned int segment);

/* ---- sa_node.c: a table of records, or the one record that is asked for */
#define SA_NODE_BYTES 112u
#define SA_PORT_INFO_BYTES 72u
#define SA_SWITCH_INFO_BYTES 24u
#define SA_SL2VL_BYTES 16u
#define SA_BLOCK_BYTES 72u	/* of a block of a table */
#define SA_SM_INFO_BYTES 32u
#define SA_LINK_BYTES 8u

uint16_t sa_node_table(struct hca *hca, uint8_t *mad);
uint16_t sa_node_record(struct hca *hca, uint8_t *mad);
uint16_t sa_node_links(struct hca *hca, uint8_t *mad);

#endif
