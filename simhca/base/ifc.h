/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fields of commands and contexts, by the names of linux/mlx5/mlx5_ifc.h.
 *
 * The layouts come from the kernel headers package and are included when simhca
 * is built. One u8 of these structs stands for one bit. A field lies within one
 * big-endian dword, or is one aligned qword. The accessors use memcpy(),
 * because mailboxes and guest memory need not be aligned.
 */
#ifndef SIMHCA_IFC_H
#define SIMHCA_IFC_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* mlx5_ifc.h needs these names, which the kernel defines elsewhere. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#ifndef BIT
#define BIT(n) (1U << (n))
#endif
#ifndef BIT_ULL
#define BIT_ULL(n) (1ULL << (n))
#endif
#ifndef DECLARE_FLEX_ARRAY
#define DECLARE_FLEX_ARRAY(type, name)       \
	struct {                             \
		struct {                     \
		} __empty_##name;            \
		type name[];                 \
	}
#endif

#include "mlx5_ifc.h" /* found by -iquote $(MLX5_IFC_DIR) */

#define IFC_BITS_OF(typ, fld) sizeof(((struct mlx5_ifc_##typ##_bits *)0)->fld)
#define IFC_BIT_OFF(typ, fld) offsetof(struct mlx5_ifc_##typ##_bits, fld)

/* Size of a struct or union; size and offset of a field. All are in bytes. */
#define IFC_SZ(typ) (sizeof(struct mlx5_ifc_##typ##_bits) / 8)
#define IFC_UN_SZ(typ) (sizeof(union mlx5_ifc_##typ##_bits) / 8)
#define IFC_FLD_SZ(typ, fld) (IFC_BITS_OF(typ, fld) / 8)
#define IFC_OFF(typ, fld) (IFC_BIT_OFF(typ, fld) / 8)

/* Address of a field that starts on a byte. */
#define IFC_ADDR_OF(typ, p, fld) ((uint8_t *)(uintptr_t)(p) + IFC_OFF(typ, fld))

/* Read a field of up to 32 bits. */
#define IFC_GET(typ, p, fld) \
	ifc_get32(p, IFC_BIT_OFF(typ, fld), IFC_BITS_OF(typ, fld))
/* Read a field of 64 bits. */
#define IFC_GET64(typ, p, fld) ifc_get64(p, IFC_BIT_OFF(typ, fld))
/* Write a field of up to 32 bits. Bits that do not fit are cut off. */
#define IFC_SET(typ, p, fld, v) \
	ifc_set32(p, IFC_BIT_OFF(typ, fld), IFC_BITS_OF(typ, fld), v)
#define IFC_SET64(typ, p, fld, v) ifc_set64(p, IFC_BIT_OFF(typ, fld), v)

static inline uint32_t ifc_mask(size_t bits)
{
	return bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
}

static inline uint32_t ifc_get32(const void *p, size_t off, size_t bits)
{
	uint32_t dw;

	memcpy(&dw, (const uint8_t *)p + off / 32 * 4, sizeof(dw));
	return be32toh(dw) >> (32 - bits - off % 32) & ifc_mask(bits);
}

static inline void ifc_set32(void *p, size_t off, size_t bits, uint32_t v)
{
	uint8_t *at = (uint8_t *)p + off / 32 * 4;
	size_t shift = 32 - bits - off % 32;
	uint32_t dw;

	memcpy(&dw, at, sizeof(dw));
	dw = be32toh(dw) & ~(ifc_mask(bits) << shift);
	dw = htobe32(dw | (v & ifc_mask(bits)) << shift);
	memcpy(at, &dw, sizeof(dw));
}

static inline uint64_t ifc_get64(const void *p, size_t off)
{
	uint64_t qw;

	memcpy(&qw, (const uint8_t *)p + off / 8, sizeof(qw));
	return be64toh(qw);
}

static inline void ifc_set64(void *p, size_t off, uint64_t v)
{
	v = htobe64(v);
	memcpy((uint8_t *)p + off / 8, &v, sizeof(v));
}

#endif
