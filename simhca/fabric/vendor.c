// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NVIDIA's own management datagrams, of class 10: a node tells which device it is, as
 * vendstat and ibdiagnet ask (is3_general_info_t of infiniband-diags' vendstat).
 */
#include "fabric/mad.h"

#define VENDOR_DATA 24u
#define VENDOR_DATA_BYTES 232u

/* GeneralInfo */
#define GENERAL_DEVICE 10

#define ATTR_GENERAL_INFO 0x17

static uint16_t vendor_fill(uint8_t *mad, uint16_t device)
{
	uint8_t *data = mad + VENDOR_DATA;
	uint16_t attr = mad_get16(mad, MAD_ATTR);

	if (mad[MAD_METHOD] != MAD_GET)
		return MAD_STATUS_BAD_METHOD;
	if (attr != MAD_ATTR_CLASS_PORT_INFO && attr != ATTR_GENERAL_INFO)
		return MAD_STATUS_BAD_ATTR;
	memset(data, 0, VENDOR_DATA_BYTES);
	if (attr == ATTR_GENERAL_INFO)
		mad_put16(data, GENERAL_DEVICE, device);
	else
		mad_class_port_info(data, 1, 0);
	return 0;
}

/**
 * vendor_answer() - answer a datagram of NVIDIA's own class
 * @mad: the request; becomes the answer
 * @device: which one answers
 */
void vendor_answer(uint8_t *mad, uint16_t device)
{
	uint16_t status = vendor_fill(mad, device);

	mad_put16(mad, MAD_STATUS, status);
	mad[MAD_METHOD] = MAD_GET | MAD_RESPONSE;
}
