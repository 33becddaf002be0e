// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See frame.h for the model.
 */
#include <string.h>

#include "eth/frame.h"

#define TYPE_VLAN 0x8100
#define TYPE_SVLAN 0x88a8
#define IPV4_HEAD 20u
#define IPV6_HEAD 40u
#define TCP_HEAD 20u
#define UDP_HEAD 8u
#define TCP_SUM 16u
#define UDP_SUM 6u
#define IPV4_SUM 10u
#define IPV4_FRAG 0x3fff	/* more fragments, or an offset */
#define IPV6_OPTIONS 5u		/* headers that are looked at */

enum { IP6_HOP = 0, IP6_ROUTE = 43, IP6_FRAG = 44, IP6_DEST = 60 };

static void parse_l4(struct frame *f, size_t at)
{
	size_t need = f->proto == IP_TCP ? TCP_HEAD :
		      f->proto == IP_UDP ? UDP_HEAD : 0;

	if (f->frag || at > f->l3_end)
		return;
	f->above = at;
	if (need && at + need <= f->l3_end)
		f->l4 = at;
}

/* Adapters find headers of a packet whose length is wrong, too. */
static void end_at(struct frame *f, size_t end)
{
	f->beyond = end > f->len;
	f->l3_end = f->beyond ? f->len : end;
}

static void parse_ipv4(struct frame *f, size_t at)
{
	const uint8_t *ip = f->data + at;
	size_t head, total;

	if (at + IPV4_HEAD > f->len || ip[0] >> 4 != 4)
		return;
	head = (ip[0] & 0xfu) * 4;
	total = be16_at(ip + 2);
	if (f->cut)
		total = f->len - at;
	if (head < IPV4_HEAD || total < head || at + head > f->len)
		return;
	f->l3 = at;
	end_at(f, at + total);
	f->proto = ip[9];
	f->frag = be16_at(ip + 6) & IPV4_FRAG;
	parse_l4(f, at + head);
}

static void parse_ipv6(struct frame *f, size_t at)
{
	const uint8_t *ip = f->data + at;
	size_t next = at + IPV6_HEAD, payload;
	unsigned int i;

	if (next > f->len || ip[0] >> 4 != 6)
		return;
	payload = f->cut ? f->len - next : be16_at(ip + 4);
	f->ipv6 = true;
	f->l3 = at;
	end_at(f, next + payload);
	f->proto = ip[6];
	for (i = 0; i < IPV6_OPTIONS && next + 8 <= f->l3_end; i++) {
		if (f->proto == IP6_FRAG)
			f->frag = true;
		else if (f->proto != IP6_HOP && f->proto != IP6_ROUTE &&
			 f->proto != IP6_DEST)
			break;
		f->proto = f->data[next];
		next += f->frag ? 8 : 8 + f->data[next + 1] * 8u;
		if (f->frag)
			break;
	}
	parse_l4(f, next);
}

static void parse_ip(struct frame *f, size_t at, uint16_t type)
{
	f->ethertype = type;
	if (type == TYPE_IPV4)
		parse_ipv4(f, at);
	else if (type == TYPE_IPV6)
		parse_ipv6(f, at);
}

static void parse(struct frame *f)
{
	const uint8_t *data = f->data;
	size_t at = f->at + ETH_HEAD, len = f->len;
	uint16_t type = be16_at(data + at - 2);

	while ((type == TYPE_VLAN || type == TYPE_SVLAN) &&
	       at + ETH_TAG <= len) {
		if (!f->vlan) {
			f->vlan = type;
			f->tci = be16_at(data + at);
		}
		type = be16_at(data + at + 2);
		at += ETH_TAG;
	}
	parse_ip(f, at, type);
}

/**
 * frame_parse() - find the headers of a frame
 * @data: at least ETH_HEAD bytes
 */
void frame_parse(struct frame *f, const uint8_t *data, size_t len)
{
	*f = (struct frame){ .data = data, .len = len };
	parse(f);
}

