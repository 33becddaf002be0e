/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Management datagrams: where the fields are (IBTA volume 1, chapters 13, 14.2
 * and 15.2). All are big endian.
 */
#ifndef SIMHCA_MAD_H
#define SIMHCA_MAD_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define MAD_BYTES 256u

/* The common header */
#define MAD_CLASS 1
#define MAD_METHOD 3
#define MAD_STATUS 4
#define MAD_ATTR 16
#define MAD_MODIFIER 20

#define MAD_CLASS_SMI_LID 0x01
#define MAD_CLASS_SMI_DR 0x81
#define MAD_CLASS_SA 0x03

#define MAD_GET 0x01
#define MAD_SET 0x02
#define MAD_TRAP_REPRESS 0x07
#define MAD_GET_TABLE 0x12
#define MAD_DELETE 0x15
#define MAD_RESPONSE 0x80

#define MAD_STATUS_BAD_METHOD 0x0008
#define MAD_STATUS_BAD_ATTR 0x000c
#define MAD_STATUS_BAD_FIELD 0x001c

static inline uint16_t mad_get16(const uint8_t *mad, unsigned int off)
{
	uint16_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be16toh(v);
}

static inline uint32_t mad_get32(const uint8_t *mad, unsigned int off)
{
	uint32_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be32toh(v);
}

static inline uint64_t mad_get64(const uint8_t *mad, unsigned int off)
{
	uint64_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be64toh(v);
}

static inline void mad_put16(uint8_t *mad, unsigned int off, uint16_t v)
{
	v = htobe16(v);
	memcpy(mad + off, &v, sizeof(v));
}

static inline void mad_put32(uint8_t *mad, unsigned int off, uint32_t v)
{
	v = htobe32(v);
	memcpy(mad + off, &v, sizeof(v));
}

static inline void mad_put64(uint8_t *mad, unsigned int off, uint64_t v)
{
	v = htobe64(v);
	memcpy(mad + off, &v, sizeof(v));
}

#endif
