// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The performance management agent (IBTA 16.1). The model counts nothing of an InfiniBand
 * port, as QUERY_VPORT_COUNTER says too: each counter is 0, before it was reset and after.
 */
#include "fabric/mad.h"

#define PMA_DATA 64u
#define PMA_DATA_BYTES 192u
#define PMA_SELECTS 4u		/* what the counters of an answer begin with */
#define PMA_EXT_WIDTH 0x0200u	/* extended counters, the IETF's too */
#define PMA_ALL_PORTS 0xffu

enum {
	ATTR_PORT_COUNTERS = 0x12,
	ATTR_PORT_COUNTERS_EXT = 0x1d,
};

static uint16_t pma_fill(uint8_t *mad, unsigned int ports)
{
	uint8_t *data = mad + PMA_DATA;

	if (mad[MAD_METHOD] != MAD_GET && mad[MAD_METHOD] != MAD_SET)
		return MAD_STATUS_BAD_METHOD;
	switch (mad_get16(mad, MAD_ATTR)) {
	case MAD_ATTR_CLASS_PORT_INFO:
		memset(data, 0, PMA_DATA_BYTES);
		mad_class_port_info(data, 1, PMA_EXT_WIDTH);
		return 0;
	case ATTR_PORT_COUNTERS:
	case ATTR_PORT_COUNTERS_EXT:
		if ((!data[1] || data[1] > ports) && data[1] != PMA_ALL_PORTS)
			return MAD_STATUS_BAD_FIELD;
		memset(data + PMA_SELECTS, 0, PMA_DATA_BYTES - PMA_SELECTS);
		return 0;
	default:
		return MAD_STATUS_BAD_ATTR;
	}
}

/**
 * pma_answer() - answer a request for counters
 * @mad: the request; becomes the answer
 * @ports: how many the node has; they are counted from 1 on
 */
void pma_answer(uint8_t *mad, unsigned int ports)
{
	uint16_t status = pma_fill(mad, ports);

	mad_put16(mad, MAD_STATUS, status);
	mad[MAD_METHOD] = MAD_GET | MAD_RESPONSE;
}
