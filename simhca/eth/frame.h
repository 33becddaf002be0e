/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ethernet frames: where the headers are, and the sums over them.
 *
 * Invariants
 * - A frame has no frame check sequence; the cable corrupts nothing.
 * - Offsets of headers lie inside the frame, and the header is there as a whole.
 */
#ifndef SIMHCA_FRAME_H
#define SIMHCA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETH_HEAD 14u
#define ETH_MIN 60u	/* shorter frames are padded */
#define ETH_FCS 4u
#define ETH_TAG 4u	/* bytes of a VLAN tag */
#define ETH_ADDR 6u

enum { IP_TCP = 6, IP_UDP = 17, IP_GRE = 47 };
enum { TYPE_IPV4 = 0x0800, TYPE_ETH = 0x6558, TYPE_IPV6 = 0x86dd };

/**
 * struct frame - a frame and its headers
 * @at: offset of the Ethernet header, or of the IP header where @bare
 * @bare: there is no Ethernet header: a tunnel carries IP
 * @ethertype: of what follows the VLAN tags
 * @vlan: ethertype of the first VLAN tag, 0: there is none
 * @tci: its priority and number
 * @l3: offset of the IP header, 0: it is not IP
 * @l3_end: offset after the IP packet; padding may follow. Where @beyond, @len
 * @above: offset of what is above IP, 0: none, or it is a fragment
 * @l4: offset of the header of TCP or UDP, 0: none, or it is a fragment
 * @frag: it is a fragment of an IP packet
 * @beyond: the length of the IP packet is more than the frame has
 * @cut: only the headers are there, and lengths in them count what follows
 * @proto: protocol above IP
 */
struct frame {
	const uint8_t *data;
	size_t len;
	size_t at;
	bool bare;
	uint16_t ethertype;
	uint16_t vlan;
	uint16_t tci;
	size_t l3;
	size_t l3_end;
	size_t above;
	size_t l4;
	bool ipv6;
	bool frag;
	bool beyond;
	bool cut;
	uint8_t proto;
};

void frame_parse(struct frame *f, const uint8_t *data, size_t len);
bool frame_parse_inner(struct frame *f, const struct frame *outer, size_t at,
		       uint16_t type);
void frame_parse_head(struct frame *f, const uint8_t *data, size_t len);
uint32_t sum_bytes(const void *p, size_t len, uint32_t sum);
uint16_t sum_fold(uint32_t sum);
uint16_t frame_l3_sum(const struct frame *f);
uint16_t frame_l4_sum(const struct frame *f);
void frame_put_sums(const struct frame *f, uint8_t *data, bool l3, bool l4);

static inline uint16_t be16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void be16_put(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = (uint8_t)v;
}

#endif
