// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The hash of a frame by which a TIR chooses one of several receive queues.
 */
#include <string.h>

#include "eth/hash.h"

#define KEY_BYTES 40u
#define FIELDS_MAX 36u		/* two IPv6 addresses, two ports */
#define PORTS 2u
#define IPV4_SRC 12u
#define IPV6_SRC 8u

/* selected_fields, and rx_hash_fn */
enum { SRC_IP = 1, DST_IP = 2, L4_SPORT = 4, L4_DPORT = 8 };
enum { HASH_XOR8 = 1, HASH_TOEPLITZ };

#define SELECT(ctx, fld) \
	IFC_GET(tirc, ctx, rx_hash_field_selector_outer.fld)

/* of what the hash is, in the CQE: linux/mlx5/device.h, CQE_RSS_HTYPE_* */
enum { TYPE_OF_IPV4 = 1 << 2, TYPE_OF_IPV6 = 2 << 2 };
enum { TYPE_OF_TCP = 1 << 6, TYPE_OF_UDP = 2 << 6 };

struct fields {
	uint8_t bytes[FIELDS_MAX];
	size_t n;
	uint8_t type;
};

static void add(struct fields *to, const uint8_t *from, size_t len)
{
	memcpy(to->bytes + to->n, from, len);
	to->n += len;
}

/* Two fields, the smaller one first where the hash is symmetric. */
static void add_pair(struct fields *to, const uint8_t *a, const uint8_t *b,
		     size_t len, bool symmetric)
{
	bool swap = symmetric && a && b && memcmp(a, b, len) > 0;

	if (swap ? b : a)
		add(to, swap ? b : a, len);
	if (swap ? a : b)
		add(to, swap ? a : b, len);
}

static void collect(const uint8_t *ctx, const struct frame *f,
		    struct fields *to)
{
	uint32_t which = SELECT(ctx, selected_fields);
	bool symmetric = IFC_GET(tirc, ctx, rx_hash_symmetric);
	bool udp = SELECT(ctx, l4_prot_type);
	const uint8_t *ip = f->data + f->l3 + (f->ipv6 ? IPV6_SRC : IPV4_SRC);
	const uint8_t *l4 = f->data + f->l4;
	size_t len = f->ipv6 ? 16 : 4, addrs;

	if (!f->l3 || SELECT(ctx, l3_prot_type) != f->ipv6)
		return;
	add_pair(to, which & SRC_IP ? ip : NULL,
		 which & DST_IP ? ip + len : NULL, len, symmetric);
	addrs = to->n;
	if (addrs)
		to->type |= f->ipv6 ? TYPE_OF_IPV6 : TYPE_OF_IPV4;
	if (f->l4 && f->proto == (udp ? IP_UDP : IP_TCP))
		add_pair(to, which & L4_SPORT ? l4 : NULL,
			 which & L4_DPORT ? l4 + PORTS : NULL, PORTS,
			 symmetric);
	if (to->n > addrs)
		to->type |= udp ? TYPE_OF_UDP : TYPE_OF_TCP;
}

/* The key's 32 bits from bit @i on; one more byte than the 32 bits may need. */
static uint32_t key_at(const uint8_t *key, size_t i)
{
	uint64_t bits = 0;
	size_t b;

	for (b = 0; b < 5; b++)
		bits = bits << 8 | key[(i / 8 + b) % KEY_BYTES];
	return (uint32_t)(bits >> (8 - i % 8));
}

static uint32_t toeplitz(const uint8_t *key, const struct fields *in)
{
	uint32_t hash = 0;
	size_t i;

	for (i = 0; i < in->n * 8; i++)
		if (in->bytes[i / 8] & 0x80 >> i % 8)
			hash ^= key_at(key, i);
	return hash;
}

static uint32_t xor8(const struct fields *in)
{
	uint32_t x = 0;
	size_t i;

	for (i = 0; i < in->n; i++)
		x ^= in->bytes[i];
	return x;
}

/**
 * frame_hash() - the hash of a frame
 * @ctx: context of the TIR, which says of which fields and how
 *
 * Return: the hash; all 0 where the frame has none of the fields, and where the TIR does
 * not hash
 */
struct hash frame_hash(const uint8_t *ctx, const struct frame *f)
{
	uint32_t function = IFC_GET(tirc, ctx, rx_hash_fn);
	struct fields in = { 0 };

	if (function == HASH_XOR8 || function == HASH_TOEPLITZ)
		collect(ctx, f, &in);
	return (struct hash){
		.value = function == HASH_XOR8 ? xor8(&in) :
			toeplitz(IFC_ADDR_OF(tirc, ctx, rx_hash_toeplitz_key), &in),
		.type = in.type,
	};
}