/**
 * frame_parse_inner() - find the headers of what a tunnel carries
 * @outer: the frame that carries it
 * @at: offset of the first inner header in the frame
 * @type: ethertype of the inner packet, TYPE_ETH if it is a frame
 *
 * Return: false where there is neither a frame nor an IP packet
 */
bool frame_parse_inner(struct frame *f, const struct frame *outer, size_t at,
		       uint16_t type)
{
	*f = (struct frame){
		.data = outer->data,
		.len = outer->l3_end,
		.at = at,
		.bare = type != TYPE_ETH,
	};
	if (f->bare)
		parse_ip(f, at, type);
	else if (at + ETH_HEAD <= f->len)
		parse(f);
	else
		return false;
	return f->l3 || !f->bare;
}

/**
 * frame_parse_head() - find the headers of a frame whose payload is elsewhere
 * @data: at least ETH_HEAD bytes
 * @len: bytes of the headers
 */
void frame_parse_head(struct frame *f, const uint8_t *data, size_t len)
{
	*f = (struct frame){ .data = data, .len = len, .cut = true };
	parse(f);
}

/**
 * sum_bytes() - add bytes to a one's complement sum, as pairs in memory order
 */
uint32_t sum_bytes(const void *p, size_t len, uint32_t sum)
{
	const uint8_t *at = p;
	uint16_t pair;

	for (; len > 1; len -= 2, at += 2) {
		memcpy(&pair, at, sizeof(pair));
		sum += pair;
		if (sum & 0x80000000u)
			sum = (sum & 0xffff) + (sum >> 16);
	}
	if (len) {
		pair = 0;
		memcpy(&pair, at, 1);
		sum += pair;
	}
	return sum;
}

/**
 * sum_fold() - bring a sum to 16 bits
 */
uint16_t sum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/**
 * frame_l3_sum() - the sum over an IPv4 header, 0xffff where it is correct
 */
uint16_t frame_l3_sum(const struct frame *f)
{
	const uint8_t *ip = f->data + f->l3;

	return sum_fold(sum_bytes(ip, (ip[0] & 0xfu) * 4, 0));
}

/**
 * frame_l4_sum() - the sum over TCP or UDP and its pseudo header
 *
 * Return: 0xffff where it is correct
 */
uint16_t frame_l4_sum(const struct frame *f)
{
	const uint8_t *ip = f->data + f->l3;
	uint8_t tail[4] = { 0, f->proto };
	uint32_t sum;

	be16_put(tail + 2, (uint16_t)(f->l3_end - f->l4));
	sum = f->ipv6 ? sum_bytes(ip + 8, 32, 0) : sum_bytes(ip + 12, 8, 0);
	sum = sum_bytes(tail, sizeof(tail), sum);
	return sum_fold(sum_bytes(f->data + f->l4, f->l3_end - f->l4, sum));
}

static void put_sum(uint8_t *to, uint16_t sum)
{
	sum = ~sum;
	memcpy(to, &sum, sizeof(sum));
}

/**
 * frame_put_sums() - write the checksums of a frame
 * @f: the frame; @data is the same memory
 * @l3: that of IPv4
 * @l4: that of TCP or UDP
 */
void frame_put_sums(const struct frame *f, uint8_t *data, bool l3, bool l4)
{
	uint8_t *to;

	if (l3 && f->l3 && !f->ipv6) {
		to = data + f->l3 + IPV4_SUM;
		memset(to, 0, 2);
		put_sum(to, frame_l3_sum(f));
	}
	if (l4 && f->l4) {
		to = data + f->l4 + (f->proto == IP_TCP ? TCP_SUM : UDP_SUM);
		memset(to, 0, 2);
		put_sum(to, frame_l4_sum(f));
		if (f->proto == IP_UDP && !to[0] && !to[1])
			memset(to, 0xff, 2);
	}
}
