// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Formats of signature keys, and the signature of one block. See sig.h.
 */
#include <endian.h>
#include <string.h>

#include "object/sig.h"

#define CRC32_REFLECTED 0xedb88320u	/* polynomial of IEEE 802.3 */
#define T10_POLYNOMIAL 0x8bb7u

/* A format: a basic part, one that is not used, and a part for each T10 domain. */
struct bsf_t10 {
	uint16_t valid;
	uint16_t app;
	uint32_t ref;
	uint8_t guard;
	uint8_t seed;
	uint8_t rsvd[3];
	uint8_t flags;
	uint16_t app_mask;
};

struct bsf {
	uint8_t size_same;
	uint8_t check;
	uint8_t wire_block;	/* or the copied bytes, where both are alike */
	uint8_t mem_block;
	uint32_t raw_len;
	uint32_t wire_psv;
	uint32_t mem_psv;
	uint8_t rsvd[16];
	struct bsf_t10 wire;
	struct bsf_t10 mem;
};

_Static_assert(sizeof(struct bsf) == SIG_FORMAT_LEN, "wire format");

enum {
	SAME = 1 << 4,		/* of size_same: the wire is as the memory */
	T10_VALID = 1 << 15,
	T10_ONES = 1 << 3,
	T10_STEP = 1 << 6,
	GUARD_CRC = 1,
	GUARD_SUM = 2,
	CRC32_BASE = 0x20,	/* in the highest byte of a PSV word */
	CRC_ZERO = 0x1,
	CRC_KIND = 0xf0,
};

static bool parse_domain(uint8_t selector, uint32_t psv,
			 const struct bsf_t10 *t10, struct sig_domain *d)
{
	static const uint32_t blocks[] = { 0, 512, 520, 4096, 4160 };
	uint8_t crc = be32toh(psv) >> 24;

	memset(d, 0, sizeof(*d));
	if (selector >= sizeof(blocks) / sizeof(blocks[0]))
		return false;
	d->block = blocks[selector];
	if (!d->block)
		return true;
	if (be16toh(t10->valid) & T10_VALID) {
		d->kind = t10->guard == GUARD_CRC ? SIG_T10_CRC : SIG_T10_SUM;
		d->ones = t10->seed & T10_ONES;
		d->app = be16toh(t10->app);
		d->ref = be32toh(t10->ref);
		d->step = !!(t10->flags & T10_STEP);
		d->escape = t10->flags & (SIG_ESCAPE_APP | SIG_ESCAPE_APP_REF);
		return t10->guard == GUARD_CRC || t10->guard == GUARD_SUM;
	}
	d->kind = SIG_CRC32;
	d->ones = !(crc & CRC_ZERO);
	return (crc & CRC_KIND) == CRC32_BASE;
}

/**
 * sig_parse() - read the format of a key
 * @bsf: SIG_FORMAT_LEN bytes
 * @f: set; with blocks of 0 bytes where neither side has signatures
 *
 * Return: true, or false where the adapter does not have the format
 */
bool sig_parse(const uint8_t *bsf, struct sig_format *f)
{
	struct bsf b;
	bool same;

	memcpy(&b, bsf, sizeof(b));
	same = b.size_same & SAME;
	f->check = b.check;
	f->copy = same ? b.wire_block : 0;
	if (!parse_domain(b.mem_block, b.mem_psv, &b.mem, &f->mem) ||
	    !parse_domain(same ? b.mem_block : b.wire_block, b.wire_psv,
			  &b.wire, &f->wire))
		return false;
	/* Blocks of a side without signatures are those of the other side. */
	if (!f->mem.block)
		f->mem.block = f->wire.block;
	if (!f->wire.block)
		f->wire.block = f->mem.block;
	return f->mem.block == f->wire.block;
}

/**
 * sig_len() - bytes of a signature in a domain
 */
size_t sig_len(const struct sig_domain *d)
{
	switch (d->kind) {
	case SIG_NONE:
		break;
	case SIG_CRC32:
		return 4;
	case SIG_T10_CRC:
	case SIG_T10_SUM:
		return 8;
	}
	return 0;
}

/* What a byte does to a CRC, for each byte; made when the first one is needed. */
struct crc_table {
	uint32_t crc32[256];
	uint16_t t10[256];
};

static const struct crc_table *crc_table(void)
{
	static struct crc_table table;
	static bool made;
	unsigned int byte, bit;
	uint32_t crc;
	uint16_t t10;

	for (byte = 0; !made && byte < 256; byte++) {
		crc = byte;
		t10 = byte << 8;
		for (bit = 0; bit < 8; bit++) {
			crc = crc >> 1 ^ (crc & 1 ? CRC32_REFLECTED : 0);
			t10 = t10 << 1 ^ (t10 & 0x8000 ? T10_POLYNOMIAL : 0);
		}
		table.crc32[byte] = crc;
		table.t10[byte] = t10;
	}
	made = true;
	return &table;
}

static uint32_t crc32(const uint8_t *p, size_t len, uint32_t crc)
{
	const uint32_t *table = crc_table()->crc32;

	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static uint16_t crc_t10(const uint8_t *p, size_t len, uint16_t crc)
{
	const uint16_t *table = crc_table()->t10;

	while (len--)
		crc = crc << 8 ^ table[crc >> 8 ^ *p++];
	return crc;
}

/* The sum of IP headers */
static uint16_t sum_ip(const uint8_t *p, size_t len, uint16_t start)
{
	uint32_t sum = start;

	for (; len; len -= 2, p += 2)
		sum += p[0] << 8 | p[1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/**
 * sig_make() - the signature of a block
 * @number: of the block in its transfer
 * @sig: set, as it is in memory or on the wire, then zeroes
 */
void sig_make(const struct sig_domain *d, uint32_t number, const uint8_t *data,
	      uint8_t sig[SIG_MAX])
{
	uint32_t word, seed = d->ones ? UINT32_MAX : 0;
	uint16_t half;

	memset(sig, 0, SIG_MAX);
	if (d->kind == SIG_NONE)
		return;
	if (d->kind == SIG_CRC32) {
		word = htobe32(crc32(data, d->block, seed));
		memcpy(sig, &word, sizeof(word));
		return;
	}
	half = htobe16(d->kind == SIG_T10_CRC ? crc_t10(data, d->block, seed) :
						sum_ip(data, d->block, seed));
	memcpy(sig, &half, sizeof(half));
	half = htobe16(d->app);
	memcpy(sig + 2, &half, sizeof(half));
	word = htobe32(d->ref + number * d->step);
	memcpy(sig + 4, &word, sizeof(word));
}

/**
 * sig_escaped() - do the tags of a signature say that its block is not checked?
 */
bool sig_escaped(const struct sig_domain *d, const uint8_t sig[SIG_MAX])
{
	static const uint8_t ones[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	if (d->escape & SIG_ESCAPE_APP)
		return !memcmp(sig + 2, ones, 2);
	return d->escape & SIG_ESCAPE_APP_REF && !memcmp(sig + 2, ones, 6);
}
