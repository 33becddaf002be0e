// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The records of an answer of the subnet administrator. A table that does not fit one
 * datagram goes out in segments (RMPP, IBTA 13.6), without waiting for acknowledgements.
 * Records that have no room in the segments that a receiver takes at once are left out.
 */
#include "fabric/mad.h"
#include "fabric/sa.h"

/* The headers of RMPP and of the subnet administrator */
#define SA_RMPP_VERSION 24
#define SA_RMPP_TYPE 25
#define SA_RMPP_FLAGS 26
#define SA_RMPP_SEGMENT 28
#define SA_RMPP_PAYLOAD 32
#define SA_ATTR_OFFSET 44

#define RMPP_DATA 1
#define RMPP_ACTIVE 0x01
#define RMPP_FIRST 0x02
#define RMPP_LAST 0x04
/* A receiver takes at least so many before it has to be waited for. */
#define RMPP_WINDOW 64u
#define SA_HEADER_BYTES 20u	/* counted in the payload's length */

static struct {
	uint8_t bytes[RMPP_WINDOW * SA_DATA_BYTES];
	size_t len;
} table;

/**
 * sa_table_clear() - begin an answer
 */
void sa_table_clear(void)
{
	table.len = 0;
}

/**
 * sa_table_bytes() - how long the records are together
 */
size_t sa_table_bytes(void)
{
	return table.len;
}

/**
 * sa_table_add() - add a record
 * @len: bytes of it
 * @padded: bytes that it takes, @len at least
 */
void sa_table_add(const void *record, size_t len, size_t padded)
{
	if (padded > sizeof(table.bytes) - table.len)
		return;
	memset(table.bytes + table.len, 0, padded);
	memcpy(table.bytes + table.len, record, len);
	table.len += padded;
}

/**
 * sa_table_get() - the one record of the table, where an answer has no more
 * @data: SA_DATA_BYTES
 */
void sa_table_get(uint8_t *data)
{
	memset(data, 0, SA_DATA_BYTES);
	memcpy(data, table.bytes, table.len);
}

/**
 * sa_table_asked() - is a datagram of this class a request, and not about a table's segments?
 */
bool sa_table_asked(const uint8_t *mad)
{
	return !(mad[SA_RMPP_FLAGS] & RMPP_ACTIVE) ||
	       mad[SA_RMPP_TYPE] == RMPP_DATA;
}

/**
 * sa_table_send() - make one segment of the answer
 * @mad: the request; becomes the segment
 * @bytes: of a record
 * @segment: which one, from 1 on
 *
 * The lengths in it count headers too.
 *
 * Return: true if there is another one
 */
bool sa_table_send(uint8_t *mad, size_t bytes, unsigned int segment)
{
	size_t at = (segment - 1) * (size_t)SA_DATA_BYTES, here, all, segments;
	uint8_t flags = RMPP_ACTIVE;

	segments = table.len ? (table.len + SA_DATA_BYTES - 1) / SA_DATA_BYTES : 1;
	here = table.len > at ? table.len - at : 0;
	if (here > SA_DATA_BYTES)
		here = SA_DATA_BYTES;
	all = table.len + segments * SA_HEADER_BYTES;
	flags |= segment == 1 ? RMPP_FIRST : 0;
	flags |= segment == segments ? RMPP_LAST : 0;
	mad[SA_RMPP_VERSION] = 1;
	mad[SA_RMPP_TYPE] = RMPP_DATA;
	mad[SA_RMPP_FLAGS] = flags;
	mad_put32(mad, SA_RMPP_SEGMENT, segment);
	mad_put32(mad, SA_RMPP_PAYLOAD, segment == 1 && segments > 1 ?
		  (uint32_t)all : (uint32_t)(SA_HEADER_BYTES + here));
	mad_put16(mad, SA_ATTR_OFFSET, (uint16_t)(bytes / 8));
	memset(mad + SA_DATA, 0, SA_DATA_BYTES);
	memcpy(mad + SA_DATA, table.bytes + at, here);
	return segment < segments;
}
